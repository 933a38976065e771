package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicesql/sluice/internal/realkafka"
)

// modesSQL prints which records are read: their offsets, by partition.
const modesSQL = `
CREATE TABLE i (id INT, p INT METADATA FROM 'partition', o BIGINT METADATA FROM 'offset') WITH ('connector' = 'kafka', 'topic' = '$IN',
  'properties.bootstrap.servers' = '$KAFKA', 'format' = 'json', $OPTIONS);
SELECT p, o FROM i;`

// Every way to say where reading begins and where it ends, on a topic of two
// partitions with six records each, a second apart.
func TestStartupAndBoundedModes(t *testing.T) {
	addr := kafka(t)
	in := newTopic(t, addr, "modes", 2)
	first := time.UnixMilli(1_700_000_000_000)
	var records []*kgo.Record
	for i := range 12 {
		records = append(records, &kgo.Record{Topic: in, Partition: int32(i % 2), Value: fmt.Appendf(nil, `{"id":%d}`, i), Timestamp: first.Add(time.Duration(i/2) * time.Second)})
	}
	produceTo(t, addr, records...)
	group := in + "-group"
	commit(t, addr, group, in, map[int32]int64{0: 2, 1: 5})
	const toEnd = "'scan.bounded.mode' = 'latest-offset'"
	const fromStart = "'scan.startup.mode' = 'earliest-offset'"
	for _, c := range []struct {
		options      string
		from0, from1 int64 // first offset read
		to0, to1     int64 // first offset not read
	}{
		{fromStart + ", " + toEnd, 0, 0, 6, 6},
		{"'scan.startup.mode' = 'latest-offset', " + toEnd, 6, 6, 6, 6},
		{"'scan.startup.mode' = 'earliest', " + toEnd, 0, 0, 6, 6}, // accepted, with a hint
		{"'scan.startup.mode' = 'latest', " + toEnd, 6, 6, 6, 6},
		{"'properties.group.id' = '$GROUP', " + toEnd, 2, 5, 6, 6}, // group-offsets is the default
		{"'scan.startup.mode' = 'group-offsets', 'properties.group.id' = '$GROUP', " + toEnd, 2, 5, 6, 6},
		{"'scan.startup.mode' = 'group-offsets', 'properties.group.id' = '$GROUP-2', 'properties.auto.offset.reset' = 'earliest', " + toEnd, 0, 0, 6, 6},
		{"'scan.startup.mode' = 'timestamp', 'scan.startup.timestamp-millis' = '1700000001500', " + toEnd, 2, 2, 6, 6},
		{"'scan.startup.mode' = 'timestamp', 'scan.startup.timestamp-millis' = '1800000000000', " + toEnd, 6, 6, 6, 6},
		{"'scan.startup.mode' = 'specific-offsets', 'scan.startup.specific-offsets' = 'partition:0,offset:1;partition:1,offset:6', " + toEnd, 1, 6, 6, 6},
		{fromStart + ", 'scan.bounded.mode' = 'group-offsets', 'properties.group.id' = '$GROUP'", 0, 0, 2, 5},
		{fromStart + ", 'scan.bounded.mode' = 'timestamp', 'scan.bounded.timestamp-millis' = '1700000003000'", 0, 0, 3, 3},
		{fromStart + ", 'scan.bounded.mode' = 'specific-offsets', 'scan.bounded.specific-offsets' = 'partition:0,offset:0;partition:1,offset:4'", 0, 0, 0, 4},
	} {
		p := run(t, fillIn(modesSQL, "KAFKA", addr, "IN", in, "OPTIONS", c.options, "GROUP", group), "--result", "json").exited(0)
		var want []string
		for partition, r := range [][2]int64{{c.from0, c.to0}, {c.from1, c.to1}} {
			for o := r[0]; o < r[1]; o++ {
				want = append(want, fmt.Sprintf("%d|%d", partition, o))
			}
		}
		same(t, c.options, sumOfChanges(t, p.stdout.String(), "p", "o"), want)
	}
	for _, c := range []struct {
		options string
		code    int
		says    []string
	}{
		{"'scan.startup.mode' = 'lattest'", 2, []string{"stdin:3:", `"lattest"`, "latest-offset"}},
		{"'scan.startup.mode' = 'timestamp'", 2, []string{"scan.startup.timestamp-millis"}},
		{"'scan.startup.mode' = 'specific-offsets', 'scan.startup.specific-offsets' = '0:1'", 2, []string{"partition:0,offset:42", "0:1"}},
		{"'scan.startup.mode' = 'specific-offsets', 'scan.startup.specific-offsets' = 'partition:7,offset:1', " + toEnd, 1, []string{"partition 7"}},
		{"'scan.startup.mode' = 'specific-offsets', 'scan.startup.specific-offsets' = 'partition:0,offset:99', " + toEnd, 1, []string{in + "/0@99", "0 to 6"}},
		{"'scan.startup.mode' = 'group-offsets', 'properties.group.id' = '$GROUP-3', " + toEnd, 1, []string{"$GROUP-3", "no offset", "auto.offset.reset"}},
		{"'scan.startup.mode' = 'group-offsets', " + toEnd, 2, []string{"properties.group.id"}},
	} {
		says := strings.Split(fillIn(strings.Join(c.says, "\n"), "GROUP", group), "\n")
		run(t, fillIn(modesSQL, "KAFKA", addr, "IN", in, "OPTIONS", c.options, "GROUP", group)).exited(c.code).says(says...)
	}
}

// commit sets a group's offsets.
func commit(t *testing.T, addr, group, topic string, at map[int32]int64) {
	t.Helper()
	cl, err := kgo.NewClient(realkafka.ProducerOptions(addr)...)
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	var offsets kadm.Offsets
	for p, o := range at {
		offsets.Add(kadm.Offset{Topic: topic, Partition: p, At: o, LeaderEpoch: -1})
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	until(t, "the group's offsets are committed", func() bool { // the coordinator may be coming up
		resp, err := kadm.NewClient(cl).CommitOffsets(ctx, group, offsets)
		return err == nil && resp.Error() == nil
	})
}
