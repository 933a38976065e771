package runtime

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sluicesql/sluice/engine/state"
	"github.com/sluicesql/sluice/planner"
)

// RecordedPlan is a plan as a state directory records it.
type RecordedPlan struct{ record *planRecord }

// RecordPlan is what a state directory would record of a plan. redact takes secrets out of its texts.
func RecordPlan(p *planner.Plan, redact func(string) string) (*RecordedPlan, error) {
	g, err := graphOf(p)
	if err != nil {
		return nil, err
	}
	return &RecordedPlan{newRecord(&Config{Plan: p, Redact: redact}, g)}, nil
}

// ReadRecordedPlan reads the plan of a state directory or savepoint that no job uses; version is that of the program,
// for errors.
func ReadRecordedPlan(dir, version string) (*RecordedPlan, error) {
	store, err := state.Open(state.Options{Dir: dir, ReadOnly: true})
	if err != nil {
		return nil, err
	}
	b, err := store.Meta(planKey)
	if err = errors.Join(err, store.Close()); err != nil {
		return nil, err
	}
	r, err := decodePlan(b, dir, version)
	return &RecordedPlan{r}, err
}

// Explain is the plan's EXPLAIN, as it was when it was recorded.
func (r *RecordedPlan) Explain() string { return r.record.Explain }

// Comparison is what would become of the state of a recorded plan if another one were started on it.
type Comparison struct {
	// Kept are the operators that keep their state.
	Kept []string
	// Lost is what would be read again or dropped, with the reasons: starting would need Config.AllowRebuild.
	Lost []string
	// Sinks says which sinks are new, are gone, or are given something else.
	Sinks []string
}

// Compare compares a plan with the recorded one. Nothing runs.
func (r *RecordedPlan) Compare(p *planner.Plan, redact func(string) string) (*Comparison, error) {
	g, err := graphOf(p)
	if err != nil {
		return nil, err
	}
	f := newFit(p, g, r.record, redact)
	c := &Comparison{Lost: f.losses, Sinks: f.notes}
	for _, o := range p.Operators() {
		if f.kept[o.Node] != nil {
			c.Kept = append(c.Kept, fmt.Sprintf("%s (reads %s)", redact(o.Title), strings.Join(readsOf(o.Node), ", ")))
		}
	}
	for _, s := range r.record.Sinks {
		if !slices.ContainsFunc(p.Sinks, func(n *planner.Sink) bool { return sinkName(n) == s.Name }) {
			c.Sinks = append(c.Sinks, fmt.Sprintf("%s is not written any more; what is in it stays", s.Name))
		}
	}
	return c, nil
}

// graphOf cuts a plan for which there is no job. State is laid out alike for any number of shards.
func graphOf(p *planner.Plan) (*graph, error) {
	g, err := newGraph(p, 1, func(*planner.Scan) int { return 1 })
	if err != nil {
		return nil, err
	}
	return g, g.setTables(nil)
}
