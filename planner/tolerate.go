package planner

import (
	"slices"

	"github.com/sluicesql/sluice/engine/expr"
	"github.com/sluicesql/sluice/engine/types"
)

// fallible reports whether something that can fail is computed at the top of r, from where it could rise.
func (l *lifter) fallible(r rel) bool {
	fails := func(e expr.Expr) bool { return !total(e) }
	switch r := r.(type) {
	case *relFilter:
		return slices.ContainsFunc(r.conds, fails) || l.fallible(r.in)
	case *relExtend:
		return slices.ContainsFunc(r.items, func(it extendItem) bool { return fails(it.e) }) || l.fallible(r.in)
	case *relAggregate:
		return l.fallible(r.in)
	}
	return false
}

// putBack makes what rose because it can fail part of f's tree again: it lies below an operator that it cannot pass.
func (l *lifter) putBack(f *lifted) {
	own := f.takeOwn(l)
	x := &relExtend{in: filtered(f.rel, own.conds), items: own.items}
	f.rel = bare(x)
}

// ownParts are conditions and items over the columns of the tree alone.
type ownParts struct {
	conds []expr.Expr
	items []extendItem
}

// takeOwn takes out of f what does not read outer columns.
func (f *lifted) takeOwn(l *lifter) ownParts {
	var own ownParts
	own.conds, f.conds = l.split(f, f.conds, l.outer)
	for _, id := range sortedInts(f.items) {
		if e := f.items[id]; !l.outer(e) {
			own.items = append(own.items, extendItem{id, e})
			delete(f.items, id)
		}
	}
	return own
}

// tolerate makes of what can fail below an aggregate values, so that the aggregate is computed whatever fails. It returns
// a further call for it, which gives one of the failures among a group's rows: NULL means that there are none, and that
// the other calls' results are right. It returns nil where nothing can fail.
func (l *lifter) tolerate(f *lifted, a *relAggregate) *aggCall {
	own := f.takeOwn(l)
	var failures []expr.Expr
	if len(own.conds) > 0 {
		// The rows for which the conditions fail go on, too, to tell of it.
		c := expr.And(own.conds...)
		failures = append(failures, expr.Failure(c))
		f.rel = filtered(f.rel, []expr.Expr{mustCall("OR", expr.Attempt(c), mustCall("IS NOT NULL", expr.Failure(c)))})
	}
	x := &relExtend{in: f.rel}
	for _, it := range own.items {
		e := it.e
		if !total(e) && !slices.Contains(a.keys, it.id) { // of a row without a group there is nothing to tell
			failures = append(failures, expr.Failure(e))
			e = expr.Attempt(e)
			l.b.columns.list[it.id].typ.NotNull = false
		}
		x.items = append(x.items, extendItem{it.id, e})
	}
	if len(failures) == 0 {
		f.rel = bare(x)
		return nil
	}
	text := l.b.columns.add("$failure", "failure", types.String())
	x.items = append(x.items, extendItem{text, failures[0]})
	if len(failures) > 1 {
		x.items[len(x.items)-1].e = mustCall("COALESCE", failures...)
	}
	f.rel = x
	return &aggCall{id: l.b.columns.add("$failure", "failure", types.String()), fn: expr.LookupAggregate("MIN"), args: []int{text}, filter: -1}
}
