package runtime

import (
	"slices"

	"github.com/goccy/go-json"

	"github.com/sluicesql/sluice/engine/state"
	"github.com/sluicesql/sluice/internal/fault"
	"github.com/sluicesql/sluice/planner"
)

// planKey is where a state directory keeps the plan that it belongs to.
const planKey = "plan"

// planRecord is what a state directory knows of its plan: what is needed to tell whether the state fits another
// one, and what people want to know of it.
type planRecord struct {
	// Signatures is planner.SignatureVersion of who wrote it.
	Signatures int `json:"signatures"`
	// Version is that of the sluice that wrote it.
	Version     string           `json:"version"`
	Name        string           `json:"name,omitempty"` // pipeline.name
	SQL         string           `json:"sql"`
	Explain     string           `json:"explain"`
	Fingerprint string           `json:"fingerprint"`
	Operators   []operatorRecord `json:"operators"`
	Inputs      []inputRecord    `json:"inputs"`
	Sinks       []sinkRecord     `json:"sinks"`
}

// operatorRecord is an operator with state; see planner.Operator.
type operatorRecord struct {
	Signature string   `json:"signature"`
	Title     string   `json:"title"`
	Text      string   `json:"text"`
	Reads     []string `json:"reads"` // tables
	Tables    []uint16 `json:"tables"`
}

type inputRecord struct {
	Name      string `json:"name"`
	Table     string `json:"table"` // empty for VALUES
	Signature string `json:"signature"`
}

type sinkRecord struct {
	Name      string `json:"name"`
	Signature string `json:"signature"`
}

// newRecord describes a job's plan, with its tables as g numbers them.
func newRecord(cfg *Config, g *graph) *planRecord {
	p := cfg.Plan
	r := &planRecord{
		Signatures: planner.SignatureVersion, Version: cfg.Version, Name: cfg.Redact(p.Options[planner.OptPipelineName]),
		SQL: cfg.SQL, Explain: cfg.Redact(p.Explain()), Fingerprint: p.Fingerprint,
	}
	for _, o := range p.Operators() {
		r.Operators = append(r.Operators, operatorRecord{o.Signature, cfg.Redact(o.Title), cfg.Redact(o.Text), readsOf(o.Node), g.tables[o.Node]})
	}
	for _, in := range p.Inputs() {
		r.Inputs = append(r.Inputs, inputRecord{in.Name, tableOf(in.Node), in.Signature})
	}
	for _, s := range p.Sinks {
		r.Sinks = append(r.Sinks, sinkRecord{sinkName(s), p.SinkSignature(s)})
	}
	return r
}

func tableOf(n planner.Node) string {
	if s, ok := n.(*planner.Scan); ok {
		return s.Table
	}
	return ""
}

// sinkName is how messages call a sink.
func sinkName(s *planner.Sink) string {
	if s.Connector == nil {
		return "result"
	}
	return s.Table
}

// readsOf are the names of the tables that a node reads.
func readsOf(n planner.Node) []string {
	var names []string
	eachUnder(n, func(n planner.Node) {
		if t := tableOf(n); t != "" && !slices.Contains(names, t) {
			names = append(names, t)
		}
	})
	return names
}

// readPlan reads the plan record of a state directory, and refuses one that this version cannot compare.
func (j *Job) readPlan() (*planRecord, error) {
	b, err := j.store.Meta(planKey)
	if err != nil {
		return nil, err
	}
	return decodePlan(b, j.cfg.StateDir, j.cfg.Version)
}

func decodePlan(b []byte, dir, version string) (*planRecord, error) {
	if b == nil {
		return nil, fault.Errorf(fault.StateVersion, "the state in %s does not say which plan it belongs to: an early version of sluice wrote it, which this one (%s) cannot go on from", dir, version).
			Fix("use another --state-dir, which reads the inputs again")
	}
	r := &planRecord{}
	if err := json.Unmarshal(b, r); err != nil {
		return nil, state.Damaged("the state in %s holds no readable plan: %w", dir, err)
	}
	if r.Signatures != planner.SignatureVersion {
		return nil, fault.Errorf(fault.StateVersion, "the state in %s was written by %s, which describes plans in form %d; this sluice (%s) knows form %d", dir, r.Version, r.Signatures, version, planner.SignatureVersion).
			Fix("go on with the version that wrote it, or use another --state-dir, which reads the inputs again")
	}
	return r, nil
}
