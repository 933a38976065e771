package planner

import (
	"slices"

	"github.com/sluicesql/sluice/engine/expr"
	"github.com/sluicesql/sluice/sql/ast"
)

// lateral reports whether a table of FROM sees the columns of those before it.
func lateral(t ast.TableRef) bool {
	switch t := t.(type) {
	case *ast.Unnest:
		return true
	case *ast.DerivedTable:
		return t.Lateral
	}
	return false
}

// lateralJoin binds a join with UNNEST or LATERAL, whose right side is a function of the left row.
func (b *binder) lateralJoin(t *ast.Join, l rel, ls *scope) (rel, *scope, error) {
	if t.Kind == ast.RightJoin || t.Kind == ast.FullJoin || t.Natural || len(t.Using) > 0 {
		return nil, nil, hint(errAt(t.Pos, "%s cannot have a right side that depends on the left one", joinText(t)), "write CROSS JOIN, or LEFT JOIN … ON TRUE")
	}
	left := &scope{parent: b.outer, cols: ls.cols, changing: ls.changing}
	var r rel
	var rs *scope
	var err error
	if u, ok := t.Right.(*ast.Unnest); ok {
		r, rs, err = b.unnest(u, l, left, t.Kind == ast.LeftJoin)
	} else {
		left.subs = &subqueries{}
		r, rs, err = b.lateralTable(t, t.Right.(*ast.DerivedTable), l, left)
	}
	if err != nil {
		return nil, nil, err
	}
	if err := twoNames(t, ls, rs); err != nil {
		return nil, nil, err
	}
	sc := &scope{parent: b.outer, cols: slices.Concat(ls.cols, rs.cols), changing: changing(r)}
	if t.On == nil {
		return r, sc, nil
	}
	conds, err := b.condition(t.On, sc, "ON")
	if err != nil {
		return nil, nil, err
	}
	if t.Kind == ast.LeftJoin && slices.ContainsFunc(conds, func(c expr.Expr) bool { return !isTrue(c) }) {
		return nil, nil, hint(notAvailable(t.On.Position(), "a condition of "+joinText(t)+" with a right side that depends on the left one", ""),
			"write ON TRUE, and the condition within the right side")
	}
	return filtered(r, conds), sc, nil
}

// lateralTable binds a join with LATERAL (query).
func (b *binder) lateralTable(t *ast.Join, d *ast.DerivedTable, l rel, left *scope) (rel, *scope, error) {
	f, fields, err := b.subquery(d.Query, left)
	if err != nil {
		return nil, nil, err
	}
	in := joinInput{rel: f.rel, pos: t.Pos, kind: joinText(t), ttl: b.ttls.of(t.Right)}
	first := joinInput{rel: l, pos: t.Left.Position(), kind: in.kind, ttl: b.ttls.of(t.Left)}
	var joined rel
	switch {
	case f.agg != nil || t.Kind == ast.LeftJoin:
		joined = &relOuter{kind: LeftJoin, left: first, right: in, conds: f.conds, solid: b.loosen(f.rel), asked: true}
	default:
		j := &relJoin{inputs: []joinInput{first, in}, conds: f.conds}
		if keys, _ := keysBetween(l, f.rel, f.conds); len(keys) == 0 {
			j.crosses = 1
		}
		joined = j
	}
	if f.agg != nil && t.Kind != ast.LeftJoin {
		with, err := f.overNoRows(b, d.Pos)
		if err != nil {
			return nil, nil, err
		}
		for _, c := range f.having { // without the aggregate's row there is none
			joined = filtered(joined, []expr.Expr{with(c)})
		}
	}
	x := &relExtend{in: joined}
	own := f.rel.out()
	for i := range fields {
		v := f.value(b, fields[i].id)
		if f.agg != nil {
			if v, err = f.withoutRows(b, d.Pos, v); err != nil {
				return nil, nil, err
			}
		}
		if c, ok := v.(*expr.Column); ok && slices.Contains(own, c.Index) {
			fields[i].id = c.Index
			continue
		}
		if f.agg == nil && t.Kind == ast.LeftJoin {
			return nil, nil, hint(notAvailable(d.Pos, "LEFT JOIN LATERAL with a column computed of the left side's", ""), "compute it in SELECT")
		}
		fields[i].id = b.columns.add(fields[i].name, fields[i].name, v.Type())
		x.items = append(x.items, extendItem{fields[i].id, v})
	}
	sc, err := b.aliased(joined, fields, d.Alias)
	return bare(x), sc, err
}
