package planner

import (
	"slices"

	"github.com/sluicesql/sluice/engine/expr"
)

// pushPredicates moves each condition as far down as its columns allow.
func (j *logicalJob) pushPredicates() error {
	return j.rewrite(func(r rel) (rel, error) { return push(r, nil), nil })
}

// push returns r with conds applied, as deep as possible.
func push(r rel, conds []expr.Expr) rel {
	switch r := r.(type) {
	case *relFilter:
		return push(r.in, append(slices.Clone(r.conds), conds...))
	case *relExtend:
		return pushExtend(r, conds)
	case *relJoin:
		return pushJoin(r, conds)
	case *relAggregate:
		return pushAggregate(r, conds)
	case *relUnion:
		return pushUnion(r, conds)
	case *relWindow:
		return pushWindow(r, conds)
	case *relRepeat:
		r.in = push(r.in, conds)
		return r
	case *relOuter:
		return pushOuter(r, conds)
	case *relUnnest:
		return pushUnnest(r, conds)
	}
	return filtered(r, conds)
}

func filtered(r rel, conds []expr.Expr) rel {
	if len(conds) == 0 {
		return r
	}
	return &relFilter{in: r, conds: conds}
}

// divide divides conditions into those that go below, in the form that goes gives them, and those that stay. Below, a
// condition is asked of more rows: one that can fail stays where an earlier one does, which may have excluded the rows for
// which it fails.
func divide(conds []expr.Expr, goes func(expr.Expr) (expr.Expr, bool)) (below, above []expr.Expr) {
	for _, c := range conds {
		if b, ok := goes(c); ok && (len(above) == 0 || total(b)) {
			below = append(below, b)
		} else {
			above = append(above, c)
		}
	}
	return below, above
}

func pushExtend(x *relExtend, conds []expr.Expr) rel {
	below, above := divide(conds, func(c expr.Expr) (expr.Expr, bool) {
		c = inline(c, x)
		return c, expr.Deterministic(c)
	})
	x.in = push(x.in, below)
	return filtered(x, above)
}

func pushJoin(j *relJoin, conds []expr.Expr) rel {
	flat := &relJoin{crosses: j.crosses}
	clauses := append(flatten(flat, j.inputs), j.conds, conds)
	all, above := guarded(flat.inputs, clauses)
	all = append(all, derived(all)...)
	per := make([][]expr.Expr, len(flat.inputs))
	for _, c := range all {
		if i := onlyInput(flat.inputs, expr.ColumnsOf(c)); i >= 0 {
			per[i] = append(per[i], c)
		} else {
			flat.conds = append(flat.conds, c)
		}
	}
	for i := range flat.inputs {
		flat.inputs[i].rel = push(flat.inputs[i].rel, per[i])
	}
	return filtered(flat, above)
}

// guarded divides the conditions of a join, clause by clause from the inside out, into those that it can ask wherever
// their columns meet, and those that have to wait for all that stand before them. These are the ones that are not
// deterministic, and those that can fail where an earlier condition is asked of other columns: it may have excluded the
// rows for which they fail. Equalities of the clauses further in count as how the tables meet, or no such condition of
// WHERE would ever be asked before a join: rows that meet no other are asked too. So are the equalities that can be
// keys, since a join by them needs the keys of all rows.
func guarded(inputs []joinInput, clauses [][]expr.Expr) (free, waiting []expr.Expr) {
	of := func(c expr.Expr) colSet {
		met := colSet{}
		for i := range inputs {
			if meets(c, inputs[i].rel.out()) {
				met[i] = true
			}
		}
		return met
	}
	across := func(c expr.Expr) bool {
		a, b, ok := equality(c)
		return ok && len(of(a)) == 1 && len(of(b)) == 1 && len(of(c)) == 2
	}
	var before []expr.Expr // those of the clauses further in that guard
	for _, clause := range clauses {
		for n, c := range clause {
			mine := of(c)
			// A condition on other inputs than c's is not asked before c, wherever c is asked.
			apart := func(g expr.Expr) bool { return !of(g).within(mine) }
			guarding := len(waiting) > 0 || slices.ContainsFunc(before, apart) || slices.ContainsFunc(clause[:n], apart)
			if expr.Deterministic(c) && (!guarding || total(c) || across(c)) {
				free = append(free, c)
			} else {
				waiting = append(waiting, c)
			}
		}
		before = append(before, slices.DeleteFunc(slices.Clone(clause), across)...)
	}
	return free, waiting
}

// flatten appends inputs to j, replacing joins among them by their inputs, and returns the conditions of these, clause by
// clause, the inner ones first. A join with a non-deterministic condition stays: above, it would be asked for other rows.
func flatten(j *relJoin, inputs []joinInput) (clauses [][]expr.Expr) {
	for _, in := range inputs {
		r := in.rel
		var filters [][]expr.Expr
		for {
			f, ok := r.(*relFilter)
			if !ok || !allDeterministic(f.conds) {
				break
			}
			filters = slices.Insert(filters, 0, f.conds)
			r = f.in
		}
		sub, ok := r.(*relJoin)
		if !ok || in.ttl != nil || !allDeterministic(sub.conds) {
			j.inputs = append(j.inputs, in)
			continue
		}
		j.crosses += sub.crosses
		subs := slices.Clone(sub.inputs)
		// Seen from outside, the first of the inner tables is the one that was joined here.
		subs[0].pos, subs[0].kind = in.pos, in.kind
		clauses = append(append(clauses, flatten(j, subs)...), sub.conds)
		clauses = append(clauses, filters...)
	}
	return clauses
}

func allDeterministic(conds []expr.Expr) bool {
	return !slices.ContainsFunc(conds, func(c expr.Expr) bool { return !expr.Deterministic(c) })
}

// onlyInput is the input that has all the columns; the first input for a condition without columns; −1
// where several are needed.
func onlyInput(inputs []joinInput, cols []int) int {
	for i := range inputs {
		out := inputs[i].rel.out()
		if !slices.ContainsFunc(cols, func(c int) bool { return !slices.Contains(out, c) }) {
			return i
		}
	}
	return -1
}

// derived are the conditions that follow from the equalities among conds: with a = b, a condition on a
// alone holds for b too, so that both inputs can be filtered. One that can fail is not asked of b's values, among
// which are some that no row of a has.
func derived(conds []expr.Expr) []expr.Expr {
	equal := newFacts()
	cols := map[int]*expr.Column{}
	for _, c := range conds {
		a, b, ok := equality(c)
		if !ok {
			continue
		}
		ca, ok1 := a.(*expr.Column)
		cb, ok2 := b.(*expr.Column)
		// Equal values of one type can be told apart by no expression, floating-point zeros aside.
		if ok1 && ok2 && ca.T.SameIgnoringNull(cb.T) && !ca.T.IsApprox() {
			equal.merge(ca.Index, cb.Index)
			cols[ca.Index], cols[cb.Index] = ca, cb
		}
	}
	var out []expr.Expr
	for _, c := range conds {
		used := expr.ColumnsOf(c)
		if len(used) != 1 || cols[used[0]] == nil || !total(c) {
			continue
		}
		for _, id := range sortedInts(cols) {
			if id == used[0] || !equal.same(id, used[0]) {
				continue
			}
			d := expr.Remap(c, func(*expr.Column) expr.Expr { return cols[id] })
			if !containsExpr(conds, d) && !containsExpr(out, d) {
				out = append(out, d)
			}
		}
	}
	return out
}

func containsExpr(list []expr.Expr, e expr.Expr) bool {
	return slices.ContainsFunc(list, func(x expr.Expr) bool { return expr.Equal(x, e) })
}

func sortedInts[T any](m map[int]T) []int {
	out := make([]int, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// pushAggregate moves conditions on the group's key below: they keep or drop whole groups.
func pushAggregate(a *relAggregate, conds []expr.Expr) rel {
	below, above := divide(conds, func(c expr.Expr) (expr.Expr, bool) { return c, expr.Deterministic(c) && within(c, a.keys) })
	a.in = push(a.in, below)
	return filtered(a, above)
}

// pushUnion moves conditions into every input.
func pushUnion(u *relUnion, conds []expr.Expr) rel {
	below, above := divide(conds, func(c expr.Expr) (expr.Expr, bool) { return c, expr.Deterministic(c) })
	for i := range u.inputs {
		mine := make([]expr.Expr, len(below))
		for k, c := range below {
			mine[k] = expr.Remap(c, func(col *expr.Column) expr.Expr {
				return &expr.Column{Index: u.cols[i][slices.Index(u.ids, col.Index)], Name: col.Name, T: col.T}
			})
		}
		u.inputs[i] = push(u.inputs[i], mine)
	}
	return filtered(u, above)
}

// pushWindow moves conditions on the partition below, which keep or drop whole partitions, and makes conditions on the
// window's one rank its limit.
func pushWindow(w *relWindow, conds []expr.Expr) rel {
	below, above := divide(conds, func(c expr.Expr) (expr.Expr, bool) { return c, expr.Deterministic(c) && within(c, w.partition) })
	above = slices.DeleteFunc(above, w.limitBy)
	w.in = push(w.in, below)
	return filtered(w, above)
}

// limitBy makes c, if it bounds the window's one rank by a constant, part of the limit.
func (w *relWindow) limitBy(c expr.Expr) bool {
	if len(w.calls) != 1 || w.calls[0].kind > expr.WindowDenseRank {
		return false
	}
	call, ok := c.(*expr.Call)
	if !ok || len(call.Args) < 2 {
		return false
	}
	col, ok := stripCast(call.Args[0]).(*expr.Column)
	if !ok || col.Index != w.calls[0].id {
		return false
	}
	var n [2]int64
	for i, a := range call.Args[1:] {
		k, ok := a.(*expr.Const)
		if !ok || k.Value.Null || !k.T.IsInteger() {
			return false
		}
		n[i] = k.Value.I
	}
	l := RankLimit{Kind: w.calls[0].kind}
	if w.limit != nil {
		l = *w.limit
	}
	lo, hi := l.Lo, int64(0)
	switch call.Fn.Name {
	case "=":
		lo, hi = n[0], n[0]
	case "<=":
		hi = n[0]
	case "<":
		hi = max(n[0], 1) - 1
	case ">=":
		lo = n[0]
	case ">":
		lo = saturatedAdd(n[0], 1)
	case "BETWEEN":
		lo, hi = n[0], n[1]
	default:
		return false
	}
	if call.Fn.Name != ">=" && call.Fn.Name != ">" {
		if hi < 1 {
			return false // nothing passes; the condition says so as well
		}
		if l.Hi == 0 || hi < l.Hi {
			l.Hi = hi
		}
	}
	l.Lo = max(l.Lo, lo)
	w.limit = &l
	return true
}
