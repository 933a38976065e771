package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sluicesql/sluice/planner"
	"github.com/sluicesql/sluice/sql/ast"
)

func newExplain(sources sourceTexts) *cobra.Command {
	var variables variableFlag
	var options optionFlag
	var env environmentFlag
	cmd := &cobra.Command{
		Use:   "explain [flags] FILE.sql…|FOLDER",
		Short: "Show how the jobs of SQL files would run",
		Long: `Print the plan of every job of SQL files, or of a pipeline's folder: the operators, the changes that flow between
them, unique keys, state and exchanges. Nothing connects and nothing runs.`,
		Example: `  sluice explain pipeline.sql
  sluice explain --set table.exec.source.cdc-events-duplicate=false pipeline.sql`,
		Args: needFiles,
		RunE: func(cmd *cobra.Command, files []string) error {
			session, stmts, err := sources.prepare(files, env, variables, options)
			if err != nil {
				return err
			}
			script, err := session.Run(explained(stmts))
			if err != nil {
				return wrong(sources.locate(err))
			}
			for i, step := range script.Steps {
				if i > 0 {
					fmt.Fprintln(cmd.OutOrStdout())
				}
				if t, ok := step.(*planner.Text); ok {
					if _, err := sources.secrets.Writer(cmd.OutOrStdout()).Write(textOf(t)); err != nil {
						return &failure{exitFailed, err}
					}
				}
			}
			return nil
		},
	}
	variables.add(cmd.Flags())
	options.add(cmd.Flags())
	env.add(cmd.Flags())
	return cmd
}

// explained puts every statement that makes a job under an EXPLAIN. The INSERTs of a script are one job, so
// they come as one statement set, at the place of the last of them, when all tables are known.
func explained(stmts []ast.Statement) []ast.Statement {
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
				out = append(out, &ast.Explain{Pos: st.Pos, Statement: st})
			} else {
				out = append(out, &ast.Explain{Pos: set.Pos, Statement: set})
			}
		case *ast.QueryStatement, *ast.StatementSet:
			out = append(out, &ast.Explain{Pos: st.Position(), Statement: st})
		default:
			out = append(out, st)
		}
	}
	return out
}
