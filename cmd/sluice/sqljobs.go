package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/sluicesql/sluice/cmd/sluice/internal/display"
	"github.com/sluicesql/sluice/cmd/sluice/internal/progress"
	"github.com/sluicesql/sluice/internal/fault"
	"github.com/sluicesql/sluice/planner"
	"github.com/sluicesql/sluice/runtime"
	"github.com/sluicesql/sluice/sql/ast"
)

// sqlJobs are the jobs that a shell has started. They are for the shell's goroutine; only stopAll may be called from
// another.
type sqlJobs struct {
	shell *shell
	mu    sync.Mutex // guards list
	list  []*sqlJob
}

// sqlJob is a job that runs beside the shell, or did.
type sqlJob struct {
	id      string
	name    string // pipeline.name, or what it does
	dir     string // of its state, absolute; empty without one
	endless bool
	job     *runtime.Job
	started time.Time
	stopped bool // on request
	told    bool // that it has ended
}

func (b *sqlJob) ended() bool {
	select {
	case <-b.job.Finished():
		return true
	default:
		return false
	}
}

// state is what a job does, in the words of Flink.
func (b *sqlJob) state() string {
	switch {
	case !b.ended():
		return "RUNNING"
	case b.job.Wait() != nil:
		return "FAILED"
	case b.stopped:
		return "STOPPED"
	}
	return "FINISHED"
}

// counts are the records that a job has read and the changes that it has written.
func (b *sqlJob) counts() (in, out string) {
	st := b.job.Stats()
	return display.Count(progress.Total(st).Records), display.Count(st.RowsOut)
}

// maxJobName is how much of a statement stands for the name of a job that has none.
const maxJobName = 60

// start starts a job in the background. Without anybody to go on typing, one over bounded inputs is waited for.
func (l *sqlJobs) start(j *planner.Job, title string) error {
	s := l.shell
	cfg, err := s.configOf(j)
	if err != nil {
		return err
	}
	loosen := s.heap.tighten(cfg.MemoryBudget)
	ctx, cancel := context.WithCancel(context.Background())
	s.front.begin(cancel, cancel)
	job, err := runtime.Start(ctx, cfg)
	s.front.end()
	if err != nil {
		loosen()
		cancel()
		if s.front.interrupted() {
			return s.cancelled()
		}
		return &failure{exitFailed, s.sources.locate(err)}
	}
	b := &sqlJob{name: j.Plan.Options[planner.OptPipelineName], endless: !bounded(j.Plan), job: job, started: time.Now()}
	if cfg.StateDir != "" {
		if b.dir, err = filepath.Abs(cfg.StateDir); err != nil {
			b.dir = cfg.StateDir // the working directory is gone
		}
	}
	if b.name == "" {
		b.name = display.Cut(title, maxJobName)
	}
	l.mu.Lock()
	b.id = strconv.Itoa(len(l.list) + 1)
	l.list = append(l.list, b)
	l.mu.Unlock()
	go func() {
		<-job.Finished()
		loosen()
		cancel()
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

// wait returns when a job has ended, with its error. An interrupt stops the job, and ends a script.
func (l *sqlJobs) wait(b *sqlJob) error {
	l.shell.front.begin(b.job.Stop, b.job.Kill)
	defer l.shell.front.end()
	return l.shell.waited(l.ending(b))
}

// ending waits for a job, and is what it has failed with.
func (l *sqlJobs) ending(b *sqlJob) error {
	err := b.job.Wait()
	b.told = true
	if err == nil || errors.Is(err, context.Canceled) {
		return nil // a job that was killed has not failed
	}
	return &failure{exitFailed, l.shell.sources.locate(err)}
}

// waitAll waits for all jobs, until the first that fails.
func (l *sqlJobs) waitAll() error {
	l.shell.front.begin(l.stopRunning, l.killRunning)
	defer l.shell.front.end()
	for _, b := range l.all() {
		if b.told {
			continue
		}
		if err := l.ending(b); err != nil {
			return err
		}
	}
	return nil
}

func (l *sqlJobs) all() []*sqlJob {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.list)
}

// find is the job of an id, or nil.
func (l *sqlJobs) find(id string) *sqlJob {
	for _, b := range l.all() {
		if b.id == id {
			return b
		}
	}
	return nil
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
		if !b.ended() {
			n++
		}
	}
	return n
}

// stopAll stops all jobs in order and waits for them.
func (l *sqlJobs) stopAll() {
	l.stopRunning()
	for _, b := range l.all() {
		<-b.job.Finished()
	}
}

// tell says which jobs have ended since it was asked last.
func (l *sqlJobs) tell() {
	for _, b := range l.all() {
		if b.told || !b.ended() {
			continue
		}
		b.told = true
		if err := b.job.Wait(); err != nil {
			fmt.Fprintf(l.shell.notes, "job %s failed:\n", b.id)
			l.shell.complain(l.shell.sources.locate(err))
			continue
		}
		in, out := b.counts()
		fmt.Fprintf(l.shell.notes, "job %s has %s: %s records in, %s changes out\n", b.id, strings.ToLower(b.state()), in, out)
	}
}

// show is SHOW JOBS: the shell's own jobs, and those that run elsewhere on this machine.
func (l *sqlJobs) show() error {
	t := &planner.Text{Columns: []string{"job id", "job name", "status", "start time", "records in", "changes out"}}
	own := map[string]bool{}
	for _, b := range l.all() {
		if !b.ended() {
			own[b.dir] = true
		}
		in, out := b.counts()
		t.Rows = append(t.Rows, []string{b.id, b.name, b.state(), b.started.Format(time.DateTime), in, out})
	}
	others, err := runtime.Jobs()
	if err != nil {
		return &failure{exitFailed, err}
	}
	for _, o := range others {
		if !own[o.Dir] {
			t.Rows = append(t.Rows, []string{o.Job, o.String(), state(o), startTime(o), "", ""})
		}
	}
	return l.shell.show(t)
}

// stop is STOP JOB.
func (l *sqlJobs) stop(st *planner.StopJob) error {
	s := l.shell
	b := l.find(st.Stmt.ID)
	if b == nil { // one that runs elsewhere
		answer, err := s.stopJob(st)
		if err != nil || answer == nil {
			return err
		}
		return s.show(answer)
	}
	at := func(msg, hint string) error {
		return &failure{exitFailed, s.sources.locate(&ast.Error{Pos: st.Stmt.IDPos, Msg: msg, Hint: hint, Code: fault.JobUnknown})}
	}
	if b.ended() {
		return at(fmt.Sprintf("the job %s has ended: it is %s", b.id, b.state()), "")
	}
	if st.Stmt.WithSavepoint {
		if b.dir == "" {
			return at(fmt.Sprintf("the job %s keeps no state on disk that a savepoint could be made of", b.id), "SET '"+planner.OptCheckpointDir+"' before the INSERT")
		}
		named := *st.Stmt
		named.ID = b.dir
		answer, err := s.stopJob(&planner.StopJob{Stmt: &named, SavepointDir: st.SavepointDir})
		if err == nil {
			err = s.show(answer)
		}
		if err != nil {
			return err
		}
	}
	b.stopped = true
	b.job.Stop()
	return l.wait(b)
}
