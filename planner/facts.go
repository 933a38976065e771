package planner

import (
	"slices"

	"github.com/sluicesql/sluice/engine/expr"
)

// maxKeys bounds the unique keys that are followed: joins of many tables would multiply them.
const maxKeys = 16

// facts are what holds for all rows of a node: which columns identify a row, which are equal to each other
// in every row, which have one value only, and which determine others.
type facts struct {
	// keys are sets of column numbers, sorted, none within another. An empty one says that there is one row
	// at most.
	keys [][]int
	// equal maps a column to another of equal values and equal encoding; following it ends at the class's
	// representative.
	equal map[int]int
	// consts are representatives of classes with a single value.
	consts map[int]bool
	// deps are the functional dependencies that hold beside the keys.
	deps []dependency
	// filled are columns that an outer join fills up with NULLs.
	filled colSet
}

func newFacts() *facts { return &facts{equal: map[int]int{}, consts: map[int]bool{}, filled: colSet{}} }

func (f *facts) clone() *facts {
	g := newFacts()
	g.keys = append(g.keys, f.keys...)
	g.deps = append(g.deps, f.deps...)
	for k, v := range f.equal {
		g.equal[k] = v
	}
	for k := range f.consts {
		g.consts[k] = true
	}
	for k := range f.filled {
		g.filled[k] = true
	}
	return g
}

// rep is the representative of id's class.
func (f *facts) rep(id int) int {
	for {
		up, ok := f.equal[id]
		if !ok {
			return id
		}
		id = up
	}
}

// merge notes that a and b are equal in every row.
func (f *facts) merge(a, b int) {
	a, b = f.rep(a), f.rep(b)
	if a == b {
		return
	}
	if b < a {
		a, b = b, a
	}
	f.equal[b] = a
	if f.consts[b] {
		delete(f.consts, b)
		f.consts[a] = true
	}
}

func (f *facts) isConst(id int) bool { return f.consts[f.rep(id)] }

// same reports whether a and b are equal in every row.
func (f *facts) same(a, b int) bool { return f.rep(a) == f.rep(b) }

// reduce is a set of columns without constants, each class once, sorted.
func (f *facts) reduce(cols []int) []int {
	out := make([]int, 0, len(cols))
	for _, c := range cols {
		if c = f.rep(c); !f.consts[c] && !slices.Contains(out, c) {
			out = append(out, c)
		}
	}
	slices.Sort(out)
	return out
}

// isKey reports whether cols hold a unique key.
func (f *facts) isKey(cols []int) bool {
	return len(f.keys) > 0 && f.tellsKey(f.closure(cols))
}

// addKey adds a key, and keeps the set free of keys within others.
func (f *facts) addKey(k []int) {
	f.keys = minimal(append(f.keys, f.reduce(k)))
}

// minimal drops keys that hold another one, orders the rest by size, and bounds their number.
func minimal(keys [][]int) [][]int {
	slices.SortStableFunc(keys, func(a, b []int) int {
		if d := len(a) - len(b); d != 0 {
			return d
		}
		return slices.Compare(a, b)
	})
	var out [][]int
	for _, k := range keys {
		if !slices.ContainsFunc(out, func(o []int) bool { return subset(o, k) }) {
			out = append(out, k)
		}
	}
	if len(out) > maxKeys {
		out = out[:maxKeys]
	}
	return out
}

// visible are the keys that can be told by the given columns, as positions in cols, sorted.
func (f *facts) visible(cols []int) [][]int {
	keys := [][]int{}
next:
	for _, k := range f.keys {
		pos := []int{}
		for _, id := range f.reduce(k) {
			i := f.find(cols, id)
			if i < 0 {
				continue next
			}
			pos = append(pos, i)
		}
		slices.Sort(pos)
		keys = append(keys, pos)
	}
	return minimal(keys)
}

// find is the position in cols of id, or of a column equal to it; −1 without one.
func (f *facts) find(cols []int, id int) int {
	if i := slices.Index(cols, id); i >= 0 {
		return i
	}
	return slices.IndexFunc(cols, func(c int) bool { return f.same(c, id) })
}

// factsOf derives the facts of a logical node.
func factsOf(r rel) *facts {
	switch r := r.(type) {
	case *relScan:
		return tableFacts(r.src.table, r.ids)
	case *relValues:
		f := newFacts()
		if len(r.rows) <= 1 {
			f.addKey(nil)
		}
		return f
	case *relFilter:
		f := factsOf(r.in).clone()
		f.filter(r.conds)
		return f
	case *relExtend:
		f := factsOf(r.in).clone()
		f.extend(r.items)
		return f
	case *relView:
		return factsOf(r.body)
	case *relShared:
		return r.facts()
	case *relAggregate:
		return r.facts(factsOf(r.in))
	case *relUnion:
		return newFacts()
	case *relWindow:
		return r.facts(factsOf(r.in))
	case *relRepeat:
		f := factsOf(r.in).clone()
		f.keys = nil
		return f
	case *relUnnest:
		return r.facts(factsOf(r.in))
	case *relJoin:
		if r.ordered {
			return joinFacts(factsOf(r.inputs[0].rel), factsOf(r.inputs[1].rel), r.keyL, r.keyR)
		}
		f := factsOf(r.inputs[0].rel)
		for _, in := range r.inputs[1:] {
			f = joinFacts(f, factsOf(in.rel), nil, nil)
		}
		f.filter(r.conds)
		return f
	case *relOuter:
		return r.facts(factsOf(r.left.rel), factsOf(r.right.rel), r.left.rel.out(), r.right.rel.out())
	}
	panic("planner: unknown logical node")
}

// tableFacts are those of the rows of a table with the columns ids.
func tableFacts(t *Table, ids []int) *facts {
	f := newFacts()
	if len(t.PrimaryKey) > 0 {
		f.addKey(pick(ids, t.PrimaryKey))
		f.determine(ids)
	}
	return f
}

// facts translates the body's facts into this reference's numbers.
func (s *relShared) facts() *facts {
	inner := factsOf(s.def.body)
	f := newFacts()
	for _, k := range inner.visible(s.def.ids) {
		f.addKey(pick(s.ids, k))
	}
	f.determine(s.ids)
	f.translate(inner, s.def.ids, s.ids)
	for i, a := range s.def.ids {
		if inner.filled[a] {
			f.filled[s.ids[i]] = true
		}
		if inner.isConst(a) {
			f.consts[f.rep(s.ids[i])] = true
		}
		if j := inner.find(s.def.ids, a); j < i && j >= 0 {
			f.merge(s.ids[i], s.ids[j])
		}
	}
	f.rekey()
	return f
}

// filter adds what conditions that hold tell: col = constant, col = col.
func (f *facts) filter(conds []expr.Expr) {
	for _, c := range conds {
		a, b, ok := equality(c)
		if !ok {
			continue
		}
		a, b = stripCast(a), stripCast(b)
		ca, aCol := a.(*expr.Column)
		cb, bCol := b.(*expr.Column)
		switch {
		case aCol && bCol:
			if sameForm(ca.T, cb.T) {
				f.merge(ca.Index, cb.Index)
			}
		case aCol && isConst(b):
			f.consts[f.rep(ca.Index)] = true
		case bCol && isConst(a):
			f.consts[f.rep(cb.Index)] = true
		}
	}
	f.rekey()
}

func (f *facts) extend(items []extendItem) {
	for _, it := range items {
		e := stripCast(it.e)
		if c, ok := e.(*expr.Column); ok && sameForm(c.T, it.e.Type()) {
			f.merge(it.id, c.Index)
		} else if isConst(it.e) {
			f.consts[f.rep(it.id)] = true
		} else {
			f.computed(it)
		}
	}
	f.rekey()
}

// rekey reduces the keys after classes or constants have grown.
func (f *facts) rekey() {
	keys := f.keys
	f.keys = nil
	for _, k := range keys {
		f.addKey(k)
	}
}

// joinFacts are the facts of an inner join by equal keys.
func joinFacts(l, r *facts, keyL, keyR []int) *facts {
	f := l.clone()
	for k, v := range r.equal {
		f.equal[k] = v
	}
	for k := range r.consts {
		f.consts[k] = true
	}
	for k := range r.filled {
		f.filled[k] = true
	}
	f.keys = nil
	for _, d := range r.deps {
		f.addDependency(d.by, d.cols)
	}
	for i := range keyL {
		f.merge(keyL[i], keyR[i])
	}
	// Where the join's key identifies a row on one side, a row of the other side has one partner at most,
	// and the other side's keys still identify rows of the result.
	one := false
	if r.isKey(keyR) {
		one = true
		for _, k := range l.keys {
			f.addKey(k)
		}
	}
	if l.isKey(keyL) {
		one = true
		for _, k := range r.keys {
			f.addKey(k)
		}
	}
	if !one {
		for _, a := range l.keys {
			for _, b := range r.keys {
				f.addKey(append(append([]int(nil), a...), b...))
			}
		}
	}
	return f
}

// facts are those of an outer, semi or anti join over inputs with the facts l and r and the columns left and right.
func (o *relOuter) facts(l, r *facts, left, right []int) *facts {
	if o.kind.Semi() {
		return l
	}
	f := l.clone()
	for k, v := range r.equal {
		f.equal[k] = v // of columns that are filled up, too: they are NULL together
	}
	for _, id := range right {
		f.filled[id] = true
	}
	f.deps = o.filledDependencies(l, r)
	if o.kind == LeftJoin && (o.single != "" || r.isKey(o.keyR)) {
		f.determine(right)
		return f // a left row has one row
	}
	if o.kind == FullJoin {
		f.consts = map[int]bool{}
		for _, id := range left {
			f.filled[id] = true
		}
	}
	sure := map[int]bool{}
	for id := range o.solid {
		sure[f.rep(id)] = true
	}
	f.keys = nil
	for _, a := range l.keys {
		for _, b := range r.keys {
			k := append(append([]int(nil), a...), b...)
			// A left row and a right row without a match could both be all NULLs in the key.
			if o.kind == LeftJoin || slices.ContainsFunc(k, func(id int) bool { return sure[f.rep(id)] }) {
				f.addKey(k)
			}
		}
	}
	return f
}

// subset reports whether all of a, sorted, are in b, sorted.
func subset(a, b []int) bool {
	j := 0
	for _, x := range a {
		for j < len(b) && b[j] < x {
			j++
		}
		if j == len(b) || b[j] != x {
			return false
		}
	}
	return true
}

// pick are the elements of s at the given positions.
func pick(s []int, at []int) []int {
	out := make([]int, len(at))
	for i, p := range at {
		out[i] = s[p]
	}
	return out
}
