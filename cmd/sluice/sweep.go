package main

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sluicesql/sluice/cmd/sluice/internal/display"
	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/planner"
	"github.com/sluicesql/sluice/runtime"
)

func newSweep(sources sourceTexts) *cobra.Command {
	var variables variableFlag
	var options optionFlag
	var env environmentFlag
	var table, since string
	var offsets []string
	var apply bool
	cmd := &cobra.Command{
		Use:   "sweep [flags] DIR FILE.sql…|FOLDER",
		Short: "Find rows that a second snapshot no longer shows",
		Long: `Find rows of a table that a second snapshot no longer shows: their deletes were lost before they
came into the topic. The job of the state directory DIR must have read the whole snapshot, and be
stopped; the files are those that it runs. The topic is read again from where the snapshot
began to where the job has got, and rows whose keys did not come are listed. With --apply, the next
start of the job begins with their deletes.`,
		Example: `  sluice sweep --table users --since-timestamp 2026-11-30T02:00:00Z /var/lib/sluice/p pipeline.sql
  sluice sweep --table users --since-offset 0@8812 --since-offset 1@9120 --apply /var/lib/sluice/p pipeline.sql`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) < 2 || table == "" || (since == "") == (len(offsets) == 0) {
				return wrong(fmt.Errorf("give --table, either --since-timestamp or --since-offset, a state directory and SQL files; see %s --help", cmd.CommandPath()))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			o := runtime.SweepOptions{Table: table, Apply: apply}
			if err := parseSince(&o, since, offsets); err != nil {
				return wrong(err)
			}
			plan, err := onePlan(sources, args[1:], env, variables, options)
			if err != nil {
				return err
			}
			notes := cmd.ErrOrStderr()
			r, err := runtime.Sweep(context.Background(), runtime.Config{
				Plan: plan, StateDir: args[0], Version: versionLine(), TimeZone: plan.Location(),
				Warn: func(msg string) { fmt.Fprintf(notes, "sluice: warning: %s\n", msg) },
			}, o)
			if err == nil {
				err = writeSweep(cmd.OutOrStdout(), table, apply, r)
			}
			if err != nil {
				return &failure{exitFailed, err}
			}
			return nil
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&table, "table", "", "the `TABLE` to sweep")
	flags.StringVar(&since, "since-timestamp", "", "the snapshot began at `TIME`, as 2026-11-30T02:00:00Z or in milliseconds since 1970")
	flags.StringArrayVar(&offsets, "since-offset", nil, "the snapshot began at `PARTITION@OFFSET`, or TOPIC/PARTITION@OFFSET; once for every partition")
	flags.BoolVar(&apply, "apply", false, "have the next start of the job delete the rows; without it they are only listed")
	variables.add(flags)
	options.add(flags)
	env.add(flags)
	return cmd
}

func parseSince(o *runtime.SweepOptions, since string, offsets []string) error {
	for _, text := range offsets {
		s, err := runtime.ParseSkip("table/" + text)
		if err != nil {
			return fmt.Errorf("--since-offset %s: write PARTITION@OFFSET or TOPIC/PARTITION@OFFSET", text)
		}
		o.Since = append(o.Since, spi.Position{Topic: s.Topic, Partition: s.Partition, Offset: s.Offset})
	}
	if since == "" {
		return nil
	}
	if ms, err := strconv.ParseInt(since, 10, 64); err == nil {
		o.SinceMillis = ms
		return nil
	}
	at, err := time.Parse(time.RFC3339, since)
	if err != nil {
		return fmt.Errorf("--since-timestamp %s: write a time such as 2026-11-30T02:00:00Z, or milliseconds since 1970", since)
	}
	o.SinceMillis = at.UnixMilli()
	return nil
}

func writeSweep(w io.Writer, table string, apply bool, r *runtime.SweepResult) error {
	var b strings.Builder
	for _, s := range r.Stale {
		fmt.Fprintf(&b, "%s\n", s)
	}
	fmt.Fprintf(&b, "%s: %s rows in the state, of which %s did not come since the snapshot began", table, display.Count(r.Held), display.Count(int64(len(r.Stale))))
	switch {
	case len(r.Stale) == 0:
		b.WriteString("\n")
	case apply:
		b.WriteString("; the next start of the job deletes them\n")
	default:
		b.WriteString("; nothing was changed, --apply has the next start of the job delete them\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// onePlan is the plan of the one job of SQL files.
func onePlan(sources sourceTexts, args []string, env environmentFlag, variables variableFlag, options optionFlag) (*planner.Plan, error) {
	plans, err := plansOf(sources, args, env, variables, options)
	if err == nil && len(plans) != 1 {
		err = wrong(fmt.Errorf("the files hold %d jobs, and a state directory belongs to one", len(plans)))
	}
	if err != nil {
		return nil, err
	}
	return plans[0], nil
}

// plansOf are the plans of the jobs of SQL files.
func plansOf(sources sourceTexts, args []string, env environmentFlag, variables variableFlag, options optionFlag) ([]*planner.Plan, error) {
	session, stmts, err := sources.prepare(args, env, variables, options)
	if err != nil {
		return nil, err
	}
	script, err := session.Run(stmts)
	if err != nil {
		return nil, wrong(sources.locate(err))
	}
	var plans []*planner.Plan
	for _, step := range script.Steps {
		if j, ok := step.(*planner.Job); ok {
			plans = append(plans, j.Plan)
		}
	}
	return plans, nil
}
