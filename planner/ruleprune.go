package planner

import (
	"slices"

	"github.com/sluicesql/sluice/engine/expr"
)

// colSet is a set of column numbers.
type colSet map[int]bool

func setOf(ids ...[]int) colSet {
	s := colSet{}
	for _, l := range ids {
		for _, id := range l {
			s[id] = true
		}
	}
	return s
}

func (s colSet) addExprs(es []expr.Expr) colSet {
	for _, e := range es {
		for _, c := range expr.ColumnsOf(e) {
			s[c] = true
		}
	}
	return s
}

func (s colSet) within(t colSet) bool {
	for k := range s {
		if !t[k] {
			return false
		}
	}
	return true
}

func (s colSet) clone() colSet {
	c := colSet{}
	for k := range s {
		c[k] = true
	}
	return c
}

// of are those of ids that are in the set, in order.
func (s colSet) of(ids []int) []int {
	out := []int{}
	for _, id := range ids {
		if s[id] {
			out = append(out, id)
		}
	}
	return out
}

// pruner finds the columns in use.
type pruner struct {
	used  colSet // of all trees
	grown bool
}

// pruneColumns drops the columns that nothing uses. Numbers are unique in the job, so one set serves all
// trees; what a shared body must deliver grows with each reference found, until nothing new is found.
func (j *logicalJob) pruneColumns() error {
	p := &pruner{used: colSet{}}
	for {
		p.grown = false
		for _, s := range j.sinks {
			p.mark(s.in, setOf(s.ids, s.order))
		}
		for _, d := range j.shared {
			p.mark(d.body, d.need)
		}
		if !p.grown {
			break
		}
	}
	return j.rewrite(p.sweep)
}

// mark notes the columns that r must deliver and those it uses itself.
func (p *pruner) mark(r rel, need colSet) {
	for id := range need {
		if !p.used[id] {
			p.used[id] = true
			p.grown = true
		}
	}
	switch r := r.(type) {
	case *relFilter:
		p.mark(r.in, need.clone().addExprs(r.conds))
	case *relExtend:
		below := need.clone()
		for _, it := range r.items {
			if below[it.id] {
				delete(below, it.id)
				below.addExprs([]expr.Expr{it.e})
			}
		}
		p.mark(r.in, below)
	case *relJoin:
		all := need.clone().addExprs(r.conds)
		for _, in := range r.inputs {
			out := in.rel.out()
			p.mark(in.rel, p.keepOne(setOf(all.of(out), setOf(r.keyL, r.keyR).of(out)), out))
		}
	case *relAggregate:
		below := setOf(r.keys)
		if len(r.keys) == 0 && len(r.calls) > 0 {
			need = p.keepOne(need, r.out())
		}
		for i := range r.calls {
			if need[r.calls[i].id] {
				r.calls[i].reads(below)
			}
		}
		p.mark(r.in, below)
	case *relWindow:
		p.mark(r.in, r.below(need))
	case *relRepeat:
		below := need.clone()
		below[r.times] = true
		p.mark(r.in, below)
	case *relUnion:
		need = p.keepOne(need, r.ids)
		for i, in := range r.inputs {
			below := colSet{}
			for k, id := range r.ids {
				if need[id] {
					below[r.cols[i][k]] = true
				}
			}
			p.mark(in, below)
		}
	case *relUnnest:
		p.mark(r.in, setOf(need.clone().addExprs([]expr.Expr{r.list}).of(r.in.out())))
	case *relOuter:
		if r.kind == MarkJoin && !p.used[r.mark] {
			p.mark(r.left.rel, setOf(need.of(r.left.rel.out())))
			return
		}
		all := need.clone().addExprs(r.conds)
		for id := range setOf(r.keyL, r.keyR) {
			all[id] = true
		}
		for _, in := range []rel{r.left.rel, r.right.rel} {
			p.mark(in, p.keepOne(setOf(all.of(in.out())), in.out()))
		}
	case *relShared:
		if r.def.need == nil {
			r.def.need = colSet{}
		}
		for i, id := range r.ids {
			if need[id] && !r.def.need[r.def.ids[i]] {
				r.def.need[r.def.ids[i]] = true
				p.grown = true
			}
		}
	}
}

// keepOne is need with a column of out, if it has none: operators that hold rows hold none without columns.
func (p *pruner) keepOne(need colSet, out []int) colSet {
	if len(need.of(out)) > 0 {
		return need
	}
	p.used[out[0]] = true
	return setOf(sortedInts(need), out[:1])
}

// sweep drops what was not marked.
func (p *pruner) sweep(r rel) (rel, error) {
	if err := mapInputs(r, p.sweep); err != nil {
		return nil, err
	}
	switch r := r.(type) {
	case *relOuter:
		if r.kind == MarkJoin && !p.used[r.mark] {
			return r.left.rel, nil
		}
	case *relScan:
		r.need = p.used.of(r.ids)
	case *relShared:
		r.need = p.used.of(r.ids)
	case *relAggregate:
		r.calls = slices.DeleteFunc(r.calls, func(c aggCall) bool { return !p.used[c.id] })
	case *relWindow:
		r.calls = slices.DeleteFunc(r.calls, func(c windowCall) bool { return !p.used[c.id] })
		if len(r.calls) == 0 && r.limit == nil {
			return r.in, nil
		}
	case *relUnion:
		r.sweep(p.used)
	case *relExtend:
		kept := r.items[:0]
		for _, it := range r.items {
			if p.used[it.id] {
				kept = append(kept, it)
			}
		}
		if r.items = kept; len(kept) == 0 {
			return r.in, nil
		}
	}
	return r, nil
}
