package main

import (
	"fmt"

	"github.com/sluicesql/sluice/cmd/sluice/internal/result"
	"github.com/sluicesql/sluice/planner"
	"github.com/sluicesql/sluice/sql/ast"
)

// check refuses, before anything runs, what a script asks for and this runner cannot do.
func (r *runner) check(script *planner.Script) error {
	var jobs []*planner.Job
	for i, step := range script.Steps {
		switch s := step.(type) {
		case *planner.Job:
			if err := r.checkJob(s); err != nil {
				return err
			}
			if !bounded(s.Plan) && i < len(script.Steps)-1 {
				return &ast.Error{
					Code: ast.CodeScript,
					Pos:  s.Pos,
					Msg:  "this job never ends, so that what follows it in the script would never run",
					Hint: "make it the last, or bound its sources (such as 'scan.bounded.mode' = 'latest-offset'); several INSERT INTO statements run together as one job",
				}
			}
			jobs = append(jobs, s)
		case *planner.Explain:
			if s.Analyze {
				if _, err := r.analysis(s.Job); err != nil {
					return ast.Placed(s.Job.Pos, err, ast.CodeOptionValue)
				}
			}
		}
	}
	if len(jobs) > 1 {
		dir, err := r.settings(jobs[1]).stateDir()
		if err != nil {
			return err
		}
		if dir != "" {
			return &ast.Error{
				Code: ast.CodeScript,
				Pos:  jobs[1].Pos,
				Msg:  "this is a second job, and a state directory belongs to one",
				Hint: "move it to a script of its own, with its own state directory; several INSERT INTO statements run together as one job",
			}
		}
	}
	return nil
}

func (r *runner) checkJob(j *planner.Job) error {
	at := func(err error) error { return ast.Placed(j.Pos, err, ast.CodeOptionValue) }
	if _, err := r.config(j); err != nil {
		return at(err)
	}
	if !j.Query {
		return nil
	}
	s := r.settings(j)
	if s.resultMode() != result.Table {
		return nil
	}
	dir, err := s.stateDir()
	switch {
	case err != nil:
		return at(err)
	case dir != "":
		return &ast.Error{
			Code: ast.CodeScript,
			Pos:  j.Pos,
			Msg:  "a job with a state directory cannot show a table: started again, it would show the rows changed since alone",
			Hint: "use --result changelog, or write the result to a table by INSERT INTO",
		}
	case !bounded(j.Plan) && !r.screen:
		return &ast.Error{
			Code: ast.CodeScript,
			Pos:  j.Pos,
			Msg:  "the result of this query has no end, so that a table of it can be shown on a terminal only",
			Hint: fmt.Sprintf("use --result %s or %s, or bound the sources (such as 'scan.bounded.mode' = 'latest-offset')", result.Changelog, result.JSON),
		}
	}
	return nil
}
