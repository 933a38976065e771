package planner

import (
	"slices"

	"github.com/sluicesql/sluice/engine/expr"
	"github.com/sluicesql/sluice/sql/ast"
)

// lifter frees a subquery's tree of the columns of the query around it: conditions that read such columns
// rise to the top, where they become those of a join.
type lifter struct {
	b *binder
	// first is the first column that the subquery made: smaller numbers are of the query around it.
	first int
	pos   ast.Pos
	// late says that the subquery's value may not be asked for: what can fail then rises too, as far as it can.
	late bool
}

// lifted is a tree without outer columns.
type lifted struct {
	rel rel
	// conds are the conditions over the tree's columns and outer ones that the rows must fulfil.
	conds []expr.Expr
	// items are computed columns that were taken off the tree, since they read outer columns, or since they
	// have a value without rows: those above agg.
	items map[int]expr.Expr
	// agg is the aggregate without GROUP BY at the top of the tree, now grouped by what conds compare with
	// outer columns: over no rows it has no row any more. Nil without one. having are the conditions above it.
	agg    *relAggregate
	having []expr.Expr
}

// stable refuses what gives another value each time in what is now computed of the rows around: they, or the join with
// the subquery, can take back what was shown.
func (f *lifted) stable(pos ast.Pos) error {
	above := slices.Concat(f.conds, f.having)
	for _, id := range sortedInts(f.items) {
		above = append(above, f.items[id])
	}
	for _, e := range above {
		if fn := volatileFunction(e); fn != "" {
			return volatileError(pos, fn, fn)
		}
	}
	return nil
}

func (l *lifter) outer(e expr.Expr) bool {
	return slices.ContainsFunc(expr.ColumnsOf(e), func(id int) bool { return id < l.first })
}

func (l *lifter) anyOuter(es []expr.Expr) bool { return slices.ContainsFunc(es, l.outer) }

// rises reports whether e is computed above the subquery's tree.
func (l *lifter) rises(e expr.Expr) bool { return l.outer(e) || l.late && !total(e) }

// lift frees r.
func (l *lifter) lift(r rel) (*lifted, error) {
	if !l.correlated(r) && (!l.late || !l.fallible(r)) {
		return &lifted{rel: r}, nil
	}
	switch r := r.(type) {
	case *relFilter:
		return l.liftFilter(r)
	case *relExtend:
		return l.liftExtend(r)
	case *relJoin:
		return l.liftJoin(r)
	case *relOuter:
		if l.anyOuter(r.conds) || l.correlated(r.right.rel) {
			return nil, l.refuse("in the condition of an outer join or in a subquery of its own")
		}
		f, err := l.lift(r.left.rel)
		if err != nil {
			return nil, err
		}
		l.putBack(f)
		r.left.rel = f.rel
		f.rel = r
		return f, l.noneOf(f)
	case *relAggregate:
		return l.liftAggregate(r)
	case *relWindow:
		return l.liftWindow(r)
	case *relUnnest:
		if l.outer(r.list) {
			return nil, l.refuse("in UNNEST")
		}
		f, err := l.lift(r.in)
		if err != nil {
			return nil, err
		}
		l.putBack(f)
		r.in = f.rel
		f.rel = r
		return f, l.noneOf(f)
	}
	return nil, l.refuse("below a set operation, a LIMIT or the like")
}

func (l *lifter) refuse(where string) error {
	return hint(errAt(l.pos, "this subquery uses columns of the query around it %s, which is not available in this version", where).Coded(ast.CodeUnsupported), "write it as a join")
}

// noneOf refuses what cannot lie below another operator.
func (l *lifter) noneOf(f *lifted) error {
	if f.agg != nil || len(f.items) > 0 {
		return l.refuse("in a computed column below another join")
	}
	return nil
}

// correlated reports whether any expression of r's tree reads outer columns.
func (l *lifter) correlated(r rel) bool {
	found := false
	var look func(rel) (rel, error)
	look = func(r rel) (rel, error) {
		switch r := r.(type) {
		case *relFilter:
			found = found || l.anyOuter(r.conds)
		case *relExtend:
			for _, it := range r.items {
				found = found || l.outer(it.e)
			}
		case *relJoin:
			found = found || l.anyOuter(r.conds)
		case *relOuter:
			found = found || l.anyOuter(r.conds)
		case *relUnnest:
			found = found || l.outer(r.list)
		case *relValues:
			for _, row := range r.rows {
				found = found || l.anyOuter(row)
			}
		}
		return r, mapInputs(r, look)
	}
	_, _ = look(r) // it has no errors
	return found
}

// split divides conditions into those of the tree itself and those that rise.
func (l *lifter) split(f *lifted, conds []expr.Expr, rises func(expr.Expr) bool) (own, outer []expr.Expr) {
	for _, c := range conds {
		if c = f.inline(c); rises(c) {
			outer = append(outer, c)
		} else {
			own = append(own, c)
		}
	}
	return own, outer
}

// inline replaces columns that were taken off by their expressions.
func (f *lifted) inline(e expr.Expr) expr.Expr {
	return expr.Remap(e, func(c *expr.Column) expr.Expr {
		if x := f.items[c.Index]; x != nil {
			return x
		}
		return c
	})
}

// value is the expression for a column of the tree.
func (f *lifted) value(b *binder, id int) expr.Expr { return f.inline(b.columns.ref(id)) }

func (l *lifter) liftFilter(r *relFilter) (*lifted, error) {
	f, err := l.lift(r.in)
	if err != nil {
		return nil, err
	}
	if f.agg != nil {
		for _, c := range r.conds {
			f.having = append(f.having, f.inline(c))
		}
		return f, nil
	}
	own, outer := l.split(f, r.conds, l.rises)
	f.rel, f.conds = filtered(f.rel, own), append(f.conds, outer...)
	return f, nil
}

func (l *lifter) liftExtend(r *relExtend) (*lifted, error) {
	f, err := l.lift(r.in)
	if err != nil {
		return nil, err
	}
	x := &relExtend{in: f.rel}
	for _, it := range r.items {
		e := f.inline(it.e)
		if f.agg == nil && !l.rises(e) {
			x.items = append(x.items, extendItem{it.id, e})
			continue
		}
		if f.items == nil {
			f.items = map[int]expr.Expr{}
		}
		f.items[it.id] = e
	}
	f.rel = bare(x)
	return f, nil
}

func (l *lifter) liftJoin(r *relJoin) (*lifted, error) {
	out := &lifted{rel: r}
	for i := range r.inputs {
		f, err := l.lift(r.inputs[i].rel)
		if err != nil {
			return nil, err
		}
		l.putBack(f)
		if err := l.noneOf(f); err != nil {
			return nil, err
		}
		r.inputs[i].rel = f.rel
		out.conds = append(out.conds, f.conds...)
	}
	own, outer := l.split(out, r.conds, l.outer)
	r.conds, out.conds = own, append(out.conds, outer...)
	return out, nil
}

// liftAggregate groups by what the conditions below compare with outer columns.
func (l *lifter) liftAggregate(r *relAggregate) (*lifted, error) {
	f, err := l.lift(r.in)
	if err != nil {
		return nil, err
	}
	calls := slices.Clone(r.calls)
	failure := l.tolerate(f, r)
	if failure != nil {
		calls = append(calls, *failure)
	}
	if err := l.noneOf(f); err != nil {
		return nil, err
	}
	in, keys, conds, err := l.divide(f, r.keys, "an aggregate")
	if err != nil {
		return nil, err
	}
	n := &relAggregate{in: in, keys: keys, calls: calls, ttl: r.ttl}
	out := &lifted{rel: n, conds: conds}
	switch {
	case r.global && len(keys) == 0: // nothing divides its rows
		n.global = true
	case r.global:
		out.agg = n
	}
	if failure != nil {
		out.items = map[int]expr.Expr{}
		for i := range r.calls {
			id := r.calls[i].id
			if r.calls[i].fn.Kind != expr.AggCount {
				l.b.columns.list[id].typ.NotNull = false // where something failed
			}
			out.items[id] = expr.OrFail(l.b.columns.ref(id), l.b.columns.ref(failure.id))
		}
	}
	return out, nil
}

// liftWindow divides a window, LIMIT among them, by what the conditions below compare with outer columns: the rows that
// an outer row asks for are a partition then, or some whole ones.
func (l *lifter) liftWindow(r *relWindow) (*lifted, error) {
	if r.limit != nil && len(r.calls) == 0 && r.limit.Lo == 1 && singleRow(r.in) {
		return l.lift(r.in) // LIMIT 1 of one row
	}
	f, err := l.lift(r.in)
	if err != nil {
		return nil, err
	}
	l.putBack(f)
	if err := l.noneOf(f); err != nil {
		return nil, err
	}
	in, keys, conds, err := l.divide(f, r.partition, "a LIMIT or a window function")
	if err != nil {
		return nil, err
	}
	n := *r
	n.in, n.partition = in, keys
	return &lifted{rel: &n, conds: conds}, nil
}

// divide adds to keys the columns of f's tree that its conditions compare with outer ones, and returns the tree with
// those columns, and the conditions over them. what is the operator above, for errors.
func (l *lifter) divide(f *lifted, keys []int, what string) (rel, []int, []expr.Expr, error) {
	x := &relExtend{in: f.rel}
	keys = slices.Clone(keys)
	var conds []expr.Expr
	for _, c := range f.conds {
		a, z, ok := equality(c)
		if ok && l.outer(a) {
			a, z = z, a
		}
		if !ok || l.outer(a) || slices.ContainsFunc(expr.ColumnsOf(z), func(id int) bool { return id >= l.first }) {
			return nil, nil, nil, l.refuse("below " + what + " otherwise than by an equality of one of them with an expression of its own")
		}
		k := l.keyColumn(x, a)
		if !slices.Contains(keys, k) {
			keys = append(keys, k)
		}
		eq, err := l.b.call(l.pos, "=", l.b.columns.ref(k), z)
		if err != nil {
			return nil, nil, nil, err
		}
		conds = append(conds, eq)
	}
	return bare(x), keys, conds, nil
}

func (l *lifter) keyColumn(x *relExtend, e expr.Expr) int {
	if c, ok := e.(*expr.Column); ok {
		return c.Index
	}
	id := l.b.columns.add("$key", e.String(), e.Type())
	x.items = append(x.items, extendItem{id, e})
	return id
}

// overNoRows gives expressions over the aggregate's results the values that those have over no rows: a count is 0 then,
// a JSON array or object an empty one, everything else NULL.
func (f *lifted) overNoRows(b *binder, pos ast.Pos) (func(expr.Expr) expr.Expr, error) {
	nothing := map[expr.AggKind]expr.Expr{
		expr.AggCount: bigint(0), expr.AggJSONArray: expr.StringConst("[]"), expr.AggJSONObject: expr.StringConst("{}"),
	}
	values := map[int]expr.Expr{}
	for i := range f.agg.calls {
		c := &f.agg.calls[i]
		if nothing[c.fn.Kind] == nil {
			continue
		}
		e, err := b.call(pos, "COALESCE", b.columns.ref(c.id), nothing[c.fn.Kind])
		if err != nil {
			return nil, err
		}
		values[c.id] = e
	}
	return func(e expr.Expr) expr.Expr {
		return expr.Remap(e, func(c *expr.Column) expr.Expr {
			if e := values[c.Index]; e != nil {
				return e
			}
			return c
		})
	}, nil
}

// withoutRows is x, an expression over the aggregate's results, with the values that those have over no rows, and NULL
// where HAVING leaves no row.
func (f *lifted) withoutRows(b *binder, pos ast.Pos, x expr.Expr) (expr.Expr, error) {
	with, err := f.overNoRows(b, pos)
	if err != nil {
		return nil, err
	}
	if len(f.having) == 0 {
		return with(x), nil
	}
	return b.call(pos, "CASE", with(expr.And(f.having...)), with(x), expr.NullConst(x.Type().Nullable()))
}
