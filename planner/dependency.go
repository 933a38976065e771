package planner

import (
	"slices"

	"github.com/sluicesql/sluice/engine/expr"
)

// maxDependencies bounds the dependencies that are followed, as maxKeys does the keys.
const maxDependencies = 128

// dependency says that rows with the same values in the columns by, where a NULL is the same as another, have the same in
// cols: it speaks of the rows at the end of an epoch. Within one, the old row and the new may be about, on different
// shards, so that rows must not be divided by the columns by alone in cols' stead.
type dependency struct{ by, cols []int }

func (f *facts) addDependency(by, cols []int) {
	if len(f.deps) < maxDependencies {
		f.deps = append(f.deps, dependency{by, cols})
	}
}

// determine notes that each key determines cols, which holds also where it is a key no longer.
func (f *facts) determine(cols []int) {
	for _, k := range f.keys {
		f.addDependency(k, cols)
	}
}

// computed notes that a column is determined by those that it is computed from. The same values have to be the same to
// all functions: a float's two zeros are not, nor are values that hold others.
func (f *facts) computed(it extendItem) {
	sound := expr.Deterministic(it.e)
	expr.Walk(it.e, func(e expr.Expr) bool {
		if c, ok := e.(*expr.Column); ok {
			sound = sound && sameForm(c.T, c.T) && !c.T.IsApprox()
		}
		return sound
	})
	if by := expr.ColumnsOf(it.e); sound && len(by) > 0 {
		f.addDependency(by, []int{it.id})
	}
}

// closure are the columns, by their representatives, that cols and the constants determine.
func (f *facts) closure(cols []int) colSet {
	known := setOf(f.reduce(cols))
	for grown := true; grown; {
		grown = false
		for _, d := range f.deps {
			if !f.told(known, d.by) {
				continue
			}
			for _, c := range d.cols {
				if c = f.rep(c); !known[c] {
					known[c], grown = true, true
				}
			}
		}
	}
	return known
}

// told reports whether all of cols are constants or in a closure.
func (f *facts) told(known colSet, cols []int) bool {
	return !slices.ContainsFunc(cols, func(c int) bool { c = f.rep(c); return !known[c] && !f.consts[c] })
}

// tellsKey reports whether a closure holds a unique key.
func (f *facts) tellsKey(known colSet) bool {
	return slices.ContainsFunc(f.keys, func(k []int) bool { return f.told(known, k) })
}

// determinant is a part of cols that determines the rest, and of which every column is needed for that.
func (f *facts) determinant(cols []int) []int {
	out := f.reduce(cols)
	for i := len(out) - 1; i >= 0; i-- {
		if rest := slices.Delete(slices.Clone(out), i, i+1); f.told(f.closure(rest), out[i:i+1]) {
			out = rest
		}
	}
	return out
}

// translate adds g's dependencies between the columns from, whose numbers are to in f.
func (f *facts) translate(g *facts, from, to []int) {
next:
	for _, d := range g.deps {
		var by, cols []int
		for _, c := range g.reduce(d.by) {
			i := g.find(from, c)
			if i < 0 {
				continue next
			}
			by = append(by, to[i])
		}
		known := g.closure(d.by)
		for i, c := range from {
			if known[g.rep(c)] {
				cols = append(cols, to[i])
			}
		}
		f.addDependency(by, cols)
	}
}

// filledDependencies are the dependencies of an outer join's inputs that hold for its result. On a side that is filled up
// with NULLs they do where one of the columns by is never NULL in a row of that side: else such a row could have NULLs
// in all of them, and more than NULLs in cols.
func (o *relOuter) filledDependencies(l, r *facts) []dependency {
	sure := func(side *facts, d dependency) bool {
		return slices.ContainsFunc(d.by, func(c int) bool { return o.solid[c] && !side.filled[c] })
	}
	var out []dependency
	for _, d := range l.deps {
		if o.kind == LeftJoin || sure(l, d) {
			out = append(out, d)
		}
	}
	for _, d := range r.deps {
		if sure(r, d) && len(out) < maxDependencies {
			out = append(out, d)
		}
	}
	return out
}
