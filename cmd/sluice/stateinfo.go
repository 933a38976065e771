package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sluicesql/sluice/cmd/sluice/internal/display"
	"github.com/sluicesql/sluice/runtime"
)

func newState() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "state",
		Short: "Look into state directories",
		Long:  "Look into state directories.",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newStateInfo())
	return cmd
}

func newStateInfo() *cobra.Command {
	var format formatFlag
	cmd := &cobra.Command{
		Use:   "info [flags] DIR",
		Short: "Show what a state directory or savepoint holds",
		Long: `Show what a state directory or savepoint holds: versions, the SQL and the plan, how far each
input was read, and the operators with their rows. Nothing is changed. A directory that a job runs on
is shown by that job, as of its last checkpoint.

All rows are counted, which takes about a second for five million.`,
		Example: "  sluice state info /var/lib/sluice/p",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return wrong(fmt.Errorf("name one state directory: sluice state info DIR"))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			i, err := runtime.ReadInfo(nil, args[0])
			if err != nil {
				return &failure{exitFailed, err}
			}
			return format.show(cmd.OutOrStdout(), i, func(w io.Writer) error { return writeInfo(w, i) })
		},
	}
	format.add(cmd.Flags())
	return cmd
}

func writeInfo(w io.Writer, i *runtime.Info) error {
	t := &lines{w: w}
	t.line("directory", i.Dir)
	if n := i.Savepoint; n != nil {
		t.line("savepoint", fmt.Sprintf("of job %s at checkpoint %d, taken %s UTC", n.Job, n.Checkpoint, n.Time.Format(time.DateTime)))
	}
	if n := i.Restored; n != nil {
		t.line("restored", fmt.Sprintf("from %s, taken %s UTC", n.Path, n.Time.Format(time.DateTime)))
	}
	t.line("in use", map[bool]string{true: "a job runs on it", false: "no"}[i.Running])
	t.line("paused", map[bool]string{true: "yes"}[i.Paused])
	t.line("format", fmt.Sprintf("version %d", i.Format))
	t.line("written by", i.Version)
	t.line("job", fmt.Sprintf("%s, generation %d", i.Job, i.Generation))
	t.line("name", i.Name)
	if i.Fingerprint == "" {
		t.line("checkpoint", "none: no job has run on it yet")
		return t.err
	}
	t.line("fingerprint", i.Fingerprint)
	t.line("checkpoint", fmt.Sprintf("epoch %d, %s UTC", i.Checkpoint, i.Time.Format(time.DateTime)))
	if i.Logged > 0 {
		t.line("to be repeated", fmt.Sprintf("%d epochs, since the job did not end in order", i.Logged))
	}
	for _, sink := range slices.Sorted(maps.Keys(i.Pending)) {
		t.line("to be delivered", fmt.Sprintf("%s to %s", display.Size(i.Pending[sink]), sink))
	}
	for _, skip := range i.Skips {
		t.line("skipped by name", skip.String())
	}
	t.line("on disk", display.Size(i.Disk))
	t.table("read so far", []string{"input", "topic", "partition", "next offset"}, positions(i))
	t.table("state", []string{"operator", "reads", "table", "rows", "size", "signature"}, operators(i))
	t.part("SQL", i.SQL)
	t.part("plan", i.Explain)
	return t.err
}

func positions(i *runtime.Info) [][]string {
	var rows [][]string
	for _, p := range i.Positions {
		rows = append(rows, []string{p.Input, p.Topic, fmt.Sprint(p.Partition), fmt.Sprint(p.Offset)})
	}
	return rows
}

func operators(i *runtime.Info) [][]string {
	var rows [][]string
	for _, o := range i.Operators {
		for k, t := range o.Tables {
			row := []string{"", "", fmt.Sprintf("%d.%d", t.ID>>8, t.ID&0xFF), display.Count(t.Rows), display.Size(t.Bytes), ""}
			if k == 0 {
				row[0], row[1], row[5] = o.Title, strings.Join(o.Reads, ", "), o.Signature
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// table writes a table under a heading, unless it is empty.
func (t *lines) table(heading string, columns []string, rows [][]string) {
	if len(rows) > 0 {
		t.part(heading, string(display.Table(columns, rows)))
	}
}

// part writes a text under a heading.
func (t *lines) part(heading, text string) {
	if t.err == nil {
		_, t.err = fmt.Fprintf(t.w, "\n%s:\n%s\n", heading, strings.TrimRight(text, "\n"))
	}
}
