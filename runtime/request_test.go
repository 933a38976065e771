package runtime_test

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/runtime"
)

// endless has the tables of the jobs to come never end, bounded has them end with what is there.
func (d *directory) endless() { d.tableOptions = ", 'bounded' = 'false'" }
func (d *directory) bounded() { d.tableOptions = "" }

// settle waits until all that is in the tables is in the sinks.
func (d *directory) settle() {
	d.t.Helper()
	deadline := time.Now().Add(2 * time.Minute)
	for !d.settled() {
		if time.Now().After(deadline) {
			d.t.Fatal("not settled after two minutes")
		}
		time.Sleep(time.Millisecond)
	}
}

func (d *directory) settled() bool {
	d.log.mu.Lock()
	defer d.log.mu.Unlock()
	for _, ps := range d.log.cuts[d.log.last] {
		for _, p := range ps {
			if p.Offset < d.hub.Len(p.Topic, int(p.Partition)) {
				return false
			}
		}
	}
	for e := d.from + 1; e <= d.log.last; e++ {
		if _, complete := d.hub.Sink("pairs").Epoch(e); !complete {
			return false
		}
	}
	return d.log.last > d.from
}

func TestPause(t *testing.T) {
	d := newDirectory(t)
	d.endless()
	d.must(d.start(pairsSQL, nil))
	d.settle()
	ctx := context.Background()
	d.must(d.job.Pause(ctx))
	if !d.job.Paused() {
		t.Error("not paused")
	}
	before := d.log.last
	d.grow(50)
	time.Sleep(50 * time.Millisecond)
	if d.log.last != before {
		t.Error("a paused job went on")
	}
	d.must(d.job.Pause(ctx)) // again: nothing changes
	// It stays paused through a crash.
	d.job.Kill()
	_ = d.job.Wait()
	d.from = before
	d.must(d.start(pairsSQL, nil))
	time.Sleep(50 * time.Millisecond)
	if d.log.last != before || !d.job.Paused() || !strings.Contains(strings.Join(d.notes, "\n"), "paused") {
		t.Errorf("started again: epoch %d after %d, paused %v, notes %q", d.log.last, before, d.job.Paused(), d.notes)
	}
	d.must(d.job.Resume(ctx))
	d.settle()
	d.must(d.job.Resume(ctx))
	d.job.Stop()
	d.must(d.job.Wait())
	d.must(d.start(pairsSQL, nil))
	if d.job.Paused() {
		t.Error("paused after it was resumed")
	}
	d.job.Stop()
	d.must(d.job.Wait())
	if err := d.job.Pause(ctx); err == nil || !strings.Contains(err.Error(), "has ended") {
		t.Errorf("pause of a job that has ended: %v", err)
	}
	d.bounded()
	same(t, "pairs", d.net("pairs", 0), d.expected(pairsSQL, "pairs"))
}

// A savepoint, taken of a running job, of a stopping one or of a directory, starts a job at any parallelism with what
// the state was, and the job goes on meanwhile.
func TestSavepointAndRestore(t *testing.T) {
	for _, how := range []string{"running", "idle", "paused", "stopping", "stopped", "crashed"} {
		t.Run(how, func(t *testing.T) {
			d := newDirectory(t)
			d.endless()
			d.must(d.start(pairsSQL, nil))
			target := filepath.Join(t.TempDir(), "save")
			ctx := context.Background()
			if how != "running" {
				d.settle()
			}
			switch how {
			case "running", "idle":
				d.must(d.job.Savepoint(ctx, target))
				if err := d.job.Savepoint(ctx, target); err == nil || !strings.Contains(err.Error(), "new or empty") {
					t.Errorf("a savepoint over another: %v", err)
				}
				d.settle()
				d.job.Stop()
				d.must(d.job.Wait())
			case "paused":
				d.must(d.job.Pause(ctx))
				d.must(d.job.Savepoint(ctx, target))
				d.must(d.job.Resume(ctx))
				d.job.Stop()
				d.must(d.job.Wait())
			case "stopping":
				d.must(d.job.StopWithSavepoint(ctx, target))
				d.must(d.job.Wait())
			case "stopped":
				d.job.Stop()
				d.must(d.job.Wait())
				d.must(runtime.CopySavepoint(d.dir, target, "sluice test"))
			case "crashed":
				d.job.Kill()
				if err := d.job.Wait(); err != nil && !errors.Is(err, context.Canceled) {
					t.Fatal(err)
				}
				d.must(runtime.CopySavepoint(d.dir, target, "sluice test"))
			}
			first := d.dir
			info, err := runtime.ReadInfo(nil, target)
			d.must(err)
			if info.Savepoint == nil || info.Generation != 0 || info.Job == "" {
				t.Errorf("info of the savepoint: %+v", info)
			}
			repeated := info.Checkpoint + uint64(info.Logged) // what a crash left is repeated as it was
			gave := d.between("pairs", 0, repeated)
			d.grow(60)
			d.dir = filepath.Join(t.TempDir(), "restored")
			restored := func(cfg *runtime.Config) { cfg.FromSavepoint, cfg.Parallelism = target, 5 }
			d.from, d.log.last = info.Checkpoint, info.Checkpoint
			d.must(d.start(pairsSQL, restored))
			d.settle()
			d.job.Stop()
			d.must(d.job.Wait())
			after := d.net("pairs", repeated)
			got, err := runtime.ReadInfo(nil, d.dir)
			d.must(err)
			if got.Generation != 1 || got.Job != info.Job || got.Restored == nil || got.Restored.Path != target {
				t.Errorf("info of the restored directory: %+v", got)
			}
			// The same command line again goes on; another savepoint, or one over a state that is there, is refused.
			d.must(d.start(pairsSQL, restored))
			d.job.Stop()
			d.must(d.job.Wait())
			if got, err = runtime.ReadInfo(nil, d.dir); err != nil || got.Generation != 1 {
				t.Errorf("started again: generation %d %v", got.Generation, err)
			}
			d.dir = first
			if err := d.start(pairsSQL, restored); err == nil || !strings.Contains(err.Error(), "new or empty") {
				t.Errorf("restored over a state directory: %v", err)
			}
			d.bounded()
			d.dir = t.TempDir()
			same(t, "pairs", gave.plus(after), d.expected(pairsSQL, "pairs"))
		})
	}
}

// The control channel does what the methods do, also where the directory's path is too long for a socket.
func TestControlChannel(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	for _, name := range []string{"short", strings.Repeat("long", 30)} {
		d := newDirectory(t)
		d.endless()
		d.dir = filepath.Join(t.TempDir(), name)
		d.must(d.start("SET 'pipeline.name' = 'my job';"+pairsSQL, nil))
		d.settle()
		r, err := runtime.FindJob("my job")
		d.must(err)
		d.must(r.Pause())
		s, err := r.Status()
		d.must(err)
		if !s.Paused || s.Name != "my job" || s.PID != os.Getpid() || s.Dir != d.dir || s.Parallelism != 2 {
			t.Errorf("status %+v", s)
		}
		info, err := runtime.ReadInfo(nil, d.dir) // the directory is locked
		d.must(err)
		rows := int64(0)
		for _, o := range info.Operators {
			for _, t := range o.Tables {
				rows += t.Rows
			}
		}
		if !info.Running || !info.Paused || rows == 0 || rows != d.job.Stats().StateRows || len(info.Positions) != 4 || !strings.Contains(info.SQL, "INSERT INTO pairs") {
			t.Errorf("info %+v", info)
		}
		d.must(r.Resume())
		if jobs, err := runtime.Jobs(); err != nil || len(jobs) != 1 || jobs[0].Job != s.Job {
			t.Errorf("jobs %v %v", jobs, err)
		}
		target := filepath.Join(t.TempDir(), "save")
		d.must(r.Savepoint(target))
		if err := r.Savepoint(target); err == nil || !strings.Contains(err.Error(), "new or empty") {
			t.Errorf("savepoint over another: %v", err)
		}
		d.must(r.Stop(filepath.Join(t.TempDir(), "last")))
		d.must(d.job.Wait())
		if _, err := runtime.FindJob("my job"); err == nil {
			t.Error("found a job that has ended")
		}
		if _, err := runtime.Dial(d.dir); !errors.Is(err, runtime.ErrNotRunning) {
			t.Errorf("dial: %v", err)
		}
		names, err := os.ReadDir(d.dir)
		d.must(err)
		for _, n := range names {
			if strings.HasPrefix(n.Name(), "control") || n.Name() == "RUNNING" {
				t.Errorf("%s is left", n.Name())
			}
		}
	}
}

// Sinks that are written exactly once belong to the newest generation of a job: a job restored from a savepoint goes
// on with them, and what came after the savepoint comes again from it alone; the job it was taken of is refused then.
func TestSavepointAndTransactionalSinks(t *testing.T) {
	d := newDirectory(t)
	sql := strings.ReplaceAll(pairsSQL, "pairs", "once")
	sql = `CREATE TABLE once (id BIGINT, name STRING, domain STRING) WITH ('connector' = 'mem', 'name' = 'once', 'transactional' = 'true');` + sql
	save := filepath.Join(t.TempDir(), "save")
	d.endless()
	d.must(d.start(sql, nil))
	d.must(d.job.StopWithSavepoint(context.Background(), save))
	d.must(d.job.Wait())
	d.bounded()
	d.grow(50)
	first := d.dir
	d.dir = filepath.Join(t.TempDir(), "restored")
	restored := func(cfg *runtime.Config) { cfg.FromSavepoint, cfg.Parallelism = save, 3 }
	d.must(d.run(sql, restored))
	d.must(d.run(sql, restored)) // nothing comes twice
	ts := d.plan.Sinks[0].Out().Types()
	got := sum(d.hub.Ledger("once").Changes(), ts)
	m, ok := d.hub.Ledger("once").Marker()
	if !ok || m.Generation != 1 {
		t.Errorf("marker %+v", m)
	}
	d.dir = first
	if err := d.run(sql, nil); err == nil || !strings.Contains(err.Error(), "generation 1") {
		t.Errorf("the job that the savepoint is of: %v", err)
	}
	want := []string{}
	for _, line := range d.expected(pairsSQL, "pairs").list() {
		want = append(want, strings.TrimPrefix(line, "+1 ")+"×1")
	}
	sort.Strings(want)
	if got != strings.Join(want, ", ") || got == "" {
		t.Errorf("the sink holds\n%s\nwant\n%s", got, strings.Join(want, ", "))
	}
}

// held is a connector whose sinks acknowledge nothing, and do not close, until they are let go.
type held struct {
	spi.Connector
	acks, closes chan struct{}
}

func (h held) OpenSink(ctx context.Context, spec spi.SinkSpec) (spi.Sink, error) {
	s, err := h.Connector.OpenSink(ctx, spec)
	return heldSink{s, h}, err
}

type heldSink struct {
	spi.Sink
	h held
}

func (s heldSink) Writer(i int) spi.Writer { return heldWriter{s.Sink.Writer(i), s.h} }

func (s heldSink) Close() error {
	<-s.h.closes
	return s.Sink.Close()
}

type heldWriter struct {
	spi.Writer
	h held
}

func (w heldWriter) Barrier(ctx context.Context, epoch uint64, ack func(error)) {
	w.Writer.Barrier(ctx, epoch, func(err error) {
		go func() {
			<-w.h.acks
			ack(err)
		}()
	})
}

// startHeld starts a job with held sinks.
func (d *directory) startHeld(sql string) held {
	h := held{acks: make(chan struct{}), closes: make(chan struct{})}
	d.must(d.start(sql, func(cfg *runtime.Config) {
		h.Connector = cfg.Plan.Sinks[0].Connector
		cfg.Plan.Sinks[0].Connector = h
	}))
	return h
}

// Resuming ends a pause that is not complete yet, whose answer says so.
func TestResumeBeforeThePauseIsComplete(t *testing.T) {
	d := newDirectory(t)
	d.endless()
	h := d.startHeld(pairsSQL)
	close(h.closes)
	paused := make(chan error, 1)
	go func() { paused <- d.job.Pause(context.Background()) }()
	for !d.job.Paused() {
		time.Sleep(time.Millisecond)
	}
	d.must(d.job.Resume(context.Background()))
	if err := <-paused; err == nil || !strings.Contains(err.Error(), "resumed") {
		t.Errorf("the pause ended with %v", err)
	}
	close(h.acks)
	d.settle()
	d.job.Stop()
	d.must(d.job.Wait())
}

// When the command to stop a job returns, its state directory is free.
func TestStopWaitsForTheDirectory(t *testing.T) {
	d := newDirectory(t)
	d.endless()
	h := d.startHeld(pairsSQL)
	close(h.acks)
	d.settle()
	r, err := runtime.Dial(d.dir)
	d.must(err)
	time.AfterFunc(200*time.Millisecond, func() { close(h.closes) })
	d.must(r.Stop(""))
	d.must(runtime.SetPaused(d.dir, false))
	d.must(d.job.Wait())
}

// Jobs that were restored from one savepoint, and the one that it was taken of, run side by side and are told apart.
func TestJobsOfOneSavepoint(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	t.Setenv("TMPDIR", t.TempDir())
	d := newDirectory(t)
	d.endless()
	root := t.TempDir()
	d.dir = filepath.Join(root, strings.Repeat("long", 30))
	d.must(d.start(pairsSQL, nil))
	d.settle()
	first, dir := d.job, d.dir
	target := filepath.Join(root, "save")
	d.must(first.Savepoint(t.Context(), target))
	d.dir = filepath.Join(root, strings.Repeat("gone", 30))
	d.must(d.start(pairsSQL, func(cfg *runtime.Config) { cfg.FromSavepoint = target }))
	if jobs, err := runtime.Jobs(); err != nil || len(jobs) != 2 {
		t.Errorf("jobs %v %v", jobs, err)
	}
	for _, dir := range []string{dir, d.dir} {
		r, err := runtime.Dial(dir)
		d.must(err)
		s, err := r.Status()
		d.must(err)
		if s.Dir != dir {
			t.Errorf("asked the job of %s, and that of %s answered", dir, s.Dir)
		}
	}
	for _, j := range []*runtime.Job{first, d.job} {
		j.Stop()
		d.must(j.Wait())
	}
}

// A job whose process is stopped, or stuck, is listed beside the others as one that does not answer, and asking it alone
// is an error.
func TestSilentJob(t *testing.T) {
	registry := t.TempDir()
	t.Setenv("XDG_RUNTIME_DIR", registry)
	d := newDirectory(t)
	d.endless()
	d.must(d.start(pairsSQL, nil))
	d.settle()

	dir := t.TempDir()
	l, err := net.Listen("unix", filepath.Join(dir, "control.sock")) // takes what is asked, as the kernel does for a stopped process
	d.must(err)
	defer l.Close()
	d.must(os.WriteFile(filepath.Join(registry, "sluice", "0123456789abcdef-01020304"), []byte(dir), 0o600))

	jobs, err := runtime.Jobs()
	if err != nil || len(jobs) != 2 || !jobs[0].Silent || jobs[0].Job != "0123456789abcdef" || jobs[0].Dir != dir || jobs[1].Silent || jobs[1].Dir != d.dir {
		t.Errorf("jobs %v %v", jobs, err)
	}
	r, err := runtime.FindJob("01234567")
	d.must(err)
	if _, err := r.Status(); err == nil || !strings.Contains(err.Error(), dir+" does not answer") {
		t.Errorf("status: %v", err)
	}
	d.job.Stop()
	d.must(d.job.Wait())
}
