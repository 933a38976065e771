package runtime

import (
	"strings"
	"time"

	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/text"
	"github.com/sluicesql/sluice/planner"
)

// describe writes a row for an error: (id: 1, name: Egor).
func describe(r row.Row, cols []planner.Column, zone *time.Location) string {
	b := []byte("(")
	for i, c := range cols {
		if strings.HasPrefix(c.Name, "$") {
			continue // the planner's own
		}
		if len(b) > 1 {
			b = append(b, ", "...)
		}
		b = append(b, c.Name...)
		b = append(b, ": "...)
		b = text.Append(b, c.Type, r.Get(i, c.Type.Phys()), zone)
	}
	return string(append(b, ')'))
}

// tablesOf names the tables that a node reads.
func tablesOf(n planner.Node) string {
	var names []string
	eachUnder(n, func(n planner.Node) {
		if t := tableOf(n); t != "" {
			names = append(names, t)
		}
	})
	return "table " + strings.Join(names, " and ")
}

// eachUnder calls f for a node and all below it, each once, those above first.
func eachUnder(n planner.Node, f func(planner.Node)) {
	seen := map[planner.Node]bool{}
	var walk func(planner.Node)
	walk = func(n planner.Node) {
		if seen[n] {
			return
		}
		seen[n] = true
		f(n)
		for _, in := range n.Inputs() {
			walk(in)
		}
	}
	walk(n)
}
