package e2e

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicesql/sluice/internal/cdcbench"
	"github.com/sluicesql/sluice/internal/realkafka"
)

// workload is the join of cdcbench's tables into three topics: one of envelopes and
// one of upserts, and one of envelopes that is written exactly once.
type workload struct {
	t                                      *testing.T
	addr                                   string
	users, domains, retract, upserts, once string
	model                                  *cdcbench.Model
	client                                 *kgo.Client
	failed                                 atomic.Pointer[error] // the first failure to produce
}

// newWorkload creates the topics of a workload with so many users (see shrink); the
// inputs are empty.
func newWorkload(t *testing.T, addr string, users int) *workload {
	t.Helper()
	w := &workload{t: t, addr: addr, model: cdcbench.NewModel(cdcbench.Size{Users: users / shrink}, cdcbench.DefaultSeed)}
	for name, topic := range map[string]*string{"users": &w.users, "domains": &w.domains, "retract": &w.retract, "upserts": &w.upserts, "once": &w.once} {
		*topic = newTopic(t, addr, name, cdcbench.Partitions)
	}
	var err error
	if w.client, err = kgo.NewClient(append(realkafka.ProducerOptions(addr), kgo.ProducerLinger(time.Millisecond))...); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.client.Close)
	return w
}

// snapshot writes both tables as they are.
func (w *workload) snapshot() {
	w.t.Helper()
	if err := w.model.Snapshot(w.emit); err != nil {
		w.t.Fatal(err)
	}
	w.flush()
}

// change writes n changes.
func (w *workload) change(n int) {
	w.t.Helper()
	for range n {
		if err := w.model.Change(w.emit); err != nil {
			w.t.Fatal(err)
		}
	}
	w.flush()
}

func (w *workload) emit(e cdcbench.Event) error {
	topic := w.users
	if e.Table == cdcbench.Domains {
		topic = w.domains
	}
	w.client.Produce(context.Background(), &kgo.Record{Topic: topic, Key: cdcbench.AppendKey(nil, e.ID), Value: e.Value}, func(_ *kgo.Record, err error) {
		if err != nil {
			w.failed.CompareAndSwap(nil, &err)
		}
	})
	return nil
}

func (w *workload) flush() {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), patience)
	defer cancel()
	if err := w.client.Flush(ctx); err != nil {
		w.t.Fatal(err)
	}
	if err := w.failed.Load(); err != nil {
		w.t.Fatalf("produce: %v", *err)
	}
}

// feed makes changes in the background, some every few milliseconds, until stop
// is called or the test ends.
func (w *workload) feed(each int, every time.Duration) (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(every * time.Duration(shrink))
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				for range each {
					_ = w.model.Change(w.emit) // never fails
				}
			case <-done:
				return
			}
		}
	}()
	end := sync.OnceFunc(func() {
		close(done)
		<-ended
	})
	w.t.Cleanup(end)
	return func() {
		end()
		w.flush()
	}
}

const workloadSQL = `
SET 'execution.checkpointing.interval' = '100 ms';
CREATE TABLE users (id INT, firstname STRING, lastname STRING, PRIMARY KEY (id) NOT ENFORCED) WITH (
  'connector' = 'kafka', 'topic' = '$USERS', 'properties.bootstrap.servers' = '$KAFKA', 'properties.group.id' = '$USERS',
  'scan.startup.mode' = 'earliest-offset', 'scan.bounded.mode' = '$END', 'format' = 'debezium-json');
CREATE TABLE domains (id INT, user_id INT, domain_name STRING, PRIMARY KEY (id) NOT ENFORCED) WITH (
  'connector' = 'kafka', 'topic' = '$DOMAINS', 'properties.bootstrap.servers' = '$KAFKA', 'properties.group.id' = '$USERS',
  'scan.startup.mode' = 'earliest-offset', 'scan.bounded.mode' = '$END', 'format' = 'debezium-json');
CREATE VIEW joined AS SELECT d.id AS domain_id, u.id AS user_id, firstname, lastname, domain_name
  FROM users u JOIN domains d ON u.id = d.user_id;
CREATE TABLE retracts (domain_id INT, user_id INT, firstname STRING, lastname STRING, domain_name STRING) WITH (
  'connector' = 'kafka', 'topic' = '$RETRACT', 'properties.bootstrap.servers' = '$KAFKA', 'format' = 'debezium-json',
  'key.format' = 'json', 'key.fields' = 'domain_id');
CREATE TABLE upserts (domain_id INT, user_id INT, firstname STRING, lastname STRING, domain_name STRING, PRIMARY KEY (domain_id) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '$UPSERTS', 'properties.bootstrap.servers' = '$KAFKA', 'key.format' = 'json', 'value.format' = 'json');
INSERT INTO retracts SELECT * FROM joined;
INSERT INTO upserts SELECT * FROM joined;
`

// onceSQL is one more sink for workloadSQL, whose records come exactly once. It needs a state directory.
const onceSQL = `
CREATE TABLE once (domain_id INT, user_id INT, firstname STRING, lastname STRING, domain_name STRING) WITH (
  'connector' = 'kafka', 'topic' = '$ONCE', 'properties.bootstrap.servers' = '$KAFKA', 'format' = 'debezium-json',
  'key.format' = 'json', 'key.fields' = 'domain_id', 'sink.delivery-guarantee' = 'exactly-once', 'sink.transactional-id-prefix' = '$ONCE');
INSERT INTO once SELECT * FROM joined;
`

// fill puts the topics' names into a script. end is the value of
// scan.bounded.mode.
func (w *workload) fill(sql, end string) string {
	return strings.NewReplacer("$USERS", w.users, "$DOMAINS", w.domains, "$RETRACT", w.retract, "$UPSERTS", w.upserts, "$ONCE", w.once, "$KAFKA", w.addr, "$END", end).Replace(sql)
}

// follow starts the job without an end.
func (w *workload) follow(args ...string) *process {
	w.t.Helper()
	return start(w.t, w.fill(workloadSQL, "unbounded"), args...)
}

// finish runs the job up to the inputs' present end.
func (w *workload) finish(args ...string) *process {
	w.t.Helper()
	return run(w.t, w.fill(workloadSQL, "latest-offset"), args...).exited(0)
}

// verify compares what an output topic leaves with the join of the tables.
func (w *workload) verify(topic string, mode cdcbench.Mode) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), patience)
	defer cancel()
	if _, err := cdcbench.Verify(ctx, w.addr, topic, mode, w.model.Expected()); err != nil {
		w.t.Error(err)
	}
}

// await waits until an output topic leaves the join of the tables. A job may be silent for a while before it has
// caught up, so that silence would tell nothing.
func (w *workload) await(p *process, topic string, mode cdcbench.Mode) {
	w.t.Helper()
	want := w.model.Expected()
	for deadline := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		p.running()
		_, err := cdcbench.Verify(w.t.Context(), w.addr, topic, mode, want)
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			p.stuck(fmt.Sprintf("the job does not catch up: %v", err))
		}
	}
}

// verifyReread reads the topic of envelopes back as a table with a primary key, as
// a consumer does for whom an event that comes twice does no harm.
func (w *workload) verifyReread() {
	w.t.Helper()
	copied := newTopic(w.t, w.addr, "copied", cdcbench.Partitions)
	sql := w.fill(`
CREATE TABLE retracts (domain_id INT, user_id INT, firstname STRING, lastname STRING, domain_name STRING, PRIMARY KEY (domain_id) NOT ENFORCED) WITH (
  'connector' = 'kafka', 'topic' = '$RETRACT', 'properties.bootstrap.servers' = '$KAFKA', 'format' = 'debezium-json',
  'scan.startup.mode' = 'earliest-offset', 'scan.bounded.mode' = 'latest-offset');
CREATE TABLE copied (user_id INT, firstname STRING, lastname STRING, domain_name STRING) WITH (
  'connector' = 'kafka', 'topic' = '$COPIED', 'properties.bootstrap.servers' = '$KAFKA', 'format' = 'debezium-json');
INSERT INTO copied SELECT user_id, firstname, lastname, domain_name FROM retracts;`, "")
	run(w.t, strings.ReplaceAll(sql, "$COPIED", copied)).exited(0)
	w.verify(copied, cdcbench.Retract)
}

// parallelism is the flag for the n-th run of a job: another one each time.
func parallelism(n int) string { return fmt.Sprintf("--parallelism=%d", []int{2, 1, 4, 3}[n%4]) }
