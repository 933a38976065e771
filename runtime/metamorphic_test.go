package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/state/statetest"
	"github.com/sluicesql/sluice/internal/memconn"
	"github.com/sluicesql/sluice/planner"
	"github.com/sluicesql/sluice/runtime"
)

// world is a job that random things happen to.
type world struct {
	t     *testing.T
	rng   *rand.Rand
	full  *memconn.Hub // what is produced in the end
	hub   *memconn.Hub
	plan  *planner.Plan
	disk  *statetest.Disk
	dir   string
	from  string // the savepoint that the next start begins with; empty for none
	saves int
	story []string

	job    *runtime.Job // nil while none runs
	cancel context.CancelFunc

	mu   sync.Mutex
	cuts map[string][]spi.Position // the positions of the last cut
}

var metamorphicTables = []string{"users", "domains", "log"}

const metamorphicChanges = 150

func newWorld(t *testing.T, seed uint64) *world {
	w := &world{
		t: t, rng: rand.New(rand.NewPCG(seed, 1)), full: crashHub(seed, metamorphicChanges), hub: memconn.NewHub(seed),
		disk: statetest.NewDisk(), dir: "state",
	}
	for _, name := range metamorphicTables {
		w.hub.SetTable(name, make([][]memconn.Event, w.full.Parts(name)))
	}
	w.plan = w.planOf(w.hub)
	return w
}

// planOf plans crashSQL over tables that never end.
func (w *world) planOf(hub *memconn.Hub) *planner.Plan {
	return planWith(w.t, hub, crashSQL, ", 'bounded' = 'false'")
}

func (w *world) note(format string, args ...any) {
	w.story = append(w.story, fmt.Sprintf(format, args...))
}

func (w *world) fail(format string, args ...any) {
	w.t.Helper()
	w.t.Fatalf("%s\nthe story:\n%s", fmt.Sprintf(format, args...), strings.Join(w.story, "\n"))
}

func pick[T any](rng *rand.Rand, of ...T) T { return of[rng.IntN(len(of))] }

// start starts the job under random options.
func (w *world) start() {
	if w.job != nil {
		return
	}
	cfg := runtime.Config{
		Plan: w.plan, StateDir: w.dir, FromSavepoint: w.from,
		Parallelism: pick(w.rng, 1, 2, 3, 4), MemoryBudget: pick[int64](w.rng, 1<<18, 1<<20, 1<<30),
		EpochMaxRows: pick(w.rng, 1, 7, 100), BatchRows: pick(w.rng, 1, 3, 1024),
		CheckpointInterval: pick(w.rng, time.Millisecond, 5*time.Millisecond, time.Hour),
		Hooks: &runtime.Hooks{FS: w.disk.FS(), Check: true, SegmentBytes: pick[int64](w.rng, 0, 100, 1000), MaxOutbox: pick[int64](w.rng, 0, 1, 2000), Cut: func(_ uint64, positions map[string][]spi.Position) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.cuts = positions
		}},
	}
	w.note("start with %d shards, epochs of %d, batches of %d, a checkpoint every %v, %d bytes, from %q", cfg.Parallelism, cfg.EpochMaxRows, cfg.BatchRows, cfg.CheckpointInterval, cfg.MemoryBudget, w.from)
	ctx, cancel := context.WithCancel(w.t.Context())
	job, err := runtime.Start(ctx, cfg)
	if err != nil {
		cancel()
		w.ended(err)
		return
	}
	w.job, w.cancel, w.from = job, cancel, ""
}

// ended takes note of the end of the job, which must have a reason that the test gave.
func (w *world) ended(err error) {
	w.job = nil
	if w.disk.Broke() {
		w.note("the machine crashed")
		w.disk = w.disk.AfterCrash()
		return
	}
	if err != nil && !errors.Is(err, errBroken) && !errors.Is(err, context.Canceled) {
		w.fail("the job ended with %v", err)
	}
	w.note("ended: %v", err)
}

func (w *world) wait() {
	err := w.job.Wait()
	w.cancel()
	w.ended(err)
}

// produce appends the next events of a partition.
func (w *world) produce(n int) {
	name := pick(w.rng, metamorphicTables...)
	p := w.rng.IntN(w.full.Parts(name))
	at, end := w.hub.Len(name, p), w.full.Len(name, p)
	n = int(min(int64(n), end-at))
	for i := range n {
		w.hub.Append(name, p, w.full.Event(name, p, at+int64(i)))
	}
	w.note("produce %d to %s/%d", n, name, p)
}

// step does one random thing.
func (w *world) step() {
	switch n := w.rng.IntN(100); {
	case n < 45:
		w.produce(1 + w.rng.IntN(20))
	case n < 60:
		time.Sleep(time.Duration(w.rng.IntN(15)) * time.Millisecond)
	case w.job == nil:
		w.start()
	case n < 70:
		w.note("kill")
		w.job.Kill()
		w.wait()
	case n < 80:
		at := w.rng.IntN(60)
		w.note("crash at write %d from now", at)
		w.disk.BreakAt(at, pick(w.rng, 0, 50, 100), w.rng.Uint64(), w.cancel)
		w.produce(20)
		time.Sleep(10 * time.Millisecond)
		if w.disk.Broke() {
			w.wait()
		} else {
			w.disk.Mend()
		}
	case n < 86:
		w.note("stop")
		w.job.Stop()
		w.wait()
	case n < 92:
		w.breakSink()
	default:
		w.saves++
		target := fmt.Sprintf("savepoint-%d", w.saves)
		w.note("stop with savepoint %s", target)
		if err := w.job.StopWithSavepoint(w.t.Context(), target); err != nil {
			w.fail("savepoint: %v", err)
		}
		w.wait()
		w.dir, w.from = fmt.Sprintf("state-%d", w.saves), target
	}
}

// breakSink has a transactional sink fail once at a step of its next deliveries.
func (w *world) breakSink() {
	name, step := pick(w.rng, "once", "copy"), pick(w.rng, "deliver", "delivered")
	w.note("%s fails at %q", name, step)
	w.hub.Ledger(name).FailOnce(step, errBroken)
	w.produce(20)
	time.Sleep(5 * time.Millisecond)
	if w.hub.Ledger(name).FailOnce("", nil) { // it has not come to that
		return
	}
	w.wait()
}

// finish produces the rest, and runs until all is read.
func (w *world) finish() {
	for _, name := range metamorphicTables {
		for p := range w.full.Parts(name) {
			for at := w.hub.Len(name, p); at < w.full.Len(name, p); at++ {
				w.hub.Append(name, p, w.full.Event(name, p, at))
			}
		}
	}
	for tries := 0; w.job == nil; tries++ {
		if w.start(); tries > 3 {
			w.fail("the job does not start")
		}
	}
	for deadline := time.Now().Add(2 * time.Minute); !w.allRead(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			w.fail("not everything is read")
		}
	}
	w.job.Stop()
}

func (w *world) allRead() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := 0
	for _, positions := range w.cuts {
		for _, p := range positions {
			if n++; p.Offset < w.full.Len(p.Topic, int(p.Partition)) {
				return false
			}
		}
	}
	return n > 0
}

// Random things happen to a job: events come, it is killed, the machine crashes, it is stopped and started with other
// shards and other options, a sink fails or is slow, it is stopped with a savepoint and goes on from there in another
// directory. What it leaves is what an undisturbed run leaves.
func TestMetamorphic(t *testing.T) {
	seeds := uint64(24)
	if testing.Short() {
		seeds = 4
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, seed+1)
			want := undisturbed(t, crashHub(seed+1, metamorphicChanges))
			if seed%2 == 0 {
				slow := rand.New(rand.NewPCG(seed, 2))
				var mu sync.Mutex
				w.hub.Sink("often").Slow = func() time.Duration {
					mu.Lock()
					defer mu.Unlock()
					return time.Duration(slow.IntN(3000)) * time.Microsecond
				}
			}
			for range 60 {
				w.step()
			}
			w.finish()
			job := w.job
			if err := job.Wait(); err != nil {
				w.fail("the job ended with %v", err)
			}
			w.cancel()
			outcomeOf(t, w.hub, w.plan, job).check(t, want)
			if t.Failed() {
				w.fail("that is wrong")
			}
		})
	}
}
