package planner

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// explanationVersion is the version of the form that ExplanationJSON writes. It rises when a field goes, or means
// something else; new fields come without that.
const explanationVersion = 1

// Explanation is a plan as data: what every form of EXPLAIN is written from.
type Explanation struct {
	// Nodes are the operators, inputs before the nodes that read them.
	Nodes []*ExplainedNode
	// Roots are the ids of the nodes that nothing reads: the sinks of a plan.
	Roots []int
	// Run is what was measured of the job as a whole when it was run; nil when it was not.
	Run *ExplainedRun
}

// ExplainedRun is a run of a plan.
type ExplainedRun struct {
	Elapsed time.Duration `json:"elapsed_ns"`
	Epochs  uint64        `json:"epochs"`
	Shards  int           `json:"shards"`
}

// Measured is what an operator did in a run.
type Measured struct {
	// In are the changes that it was given, for each of its inputs, and Out those that it gave: of a sink, those that
	// were written.
	In  []int64 `json:"changes_in"`
	Out int64   `json:"changes_out"`
	// Time is how long it worked, added up over shards, without waiting for others: of a scan that is decoding, of a
	// sink consolidation, encoding and writing.
	Time time.Duration `json:"time_ns"`
	// By is, of a projection that a join does while it makes its rows, the join's id: the time is there. Else 0.
	By int `json:"by,omitempty"`
	// StateRows and StateBytes are what it kept at the end, and the memory that took.
	StateRows  int64 `json:"state_rows"`
	StateBytes int64 `json:"state_bytes"`
}

// ExplanationJSON writes the plans of jobs as one JSON document, a node a line.
func ExplanationJSON(jobs []*Explanation) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	var err error
	value := func(v any) {
		err = cmp.Or(err, enc.Encode(v))
		b.Truncate(b.Len() - 1) // the line's end
	}
	fmt.Fprintf(&b, "{\"version\": %d, \"jobs\": [", explanationVersion)
	for i, e := range jobs {
		b.WriteString(between(i) + "{\"nodes\": [")
		for k, n := range e.Nodes {
			b.WriteString(between(k) + "  ")
			value(n)
		}
		b.WriteString("],\n \"roots\": ")
		value(e.Roots)
		if e.Run != nil {
			b.WriteString(", \"run\": ")
			value(e.Run)
		}
		b.WriteByte('}')
	}
	b.WriteString("]}\n")
	return b.Bytes(), err
}

// between is what stands before element i of a list in JSON.
func between(i int) string {
	if i == 0 {
		return "\n"
	}
	return ",\n"
}

// Redact replaces every text that came from the user's SQL by what f makes of it.
func (e *Explanation) Redact(f func(string) string) {
	all := func(texts []string) {
		for i := range texts {
			texts[i] = f(texts[i])
		}
	}
	for _, n := range e.Nodes {
		n.Title, n.Table = f(n.Title), f(n.Table)
		all(n.Details)
		for i := range n.Columns {
			n.Columns[i].Name, n.Columns[i].Type = f(n.Columns[i].Name), f(n.Columns[i].Type)
		}
		for _, k := range n.Unique {
			all(k)
		}
		if n.Pushed != nil {
			all(n.Pushed.Columns)
			all(n.Pushed.NotRead)
		}
		for _, s := range n.State {
			all(s.Key)
			all(s.Within)
		}
	}
}

// ExplainedNode is one operator.
type ExplainedNode struct {
	// ID is unique in the plan.
	ID int `json:"id"`
	// Kind is what the node is: scan, filter, left join, and so on.
	Kind string `json:"kind"`
	// Inputs are the ids of the nodes that it reads, in port order.
	Inputs []int `json:"inputs"`
	// Title and Details say for people what it does and why.
	Title   string   `json:"title"`
	Details []string `json:"details"`

	Columns []ExplainedColumn `json:"columns"`
	// Changes is the mode of the output: append-only, retract or upsert.
	Changes string `json:"changes"`
	// Unique are the unique keys of the output. One without columns says that there is one row at most.
	Unique  [][]string `json:"unique"`
	Bounded bool       `json:"bounded"`

	Table     string `json:"table,omitempty"`     // that a scan reads or a sink writes
	Connector string `json:"connector,omitempty"` // of Table
	// Pushed is, of a scan, what the connector is asked for; nil otherwise.
	Pushed *ExplainedPush   `json:"pushed_down,omitempty"`
	State  []ExplainedState `json:"state"`
	// Measured is nil unless the plan was run.
	Measured *Measured `json:"measured,omitempty"`
}

// ExplainedColumn is a column with its SQL type.
type ExplainedColumn struct {
	Name string `json:"name"`
	Type string `json:"type"`
}

// ExplainedPush is what a scan is asked for, so that it need not deliver the rest.
type ExplainedPush struct {
	Columns []string `json:"columns"`
	NotRead []string `json:"not_read"`
}

// ExplainedState is one of the things that a node keeps. Columns are those of the input; where two have one name, its
// position is behind it.
type ExplainedState struct {
	// Input is the position, among the node's inputs, of the one whose rows are kept.
	Input int `json:"input"`
	// Layout is the form: "one", "unique" and "bag" of a join (one row for each Key; rows by Key and Within; any rows
	// by Key), "matches" of the number of matches of a join's rows, "rows" and "index" of a normaliser, "groups" and
	// "values" of an aggregate, "partitions" of a window.
	Layout string   `json:"layout"`
	Key    []string `json:"key"`
	// Within are the columns that tell rows of one Key apart, that an index remembers, or whose values are kept.
	Within []string `json:"within"`
	// Normalises says that this is where a table's events become a changelog.
	Normalises bool `json:"normalises,omitempty"`
	// Forgotten is after how many milliseconds without a change it is forgotten; 0 is never.
	Forgotten int64 `json:"forgotten_after_ms,omitempty"`
}

// Explanation describes the plan.
func (p *Plan) Explanation() *Explanation { return explain(p.roots()) }

// explain describes nodes and what lies below them.
func explain(roots []Node) *Explanation {
	e := &Explanation{}
	walk(roots, func(n Node) { e.Nodes = append(e.Nodes, explainNode(n)) })
	for _, r := range roots {
		e.Roots = append(e.Roots, r.Out().ID)
	}
	return e
}

func explainNode(n Node) *ExplainedNode {
	p := n.Out()
	e := &ExplainedNode{
		ID: p.ID, Kind: kindOf(n), Inputs: []int{}, Changes: p.Mode.String(), Unique: [][]string{}, Bounded: p.Bounded, State: []ExplainedState{},
	}
	e.Title, e.Details = describe(n)
	if e.Details == nil {
		e.Details = []string{}
	}
	for _, in := range n.Inputs() {
		e.Inputs = append(e.Inputs, in.Out().ID)
	}
	for _, c := range p.Columns {
		e.Columns = append(e.Columns, ExplainedColumn{c.Name, c.Type.String()})
	}
	for _, k := range p.Keys {
		e.Unique = append(e.Unique, p.nameList(k))
	}
	e.State = append(e.State, statesOf(n)...)
	switch n := n.(type) {
	case *Scan:
		e.Table, e.Connector = n.Table, n.Connector.Name()
		e.Pushed = &ExplainedPush{Columns: []string{}, NotRead: append([]string{}, n.notRead()...)}
		for _, c := range n.Spec.Columns {
			e.Pushed.Columns = append(e.Pushed.Columns, n.Spec.Table.Columns[c].Name)
		}
	case *Sink:
		if n.Connector != nil {
			e.Table, e.Connector = n.Table, n.Connector.Name()
		}
	}
	return e
}

// kindOf is the name of a node's kind.
func kindOf(n Node) string {
	switch n := n.(type) {
	case *Scan:
		return "scan"
	case *DeadLetters:
		return "dead letters"
	case *Values:
		return "values"
	case *Filter:
		return "filter"
	case *Project:
		return "project"
	case *Normalise:
		return "normalise"
	case *Unnest:
		return "unnest"
	case *Exchange:
		return "exchange"
	case *Join:
		return strings.ToLower(n.Kind.String())
	case *JoinMany:
		return "join of many"
	case *Aggregate:
		return "aggregate"
	case *Window:
		return "window"
	case *Repeat:
		return "repeat"
	case *Union:
		return "union"
	case *Sink:
		return "sink"
	}
	panic("planner: unknown node")
}

// statesOf is what a node keeps.
func statesOf(n Node) []ExplainedState {
	switch n := n.(type) {
	case *Normalise:
		layout := "rows"
		if n.Kind == NormaliseIndex {
			layout = "index"
		}
		e := stateOf(n.Input, 0, layout, n.Key, n.Route, n.Life)
		e.Normalises = true
		return []ExplainedState{e}
	case *Join:
		out := []ExplainedState{sideState(n.Left, 0, n.L), sideState(n.Right, 1, n.R)}
		for port, in := range n.Inputs() {
			if n.Counts(port) {
				side := [...]JoinSide{n.L, n.R}[port]
				out = append(out, stateOf(in, port, "matches", side.Key, side.Unique, side.Life))
			}
		}
		return out
	case *JoinMany:
		var out []ExplainedState
		for i, s := range n.Sides {
			out = append(out, sideState(n.Parts[i], i, s))
		}
		return out
	case *Aggregate:
		out := []ExplainedState{stateOf(n.Input, 0, "groups", n.Key, nil, n.Life)}
		for _, b := range n.Bags {
			out = append(out, stateOf(n.Input, 0, "values", n.Key, b.Args, n.Life))
		}
		return out
	case *Window:
		return []ExplainedState{stateOf(n.Input, 0, "partitions", n.Partition, nil, n.Life)}
	}
	return nil
}

func sideState(in Node, port int, s JoinSide) ExplainedState {
	e := stateOf(in, port, s.Layout.String(), s.Key, s.Unique, s.Life)
	e.Normalises = s.Upsert
	return e
}

func stateOf(in Node, port int, layout string, key, within []int, life Lifetime) ExplainedState {
	p := in.Out()
	return ExplainedState{Input: port, Layout: layout, Key: p.nameList(key), Within: p.nameList(within), Forgotten: life.TTL.Milliseconds()}
}
