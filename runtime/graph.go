package runtime

import (
	"fmt"

	"github.com/sluicesql/sluice/planner"
)

// fragment is a part of the plan without an exchange inside: the nodes that one goroutine runs fused. A source
// fragment begins with a scan and runs in its readers; a shard fragment is fed by exchanges.
type fragment struct {
	id    int
	scan  planner.Node   // *planner.Scan or *planner.Values; nil in a shard fragment
	nodes []planner.Node // inputs before their consumers; without exchanges
	in    []*link        // what feeds a shard fragment
	width int            // number of instances
}

// link is one exchange as seen by one of its consumers.
type link struct {
	exchange *planner.Exchange
	parent   planner.Node // the consumer, and its port
	port     int
	from, to *fragment
}

// graph is a plan cut at its exchanges.
type graph struct {
	fragments []*fragment // producers before consumers
	links     []*link
	parents   map[planner.Node][]parent
	of        map[planner.Node]*fragment
}

type parent struct {
	node planner.Node
	port int
}

// newGraph cuts the plan at its exchanges. readers gives the number of readers of a scan, shards the job's
// parallelism.
func newGraph(p *planner.Plan, shards int, readers func(*planner.Scan) int) (*graph, error) {
	g := &graph{parents: map[planner.Node][]parent{}, of: map[planner.Node]*fragment{}}
	var order []planner.Node
	seen := map[planner.Node]bool{}
	var walk func(n planner.Node)
	walk = func(n planner.Node) {
		if seen[n] {
			return
		}
		seen[n] = true
		for port, in := range n.Inputs() {
			g.parents[in] = append(g.parents[in], parent{n, port})
			walk(in)
		}
		order = append(order, n)
	}
	for _, s := range p.Sinks {
		walk(s)
	}
	g.unite(order)
	for _, n := range order {
		x, ok := n.(*planner.Exchange)
		if !ok {
			continue
		}
		for _, up := range g.parents[n] {
			l := &link{exchange: x, parent: up.node, port: up.port, from: g.of[x.Input], to: g.of[up.node]}
			if l.from == l.to {
				return nil, fmt.Errorf("internal: exchange #%d feeds its own fragment", x.ID)
			}
			l.to.in = append(l.to.in, l)
			g.links = append(g.links, l)
			width := x.Width
			if width == 0 {
				width = shards
			}
			if l.to.width != 0 && l.to.width != width {
				return nil, fmt.Errorf("internal: exchanges of widths %d and %d feed one fragment", l.to.width, width)
			}
			l.to.width = width
		}
	}
	for _, f := range g.fragments {
		switch s := f.scan.(type) {
		case *planner.Scan:
			f.width = readers(s)
		case *planner.Values:
			f.width = 1
		}
		if f.scan != nil && len(f.in) > 0 || f.scan == nil && len(f.in) == 0 {
			return nil, fmt.Errorf("internal: fragment %d is fed by %d exchanges", f.id, len(f.in))
		}
	}
	return g, nil
}

// unite puts nodes joined by anything but an exchange into one fragment.
func (g *graph) unite(order []planner.Node) {
	root := map[planner.Node]planner.Node{}
	var find func(planner.Node) planner.Node
	find = func(n planner.Node) planner.Node {
		if r, ok := root[n]; ok && r != n {
			root[n] = find(r)
			return root[n]
		}
		return n
	}
	for _, n := range order {
		if _, ok := n.(*planner.Exchange); ok {
			continue
		}
		for _, in := range n.Inputs() {
			if _, ok := in.(*planner.Exchange); !ok {
				root[find(in)] = find(n)
			}
		}
	}
	byRoot := map[planner.Node]*fragment{}
	for _, n := range order {
		if _, ok := n.(*planner.Exchange); ok {
			continue
		}
		f := byRoot[find(n)]
		if f == nil {
			f = &fragment{id: len(g.fragments)}
			byRoot[find(n)] = f
			g.fragments = append(g.fragments, f)
		}
		f.nodes = append(f.nodes, n)
		g.of[n] = f
		switch n.(type) {
		case *planner.Scan, *planner.Values:
			f.scan = n
		}
	}
}
