package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/sluicesql/sluice/connectors/format/debezium"
	jsonformat "github.com/sluicesql/sluice/connectors/format/json"
	"github.com/sluicesql/sluice/connectors/kafka"
	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/state/statetest"
	"github.com/sluicesql/sluice/internal/cdcbench"
	"github.com/sluicesql/sluice/internal/embed"
	"github.com/sluicesql/sluice/planner"
	"github.com/sluicesql/sluice/runtime"
	"github.com/sluicesql/sluice/sql/parser"
)

// crashKafkaSQL writes a join exactly once and as upserts, and an append-only topic exactly once.
const crashKafkaSQL = `
CREATE TABLE users (id INT, firstname STRING, lastname STRING, PRIMARY KEY (id) NOT ENFORCED) WITH (
  'connector' = 'kafka', 'topic' = 'users', 'properties.bootstrap.servers' = '$KAFKA', 'properties.group.id' = 'g',
  'scan.startup.mode' = 'earliest-offset', 'scan.bounded.mode' = 'latest-offset', 'format' = 'debezium-json', 'properties.fetch.max.wait.ms' = '10');
CREATE TABLE domains (id INT, user_id INT, domain_name STRING, PRIMARY KEY (id) NOT ENFORCED) WITH (
  'connector' = 'kafka', 'topic' = 'domains', 'properties.bootstrap.servers' = '$KAFKA', 'properties.group.id' = 'g',
  'scan.startup.mode' = 'earliest-offset', 'scan.bounded.mode' = 'latest-offset', 'format' = 'debezium-json', 'properties.fetch.max.wait.ms' = '10');
CREATE TABLE log (line INT) WITH (
  'connector' = 'kafka', 'topic' = 'log', 'properties.bootstrap.servers' = '$KAFKA',
  'scan.startup.mode' = 'earliest-offset', 'scan.bounded.mode' = 'latest-offset', 'format' = 'json', 'properties.fetch.max.wait.ms' = '10');
CREATE VIEW joined AS SELECT d.id AS domain_id, u.id AS user_id, firstname, lastname, domain_name FROM users u JOIN domains d ON u.id = d.user_id;
CREATE TABLE once (domain_id INT, user_id INT, firstname STRING, lastname STRING, domain_name STRING) WITH (
  'connector' = 'kafka', 'topic' = 'once', 'properties.bootstrap.servers' = '$KAFKA', 'format' = 'debezium-json',
  'key.format' = 'json', 'key.fields' = 'domain_id', 'sink.delivery-guarantee' = 'exactly-once', 'sink.transactional-id-prefix' = 'p');
CREATE TABLE often (domain_id INT, user_id INT, firstname STRING, lastname STRING, domain_name STRING, PRIMARY KEY (domain_id) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = 'often', 'properties.bootstrap.servers' = '$KAFKA', 'key.format' = 'json', 'value.format' = 'json');
CREATE TABLE copy (line INT) WITH (
  'connector' = 'kafka', 'topic' = 'copy', 'properties.bootstrap.servers' = '$KAFKA', 'format' = 'json',
  'sink.delivery-guarantee' = 'exactly-once', 'sink.transactional-id-prefix' = 'p');
INSERT INTO once SELECT * FROM joined;
INSERT INTO often SELECT * FROM joined;
INSERT INTO copy SELECT * FROM log;`

// crashBroker is a broker with the inputs, whose requests can be cut off.
type crashBroker struct {
	*embed.Broker
	plan  *planner.Plan
	model *cdcbench.Model
	lines []string // of the log

	mu    sync.Mutex
	count int
	at    func(n int, req kmsg.Request) error // asked for each request of a job; nil lets all through
}

func newCrashBroker(t *testing.T) *crashBroker {
	t.Helper()
	e, err := embed.StartWith()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	b := &crashBroker{Broker: e, model: cdcbench.NewModel(cdcbench.Size{Users: 12}, 1)}
	var records []embed.Record
	emit := func(e cdcbench.Event) error {
		topic := map[bool]string{true: "domains", false: "users"}[e.Table == cdcbench.Domains]
		records = append(records, embed.Record{Topic: topic, Key: cdcbench.AppendKey(nil, e.ID), Value: e.Value})
		return nil
	}
	if err := b.model.Snapshot(emit); err != nil {
		t.Fatal(err)
	}
	for i := range 30 {
		if err := b.model.Change(emit); err != nil {
			t.Fatal(err)
		}
		b.lines = append(b.lines, fmt.Sprintf(`{"line":%d}`, i))
		records = append(records, embed.Record{Topic: "log", Value: []byte(b.lines[i])})
	}
	slices.Sort(b.lines)
	for _, topic := range []string{"users", "domains", "log", "once", "often", "copy"} {
		if err := b.CreateTopic(topic, 2); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Produce(t.Context(), records...); err != nil {
		t.Fatal(err)
	}
	r := spi.NewRegistry()
	kafka.Register(r)
	debezium.Register(r)
	jsonformat.Register(r)
	stmts, err := parser.Parse("crash.sql", strings.ReplaceAll(crashKafkaSQL, "$KAFKA", b.Addr()))
	if err != nil {
		t.Fatal(err)
	}
	script, err := planner.NewSession(r).Run(stmts)
	if err != nil {
		t.Fatal(err)
	}
	b.plan = script.Steps[len(script.Steps)-1].(*planner.Job).Plan
	b.Cluster().Control(func(req kmsg.Request) (kmsg.Response, error, bool) {
		b.Cluster().KeepControl()
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.at == nil {
			return nil, nil, false
		}
		err := b.at(b.count, req)
		b.count++
		return nil, err, err != nil
	})
	return b
}

// intercept has f asked for each request from now on, numbered from 0; nil ends that. It returns the number of
// requests that were asked for before.
func (b *crashBroker) intercept(f func(n int, req kmsg.Request) error) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := b.count
	b.count, b.at = 0, f
	return n
}

// run runs the job to its end.
func (b *crashBroker) run(ctx context.Context, disk *statetest.Disk, shards int) (*runtime.Job, error) {
	job, err := runtime.Start(ctx, runtime.Config{
		Plan: b.plan, Parallelism: shards, StateDir: "state", EpochMaxRows: 20, CheckpointInterval: 5 * time.Millisecond,
		Hooks: &runtime.Hooks{FS: disk.FS()},
	})
	if err == nil {
		err = job.Wait()
	}
	return job, err
}

// check holds the output topics to the model.
func (b *crashBroker) check(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for topic, mode := range map[string]cdcbench.Mode{"once": cdcbench.Exact, "often": cdcbench.Upsert} {
		if _, err := cdcbench.Verify(ctx, b.Addr(), topic, mode, b.model.Expected()); err != nil {
			t.Error(err)
		}
	}
	copied, err := b.Consume(ctx, "copy", len(b.lines))
	if err != nil {
		t.Error(err)
	}
	var got []string
	for _, r := range copied {
		got = append(got, string(r.Value))
	}
	slices.Sort(got)
	if !slices.Equal(got, b.lines) {
		t.Errorf("copy holds %q", got)
	}
}

var errCut = errors.New("the connection is cut")

// Every request to the broker fails in turn: the process dies before the broker has it; the process dies when the
// broker has it, and never learns the answer; or the connection breaks and the process goes on. The job is started
// again where it has ended, with other shards. What it leaves is right, and what is written exactly once is exact.
func TestCrashAtEveryRequest(t *testing.T) {
	step := 1
	if testing.Short() {
		step = 9
	}
	for _, kind := range []string{"before", "after", "cut"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			points, rows := 0, int64(-1)
			for i := 0; ; i += step {
				b := newCrashBroker(t)
				disk := statetest.NewDisk()
				ctx, cancel := context.WithCancel(t.Context())
				hit := ""
				b.intercept(func(n int, req kmsg.Request) error {
					if n == i {
						hit = fmt.Sprintf("request %d, %s", n, kmsg.NameForKey(req.Key()))
					}
					switch {
					case n < i || kind == "cut" && n > i:
						return nil
					case kind != "cut":
						cancel()
						if kind == "after" && n == i {
							return nil
						}
					}
					return errCut
				})
				job, err := b.run(ctx, disk, 1+i%3)
				cancel()
				b.intercept(nil)
				if hit == "" {
					if err != nil {
						t.Fatalf("nothing failed, and the job ended with %v", err)
					}
					b.check(t)
					break
				}
				points++
				if err != nil {
					if job, err = b.run(t.Context(), disk, 1+(i+1)%3); err != nil {
						t.Fatalf("%s failed; the next start: %v", hit, err)
					}
				}
				b.check(t)
				if n := job.Stats().StateRows; rows < 0 {
					rows = n
				} else if n != rows {
					t.Errorf("the state holds %d rows, and %d otherwise", n, rows)
				}
				if t.Failed() {
					t.Fatalf("%s failed", hit)
				}
				b.Close()
			}
			t.Logf("%d requests", points)
			if points*step < 40 {
				t.Errorf("%d requests only", points*step)
			}
		})
	}
}
