package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/sluicesql/sluice/internal/fault"
	"github.com/sluicesql/sluice/planner"
	"github.com/sluicesql/sluice/runtime"
	"github.com/sluicesql/sluice/sql/ast"
)

const jobArgument = `JOB is a state directory, or the name (pipeline.name) or id of a job that runs.`

// jobCommand is a command that asks a running job for something.
func jobCommand(use, short, long, example string, args int, do func(cmd *cobra.Command, args []string) error) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Long: long + "\n\n" + jobArgument, Example: example,
		Args: func(cmd *cobra.Command, got []string) error {
			if len(got) != args {
				return wrong(fmt.Errorf("write %s; see %s --help", cmd.UseLine(), cmd.CommandPath()))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, got []string) error {
			if err := do(cmd, got); err != nil {
				return &failure{exitFailed, err}
			}
			return nil
		},
	}
}

func newStop() *cobra.Command {
	var savepoint string
	cmd := jobCommand("stop [flags] JOB", "Stop a running job in order",
		`Stop a running job in order, as a first SIGINT does: the epoch in hand is finished, its
output acknowledged, a checkpoint taken. The command returns when the job has ended.`,
		`  sluice stop /var/lib/sluice/p
  sluice stop --savepoint /backup/p-1 /var/lib/sluice/p`, 1,
		func(_ *cobra.Command, args []string) error {
			r, err := runtime.FindJob(args[0])
			if err != nil {
				return err
			}
			return r.Stop(savepoint)
		})
	cmd.Flags().StringVar(&savepoint, "savepoint", "", "copy the state that the job ends with into `DIR`, which must be new or empty")
	return cmd
}

func newPause() *cobra.Command {
	return jobCommand("pause JOB", "Have a job read nothing more until it is resumed",
		`Have a job read nothing more until sluice resume. The command returns when all that was read
is in the sinks and durable. A job that is started again stays paused. A state directory
that no job runs on is marked, so that the next start is paused.`,
		"  sluice pause /var/lib/sluice/p", 1,
		func(_ *cobra.Command, args []string) error { return setPaused(args[0], true) })
}

func newResume() *cobra.Command {
	return jobCommand("resume JOB", "End a pause", "Have a paused job read again.", "  sluice resume /var/lib/sluice/p", 1,
		func(_ *cobra.Command, args []string) error { return setPaused(args[0], false) })
}

func setPaused(job string, paused bool) error {
	r, err := runtime.FindJob(job)
	switch {
	case errors.Is(err, runtime.ErrNotRunning):
		return runtime.SetPaused(job, paused)
	case err != nil:
		return err
	case paused:
		return r.Pause()
	}
	return r.Resume()
}

func newSavepoint() *cobra.Command {
	return jobCommand("savepoint JOB DIR", "Copy a job's state",
		`Copy the state of a job, as of a checkpoint taken for it, into DIR, which must be new or empty. A
running job goes on meanwhile. Of a state directory that no job runs on, what it holds is copied.
sluice run --from-savepoint starts a job from the copy.

On one file system the copy shares its large files with the state, and takes hardly any room at first.`,
		"  sluice savepoint /var/lib/sluice/p /backup/p-1", 2,
		func(_ *cobra.Command, args []string) error {
			r, err := runtime.FindJob(args[0])
			if errors.Is(err, runtime.ErrNotRunning) {
				return runtime.CopySavepoint(args[0], args[1], versionLine())
			}
			if err != nil {
				return err
			}
			return r.Savepoint(args[1])
		})
}

// stopJob is STOP JOB. Its answer is nil without a savepoint.
func (r *runner) stopJob(s *planner.StopJob) (*planner.Text, error) {
	at := func(err error) error {
		return &failure{exitFailed, r.sources.locate(ast.Placed(s.Stmt.IDPos, err, fault.JobUnknown))}
	}
	job, err := runtime.FindJob(s.Stmt.ID)
	if err != nil {
		return nil, at(err)
	}
	var dir string
	if s.Stmt.WithSavepoint {
		status, err := job.Status()
		if err != nil {
			return nil, at(err)
		}
		dir = filepath.Join(s.SavepointDir, fmt.Sprintf("savepoint-%s-%s", status.Job[:8], time.Now().UTC().Format("20060102T150405.000Z")))
	}
	if err := job.Stop(dir); err != nil {
		return nil, at(err)
	}
	if dir == "" {
		return nil, nil
	}
	return &planner.Text{Columns: []string{"savepoint path"}, Rows: [][]string{{dir}}}, nil
}
