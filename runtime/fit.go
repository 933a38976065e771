package runtime

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/sluicesql/sluice/internal/fault"
	"github.com/sluicesql/sluice/planner"
)

// fit is how a plan fits the state that an earlier plan left.
//
// The unit is a component of the plan: nodes that are connected by what they read. Its operators share scans, and
// a scan has one position: an operator that is new needs the scan's whole history, and one whose state is kept must
// not see it twice. So either all operators of a component keep their state, and its scans their positions; or the
// component is rebuilt: the state of its operators is dropped, and its scans start where they did at first.
type fit struct {
	// kept are the tables of the operators that keep their state.
	kept map[planner.Node][]uint16
	// positions are the names of the inputs that go on where they were.
	positions map[string]bool
	// drop are the tables of the operators that nothing needs any more.
	drop []uint16
	// fresh says that some input starts from its beginning, because it is new or its component is rebuilt.
	fresh bool
	// losses tell, for people, what would be read again or dropped; empty when nothing would.
	losses []string
	// notes are warnings about sinks.
	notes []string
}

// operator is an operator of the new plan with what is recorded of it.
type operator struct {
	planner.Operator
	was *operatorRecord // nil: no state of it is there, or it cannot be used
	why string          // why state that is there cannot be used
}

// newFit compares a plan, cut into g, with the recorded one, whose texts are without secrets, as redact makes those of p.
func newFit(p *planner.Plan, g *graph, was *planRecord, redact func(string) string) *fit {
	f := &fit{kept: map[planner.Node][]uint16{}, positions: map[string]bool{}}
	operators, planned := p.Operators(), p.Inputs()
	ops := map[planner.Node]*operator{}
	for _, o := range operators {
		o.Title, o.Text = redact(o.Title), redact(o.Text)
		op := &operator{Operator: o}
		for i := range was.Operators {
			if was.Operators[i].Signature == o.Signature {
				op.was = &was.Operators[i]
			}
		}
		ops[o.Node] = op
	}
	checkStages(g, ops)
	inputs := map[planner.Node]planner.Input{}
	for _, in := range planned {
		inputs[in.Node] = in
	}
	used := map[string]bool{} // signatures of recorded operators that are kept or told of
	for _, c := range p.Components() {
		f.component(c, ops, inputs, was, used)
	}
	for _, o := range was.Operators {
		if !slices.ContainsFunc(operators, func(n planner.Operator) bool {
			return f.kept[n.Node] != nil && n.Signature == o.Signature
		}) {
			f.drop = append(f.drop, o.Tables...)
			if !used[o.Signature] {
				f.losses = append(f.losses, fmt.Sprintf("dropped: %s (reads %s), which the new plan does not have", o.Title, strings.Join(o.Reads, ", ")))
			}
		}
	}
	for _, in := range was.Inputs {
		if !slices.ContainsFunc(planned, func(n planner.Input) bool { return n.Name == in.Name }) && in.Table != "" {
			f.losses = append(f.losses, fmt.Sprintf("forgotten: how far table %s was read, which the new plan does not read", in.Table))
		}
	}
	f.sinks(p, was)
	return f
}

// checkStages finds state that cannot be used although it means the right thing: a stage's tables belong to one
// fragment.
func checkStages(g *graph, ops map[planner.Node]*operator) {
	taken := map[int]bool{}
	for _, f := range g.fragments {
		stages := map[int]bool{}
		for _, n := range f.nodes {
			if o := ops[n]; o != nil && o.was != nil {
				stages[int(o.was.Tables[0]>>8)] = true
			}
		}
		conflict := len(stages) > 1
		for s := range stages {
			conflict = conflict || taken[s]
			taken[s] = true
		}
		if !conflict {
			continue
		}
		for _, n := range f.nodes {
			if o := ops[n]; o != nil && o.was != nil {
				o.was, o.why = nil, "its state lies together with that of other operators than it runs with now"
			}
		}
	}
}

// component decides about one component.
func (f *fit) component(nodes []planner.Node, ops map[planner.Node]*operator, inputs map[planner.Node]planner.Input, was *planRecord, used map[string]bool) {
	var mine []*operator
	var tables, reasons []string
	known, reads, old, fits := map[string]bool{}, 0, false, true
	for _, n := range nodes {
		if in, ok := inputs[n]; ok {
			reads++
			i := slices.IndexFunc(was.Inputs, func(r inputRecord) bool { return r.Name == in.Name })
			if t := tableOf(n); t != "" {
				tables = append(tables, t)
			}
			switch {
			case i < 0:
			case was.Inputs[i].Signature == in.Signature:
				known[in.Name], old = true, true
			default:
				old, fits = true, false
				reasons = append(reasons, fmt.Sprintf("table %s is another one now: its connector, topic or format has changed", tableOf(n)))
			}
		}
		if o := ops[n]; o != nil {
			mine = append(mine, o)
			old = old || o.was != nil || o.why != ""
			fits = fits && o.was != nil
		}
	}
	switch {
	case fits:
		for _, o := range mine {
			f.kept[o.Node] = o.was.Tables
		}
		for name := range known {
			f.positions[name] = true
		}
		f.fresh = f.fresh || len(known) < reads // new inputs may meet kept ones where there is no state, in a UNION ALL
		return
	case !old:
		f.fresh = true
		return
	}
	f.fresh = true
	for _, o := range mine {
		reasons = append(reasons, o.reason(was, used))
	}
	f.losses = append(f.losses, fmt.Sprintf("read again from the start: %s\n%s", cmp.Or(strings.Join(tables, ", "), "VALUES"), indent(strings.Join(reasons, "\n"))))
}

// reason says what of an operator of a component that is rebuilt fits and what does not.
func (o *operator) reason(was *planRecord, used map[string]bool) string {
	switch {
	case o.was != nil:
		used[o.was.Signature] = true
		return "fits, but reads the same tables as one that does not: " + o.Title
	case o.why != "":
		used[o.Signature] = true
		return "does not fit: " + o.Title + ": " + o.why
	}
	r := nearest(o, was, used)
	if r == nil {
		return "new: " + o.Title
	}
	used[r.Signature] = true
	return "changed: " + o.Title + "\n" + indent(difference(r.Text, o.Text))
}

// nearest is the recorded operator that was probably changed into o.
func nearest(o *operator, was *planRecord, used map[string]bool) *operatorRecord {
	kind, _, _ := strings.Cut(o.Title, ":")
	reads := readsOf(o.Node)
	for i := range was.Operators {
		r := &was.Operators[i]
		was, _, _ := strings.Cut(r.Title, ":")
		if !used[r.Signature] && was == kind && slices.Equal(r.Reads, reads) {
			return r
		}
	}
	return nil
}

// difference are the lines that only one of two EXPLAIN texts has, of those that bear on state.
func difference(old, now string) string {
	a, b := bearing(old), bearing(now)
	count := map[string]int{}
	for _, l := range a {
		count[l]++
	}
	var added []string
	for _, l := range b {
		if count[l]--; count[l] < 0 {
			added = append(added, "+ "+l)
		}
	}
	var out []string
	for i := len(a) - 1; i >= 0; i-- {
		if count[a[i]]--; count[a[i]] >= 0 {
			out = append(out, "- "+a[i])
		}
	}
	slices.Reverse(out)
	if len(out)+len(added) == 0 {
		return "what EXPLAIN shows is the same; an option of a table, or how expressions are computed, differs"
	}
	return strings.Join(append(out, added...), "\n")
}

// bearing are the lines of an EXPLAIN text without the tree's lines and without what follows from the others.
func bearing(text string) []string {
	var out []string
	scan := ""
	for l := range strings.Lines(text) {
		l = strings.TrimLeft(strings.TrimSpace(l), "│├└─ ")
		label, _, _ := strings.Cut(l, ":")
		switch {
		case strings.HasPrefix(l, "Scan "):
			scan = l
		case label == "columns" && scan != "":
			out = append(out, scan+" "+l)
			scan = ""
		case slices.Contains([]string{"columns", "changes", "why", "not read", "Exchange", "reads append-only", "reads retract", "reads upsert"}, label):
		default:
			out = append(out, l)
		}
	}
	return out
}

func indent(text string) string { return "  " + strings.ReplaceAll(text, "\n", "\n  ") }

// sinks notes which sinks are new or are given something else than before.
func (f *fit) sinks(p *planner.Plan, was *planRecord) {
	old := slices.Clone(was.Sinks)
	take := func(match func(sinkRecord) bool) bool {
		i := slices.IndexFunc(old, match)
		if i >= 0 {
			old = slices.Delete(old, i, i+1)
		}
		return i >= 0
	}
	var others []*planner.Sink
	for _, s := range p.Sinks {
		r := sinkRecord{sinkName(s), p.SinkSignature(s)}
		if !take(func(o sinkRecord) bool { return o == r }) {
			others = append(others, s)
		}
	}
	for _, s := range others {
		name := sinkName(s)
		switch changed := take(func(o sinkRecord) bool { return o.Name == name }); {
		case !f.goesOn(s):
			if changed {
				f.notes = append(f.notes, fmt.Sprintf("%s is written again from the start of its inputs; rows in it that the new query does not give stay there", name))
			}
		case changed:
			f.notes = append(f.notes, fmt.Sprintf("the query of %s has changed: it is given changes in the new form from now on, and what it was given before stays as it is", name)+writeAnew(s))
		default:
			f.notes = append(f.notes, fmt.Sprintf("%s is a new sink of inputs that were read before: it is given the changes from now on", name)+writeAnew(s))
		}
	}
}

// writeAnew says how the whole result gets into a sink, where state holds it.
func writeAnew(s *planner.Sink) string {
	name := sinkName(s)
	if _, err := newReemission(&planner.Plan{Sinks: []*planner.Sink{s}}, []string{name}); err != nil {
		return ""
	}
	return fmt.Sprintf("; --reemit %s writes the whole result", name)
}

// goesOn reports whether a sink's inputs go on where they were.
func (f *fit) goesOn(s *planner.Sink) bool {
	for _, t := range readsOf(s) {
		if !f.positions[t] {
			return false
		}
	}
	return len(readsOf(s)) > 0
}

// refusal is the error for a plan that does not fit.
func (f *fit) refusal(dir string, was *planRecord) error {
	return fault.Errorf(fault.StatePlan, "the state in %s belongs to another query, and starting this one would lose some of it:\n%s", dir, indent(strings.Join(f.losses, "\n"))).
		Fix("--allow-rebuild does that; with another --state-dir the present state stays as it is (it was written by %s)", was.Version)
}
