package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/pmezard/go-difflib/difflib"
	"github.com/spf13/cobra"

	"github.com/sluicesql/sluice/cmd/sluice/internal/pipeline"
	"github.com/sluicesql/sluice/planner"
	"github.com/sluicesql/sluice/runtime"
)

// The exit codes of sluice diff beside those of all commands.
const (
	exitChanged = 1 // and all state goes on
	exitLost    = 3 // some state would be lost
)

func newDiff(sources sourceTexts) *cobra.Command {
	var variables variableFlag
	var options optionFlag
	var env environmentFlag
	cmd := &cobra.Command{
		Use:   "diff [flags] OLD NEW",
		Short: "Show what a change of the SQL changes, and which state survives it",
		Long: `Compare the plans of two SQL files or pipelines' folders, and tell which operators would keep their state if the new
one were started on the old one's, what would be read again or dropped, and why, and what becomes of the sinks. OLD may
also be a state directory or savepoint that no job uses. Nothing connects and nothing runs.

Exit codes: 0 nothing changes, 1 something does and all state goes on, 2 a file or flag is wrong, 3 some state would be
lost: sluice run would refuse to start without --allow-rebuild.`,
		Example: `  sluice diff old.sql new.sql
  sluice diff --env prod pipeline-as-deployed pipeline
  sluice diff /var/lib/sluice/p pipeline.sql`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return wrong(fmt.Errorf("name what was and what will be: sluice diff OLD NEW"))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if env != "" && !slices.ContainsFunc(args, pipeline.Is) {
				return env.refuse()
			}
			plans := func(path string) ([]*planner.Plan, error) {
				e := env
				if !pipeline.Is(path) {
					e = "" // it is for the folder beside
				}
				return plansOf(sources, []string{path}, e, variables, options)
			}
			d := &planDiff{out: cmd.OutOrStdout(), redact: sources.secrets.Text, old: args[0], new: args[1]}
			return d.run(plans)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	env.add(flags)
	variables.add(flags)
	options.add(flags)
	return cmd
}

// planDiff is one comparison.
type planDiff struct {
	out           io.Writer
	redact        func(string) string
	old, new      string // the paths
	changed, lost bool
}

func (d *planDiff) run(plans func(path string) ([]*planner.Plan, error)) error {
	now, err := plans(d.new)
	if err != nil {
		return err
	}
	var was []*runtime.RecordedPlan
	if isStateDir(d.old) {
		r, err := runtime.ReadRecordedPlan(d.old, versionLine())
		if err != nil {
			return wrong(err)
		}
		was = append(was, r)
	} else {
		old, err := plans(d.old)
		if err != nil {
			return err
		}
		for _, p := range old {
			r, err := runtime.RecordPlan(p, d.redact)
			if err != nil {
				return wrong(err)
			}
			was = append(was, r)
		}
	}
	if len(was) != len(now) {
		return wrong(fmt.Errorf("%s has %d jobs and %s has %d; compare files with the same jobs", d.old, len(was), d.new, len(now)))
	}
	for i, p := range now {
		heading := ""
		if len(now) > 1 {
			heading = fmt.Sprintf("job %d: ", i+1)
		}
		if err := d.job(heading, was[i], p); err != nil {
			return wrong(err) // 1 is a difference
		}
	}
	switch {
	case d.lost:
		return &failure{code: exitLost}
	case d.changed:
		return &failure{code: exitChanged}
	}
	return nil
}

// isStateDir reports whether a path is that of a folder that is no pipeline.
func isStateDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir() && !pipeline.Is(path)
}

// numbers are the nodes' numbers in a plan's text, which follow from all of the plan.
var numbers = regexp.MustCompile(`(?m)^([│├└─ ]*)#\d+ `)

// job tells what becomes of one job.
func (d *planDiff) job(heading string, was *runtime.RecordedPlan, now *planner.Plan) error {
	c, err := was.Compare(now, d.redact)
	if err != nil {
		return err
	}
	plain := func(text string) []string { return linesOf(numbers.ReplaceAllString(text, "$1")) }
	plan, err := difflib.GetUnifiedDiffString(difflib.UnifiedDiff{
		A: plain(was.Explain()), B: plain(d.redact(now.Explain())), FromFile: d.old, ToFile: d.new, Context: 3,
	})
	if err != nil {
		return err
	}
	d.changed = d.changed || plan != "" || len(c.Sinks) > 0
	d.lost = d.lost || len(c.Lost) > 0
	var b strings.Builder
	part := func(title string, lines []string) {
		if len(lines) > 0 {
			fmt.Fprintf(&b, "\n%s%s:\n", heading, title)
		}
		for _, l := range lines {
			b.WriteString("  " + strings.ReplaceAll(l, "\n", "\n  ") + "\n")
		}
	}
	fmt.Fprintf(&b, "%splan:\n%s", heading, cmp.Or(plan, "the same\n"))
	part("state that is kept", c.Kept)
	part("state that is lost", c.Lost)
	part("sinks", c.Sinks)
	_, err = io.WriteString(d.out, b.String())
	return err
}
