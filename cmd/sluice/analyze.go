package main

import (
	"context"
	"errors"

	"github.com/sluicesql/sluice/connectors/blackhole"
	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/planner"
	"github.com/sluicesql/sluice/runtime"
)

// runJob starts a job and has wait wait for its end. The job is nil when it did not start.
type runJob func(cfg runtime.Config, wait func(*runtime.Job) error) (*runtime.Job, error)

// errStopped is what comes of a run that was interrupted and has nothing to show.
var errStopped = &failure{code: exitInterrupted}

// answer writes the answer to an EXPLAIN by write.
func (r *runner) answer(e *planner.Explain, run runJob, write func([]byte) error) error {
	x, err := r.explain(e, run)
	if err != nil {
		return err
	}
	text, err := textOfPlan(e, x)
	if err == nil {
		err = write(text)
	}
	if err != nil {
		return &failure{exitFailed, err}
	}
	return nil
}

// explain describes the plan of an EXPLAIN, after a run where that is asked for.
func (r *runner) explain(e *planner.Explain, run runJob) (*planner.Explanation, error) {
	x := r.sources.explanation(e.Job.Plan)
	if !e.Analyze {
		return x, nil
	}
	cfg, err := r.analysis(e.Job)
	if err != nil {
		return nil, wrong(err)
	}
	job, err := run(cfg, func(job *runtime.Job) error {
		if r.console != nil {
			defer r.showProgress(job)()
		}
		return job.Wait()
	})
	if err != nil {
		if _, known := errors.AsType[*failure](err); known {
			return nil, err
		}
		return nil, &failure{exitFailed, r.sources.locate(err)}
	}
	job.Measure(x)
	return x, nil
}

// toMeasure is toEnd for a job that is measured: one that was interrupted did not end, so that there is nothing to show.
func (r *runner) toMeasure(cfg runtime.Config, wait func(*runtime.Job) error) (*runtime.Job, error) {
	job, err := r.toEnd(cfg, wait)
	if r.signals.interrupted() && (job == nil || err == nil) {
		err = errStopped
	}
	return job, err
}

// analysis is how a job is run that is measured: its state is in memory, so that what is kept elsewhere stays as it is,
// and nobody sees the result of a query.
func (r *runner) analysis(j *planner.Job) (runtime.Config, error) {
	keepInMemory(j)
	cfg, err := r.config(j)
	cfg.Measure = true
	cfg.StateDir, cfg.FromSavepoint, cfg.MemoryBudget, cfg.Reemit = "", "", 0, nil
	cfg.OpenResult = func(spec spi.SinkSpec) (spi.Sink, error) {
		sinks := spi.NewRegistry()
		blackhole.Register(sinks)
		return sinks.Connector("blackhole").OpenSink(context.Background(), spec)
	}
	return cfg, err
}

// keepInMemory takes the options from a job by which its state would lie in a directory.
func keepInMemory(j *planner.Job) {
	for _, dir := range []string{planner.OptCheckpointDir, planner.OptStateCheckpointsDir, planner.OptStateBackend} {
		j.Plan.Options[dir] = ""
	}
}
