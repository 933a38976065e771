package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/sluicesql/sluice/cmd/sluice/internal/display"
	"github.com/sluicesql/sluice/cmd/sluice/internal/progress"
	"github.com/sluicesql/sluice/planner"
	"github.com/sluicesql/sluice/runtime"
	"github.com/sluicesql/sluice/sql/ast"
)

// sqlJobs are the jobs that a shell has started.
type sqlJobs struct {
	shell *shell
	mu    sync.Mutex // guards list, and the lower fields of its jobs
	list  []*sqlJob
}

// sqlJob is a job that runs beside the shell, or did.
type sqlJob struct {
	id       string
	name     string // pipeline.name, or what it does
	dir      string // of its state; empty without one
	endless  bool
	job      *runtime.Job
	started  time.Time
	finished chan struct{}

	err     error
	stopped bool // on request
	told    bool // that it has ended
}

// maxJobName is how much of a statement stands for the name of a job that has none.
const maxJobName = 60

// start starts a job in the background. Without anybody to go on typing, one over bounded inputs is waited for.
func (l *sqlJobs) start(j *planner.Job, text string) error {
	s := l.shell
	cfg, err := s.configOf(j)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.front.begin(cancel, cancel)
	job, err := runtime.Start(ctx, cfg)
	s.front.end()
	if err != nil {
		cancel()
		if s.front.interrupted() {
			return s.cancelled()
		}
		return &failure{exitFailed, s.sources.locate(err)}
	}
	b := &sqlJob{
		name: j.Plan.Options[planner.OptPipelineName], dir: cfg.StateDir, endless: !bounded(j.Plan),
		job: job, started: time.Now(), finished: make(chan struct{}),
	}
	if b.name == "" {
		b.name = display.Cut(strings.Join(strings.Fields(text), " "), maxJobName)
	}
	l.mu.Lock()
	b.id = strconv.Itoa(len(l.list) + 1)
	l.list = append(l.list, b)
	l.mu.Unlock()
	go func() {
		defer cancel()
		err := job.Wait()
		l.mu.Lock()
		b.err = err
		l.mu.Unlock()
		close(b.finished)
	}()
	if s.interactive {
		fmt.Fprintf(s.notes, "job %s started: %s\n", b.id, b.name)
		return nil
	}
	if b.endless {
		return nil
	}
	return l.wait(b)
}

// wait returns when a job has ended, with its error. An interrupt stops the job.
func (l *sqlJobs) wait(b *sqlJob) error {
	l.shell.front.begin(b.job.Stop, b.job.Kill)
	defer l.shell.front.end()
	<-b.finished
	l.mu.Lock()
	defer l.mu.Unlock()
	b.told = true
	if b.err != nil && !errors.Is(b.err, context.Canceled) {
		return &failure{exitFailed, l.shell.sources.locate(b.err)}
	}
	return nil
}

// waitAll waits for all jobs, until the first that fails.
func (l *sqlJobs) waitAll() error {
	l.shell.front.begin(l.stopRunning, l.killRunning)
	defer l.shell.front.end()
	for _, b := range l.all() {
		<-b.finished
		l.mu.Lock()
		err, told := b.err, b.told
		b.told = true
		l.mu.Unlock()
		if err != nil && !told && !errors.Is(err, context.Canceled) {
			return &failure{exitFailed, l.shell.sources.locate(err)}
		}
	}
	return nil
}

func (l *sqlJobs) all() []*sqlJob {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.list)
}

func (l *sqlJobs) stopRunning() {
	for _, b := range l.all() {
		b.job.Stop()
	}
}

func (l *sqlJobs) killRunning() {
	for _, b := range l.all() {
		b.job.Kill()
	}
}

// running is the number of jobs that have not ended.
func (l *sqlJobs) running() int {
	n := 0
	for _, b := range l.all() {
		select {
		case <-b.finished:
		default:
			n++
		}
	}
	return n
}

// stopAll stops all jobs in order and waits for them.
func (l *sqlJobs) stopAll() {
	l.stopRunning()
	for _, b := range l.all() {
		<-b.finished
	}
}

// tell says which jobs have ended since it was asked last.
func (l *sqlJobs) tell() {
	for _, b := range l.all() {
		select {
		case <-b.finished:
		default:
			continue
		}
		l.mu.Lock()
		told, err := b.told, b.err
		b.told = true
		l.mu.Unlock()
		switch {
		case told:
		case err != nil:
			fmt.Fprintf(l.shell.notes, "job %s failed:\n", b.id)
			l.shell.complain(&failure{exitFailed, l.shell.sources.locate(err)})
		default:
			in, out := counts(b)
			fmt.Fprintf(l.shell.notes, "job %s has %s: %s records in, %s changes out\n", b.id, strings.ToLower(l.state(b)), in, out)
		}
	}
}

// counts are the records that a job has read and the changes that it has written.
func counts(b *sqlJob) (in, out string) {
	st := b.job.Stats()
	return display.Count(progress.Total(st).Records), display.Count(st.RowsOut)
}

// state is what a job does, in the words of Flink.
func (l *sqlJobs) state(b *sqlJob) string {
	select {
	case <-b.finished:
	default:
		return "RUNNING"
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case b.err != nil:
		return "FAILED"
	case b.stopped:
		return "STOPPED"
	}
	return "FINISHED"
}

// show is SHOW JOBS: the shell's own jobs, and those that run elsewhere on this machine.
func (l *sqlJobs) show() error {
	t := &planner.Text{Columns: []string{"job id", "job name", "status", "start time", "records in", "changes out"}}
	own := map[string]bool{}
	for _, b := range l.all() {
		in, out := counts(b)
		state := l.state(b)
		if b.dir != "" && state == "RUNNING" {
			own[b.dir] = true
		}
		t.Rows = append(t.Rows, []string{b.id, b.name, state, b.started.Format(time.DateTime), in, out})
	}
	others, err := runtime.Jobs()
	if err != nil {
		return &failure{exitFailed, err}
	}
	for _, o := range others {
		if !own[o.Dir] {
			t.Rows = append(t.Rows, []string{o.Job, o.String(), state(o), o.Started.Format(time.DateTime), "", ""})
		}
	}
	return l.shell.show(t)
}

// stop is STOP JOB.
func (l *sqlJobs) stop(st *planner.StopJob) error {
	s := l.shell
	i := slices.IndexFunc(l.all(), func(b *sqlJob) bool { return b.id == st.Stmt.ID })
	if i < 0 {
		return s.stopJob(st) // one that runs elsewhere
	}
	b := l.all()[i]
	at := func(msg, hint string) error {
		return &failure{exitFailed, s.sources.locate(&ast.Error{Pos: st.Stmt.IDPos, Msg: msg, Hint: hint})}
	}
	if state := l.state(b); state != "RUNNING" {
		return at(fmt.Sprintf("the job %s has ended: it is %s", b.id, state), "")
	}
	if st.Stmt.WithSavepoint {
		if b.dir == "" {
			return at(fmt.Sprintf("the job %s keeps no state on disk that a savepoint could be made of", b.id), "SET '"+planner.OptCheckpointDir+"' before the INSERT")
		}
		named := *st.Stmt
		named.ID = b.dir
		if err := s.stopJob(&planner.StopJob{Stmt: &named, SavepointDir: st.SavepointDir}); err != nil {
			return err
		}
	}
	l.mu.Lock()
	b.stopped = true
	l.mu.Unlock()
	b.job.Stop()
	return l.wait(b)
}
