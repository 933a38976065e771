package e2e

import (
	"context"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicesql/sluice/internal/cdcbench"
	"github.com/sluicesql/sluice/internal/realkafka"
)

// copySQL copies one table into an output topic.
const copySQL = `
CREATE TABLE i (id INT, v STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'kafka', 'topic' = '$IN',
  'properties.bootstrap.servers' = '$KAFKA', 'scan.startup.mode' = 'earliest-offset', 'scan.bounded.mode' = '$END',
  'scan.topic-partition-discovery.interval' = '100 ms', 'format' = 'debezium-json');
CREATE TABLE o (id INT, v STRING) WITH ('connector' = 'kafka', 'topic' = '$OUT', 'properties.bootstrap.servers' = '$KAFKA', 'format' = 'debezium-json');
INSERT INTO o SELECT id, v FROM i;`

// awaitRows waits until the output topic holds the rows.
func awaitRows(t *testing.T, p *process, addr, topic string, want ...string) {
	t.Helper()
	until(t, fmt.Sprintf("%s holds %q", topic, want), func() bool {
		p.running()
		return strings.Join(sumOfRetractions(t, addr, topic, "id", "v"), "\n") == strings.Join(want, "\n")
	})
}

// Partitions that a topic gets while it is read are found, read from their
// beginning and remembered by the state.
func TestNewPartitions(t *testing.T) {
	addr := kafka(t)
	dir := filepath.Join(t.TempDir(), "state")
	in, out := newTopic(t, addr, "grows", 1), newTopic(t, addr, "out", 2)
	at := func(partition int32, id int, v string) *kgo.Record {
		r := inserted(in, id, fmt.Sprintf(`{"id":%d,"v":%q}`, id, v))
		r.Partition = partition
		return r
	}
	produceTo(t, addr, at(0, 1, "first"))
	sql := fillIn(copySQL, "KAFKA", addr, "IN", in, "OUT", out)
	p := start(t, fillIn(sql, "END", "unbounded"), "--state-dir", dir)
	awaitRows(t, p, addr, out, "1|first")

	partitions(t, addr, in, 3)
	produceTo(t, addr, at(2, 2, "in a new partition"), at(0, 3, "in the old one"))
	awaitRows(t, p, addr, out, "1|first", "2|in a new partition", "3|in the old one")
	p.terminate()

	produceTo(t, addr, at(1, 4, "while it was down"), at(2, 2, "changed"))
	partitions(t, addr, in, 4)
	produceTo(t, addr, at(3, 5, "in a partition found at the start"))
	want := []string{"1|first", "2|changed", "3|in the old one", "4|while it was down", "5|in a partition found at the start"}
	for range 2 {
		run(t, fillIn(sql, "END", "latest-offset"), "--state-dir", dir).exited(0)
		same(t, "rows", sumOfRetractions(t, addr, out, "id", "v"), want)
	}
}

// partitions gives a topic more partitions.
func partitions(t *testing.T, addr, topic string, n int) {
	t.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(addr), kgo.MetadataMinAge(10*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	adm := kadm.NewClient(cl)
	resp, err := adm.UpdatePartitions(t.Context(), n, topic)
	if err == nil {
		err = resp.Error()
	}
	if err != nil {
		t.Fatal(err)
	}
	until(t, "the partitions are there", func() bool {
		topics, err := adm.ListTopics(t.Context(), topic)
		return err == nil && len(topics[topic].Partitions) == n
	})
}

// A topic that is deleted, or deleted and created again, under a running job ends
// it: its offsets mean nothing any more. The same holds while the job is down.
func TestTopicIsReplaced(t *testing.T) {
	addr := kafka(t)
	for _, recreate := range []bool{true, false} {
		t.Run(map[bool]string{true: "recreated", false: "deleted"}[recreate], func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "state")
			in, out := newTopic(t, addr, "replaced", 2), newTopic(t, addr, "out", 2)
			produce(t, addr, inserted(in, 1, `{"id":1,"v":"a"}`))
			sql := fillIn(copySQL, "KAFKA", addr, "IN", in, "OUT", out, "END", "unbounded")
			p := start(t, sql, "--state-dir", dir)
			awaitRows(t, p, addr, out, "1|a")
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			if recreate {
				if err := realkafka.RecreateTopic(ctx, addr, in, 2); err != nil {
					t.Fatal(err)
				}
				produce(t, addr, inserted(in, 2, `{"id":2,"v":"of another topic"}`))
			} else {
				deleteTopic(t, addr, in)
			}
			p.exited(1).says("kafka "+in+"/", "deleted")
			same(t, "rows", sumOfRetractions(t, addr, out, "id", "v"), []string{"1|a"})
			run(t, sql, "--state-dir", dir).exited(1).says(in)
			same(t, "rows", sumOfRetractions(t, addr, out, "id", "v"), []string{"1|a"})
		})
	}
}

func deleteTopic(t *testing.T, addr, topic string) {
	t.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(addr))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	if _, err := kadm.NewClient(cl).DeleteTopic(t.Context(), topic); err != nil {
		t.Fatal(err)
	}
}

// A broker that restarts under a running job, in order and by a crash, only delays
// it.
func TestBrokerRestarts(t *testing.T) {
	t.Parallel() // with TestKills
	if testing.Short() {
		t.Skip("starts a broker of its own; left out by -short")
	}
	kafka(t) // skips, or fails, where there is no broker
	b, err := realkafka.Start(t.Context(), t.TempDir(), realkafka.Options{})
	if _, unavailable := err.(*realkafka.UnavailableError); unavailable {
		t.Skip(err) // the shared broker is one from elsewhere
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Kill() })

	w := newWorkload(t, b.Addr(), 500)
	w.snapshot()
	p := w.follow("--state-dir", filepath.Join(t.TempDir(), "state"))
	for _, end := range []func() error{b.Stop, b.Kill} {
		before := length(t, w.addr, w.upserts)
		stop := w.feed(5, 5*time.Millisecond)
		until(t, "the job writes", func() bool { p.running(); return length(t, w.addr, w.upserts) > before })
		if err := end(); err != nil {
			t.Fatal(err)
		}
		if err := b.Restart(t.Context()); err != nil {
			t.Fatal(err)
		}
		stop()
		p.running()
	}
	w.change(200)
	w.await(p, w.upserts, cdcbench.Upsert)
	w.await(p, w.retract, cdcbench.Retract)
	p.terminate()
	w.verify(w.upserts, cdcbench.Upsert)
	w.verify(w.retract, cdcbench.Retract)
}

// What cannot be reached is said within seconds, with the address.
func TestUnreachable(t *testing.T) {
	addr := kafka(t)
	there := newTopic(t, addr, "there", 1)
	silent, err := net.Listen("tcp", "127.0.0.1:0") // takes connections and says nothing
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = silent.Close() }()
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := closed.Addr().String()
	_ = closed.Close()
	for _, c := range []struct {
		name, addr, in, out string
		says                []string
	}{
		{"unknown topic", addr, there + "s", there, []string{addr, there + "s", "does not exist", `did you mean "` + there + `"?`}},
		{"unknown output topic", addr, there, there + "-out", []string{addr, there + "-out", "does not exist", "kafka-topics.sh"}},
		{"nobody listens", nobody, there, there, []string{"cannot reach Kafka at " + nobody}},
		{"nobody answers", silent.Addr().String(), there, there, []string{"cannot reach Kafka at " + silent.Addr().String()}},
		{"no such host", "no-such-host.invalid:9092", there, there, []string{"cannot reach Kafka at no-such-host.invalid:9092", "does not resolve"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			// run bounds the time: nothing of this is tried for ever.
			run(t, fillIn(copySQL, "KAFKA", c.addr, "IN", c.in, "OUT", c.out, "END", "unbounded")).exited(1).says(c.says...)
		})
	}
}
