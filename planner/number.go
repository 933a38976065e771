package planner

// Walk calls f for each node of the plan once, inputs before the nodes that read them.
func (p *Plan) Walk(f func(Node)) { walk(p.roots(), f) }

// roots are the sinks.
func (p *Plan) roots() []Node {
	var roots []Node
	for _, s := range p.Sinks {
		roots = append(roots, s)
	}
	return roots
}

// walk calls f once for each of the nodes and what lies below them, inputs before the nodes that read them.
func walk(roots []Node, f func(Node)) {
	seen := map[Node]bool{}
	var visit func(Node)
	visit = func(n Node) {
		if seen[n] {
			return
		}
		seen[n] = true
		for _, in := range n.Inputs() {
			visit(in)
		}
		f(n)
	}
	for _, r := range roots {
		visit(r)
	}
}

// number gives each node its ID. The order is that of the plan from its inputs up, so that an INSERT added
// at the end of a job leaves the IDs of what was there before.
func number(p *Plan) {
	next := 1
	p.Walk(func(n Node) {
		n.Out().ID = next
		next++
	})
}
