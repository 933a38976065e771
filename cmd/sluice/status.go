package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-json"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sluicesql/sluice/cmd/sluice/internal/display"
	"github.com/sluicesql/sluice/runtime"
)

// formatFlag is the flag --format of commands that tell something.
type formatFlag string

func (f *formatFlag) add(flags *pflag.FlagSet) {
	addChoice(flags, (*string)(f), "format", "text", "%s", "text", "json")
}

// show writes v as JSON, or as text does.
func (f formatFlag) show(w io.Writer, v any, text func(io.Writer) error) error {
	if f == "text" {
		return text(w)
	}
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	_, err = w.Write(append(b, '\n'))
	return err
}

func newJobs() *cobra.Command {
	var format formatFlag
	cmd := &cobra.Command{
		Use:   "jobs",
		Short: "List the running jobs",
		Long: `List the running jobs of this user on this machine. A job without a state directory is not
listed: there is no way to ask it for anything. NO ANSWER is one whose process is stopped, or stuck.`,
		Example: "  sluice jobs",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			jobs, err := runtime.Jobs()
			if err != nil {
				return &failure{exitFailed, err}
			}
			return format.show(cmd.OutOrStdout(), jobs, func(w io.Writer) error { return writeJobs(w, jobs) })
		},
	}
	format.add(cmd.Flags())
	return cmd
}

func showJobs(w io.Writer) error {
	jobs, err := runtime.Jobs()
	if err == nil {
		err = writeJobs(w, jobs)
	}
	if err != nil {
		return &failure{exitFailed, err}
	}
	return nil
}

func writeJobs(w io.Writer, jobs []*runtime.Status) error {
	var rows [][]string
	for _, s := range jobs {
		rows = append(rows, []string{s.Job, s.Name, s.Dir, state(s), startTime(s)})
	}
	_, err := w.Write(display.Table([]string{"job id", "job name", "state directory", "status", "start time"}, rows))
	return err
}

func state(s *runtime.Status) string {
	switch {
	case s.Silent:
		return "NO ANSWER"
	case s.Paused:
		return "PAUSED"
	}
	return "RUNNING"
}

func startTime(s *runtime.Status) string {
	if s.Silent {
		return ""
	}
	return s.Started.Format(time.DateTime)
}

func newStatus() *cobra.Command {
	var format formatFlag
	cmd := jobCommand("status [flags] JOB", "Show how a running job is", "Show how a running job is.", "  sluice status /var/lib/sluice/p", 1,
		func(cmd *cobra.Command, args []string) error {
			r, err := runtime.FindJob(args[0])
			if err != nil {
				return err
			}
			s, err := r.Status()
			if err != nil {
				return err
			}
			return format.show(cmd.OutOrStdout(), s, func(w io.Writer) error { return writeStatus(w, s) })
		})
	format.add(cmd.Flags())
	return cmd
}

func writeStatus(w io.Writer, s *runtime.Status) error {
	t := &lines{w: w}
	t.line("job", s.Job)
	t.line("name", s.Name)
	t.line("state directory", s.Dir)
	t.line("status", state(s))
	t.line("process", strconv.Itoa(s.PID))
	t.line("version", s.Version)
	t.line("started", s.Started.Format(time.DateTime)+" UTC")
	t.line("shards", strconv.Itoa(s.Parallelism))
	t.line("epochs", fmt.Sprintf("%s, checkpoints %s", display.Count(int64(s.Epochs)), display.Count(int64(s.Checkpoints))))
	t.line("state", fmt.Sprintf("%s rows, %s in memory", display.Count(s.StateRows), display.Size(s.StateBytes)))
	for _, name := range slices.Sorted(maps.Keys(s.Sources)) {
		src := s.Sources[name]
		lag := "unknown"
		if src.Lag >= 0 {
			lag = display.Count(src.Lag)
		}
		t.line("reads "+name, fmt.Sprintf("%s records, %s skipped, waiting %s", display.Count(src.Records), display.Count(src.Skipped), lag))
		t.line("  no change", display.Counts(src.NoChange))
		var unknown []string
		for _, field := range slices.Sorted(maps.Keys(src.Unknown)) {
			unknown = append(unknown, fmt.Sprintf("%s (%s)", field, src.Unknown[field]))
		}
		t.line("  not declared", strings.Join(unknown, ", "))
	}
	for _, name := range slices.Sorted(maps.Keys(s.Sinks)) {
		t.line("writes "+name, display.Count(s.Sinks[name].Rows)+" rows")
	}
	return t.err
}

// lines writes labelled lines, and leaves empty ones out.
type lines struct {
	w   io.Writer
	err error
}

func (t *lines) line(label, text string) {
	if t.err == nil && text != "" {
		_, t.err = fmt.Fprintf(t.w, "%-17s %s\n", label+":", text)
	}
}
