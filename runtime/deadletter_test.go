package runtime_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	jsonformat "github.com/sluicesql/sluice/connectors/format/json"
	"github.com/sluicesql/sluice/connectors/format/raw"
	"github.com/sluicesql/sluice/connectors/kafka"
	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/internal/embed"
	"github.com/sluicesql/sluice/internal/realkafka"
	"github.com/sluicesql/sluice/planner"
	"github.com/sluicesql/sluice/runtime"
	"github.com/sluicesql/sluice/sql/parser"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// kafkaPlan plans the one job of a script over Kafka.
func kafkaPlan(t *testing.T, b *embed.Broker, sql string) *planner.Plan {
	t.Helper()
	r := spi.NewRegistry()
	kafka.Register(r)
	jsonformat.Register(r)
	raw.Register(r)
	stmts, err := parser.Parse("test.sql", strings.ReplaceAll(sql, "$KAFKA", b.Addr()))
	if err != nil {
		t.Fatal(err)
	}
	script, err := planner.NewSession(r).Run(stmts)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range script.Steps {
		if j, ok := s.(*planner.Job); ok {
			return j.Plan
		}
	}
	t.Fatal("the script has no job")
	return nil
}

const deadLetterSQL = `
CREATE TABLE i (id BIGINT, n INT) WITH ('connector' = 'kafka', 'topic' = 'in', 'properties.bootstrap.servers' = '$KAFKA',
  'scan.startup.mode' = 'earliest-offset', 'scan.bounded.mode' = 'latest-offset', 'format' = 'json', 'json.ignore-parse-errors' = 'false',
  'dead-letter.topic' = 'dead', 'dead-letter.topic.partitions' = '2'$DEAD);
CREATE TABLE o (id BIGINT, n INT) WITH ('connector' = 'kafka', 'topic' = 'out', 'properties.bootstrap.servers' = '$KAFKA',
  'format' = 'json', 'key.format' = 'json', 'key.fields' = 'id');
INSERT INTO o SELECT id, n FROM i;`

// once are the options of dead letters that come exactly once.
const once = ", 'dead-letter.delivery-guarantee' = 'exactly-once', 'dead-letter.transactional-id-prefix' = 'test'"

// A job is killed again and again while it puts messages aside, and its output topic grows meanwhile: every message
// is in the output or among the dead letters, and none in both; every key keeps its partition.
func TestDeadLettersAcrossCrashes(t *testing.T) {
	t.Parallel()
	t.Run("at least once", func(t *testing.T) { deadLettersAcrossCrashes(t, false) })
	t.Run("exactly once", func(t *testing.T) { deadLettersAcrossCrashes(t, true) })
}

func deadLettersAcrossCrashes(t *testing.T, exactly bool) {
	t.Parallel()
	b, err := embed.StartWith()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	for topic, n := range map[string]int32{"in": 3, "out": 2} {
		if err := b.CreateTopic(topic, n); err != nil {
			t.Fatal(err)
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	const records = 2000
	bad, count := map[string]bool{}, 0
	var in []embed.Record
	for i := range records {
		key := fmt.Sprint(i)
		r := embed.Record{Topic: "in", Key: []byte(key), Value: fmt.Appendf(nil, `{"id":%d,"n":%d}`, i%50, i)}
		switch rng.IntN(8) {
		case 0:
			r.Value = fmt.Appendf(nil, `{"id":%d,"n":"many"}`, i)
		case 1:
			r.Value = []byte("}{")
		}
		bad[key] = r.Value[0] == '}' || strings.Contains(string(r.Value), "many")
		if bad[key] {
			count++
		}
		in = append(in, r)
	}
	if err := b.Produce(t.Context(), in...); err != nil {
		t.Fatal(err)
	}
	cl, err := kgo.NewClient(kgo.SeedBrokers(b.Addr()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cl.Close)

	plan, dir := kafkaPlan(t, b, strings.ReplaceAll(deadLetterSQL, "$DEAD", map[bool]string{true: once}[exactly])), t.TempDir()
	kills := 0
	for run := 0; ; run++ {
		started, killed := make(chan *runtime.Job, 1), false
		after := uint64(1 + rng.IntN(6))
		first := uint64(0)
		job, err := runtime.Start(context.Background(), runtime.Config{
			Plan: plan, Parallelism: 1 + rng.IntN(3), StateDir: dir, EpochMaxRows: 15, BatchRows: 4, CheckpointInterval: time.Duration(rng.IntN(20)+1) * time.Millisecond,
			Hooks: &runtime.Hooks{Check: true, Done: func(epoch uint64) {
				if first == 0 {
					first = epoch
				}
				if epoch >= first+after && run < 25 && !killed {
					killed = true
					(<-started).Kill() // here, before another epoch is done
				}
			}},
		})
		if err != nil {
			t.Fatal(err)
		}
		started <- job
		switch err := job.Wait(); {
		case killed:
			kills++
			if _, err := kadm.NewClient(cl).CreatePartitions(t.Context(), 1, "out"); err != nil {
				t.Fatal(err)
			}
			continue
		case err != nil:
			t.Fatal(err)
		}
		break
	}
	if kills < 3 {
		t.Fatalf("%d kills", kills)
	}

	dead := map[string]int{}
	n := int(b.Len("dead"))
	if exactly {
		n = count // the topic holds markers too
	}
	letters, err := b.Consume(t.Context(), "dead", n)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range letters {
		dead[string(r.Key)]++
	}
	if exactly {
		all := 0
		if err := realkafka.ReadTopic(t.Context(), b.Addr(), "dead", func(*kgo.Record) error { all++; return nil }); err != nil {
			t.Fatal(err)
		}
		if len(dead) != count || all != count {
			t.Errorf("%d messages are among %d dead letters, not %d", len(dead), all, count)
		}
	}
	written := map[string]int{}
	places := map[string]int32{}
	out, err := b.Consume(t.Context(), "out", int(b.Len("out")))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range out {
		written[string(r.Value)]++
		if p, ok := places[string(r.Key)]; ok && p != r.Partition {
			t.Errorf("key %s is in partitions %d and %d", r.Key, p, r.Partition)
		}
		places[string(r.Key)] = r.Partition
	}
	for _, r := range in {
		isBad, letters, rows := bad[string(r.Key)], dead[string(r.Key)], written[string(r.Value)]
		if isBad != (letters > 0) || isBad == (rows > 0) {
			t.Errorf("message %s, bad: %v, is %d times among the dead letters and %d times in the output", r.Value, isBad, letters, rows)
		}
	}
	t.Logf("%d kills, %d dead letters, %d records in the output", kills, len(letters), len(out))
}
