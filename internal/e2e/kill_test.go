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

// Under load, the process is killed at random moments and when a checkpoint has
// just been taken, and started again with another parallelism each time. In the
// end the upsert topic holds exactly the join. The sink of envelopes repeats whole
// epochs after a crash: read by key, it holds exactly the join too. Once the input
// has been read to its end, a further start emits nothing.
func TestKills(t *testing.T) {
	w := newWorkload(t, kafka(t), 2_000)
	dir := filepath.Join(t.TempDir(), "state")
	w.snapshot()
	stop := w.feed(20, 5*time.Millisecond)
	random := rand.New(rand.NewPCG(1, 2))
	for n := range kills {
		before := length(t, w.addr, w.upserts)
		p := w.follow("--state-dir", dir, parallelism(n))
		until(t, "the job writes", func() bool { p.running(); return length(t, w.addr, w.upserts) > before })
		if n%2 == 0 {
			time.Sleep(time.Duration(random.IntN(300)) * time.Millisecond)
		} else {
			awaitCheckpoint(t, p, dir)
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

// awaitCheckpoint returns at the moment when a checkpoint has been taken, which is
// when the epoch log is cut.
func awaitCheckpoint(t *testing.T, p *process, dir string) {
	t.Helper()
	last := int64(0)
	for deadline := time.Now().Add(patience); ; time.Sleep(200 * time.Microsecond) {
		p.running()
		info, err := os.Stat(filepath.Join(dir, "epochs.log"))
		if err == nil && info.Size() < last {
			return
		}
		if err == nil {
			last = info.Size()
		}
		if time.Now().After(deadline) {
			t.Fatal("no checkpoint is taken")
		}
	}
}

// Without a crash both topics are exact, and add up to the same whatever the
// parallelism; a state directory makes no difference.
func TestNoKills(t *testing.T) {
	w := newWorkload(t, kafka(t), 2_000)
	w.snapshot()
	w.change(4_000)
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
