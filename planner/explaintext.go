package planner

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Explain is the plan as a text tree; see Explanation.Text.
func (p *Plan) Explain() string { return p.Explanation().Text() }

// explainBelow writes a node and what lies below it, without the numbers, which follow from the whole plan.
func explainBelow(n Node) string { return explain([]Node{n}).text(true) }

// Text writes the plan as a text tree: every node with its ID, its columns and types, changelog mode, unique keys and
// boundedness, and what it does and why. A shared node is written once and then referred to by its ID.
func (e *Explanation) Text() string { return e.text(false) }

func (e *Explanation) text(bare bool) string {
	w := &treeWriter{bare: bare, nodes: map[int]*ExplainedNode{}, parents: map[int]int{}, written: map[int]bool{}}
	for _, n := range e.Nodes {
		w.nodes[n.ID] = n
		for _, in := range n.Inputs {
			w.parents[in]++
		}
	}
	for i, r := range e.Roots {
		if i > 0 {
			w.b.WriteByte('\n')
		}
		w.node(w.nodes[r], "", "")
	}
	if r := e.Run; r != nil {
		fmt.Fprintf(&w.b, "\nran for %s; epochs: %d; shards: %d, whose times are added up\n", r.Elapsed.Round(time.Microsecond), r.Epochs, r.Shards)
	}
	return w.b.String()
}

type treeWriter struct {
	b       strings.Builder
	bare    bool // without numbers
	nodes   map[int]*ExplainedNode
	parents map[int]int // number of readers
	written map[int]bool
}

// node writes a node and what it reads. first goes before its first line, rest before those that follow.
func (w *treeWriter) node(n *ExplainedNode, first, rest string) {
	name := fmt.Sprintf("#%d", n.ID)
	if w.bare {
		name = n.Title
	}
	if w.written[n.ID] {
		fmt.Fprintf(&w.b, "%s%s (written above)\n", first, name)
		return
	}
	w.written[n.ID] = true
	if !w.bare {
		name += " " + n.Title
		if w.parents[n.ID] > 1 {
			name += fmt.Sprintf(", shared by %d", w.parents[n.ID])
		}
	}
	fmt.Fprintf(&w.b, "%s%s\n", first, name)
	bar := rest + "  "
	if len(n.Inputs) > 0 {
		bar = rest + "│ "
	}
	for _, d := range n.Lines() {
		fmt.Fprintf(&w.b, "%s  %s\n", bar, d)
	}
	for i, in := range n.Inputs {
		if i == len(n.Inputs)-1 {
			w.node(w.nodes[in], rest+"└─", rest+"  ")
		} else {
			w.node(w.nodes[in], rest+"├─", rest+"│ ")
		}
	}
}

// Lines are what text says of a node beside its title.
func (n *ExplainedNode) Lines() []string {
	var cols, keys []string
	for _, c := range n.Columns {
		cols = append(cols, c.Name+" "+c.Type)
	}
	for _, k := range n.Unique {
		if len(k) == 0 {
			keys = append(keys, "one row at most")
		} else {
			keys = append(keys, "("+strings.Join(k, ", ")+")")
		}
	}
	if keys == nil {
		keys = []string{"none"}
	}
	end := "unbounded"
	if n.Bounded {
		end = "bounded"
	}
	lines := append(slices.Clone(n.Details), "columns: "+strings.Join(cols, ", "), fmt.Sprintf("changes: %s; unique: %s; %s", n.Changes, strings.Join(keys, ", "), end))
	if n.Measured != nil {
		lines = append(lines, "measured: "+n.Measured.text())
	}
	return lines
}

func (m *Measured) text() string {
	text := fmt.Sprintf("%d changes out", m.Out)
	if len(m.In) > 0 {
		var in []string
		for _, n := range m.In {
			in = append(in, fmt.Sprint(n))
		}
		text = strings.Join(in, " and ") + " changes in, " + fmt.Sprintf("%d out", m.Out)
	}
	if m.By != 0 {
		return text + fmt.Sprintf("; done by #%d", m.By)
	}
	text += "; " + m.Time.Round(time.Microsecond).String()
	if m.StateRows > 0 || m.StateBytes > 0 {
		text += fmt.Sprintf("; state: %d rows, %d bytes", m.StateRows, m.StateBytes)
	}
	return text
}
