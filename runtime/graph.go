package runtime

import (
	"github.com/sluicesql/sluice/engine/state"
	"github.com/sluicesql/sluice/internal/fault"
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
	stage int            // number of the state's stage, of fragments with state
}

// link is what one consumer reads from another fragment: an exchange, or a shared node whose output would lead
// back into its own fragment if the two ran fused.
type link struct {
	exchange *planner.Exchange // nil for a shared node: rows stay with the shard of the same number
	from, to *fragment
	node     planner.Node // whose rows travel: the exchange's input, or the shared node
	parent                // the consumer, and its port
}

// graph is a plan cut at its exchanges.
type graph struct {
	fragments []*fragment
	links     []*link
	parents   map[planner.Node][]parent
	of        map[planner.Node]*fragment
	stages    int                       // one more than the highest stage
	tables    map[planner.Node][]uint16 // a node's state tables, by their ids
}

type parent struct {
	node planner.Node
	port int
}

// newGraph cuts the plan at its exchanges. readers gives the number of readers of a scan, shards the job's
// parallelism.
func newGraph(p *planner.Plan, shards int, readers func(*planner.Scan) int) (*graph, error) {
	g := &graph{parents: map[planner.Node][]parent{}}
	order := g.order(p)
	cuts := map[planner.Node]bool{}
	for {
		g.unite(order, cuts)
		g.link(order, cuts)
		loop := g.cycle()
		if loop == nil {
			break
		}
		if !g.cutShared(loop, cuts) {
			return nil, fault.Errorf(fault.Internal, "internal: the plan's exchanges form a circle")
		}
	}
	if err := g.setWidths(shards, readers); err != nil {
		return nil, err
	}
	return g, nil
}

// setTables numbers the state tables, which is on-disk format. Those of kept operators have their numbers; new ones
// get what is free, in the plan's order.
func (g *graph) setTables(kept map[planner.Node][]uint16) error {
	g.tables = map[planner.Node][]uint16{}
	taken := map[int]bool{}
	for _, t := range kept {
		taken[int(t[0]>>8)] = true
	}
	for _, f := range g.fragments {
		var stateful []planner.Node
		stage := -1
		for _, node := range f.nodes {
			if planner.StateTables(node) > 0 {
				stateful = append(stateful, node)
			}
			if t := kept[node]; t != nil {
				stage = int(t[0] >> 8)
			}
		}
		if len(stateful) == 0 {
			continue
		}
		if stage < 0 {
			stage = 0
			for taken[stage] {
				stage++
			}
			taken[stage] = true
		}
		f.stage = stage
		g.stages = max(g.stages, stage+1)
		if err := g.setFragmentTables(stage, stateful, kept); err != nil {
			return err
		}
	}
	return nil
}

// setFragmentTables numbers the tables of one stage.
func (g *graph) setFragmentTables(stage int, stateful []planner.Node, kept map[planner.Node][]uint16) error {
	taken := map[uint16]bool{}
	for _, node := range stateful {
		for _, id := range kept[node] {
			taken[id] = true
		}
	}
	next := 0
	for _, node := range stateful {
		if t := kept[node]; t != nil {
			g.tables[node] = t
			continue
		}
		for range planner.StateTables(node) {
			for next < 256 && taken[state.TableID(uint8(stage), uint8(next))] {
				next++
			}
			if next == 256 || stage > 255 {
				return fault.Errorf(fault.JobLimit, "the query has more joins than a job can hold: there may be 256 stages with 256 tables each").Fix("divide the query: write a part of it to a table of its own, in another job")
			}
			g.tables[node] = append(g.tables[node], state.TableID(uint8(stage), uint8(next)))
			next++
		}
	}
	return nil
}

// order lists the nodes, inputs first, and notes who reads whom.
func (g *graph) order(p *planner.Plan) []planner.Node {
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
	return order
}

// link finds what crosses from fragment to fragment.
func (g *graph) link(order []planner.Node, cuts map[planner.Node]bool) {
	g.links = nil
	add := func(l *link) {
		l.from, l.to = g.of[l.node], g.of[l.parent.node]
		l.to.in = append(l.to.in, l)
		g.links = append(g.links, l)
	}
	for _, n := range order {
		x, isExchange := n.(*planner.Exchange)
		for _, up := range g.parents[n] {
			if isExchange {
				add(&link{exchange: x, node: x.Input, parent: up})
			} else if _, toExchange := up.node.(*planner.Exchange); cuts[n] && !toExchange {
				add(&link{node: n, parent: up})
			}
		}
	}
}

// cycle returns fragments of which each can reach itself; nil when there are none.
func (g *graph) cycle() []*fragment {
	for _, start := range g.fragments {
		seen := map[*fragment]bool{}
		var path []*fragment
		var walk func(f *fragment) bool
		walk = func(f *fragment) bool {
			for _, l := range g.links {
				if l.from != f {
					continue
				}
				if l.to == start {
					path = append(path, f)
					return true
				}
				if !seen[l.to] {
					seen[l.to] = true
					if walk(l.to) {
						path = append(path, f)
						return true
					}
				}
			}
			return false
		}
		if walk(start) {
			return path
		}
	}
	return nil
}

// cutShared makes the nodes with several consumers in these fragments send to each of them.
func (g *graph) cutShared(fs []*fragment, cuts map[planner.Node]bool) bool {
	found := false
	for _, f := range fs {
		for _, n := range f.nodes {
			if len(g.parents[n]) > 1 && !cuts[n] {
				cuts[n], found = true, true
			}
		}
	}
	return found
}

// setWidths finds the number of instances of each fragment.
func (g *graph) setWidths(shards int, readers func(*planner.Scan) int) error {
	for _, f := range g.fragments {
		switch s := f.scan.(type) {
		case *planner.Scan:
			f.width = readers(s)
		case *planner.Values:
			f.width = 1
		}
		if f.scan != nil && len(f.in) > 0 || f.scan == nil && len(f.in) == 0 {
			return fault.Errorf(fault.Internal, "internal: fragment %d is fed by %d exchanges", f.id, len(f.in))
		}
		for _, l := range f.in {
			width := shards
			if l.exchange != nil && l.exchange.Width != 0 {
				width = l.exchange.Width
			}
			if f.width != 0 && f.width != width {
				return fault.Errorf(fault.Internal, "internal: exchanges of widths %d and %d feed one fragment", f.width, width)
			}
			f.width = width
		}
	}
	return nil
}

// unite puts nodes joined by anything but an exchange or a cut into one fragment.
func (g *graph) unite(order []planner.Node, cuts map[planner.Node]bool) {
	g.fragments, g.of = nil, map[planner.Node]*fragment{}
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
			if _, ok := in.(*planner.Exchange); !ok && !cuts[in] {
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
