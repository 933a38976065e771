package e2e

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sluicesql/sluice/internal/cdcbench"
	"github.com/sluicesql/sluice/runtime"
)

// vital is what a running job takes at a moment.
type vital struct {
	at                    time.Duration
	rss, state, dir       int64 // bytes
	rows, changes         int64
	goroutines, openFiles int
	checkpoints           uint64
}

func (v vital) String() string {
	return fmt.Sprintf("| %v | %d MB | %d MB | %d MB | %d | %d | %d | %d | %d |", v.at.Round(time.Second), v.rss>>20, v.state>>20, v.dir>>20, v.rows, v.goroutines, v.openFiles, v.checkpoints, v.changes)
}

// Under steady load neither memory nor goroutines nor open files grow, and the state has what the live rows need and no more.
// It runs for as long as SLUICE_SOAK says, and not at all without.
func TestSoak(t *testing.T) {
	duration, err := time.ParseDuration(os.Getenv("SLUICE_SOAK"))
	if err != nil {
		t.Skip("set SLUICE_SOAK to a duration; make soak does")
	}
	w := newWorkload(t, kafka(t), 100_000)
	dir := filepath.Join(t.TempDir(), "state")
	w.snapshot()
	p := start(t, w.fill(workloadSQL+onceSQL, "unbounded"), "--state-dir", dir, "--parallelism=2", "--set", "sluice.memory.budget=256 mb")
	until(t, "the snapshot is joined", func() bool { p.running(); return length(t, w.addr, w.once) >= w.model.Expected().Rows })

	stop := w.feed(10, 5*time.Millisecond)
	var vitals []vital
	t.Log("| time | resident | state | directory | rows | goroutines | open files | checkpoints | changes out |")
	every := max(duration/60, time.Second)
	for begin := time.Now(); time.Since(begin) < duration; {
		time.Sleep(every)
		p.running()
		v := vitalOf(t, p, dir)
		v.at = time.Since(begin)
		vitals = append(vitals, v)
		t.Log(v)
	}
	stop()
	w.await(p, w.once, cdcbench.Exact)
	w.await(p, w.upserts, cdcbench.Upsert)
	p.terminate()
	w.verify(w.once, cdcbench.Exact)
	w.verify(w.upserts, cdcbench.Upsert)
	fresh := w.finish("--state-dir", filepath.Join(t.TempDir(), "fresh")).summary()
	if s := p.summary(); s.StateRows != fresh.StateRows {
		t.Errorf("the state holds %d rows, and that of a job that has just begun %d", s.StateRows, fresh.StateRows)
	}

	// The first third is for caches to fill.
	third := len(vitals) / 3
	if third == 0 {
		t.Fatal("too short")
	}
	middle, end := highest(vitals[third:2*third]), highest(vitals[2*third:])
	t.Logf("middle third, highest: %v", middle)
	t.Logf("last third, highest:   %v", end)
	if end.rss > middle.rss+middle.rss/5 {
		t.Errorf("resident memory grew from %d MB to %d MB", middle.rss>>20, end.rss>>20)
	}
	if end.goroutines > middle.goroutines+3 || end.openFiles > middle.openFiles+10 {
		t.Errorf("goroutines grew from %d to %d, open files from %d to %d", middle.goroutines, end.goroutines, middle.openFiles, end.openFiles)
	}
}

// highest is the highest of everything.
func highest(vs []vital) (h vital) {
	for _, v := range vs {
		h.at, h.changes, h.checkpoints = v.at, v.changes, v.checkpoints
		h.rss, h.state, h.dir, h.rows = max(h.rss, v.rss), max(h.state, v.state), max(h.dir, v.dir), max(h.rows, v.rows)
		h.goroutines, h.openFiles = max(h.goroutines, v.goroutines), max(h.openFiles, v.openFiles)
	}
	return h
}

func vitalOf(t *testing.T, p *process, dir string) vital {
	t.Helper()
	r, err := runtime.Dial(dir)
	if err != nil {
		t.Fatal(err)
	}
	s, err := r.Status()
	if err != nil {
		t.Fatal(err)
	}
	v := vital{state: s.StateBytes, rows: s.StateRows, changes: s.RowsOut, goroutines: s.Goroutines, checkpoints: s.Checkpoints}
	proc := fmt.Sprintf("/proc/%d", p.cmd.Process.Pid)
	status, err := os.ReadFile(proc + "/status")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kb, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			v.rss = kb << 10
		}
	}
	files, err := os.ReadDir(proc + "/fd")
	if err != nil {
		t.Fatal(err)
	}
	v.openFiles = len(files)
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // it has gone meanwhile
		}
		if info, err := d.Info(); err == nil && !d.IsDir() {
			v.dir += info.Size()
		}
		return nil
	})
	return v
}
