package e2e

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/sluicesql/sluice/internal/cdcbench"
)

// kills is the number of crashes of TestKills: a few for a look, at least twenty where it counts. SLUICE_KILLS says
// another number.
func kills(t *testing.T) int {
	n := 6
	if os.Getenv("CI") == "true" {
		n = 20
	}
	if text := os.Getenv("SLUICE_KILLS"); text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil {
			t.Fatalf("SLUICE_KILLS: %v", err)
		}
	}
	return n
}

// Under load, the process is killed at random moments, while a checkpoint is committed, while output is delivered, and
// when the epoch log has just been rewritten, and started again with another parallelism each time. In the end the
// topic that is written exactly once has no record twice and none missing, and the upsert topic holds exactly the
// join. The other topic of envelopes repeats whole epochs after a crash: read by key, it holds exactly the join too.
// Once the input has been read to its end, a further start emits nothing.
func TestKills(t *testing.T) {
	t.Parallel() // with TestBrokerRestarts, which mostly waits
	w := newWorkload(t, kafka(t), 2_000)
	dir := filepath.Join(t.TempDir(), "state")
	w.snapshot()
	stop := w.feed(10, 5*time.Millisecond)
	random := rand.New(rand.NewPCG(1, 2))
	n := kills(t)
	for i := range n {
		before := length(t, w.addr, w.once)
		budget := []string{"1 mb", "1 gb"}[i/2%2] // state that is evicted, and state that is not
		p := start(t, w.fill(workloadSQL+onceSQL, "unbounded"), "--state-dir", dir, parallelism(i), "--set", "sluice.memory.budget="+budget)
		if i%5 == 4 { // before anything was done, perhaps
			time.Sleep(time.Duration(random.IntN(400)) * time.Millisecond)
		} else {
			until(t, "the job writes", func() bool { p.running(); return length(t, w.addr, w.once) > before })
		}
		grows := func(old, now int64) bool { return now > old }
		switch {
		case i == n-1:
			awaitChange(t, p, filepath.Join(dir, "epochs.log"), sizes, func(old, now int64) bool { return now < old })
		case i%3 == 0:
			time.Sleep(time.Duration(random.IntN(300)) * time.Millisecond)
		case i%3 == 1:
			// The commit, just before the delivery. Logs that are used again keep their size.
			awaitChange(t, p, filepath.Join(dir, "db", "*.log"), lastWrite, grows)
		default:
			awaitChange(t, p, filepath.Join(dir, "outbox", "*.seg"), sizes, grows)
			time.Sleep(time.Duration(random.IntN(20)) * time.Millisecond)
		}
		p.running()
		p.kill()
	}
	stop()

	finish := func(dir string, n int) summary {
		sql := workloadSQL
		if dir != "" {
			sql += onceSQL
		} else {
			dir = filepath.Join(t.TempDir(), "fresh")
		}
		return run(t, w.fill(sql, "latest-offset"), "--state-dir", dir, parallelism(n)).exited(0).summary()
	}
	finish(dir, n)
	w.verify(w.once, cdcbench.Exact)
	w.verify(w.upserts, cdcbench.Upsert)
	w.verifyReread()

	retracted, upserted, once := length(t, w.addr, w.retract), length(t, w.addr, w.upserts), len(contents(t, w.addr, w.once))
	for i := range 2 {
		if s := finish(dir, i); s.ChangesOut != 0 || s.RecordsIn != 0 {
			t.Errorf("started again after the end: %+v", s)
		}
	}
	if r, u, o := length(t, w.addr, w.retract), length(t, w.addr, w.upserts), len(contents(t, w.addr, w.once)); r != retracted || u != upserted || o != once {
		t.Errorf("started again after the end, the job wrote %d envelopes, %d upserts and %d records that come once", r-retracted, u-upserted, o-once)
	}
	after, fresh := finish(dir, 3), finish("", 0)
	if after.StateRows != fresh.StateRows {
		t.Errorf("after the crashes the state holds %d rows, after an undisturbed run %d", after.StateRows, fresh.StateRows)
	}
	if files, err := filepath.Glob(filepath.Join(dir, "outbox", "*")); err != nil || len(files) > 0 {
		t.Errorf("left in the outbox: %v %v", files, err)
	}
}

// sizes and lastWrite measure files: their sizes together, and when one of them was written last.
func sizes(files []os.FileInfo) (n int64) {
	for _, f := range files {
		n += f.Size()
	}
	return n
}

func lastWrite(files []os.FileInfo) (at int64) {
	for _, f := range files {
		at = max(at, f.ModTime().UnixNano())
	}
	return at
}

// awaitChange returns at the moment when what is measured of the files that match the pattern has changed in a way.
func awaitChange(t *testing.T, p *process, pattern string, measure func([]os.FileInfo) int64, changed func(old, now int64) bool) {
	t.Helper()
	size := func() int64 {
		names, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		var files []os.FileInfo
		for _, name := range names {
			if info, err := os.Stat(name); err == nil { // it may have gone
				files = append(files, info)
			}
		}
		return measure(files)
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
			p.stuck(pattern + " does not change")
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
