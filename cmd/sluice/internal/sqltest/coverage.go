package sqltest

import (
	"errors"
	"fmt"

	"github.com/sluicesql/sluice/planner"
	"github.com/sluicesql/sluice/sql/ast"
)

// Coverage is what tests have seen of a pipeline: by name, the changes of each table, view and result, and those that each
// operator gave.
type Coverage struct {
	Tables, Operators map[string]int64
}

// NewCoverage is the coverage of no test.
func NewCoverage() Coverage { return Coverage{map[string]int64{}, map[string]int64{}} }

// cover notes what the case has seen. It ends the jobs.
func (r *run) cover() {
	c := NewCoverage()
	for name, capture := range r.captures {
		c.Tables[name] += capture.count()
	}
	for _, j := range r.jobs {
		j.stop()
		r.count(j)
	}
	for _, name := range r.session.Tables() {
		c.Tables[name] += r.read[name]
	}
	c.Operators = r.gave
	r.result.Coverage = c
}

// count adds what a job, which has ended, read and its operators gave since its last start.
func (r *run) count(j *job) {
	if !r.options.Coverage {
		return
	}
	for table, s := range j.running.Stats().Sources {
		r.read[table] += s.Events
	}
	e := j.plan.Explanation()
	j.running.Measure(e)
	nodes := map[int]planner.Node{}
	j.plan.Walk(func(n planner.Node) { nodes[n.Out().ID] = n })
	for _, n := range e.Nodes {
		node, name := nodes[n.ID], n.Title
		switch node.(type) {
		case *planner.Filter:
			name += ", " + n.Details[0] // which of them it is
		case *planner.Scan, *planner.Values, *planner.Exchange, *planner.Sink, *planner.DeadLetters:
			continue // tables are counted by name, and an exchange gives what it is given
		}
		r.gave[name+r.place(node)] += n.Measured.Out
	}
}

// place is the place of an operator in the SQL, or of the nearest one that it reads of which it is known, in brackets.
func (r *run) place(n planner.Node) string {
	for !n.Out().Pos.IsValid() && len(n.Inputs()) > 0 {
		n = n.Inputs()[0]
	}
	if pos := n.Out().Pos; pos.IsValid() {
		if e, ok := errors.AsType[*ast.Error](r.locate(&ast.Error{Pos: pos})); ok {
			return fmt.Sprintf(" (%s)", e.Pos)
		}
	}
	return ""
}

// Add adds what another case has seen.
func (c Coverage) Add(o Coverage) {
	for name, n := range o.Tables {
		c.Tables[name] += n
	}
	for name, n := range o.Operators {
		c.Operators[name] += n
	}
}
