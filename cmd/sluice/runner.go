package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sluicesql/sluice/cmd/sluice/internal/progress"
	"github.com/sluicesql/sluice/cmd/sluice/internal/result"
	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/planner"
	"github.com/sluicesql/sluice/runtime"
	"github.com/sluicesql/sluice/sql/ast"
)

const (
	// progressInterval is the time between two lines of progress, paintInterval between two paints of a table.
	progressInterval = 500 * time.Millisecond
	paintInterval    = 100 * time.Millisecond
)

// runner runs the jobs of a script, one after another.
type runner struct {
	flags   *runFlags
	sources sourceTexts
	project *project
	broker  *localBroker
	sql     string // the script, for the state directory
	started time.Time
	signals *interrupts
	screen  bool // standard output is a terminal
	stopper stopper
	heap    heapBound
	summary progress.Summary

	stdout  *output
	out     io.Writer         // to stdout
	stderr  io.Writer         // for rows that go there
	notes   io.Writer         // to stderr, without secrets
	console *progress.Console // nil without a terminal to show progress on
}

func newRunner(f *runFlags, sources sourceTexts) *runner {
	r := &runner{flags: f, sources: sources, started: time.Now(), stdout: &output{file: os.Stdout}, stderr: os.Stderr, screen: isTerminal(os.Stdout)}
	r.out = r.stdout
	if isTerminal(os.Stderr) && !f.quiet {
		r.console = newConsole()
		r.stderr = r.console.Wrap(os.Stderr)
		if r.screen {
			r.out = r.console.Wrap(r.stdout)
		}
	}
	r.notes = sources.secrets.Writer(r.stderr)
	r.signals = watchInterrupts(r.stopper.interrupt)
	return r
}

// newConsole is the terminal that standard error is.
func newConsole() *progress.Console {
	return progress.NewConsole(os.Stderr, func() int { w, _ := terminalSize(os.Stderr); return w })
}

func (r *runner) close() { r.signals.stop() }

// end completes a run: its error is the run's, and the summary is told unless nothing ran.
func (r *runner) end(err error) error {
	outcome := progress.Done
	switch {
	case r.stdout.closed.Load():
		return nil // whoever read our output has seen enough
	case errors.Is(err, errStopped):
		outcome = progress.Stopped
	case err != nil:
		outcome = progress.Failed
	case r.signals.interrupted():
		outcome = progress.Stopped
		if r.summary.Epochs == 0 {
			err = errStopped
		}
	}
	if r.summary.Jobs == 0 {
		return err
	}
	r.summary.End(outcome, time.Since(r.started))
	if !r.flags.quiet {
		fmt.Fprintln(r.notes, r.summary.String())
	}
	if file := r.flags.summaryJSON; file != "" {
		if werr := os.WriteFile(file, r.summary.JSON(), 0o644); werr != nil && err == nil {
			err = &failure{exitFailed, werr}
		}
	}
	return err
}

// script plans the statements and does what they ask for, in order.
func (r *runner) script(stmts []ast.Statement) error {
	script, err := r.plan(stmts, r.out)
	if err != nil {
		return err
	}
	for _, step := range script.Steps {
		if err = r.step(step); err != nil || r.signals.interrupted() {
			break
		}
	}
	return r.end(err)
}

// plan plans the statements, refuses what cannot be run, and loads the broker inside the process. out is where tables print.
func (r *runner) plan(stmts []ast.Statement, out io.Writer) (*planner.Script, error) {
	registry := r.broker.registry(newRegistry(out, r.stderr))
	session := planner.NewSession(registry)
	session.ShowResults(r.flags.result)
	if err := r.project.apply(session); err != nil {
		return nil, err
	}
	if err := r.flags.options.apply(session); err != nil {
		return nil, err
	}
	script, err := session.Run(stmts)
	if err == nil {
		err = r.check(script)
	}
	if err != nil {
		return nil, wrong(r.sources.locate(err))
	}
	return script, r.broker.load(session, registry)
}

func (r *runner) step(step planner.Step) error {
	switch s := step.(type) {
	case *planner.Explain:
		return r.answer(s, r.toMeasure, func(text []byte) error {
			_, err := r.out.Write(text)
			return err
		})
	case *planner.Text:
		return r.write(s)
	case *planner.Job:
		return r.job(s)
	case *planner.StopJob:
		answer, err := r.stopJob(s)
		if err != nil || answer == nil {
			return err
		}
		return r.write(answer)
	case *planner.ShowJobs:
		return showJobs(r.out)
	default:
		panic(fmt.Sprintf("step %T", step)) // check refused it
	}
}

// write shows the answer of a statement.
func (r *runner) write(t *planner.Text) error {
	if _, err := r.sources.secrets.Writer(r.out).Write(textOf(t)); err != nil {
		return &failure{exitFailed, err}
	}
	return nil
}

// job runs one plan to its end.
func (r *runner) job(j *planner.Job) error {
	cfg, err := r.config(j)
	if err != nil {
		return wrong(err)
	}
	var view *result.Sink
	var running atomic.Pointer[runtime.Job]
	o := r.resultOptions(j, &running)
	cfg.OpenResult = func(spec spi.SinkSpec) (spi.Sink, error) {
		var err error
		view, err = result.Open(spec, o)
		return view, err
	}
	job, err := r.toEnd(cfg, func(job *runtime.Job) error {
		running.Store(job)
		if r.console != nil && o.Screen == nil {
			defer r.showProgress(job)()
		}
		return job.Wait()
	})
	if view != nil {
		err = errors.Join(err, view.Finish(err == nil))
	}
	switch {
	case err == nil:
		return nil
	case job == nil && r.signals.interrupted():
		return errStopped
	}
	return &failure{exitFailed, r.sources.locate(err)}
}

// toEnd starts a job, which an interrupt stops, and has wait wait for its end. The job is nil when it did not start.
func (r *runner) toEnd(cfg runtime.Config, wait func(*runtime.Job) error) (*runtime.Job, error) {
	defer r.heap.tighten(cfg.MemoryBudget)()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	r.stopper.set(cancel) // until it has started, there is nothing to end in order
	job, err := runtime.Start(ctx, cfg)
	if err != nil {
		return nil, err
	}
	r.stopper.set(job.Stop)
	err = wait(job)
	r.summary.Add(job.Stats())
	return job, err
}

// showProgress rewrites the line of progress until stop is called.
func (r *runner) showProgress(job *runtime.Job) (stop func()) {
	done := make(chan struct{})
	var ended sync.WaitGroup
	ended.Go(func() {
		var line progress.Line
		tick := time.NewTicker(progressInterval)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				r.console.Show(line.Next(job.Stats()))
			}
		}
	})
	return func() {
		close(done)
		ended.Wait()
		r.console.Show("")
	}
}
