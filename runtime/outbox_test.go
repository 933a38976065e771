package runtime_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/internal/memconn"
	"github.com/sluicesql/sluice/runtime"
)

// pipeline is a job of crashSQL in a directory, as it goes through several runs.
type pipeline struct {
	t   *testing.T
	hub *memconn.Hub
	cfg runtime.Config
}

func newPipeline(t *testing.T) *pipeline {
	hub := crashHub(5, 200)
	return &pipeline{t, hub, runtime.Config{
		Plan: planOf(t, hub, crashSQL), Parallelism: 2, StateDir: filepath.Join(t.TempDir(), "state"), CheckpointInterval: time.Millisecond, EpochMaxRows: 10,
	}}
}

func (p *pipeline) run() error {
	job, err := runtime.Start(p.t.Context(), p.cfg)
	if err != nil {
		return err
	}
	return job.Wait()
}

var errBroken = errors.New("broken")

// stopAt runs the job until the sink fails at its n-th delivery with output, before anything is visible, or after,
// and leaves the output of that checkpoint pending.
func (p *pipeline) stopAt(step string, n int) {
	p.t.Helper()
	l := p.hub.Ledger("once")
	l.Fail = func(s string) error {
		if s == step {
			if n--; n < 0 {
				return errBroken
			}
		}
		return nil
	}
	if err := p.run(); !errors.Is(err, errBroken) {
		p.t.Fatalf("the job ended with %v", err)
	}
	l.Fail = nil
}

// refused wants the next start to fail and to say all that.
func (p *pipeline) refused(says ...string) {
	p.t.Helper()
	err := p.run()
	if err == nil {
		p.t.Fatal("the job started")
	}
	for _, s := range says {
		if !strings.Contains(err.Error(), s) {
			p.t.Errorf("the error lacks %q: %v", s, err)
		}
	}
}

func (p *pipeline) finishes() {
	p.t.Helper()
	if err := p.run(); err != nil {
		p.t.Fatal(err)
	}
	want := undisturbed(p.t, crashHub(5, 200))
	ts := p.cfg.Plan.Sinks[0].Out().Types()
	if got := exactly(p.t, p.hub.Ledger("once").Changes(), ts); got != want.once {
		p.t.Errorf("once holds\n%s\nwant\n%s", got, want.once)
	}
}

// The start looks at the marker: a sink of another job, of a later generation, or ahead of the state is refused by
// name, and whoever writes it is not fenced.
func TestStartRefusesForeignMarkers(t *testing.T) {
	for name, c := range map[string]struct {
		change func(m *spi.Marker)
		says   []string
	}{
		"another job":      {func(m *spi.Marker) { m.Job = strings.Repeat("b", 32) }, []string{"table once", "output of job bbbb", "a sink of its own"}},
		"later generation": {func(m *spi.Marker) { m.Generation++ }, []string{"table once", "generation 1", "restored from a savepoint"}},
		"later checkpoint": {func(m *spi.Marker) { m.Checkpoint += 1000 }, []string{"table once", "which is older", "copy"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPipeline(t)
			p.stopAt("deliver", 1)
			l := p.hub.Ledger("once")
			was, _ := l.Marker()
			m := was
			c.change(&m)
			l.SetMarker(m, true)
			l.Fail = func(step string) error {
				if step == "fence" {
					t.Error("the sink was fenced")
				}
				return nil
			}
			p.refused(c.says...)
			l.Fail = nil
			l.SetMarker(was, true)
			p.finishes()
		})
	}
}

// A marker that is gone while output is pending leaves the choice to the user.
func TestLostMarker(t *testing.T) {
	for _, step := range []string{"deliver", "delivered"} {
		for _, choice := range []runtime.PendingOutput{runtime.PendingDeliver, runtime.PendingSkip} {
			t.Run(step+"/"+string(choice), func(t *testing.T) {
				p := newPipeline(t)
				p.stopAt(step, 1)
				l := p.hub.Ledger("once")
				before := len(l.Changes())
				l.SetMarker(spi.Marker{}, false)
				p.refused("table once", "lost its marker", "--pending-output=deliver", "--pending-output=skip", "outbox")
				if n := len(l.Changes()); n != before {
					t.Errorf("%d changes were delivered without being asked for", n-before)
				}
				p.cfg.PendingOutput = choice
				// Not delivered and delivered now, or delivered and dropped now: right. The others are what was asked for.
				if (step == "deliver") == (choice == runtime.PendingDeliver) {
					p.finishes()
				} else if err := p.run(); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// A marker that is gone while nothing is pending is written anew.
func TestLostMarkerNothingPending(t *testing.T) {
	p := newPipeline(t)
	var warned []string
	p.cfg.Warn = func(msg string) { warned = append(warned, msg) }
	p.finishes()
	l := p.hub.Ledger("once")
	was, _ := l.Marker()
	l.SetMarker(spi.Marker{}, false)
	p.finishes()
	if m, found := l.Marker(); !found || m.Job != was.Job {
		t.Errorf("marker %v, %v", m, found)
	}
	if !strings.Contains(strings.Join(warned, "\n"), "table once: the sink has lost its marker") {
		t.Errorf("warnings: %q", warned)
	}
}

// Without a state directory there is nothing to keep output in.
func TestExactlyOnceNeedsStateDir(t *testing.T) {
	p := newPipeline(t)
	p.cfg.StateDir = ""
	p.refused("table once", "--state-dir", "at-least-once")
}

// A second process that knows the job's state, from a copy of the directory say, fences the first, which ends with an
// error that says so.
func TestSecondProcessFences(t *testing.T) {
	p := newPipeline(t)
	l := p.hub.Ledger("once")
	n := 0
	l.Fail = func(step string) error {
		if step == "deliver" {
			if n++; n == 2 {
				l.Steal()
			}
		}
		return nil
	}
	p.refused("once", "fenced")
}

// What is pending and damaged is not delivered, and the error names the file.
func TestDamagedSegment(t *testing.T) {
	damage := map[string]func(t *testing.T, file string){
		"flipped byte": func(t *testing.T, file string) {
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			b[len(b)-3] ^= 0x10
			if err := os.WriteFile(file, b, 0o600); err != nil {
				t.Fatal(err)
			}
		},
		"cut short": func(t *testing.T, file string) {
			if err := os.Truncate(file, 30); err != nil {
				t.Fatal(err)
			}
		},
		"gone": func(t *testing.T, file string) {
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
		},
	}
	for name, f := range damage {
		t.Run(name, func(t *testing.T) {
			p := newPipeline(t)
			p.stopAt("deliver", 1)
			l := p.hub.Ledger("once")
			before := len(l.Changes())
			files, err := filepath.Glob(filepath.Join(p.cfg.StateDir, "outbox", "*.seg"))
			if err != nil || len(files) == 0 {
				t.Fatalf("%v %v", files, err)
			}
			for _, file := range files {
				if info, err := os.Stat(file); err != nil {
					t.Fatal(err)
				} else if info.Size() > 0 { // or it belongs to the next checkpoint
					f(t, file)
				}
			}
			p.refused("outbox segment")
			if n := len(l.Changes()); n != before {
				t.Errorf("%d changes of a damaged segment were delivered", n-before)
			}
		})
	}
}

// While there is no output, the marker is stored again now and then.
func TestMarkerIsRefreshed(t *testing.T) {
	hub := memconn.NewHub(1)
	hub.SetTable("t", make([][]memconn.Event, 1))
	plan := planOf(t, hub, `
		CREATE TABLE t (id INT) WITH ('connector' = 'mem', 'name' = 't', 'native' = 'append', 'bounded' = 'false');
		CREATE TABLE once (id INT) WITH ('connector' = 'mem', 'name' = 'once', 'transactional' = 'true');
		INSERT INTO once SELECT id FROM t;`)
	l := hub.Ledger("once")
	delivered := make(chan struct{}, 100)
	l.Fail = func(step string) error {
		if step == "delivered" {
			delivered <- struct{}{}
		}
		return nil
	}
	job, err := runtime.Start(t.Context(), runtime.Config{
		Plan: plan, StateDir: filepath.Join(t.TempDir(), "state"), Hooks: &runtime.Hooks{MarkerRefresh: 5 * time.Millisecond},
	})
	if err != nil {
		t.Fatal(err)
	}
	for range 4 {
		<-delivered
	}
	job.Stop()
	if err := job.Wait(); err != nil {
		t.Fatal(err)
	}
}

// A stop request takes effect while logged epochs are being replayed, and the next start does the same again.
func TestStopWhileReplaying(t *testing.T) {
	p := newPipeline(t)
	p.cfg.CheckpointInterval = time.Hour // so that all is in the log
	ctx, cancel := context.WithCancel(t.Context())
	done := 0
	p.cfg.Hooks = &runtime.Hooks{Done: func(uint64) {
		if done++; done == 5 {
			cancel()
		}
	}}
	job, err := runtime.Start(ctx, p.cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := job.Wait(); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	var again *runtime.Job
	stopped := make(chan struct{})
	p.cfg.Hooks = &runtime.Hooks{Cut: func(epoch uint64, _ map[string][]spi.Position) {
		if epoch == 2 {
			<-stopped
		}
	}}
	if again, err = runtime.Start(t.Context(), p.cfg); err != nil {
		t.Fatal(err)
	}
	again.Stop()
	close(stopped)
	if err := again.Wait(); err != nil {
		t.Fatal(err)
	}
	if n := again.Stats().Epochs; n > 4 {
		t.Errorf("%d epochs were replayed after the request", n)
	}
	p.cfg.Hooks = nil
	p.finishes()
}

// Output that waits for a sink that the new SQL does not write exactly once any more is not forgotten: the start is
// refused, and dropping it is asked for.
func TestPendingOutputOfASinkThatIsGone(t *testing.T) {
	for name, change := range map[string]func(string) string{
		"not written any more": func(sql string) string { return strings.Replace(sql, "INSERT INTO once SELECT * FROM joined;", "", 1) },
		"at least once now": func(sql string) string {
			return strings.Replace(sql, "'name' = 'once', 'transactional' = 'true'", "'name' = 'once'", 1)
		},
		"no sink is exactly once": func(sql string) string {
			return strings.ReplaceAll(sql, "'transactional' = 'true'", "'transactional' = 'false'")
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPipeline(t)
			p.stopAt("deliver", 1)
			was := p.cfg.Plan
			if p.cfg.Plan = planOf(t, p.hub, change(crashSQL)); len(p.cfg.Plan.Sinks) == 0 {
				t.Fatal("no sinks")
			}
			p.refused("once", "bytes of output", "the SQL as it was", "--pending-output=skip")
			p.cfg.Plan = was
			p.finishes()
		})
	}
	t.Run("dropped", func(t *testing.T) {
		p := newPipeline(t)
		p.stopAt("deliver", 1)
		p.cfg.Plan = planOf(t, p.hub, strings.Replace(crashSQL, "INSERT INTO once SELECT * FROM joined;", "", 1))
		p.cfg.PendingOutput = runtime.PendingSkip
		if err := p.run(); err != nil {
			t.Fatal(err)
		}
	})
}
