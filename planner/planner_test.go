package planner

import (
	"fmt"

	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/sluicesql/sluice/sql/parser"
)

// TestPlans runs the scripts in testdata. Each file is one session after another: "reset" begins a new
// one, "run" runs statements and shows the jobs' plans and the answers, or the error.
func TestPlans(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		s := NewSession(fakeRegistry())
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "reset":
				s = NewSession(fakeRegistry())
			case "run":
			default:
				d.Fatalf(t, "unknown command %q", d.Cmd)
			}
			return runScript(s, d.Input)
		})
	})
}

// runScript shows what a script makes, without the lines' trailing spaces.
func runScript(s *Session, text string) string {
	stmts, err := parser.Parse("q.sql", text)
	if err != nil {
		return err.Error() + "\n"
	}
	script, err := s.Run(stmts)
	if err != nil {
		return err.Error() + "\n"
	}
	var b strings.Builder
	for _, st := range script.Steps {
		switch st := st.(type) {
		case *Job:
			b.WriteString(st.Plan.Explain())
		case *Explain:
			b.WriteString(explained(st))
		case *Text:
			if len(st.Columns) > 0 {
				fmt.Fprintln(&b, strings.Join(st.Columns, " | "))
			}
			for _, r := range st.Rows {
				fmt.Fprintln(&b, strings.Join(r, " | "))
			}
		case *StopJob:
			fmt.Fprintf(&b, "stop %s\n", st.Stmt.ID)
		}
	}
	if b.Len() == 0 {
		return "ok\n"
	}
	return b.String()
}

// explained is the answer to an EXPLAIN. One that is to run the job first is told from one that is not.
func explained(st *Explain) string {
	text := st.Job.Plan.Explain()
	if st.JSON {
		b, err := ExplanationJSON([]*Explanation{st.Job.Plan.Explanation()})
		if err != nil {
			return err.Error() + "\n"
		}
		text = string(b)
	}
	if st.Analyze {
		return "runs:\n" + text
	}
	return text
}
