package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/state/statetest"
	"github.com/sluicesql/sluice/engine/types"
	"github.com/sluicesql/sluice/internal/memconn"
	"github.com/sluicesql/sluice/internal/oracle"
	"github.com/sluicesql/sluice/planner"
	"github.com/sluicesql/sluice/runtime"
)

// crashSQL writes a join whose rows change exactly once and as upserts, and an append-only table exactly once.
const crashSQL = `
CREATE TABLE log (no INT, word STRING) WITH ('connector' = 'mem', 'name' = 'log', 'native' = 'append');
CREATE TABLE once (id INT, user_id INT, firstname STRING, domain_name STRING, PRIMARY KEY (id) NOT ENFORCED)
  WITH ('connector' = 'mem', 'name' = 'once', 'transactional' = 'true');
CREATE TABLE often (id INT, user_id INT, firstname STRING, domain_name STRING, PRIMARY KEY (id) NOT ENFORCED)
  WITH ('connector' = 'mem', 'name' = 'often', 'accepts' = 'upsert');
CREATE TABLE copy (no INT, word STRING) WITH ('connector' = 'mem', 'name' = 'copy', 'transactional' = 'true');
CREATE VIEW joined AS SELECT d.id, u.id AS user_id, u.firstname, d.domain_name FROM users u JOIN domains d ON u.id = d.user_id;
INSERT INTO once SELECT * FROM joined;
INSERT INTO often SELECT * FROM joined;
INSERT INTO copy SELECT * FROM log;`

// crashHub holds small histories of the tables of crashSQL.
func crashHub(seed uint64, changes int) *memconn.Hub {
	hub := filledHub(seed, changes)
	parts := make([][]memconn.Event, 2)
	for i := range changes {
		parts[i%2] = append(parts[i%2], memconn.Event{After: []row.Datum{{I: int64(i)}, {B: fmt.Appendf(nil, "word %d", i%7)}}})
	}
	hub.SetTable("log", parts)
	return hub
}

// outcome is what a job leaves when it has read everything.
type outcome struct {
	once, often, copy string // the rows of the sinks
	stateRows         int64
}

// outcomeOf reads the sinks. What a transactional sink holds must be exact: each change follows from the one before.
func outcomeOf(t *testing.T, hub *memconn.Hub, plan *planner.Plan, job *runtime.Job) outcome {
	t.Helper()
	ts := plan.Sinks[0].Out().Types()
	o := outcome{stateRows: job.Stats().StateRows}
	o.once = exactly(t, hub.Ledger("once").Changes(), ts)
	o.often = upserted(hub.Sink("often").Arrived(), ts)
	o.copy = lines(hub.Ledger("copy").Changes(), plan.Sinks[2].Out().Types())
	return o
}

// exactly replays changes of rows that have their key in the first column, where each must find what the ones before
// it left. It returns the rows that are left.
func exactly(t *testing.T, cs []memconn.Change, ts []types.Type) string {
	t.Helper()
	live := map[string]string{}
	for i, c := range cs {
		text := oracle.Text(c.Row, ts)
		key, _, _ := strings.Cut(text, "|")
		switch was, ok := live[key]; {
		case c.Op.Negative() && was != text:
			t.Errorf("change %d: %v %s where there is %q", i, c.Op, text, was)
		case c.Op.Negative():
			delete(live, key)
		case ok:
			t.Errorf("change %d: %v %s where there is %q already", i, c.Op, text, was)
		default:
			live[key] = text
		}
	}
	return sorted(live)
}

// upserted are the rows that a table holds that takes rows by the key in their first column.
func upserted(cs []memconn.Change, ts []types.Type) string {
	live := map[string]string{}
	for _, c := range cs {
		text := oracle.Text(c.Row, ts)
		key, _, _ := strings.Cut(text, "|")
		if c.Op.Negative() {
			delete(live, key)
		} else {
			live[key] = text
		}
	}
	return sorted(live)
}

func (o outcome) check(t *testing.T, want outcome) {
	t.Helper()
	for name, got := range map[string][2]string{"once": {o.once, want.once}, "often": {o.often, want.often}, "copy": {o.copy, want.copy}} {
		if got[0] != got[1] {
			t.Errorf("%s holds\n%s\nwant\n%s", name, got[0], got[1])
		}
	}
	if o.stateRows != want.stateRows {
		t.Errorf("the state holds %d rows, want %d", o.stateRows, want.stateRows)
	}
}

// crashConfig makes small epochs and a checkpoint as often as there can be one.
func crashConfig(plan *planner.Plan, disk *statetest.Disk, shards int) runtime.Config {
	return runtime.Config{
		Plan: plan, Parallelism: shards, StateDir: "state", MemoryBudget: 1 << 20, EpochMaxRows: 12, CheckpointInterval: 2 * time.Millisecond,
		Hooks: &runtime.Hooks{FS: disk.FS(), SegmentBytes: 300},
	}
}

// undisturbed is the outcome of a run that nothing happens to.
func undisturbed(t *testing.T, hub *memconn.Hub) outcome {
	t.Helper()
	plan := planOf(t, hub, crashSQL)
	job, err := runtime.Start(t.Context(), crashConfig(plan, statetest.NewDisk(), 2))
	if err == nil {
		err = job.Wait()
	}
	if err != nil {
		t.Fatal(err)
	}
	o := outcomeOf(t, hub, plan, job)
	if o.copy == "" {
		t.Fatal("nothing was written")
	}
	return o
}

// A disk that takes no more writes, from each of them on, ends the job with one error: what fails because of it in
// closing is not told again.
func TestBrokenDiskIsToldOnce(t *testing.T) {
	for i := 0; ; i += 5 {
		disk := statetest.NewDisk()
		disk.BreakAt(i, 0, 0, func() {})
		job, err := runtime.Start(t.Context(), crashConfig(planOf(t, crashHub(1, 40), crashSQL), disk, 2))
		if err == nil {
			err = job.Wait()
		}
		if !disk.Broke() {
			break
		}
		if err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("write %d: %v", i, err)
		}
	}
}

// The machine crashes at every write to the disk in turn, from the creation of the state directory to the end of the
// job, and what was not synced is lost, all of it or half. The job is started again, with other shards. What it leaves
// is what an undisturbed run leaves.
func TestCrashAtEveryWrite(t *testing.T) {
	const changes = 40
	want := undisturbed(t, crashHub(1, changes))
	step := 1
	if testing.Short() {
		step = 7
	}
	points := 0
	for i := 0; ; i += step {
		hub := crashHub(1, changes)
		plan := planOf(t, hub, crashSQL)
		disk := statetest.NewDisk()
		ctx, cancel := context.WithCancel(t.Context())
		disk.BreakAt(i, i%2*50, uint64(i), cancel)
		job, err := runtime.Start(ctx, crashConfig(plan, disk, 1+i%3))
		if err == nil {
			err = job.Wait()
		}
		cancel()
		if !disk.Broke() {
			if err != nil {
				t.Fatalf("write %d, which did not come: %v", i, err)
			}
			break
		}
		points++
		if job, err = runtime.Start(t.Context(), crashConfig(plan, disk.AfterCrash(), 1+(i+1)%3)); err == nil {
			err = job.Wait()
		}
		if err != nil {
			t.Fatalf("after a crash at write %d: %v", i, err)
		}
		outcomeOf(t, hub, plan, job).check(t, want)
		if t.Failed() {
			t.Fatalf("after a crash at write %d", i)
		}
	}
	t.Logf("%d crashes", points)
	if points*step < 50 {
		t.Errorf("%d writes only", points*step)
	}
}

// A sink fails at every step of every delivery in turn, before it has done anything and after it has done all, which
// its caller does not learn.
func TestCrashAtEveryDelivery(t *testing.T) {
	const changes = 40
	want := undisturbed(t, crashHub(2, changes))
	crashed := errors.New("crash")
	points := 0
	for i := int64(0); ; i++ {
		hub := crashHub(2, changes)
		plan := planOf(t, hub, crashSQL)
		disk := statetest.NewDisk()
		var steps, broken atomic.Int64
		for _, name := range []string{"once", "copy"} {
			hub.Ledger(name).Fail = func(string) error {
				if steps.Add(1) == i+1 || broken.Load() > 0 {
					broken.Add(1)
					return crashed
				}
				return nil
			}
		}
		job, err := runtime.Start(t.Context(), crashConfig(plan, disk, 1+int(i)%3))
		if err == nil {
			err = job.Wait()
		}
		if broken.Load() == 0 {
			if err != nil {
				t.Fatal(err)
			}
			break
		}
		if !errors.Is(err, crashed) {
			t.Fatalf("step %d failed, and the job ended with %v", i, err)
		}
		points++
		hub.Ledger("once").Fail, hub.Ledger("copy").Fail = nil, nil
		if job, err = runtime.Start(t.Context(), crashConfig(plan, disk, 1+int(i+1)%3)); err == nil {
			err = job.Wait()
		}
		if err != nil {
			t.Fatalf("after a crash at step %d: %v", i, err)
		}
		outcomeOf(t, hub, plan, job).check(t, want)
		if t.Failed() {
			t.Fatalf("after a crash at step %d", i)
		}
	}
	t.Logf("%d crashes", points)
	if points < 10 {
		t.Errorf("%d steps only", points)
	}
}
