package sqltest

import (
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
		for table, s := range j.running.Stats().Sources {
			r.read[table] += s.Events
		}
		j.stop()
		r.measure(j)
	}
	for _, name := range r.session.Tables() {
		c.Tables[name] += r.read[name]
	}
	c.Operators = r.gave
	r.result.Coverage = c
}

// measure adds what the operators of a job, which has ended, gave since its last start.
func (r *run) measure(j *job) {
	if !r.options.Coverage {
		return
	}
	e := j.plan.Explanation()
	j.running.Measure(e)
	nodes := map[int]planner.Node{}
	for _, s := range j.plan.Sinks {
		number(s, nodes)
	}
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

// number finds the nodes from n downwards by their ids.
func number(n planner.Node, nodes map[int]planner.Node) {
	if nodes[n.Out().ID] != nil {
		return
	}
	nodes[n.Out().ID] = n
	for _, in := range n.Inputs() {
		number(in, nodes)
	}
}

// place is the place of an operator in the SQL, or of the nearest one that it reads of which it is known, in brackets.
func (r *run) place(n planner.Node) string {
	for !n.Out().Pos.IsValid() && len(n.Inputs()) > 0 {
		n = n.Inputs()[0]
	}
	if pos := n.Out().Pos; pos.IsValid() {
		if e, ok := r.locate(&ast.Error{Pos: pos}).(*ast.Error); ok { //nolint:errorlint // it is the error given, placed
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
