package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluicesql/sluice/cmd/sluice/internal/planview"
	"github.com/sluicesql/sluice/planner"
	"github.com/sluicesql/sluice/sql/ast"
)

// explainFlags are the flags of sluice explain.
type explainFlags struct {
	runFlags
	format  string
	analyze bool
}

func newExplain(sources sourceTexts) *cobra.Command {
	f := &explainFlags{}
	cmd := &cobra.Command{
		Use:   "explain [flags] FILE.sql…|FOLDER",
		Short: "Show how the jobs of SQL files would run, or did",
		Long: `Print the plan of every job of SQL files, or of a pipeline's folder: the operators, the changes that flow between
them, unique keys, state and exchanges. Nothing connects and nothing runs.

With --analyze the jobs, which must end by themselves, are run, and what each operator was given and gave, how long it
worked and what it keeps is shown too. Sinks are written; what the connector print writes goes to standard error. State
is kept in memory alone.

The text also has the answers of SHOW and DESCRIBE. json and the drawings dot (for Graphviz), mermaid and svg are of all
jobs together.`,
		Example: `  sluice explain pipeline.sql
  sluice explain --set table.exec.source.cdc-events-duplicate=false pipeline.sql
  sluice explain --format svg pipeline.sql >plan.svg
  sluice explain --format json pipeline.sql | jq '.jobs[].nodes[] | select(.state != [])'
  sluice explain --analyze --embed events.jsonl pipeline.sql`,
		Args: needFiles,
		RunE: func(cmd *cobra.Command, files []string) error {
			f.parallelismSet = cmd.Flags().Changed("parallelism")
			return f.run(cmd.OutOrStdout(), sources, files)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	addChoice(flags, &f.format, "format", string(planview.Text), "write plans as %s", planview.Formats()...)
	flags.BoolVar(&f.analyze, "analyze", false, "run the jobs, and show what was measured")
	f.env.add(flags)
	f.embed.add(flags, "with --analyze, ")
	f.vars.add(flags)
	f.options.add(flags)
	flags.IntVar(&f.parallelism, "parallelism", 0, "with --analyze, run `N` shards, 1–128; without it parallelism.default, else the number of cores")
	return cmd
}

func (f *explainFlags) run(out io.Writer, sources sourceTexts, files []string) error {
	format := planview.Format(f.format)
	switch {
	case f.analyze:
		return f.withScript(sources, files, func(r *runner, stmts []ast.Statement) error {
			script, err := r.plan(explained(stmts, true), r.notes)
			if err != nil {
				return err
			}
			return sources.writePlans(out, format, script, func(e *planner.Explain) (*planner.Explanation, error) {
				return r.explain(e, r.toMeasure)
			})
		})
	case len(f.embed) > 0:
		return wrong(fmt.Errorf("--embed is for --analyze: without it nothing runs"))
	case f.parallelismSet:
		return wrong(fmt.Errorf("--parallelism is for --analyze: the plan is the same for any number of shards"))
	}
	session, stmts, err := sources.prepare(files, f.env, f.vars, f.options)
	if err != nil {
		return err
	}
	script, err := session.Run(explained(stmts, false))
	if err != nil {
		return wrong(sources.locate(err))
	}
	return sources.writePlans(out, format, script, func(e *planner.Explain) (*planner.Explanation, error) {
		return sources.explanation(e.Job.Plan), nil
	})
}

// writePlans writes the plans of a script, which explain describes, and in text its answers too.
func (s sourceTexts) writePlans(w io.Writer, f planview.Format, script *planner.Script, explain func(*planner.Explain) (*planner.Explanation, error)) error {
	var jobs []*planner.Explanation
	var texts []string
	for _, step := range script.Steps {
		switch t := step.(type) {
		case *planner.Explain:
			e, err := explain(t)
			if err != nil {
				return err
			}
			jobs = append(jobs, e)
			if f != planview.Text {
				continue
			}
			text, err := textOfPlan(t, e)
			if err != nil {
				return &failure{exitFailed, err}
			}
			texts = append(texts, string(text))
		case *planner.Text:
			texts = append(texts, s.secrets.Text(string(textOf(t))))
		}
	}
	text := []byte(strings.Join(texts, "\n"))
	var err error
	if f != planview.Text {
		text, err = f.Write(jobs)
	}
	if err == nil {
		_, err = w.Write(text)
	}
	if err != nil {
		return &failure{exitFailed, err}
	}
	return nil
}

// textOfPlan is a plan in the form that an EXPLAIN asks for.
func textOfPlan(e *planner.Explain, x *planner.Explanation) ([]byte, error) {
	f := planview.Text
	if e.JSON {
		f = planview.JSON
	}
	return f.Write([]*planner.Explanation{x})
}

// explanation describes a plan without secrets.
func (s sourceTexts) explanation(p *planner.Plan) *planner.Explanation {
	e := p.Explanation()
	e.Redact(s.secrets.Text)
	return e
}

// explained puts every statement that makes a job under an EXPLAIN, or EXPLAIN ANALYZE. The INSERTs of a script are one
// job, so they come as one statement set, at the place of the last of them, when all tables are known.
func explained(stmts []ast.Statement, analyze bool) []ast.Statement {
	explain := func(st ast.Statement) *ast.Explain {
		e := &ast.Explain{Pos: st.Position(), Statement: st}
		if analyze {
			e.Details = []ast.ExplainDetail{{Pos: e.Pos, Name: "ANALYZE"}}
		}
		return e
	}
	set := &ast.StatementSet{}
	last := -1
	for i, st := range stmts {
		if in, ok := st.(*ast.Insert); ok {
			if last < 0 {
				set.Pos = in.Pos
			}
			set.Inserts = append(set.Inserts, in)
			last = i
		}
	}
	var out []ast.Statement
	for i, st := range stmts {
		switch st := st.(type) {
		case *ast.Insert:
			if i != last {
				continue
			}
			if len(set.Inserts) == 1 {
				out = append(out, explain(st))
			} else {
				out = append(out, explain(set))
			}
		case *ast.QueryStatement, *ast.StatementSet:
			out = append(out, explain(st))
		default:
			out = append(out, st)
		}
	}
	return out
}
