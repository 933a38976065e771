package e2e

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/sluicesql/sluice/internal/cdcbench"
)

// kills is the number of crashes of TestKills.
const kills = 6

// Under load, the process is killed at random moments, while a checkpoint is
// committed and when the epoch log has just been rewritten, and started again with
// another parallelism each time. In the
// end the upsert topic holds exactly the join. The sink of envelopes repeats whole
// epochs after a crash: read by key, it holds exactly the join too. Once the input
// has been read to its end, a further start emits nothing.
func TestKills(t *testing.T) {
	t.Parallel() // with TestBrokerRestarts, which mostly waits
	w := newWorkload(t, kafka(t), 2_000)
	dir := filepath.Join(t.TempDir(), "state")
	w.snapshot()
	stop := w.feed(10, 5*time.Millisecond)
	random := rand.New(rand.NewPCG(1, 2))
	for n := range kills {
		before := length(t, w.addr, w.upserts)
		budget := []string{"1 mb", "1 gb"}[n/2%2] // state that is evicted, and state that is not
		p := w.follow("--state-dir", dir, parallelism(n), "--set", "sluice.memory.budget="+budget)
		until(t, "the job writes", func() bool { p.running(); return length(t, w.addr, w.upserts) > before })
		switch {
		case n == kills-1:
			awaitChange(t, p, filepath.Join(dir, "epochs.log"), func(old, now int64) bool { return now < old })
		case n%2 == 0:
			time.Sleep(time.Duration(random.IntN(300)) * time.Millisecond)
		default:
			awaitChange(t, p, filepath.Join(dir, "db", "*.log"), func(old, now int64) bool { return now > old })
		}
		p.running()
		p.kill()
	}
	stop()

	w.finish("--state-dir", dir, parallelism(kills))
	w.verify(w.upserts, cdcbench.Upsert)
	w.verifyReread()

	retracted, upserted := length(t, w.addr, w.retract), length(t, w.addr, w.upserts)
	for n := range 2 {
		p := w.finish("--state-dir", dir, parallelism(n))
		if s := p.summary(); s.ChangesOut != 0 || s.RecordsIn != 0 {
			t.Errorf("started again after the end: %+v", s)
		}
	}
	if r, u := length(t, w.addr, w.retract), length(t, w.addr, w.upserts); r != retracted || u != upserted {
		t.Errorf("started again after the end, the job wrote %d envelopes and %d upserts", r-retracted, u-upserted)
	}
	after, fresh := w.finish("--state-dir", dir).summary(), w.finish("--state-dir", filepath.Join(t.TempDir(), "fresh")).summary()
	if after.StateRows != fresh.StateRows {
		t.Errorf("after the crashes the state holds %d rows, after an undisturbed run %d", after.StateRows, fresh.StateRows)
	}
}

// awaitChange returns at the moment when the size of the files that match the
// pattern has changed in a way.
func awaitChange(t *testing.T, p *process, pattern string, changed func(old, now int64) bool) {
	t.Helper()
	size := func() (n int64) {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if info, err := os.Stat(f); err == nil { // it may have gone
				n += info.Size()
			}
		}
		return n
	}
	old := size()
	for deadline := time.Now().Add(patience); ; time.Sleep(200 * time.Microsecond) {
		p.running()
		now := size()
		if changed(old, now) {
			return
		}
		old = now
		if time.Now().After(deadline) {
			t.Fatalf("%s does not change", pattern)
		}
	}
}

// Without a crash both topics are exact, and add up to the same whatever the
// parallelism; a state directory makes no difference.
func TestNoKills(t *testing.T) {
	w := newWorkload(t, kafka(t), 2_000)
	w.snapshot()
	w.change(4_000 / shrink)
	for _, args := range [][]string{
		{"--parallelism=1"}, {"--parallelism=4"},
		{"--parallelism=2", "--state-dir", filepath.Join(t.TempDir(), "state")},
		{"--parallelism=2", "--set", "table.exec.source.cdc-events-duplicate=false"},
		{"--parallelism=2", "--set", "sluice.epoch.max-rows=100"},
	} {
		w.retract, w.upserts = newTopic(t, w.addr, "retract", 4), newTopic(t, w.addr, "upserts", 4)
		w.finish(args...)
		w.verify(w.retract, cdcbench.Retract)
		w.verify(w.upserts, cdcbench.Upsert)
		w.verifyReread()
	}
}
