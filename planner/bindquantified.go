package planner

import (
	"errors"

	"github.com/sluicesql/sluice/engine/expr"
	"github.com/sluicesql/sluice/engine/types"
	"github.com/sluicesql/sluice/sql/ast"
)

// opposite are the comparisons that are TRUE where others are FALSE.
var opposite = map[ast.BinaryOp]ast.BinaryOp{"=": "<>", "<>": "=", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}

// quantified binds a comparison with ANY or ALL. x op ALL is NOT (x ≠op ANY), = ANY of a query is IN.
func (b *binder) quantified(e *ast.Quantified, sc *scope) (expr.Expr, error) {
	op := e.Op
	if e.All {
		op = opposite[op]
	}
	var x expr.Expr
	var err error
	switch {
	case e.Query == nil:
		x, err = b.anyOfList(e, op, sc)
	case op == "=":
		var m *membership
		if m, err = b.in(e.Pos, e.Left, e.Query, sc, false); err == nil {
			x, err = m.value(b, e.Pos)
		}
	default:
		x, err = b.anyOfQuery(e, op, sc)
	}
	return b.negated(e.Pos, e.All, x, err)
}

// anyOfList is left op ANY (value, …): op with one of them.
func (b *binder) anyOfList(e *ast.Quantified, op ast.BinaryOp, sc *scope) (expr.Expr, error) {
	left, err := b.expr(e.Left, sc)
	if err != nil {
		return nil, err
	}
	var found []expr.Expr
	for _, v := range e.List {
		x, err := b.expr(v, sc)
		if err != nil {
			return nil, err
		}
		is, err := b.call(e.Pos, string(op), left, x)
		if err != nil {
			return nil, err
		}
		found = append(found, is)
	}
	if len(found) == 1 {
		return found[0], nil
	}
	return b.call(e.Pos, "OR", found...)
}

// anyOfQuery is left op ANY (query), which the query's least and greatest value decide, and how many of its rows are NULL.
func (b *binder) anyOfQuery(e *ast.Quantified, op ast.BinaryOp, sc *scope) (expr.Expr, error) {
	left, err := b.expr(e.Left, sc)
	if err != nil {
		return nil, err
	}
	f, fields, err := b.subquery(extremes(e.Query), sc)
	if wrong, ok := errors.AsType[*ast.Error](err); ok && wrong.Code == ast.CodeColumnCount && wrong.Pos == e.Query.Pos {
		return nil, errAt(e.Query.Pos, "the subquery of ANY or ALL needs one column").Coded(ast.CodeColumnCount)
	}
	if err != nil {
		return nil, err
	}
	values, err := b.row(e.Pos, f, fields, sc)
	if err != nil {
		return nil, err
	}
	least, greatest, rows, count := values[0], values[1], values[2], values[3]
	var is expr.Expr
	switch op {
	case "<", "<=":
		is, err = b.call(e.Pos, string(op), left, greatest)
	case ">", ">=":
		is, err = b.call(e.Pos, string(op), left, least)
	default: // one of two different values differs from any
		var one, other expr.Expr
		if one, err = b.call(e.Pos, "<>", left, least); err == nil {
			if other, err = b.call(e.Pos, "<>", left, greatest); err == nil {
				is, err = b.call(e.Pos, "OR", one, other)
			}
		}
	}
	if err != nil {
		return nil, err
	}
	none, err := b.call(e.Pos, "=", rows, bigint(0))
	if err != nil {
		return nil, err
	}
	unknown, err := b.call(e.Pos, "IS NULL", is)
	if err != nil {
		return nil, err
	}
	nulls, err := b.call(e.Pos, "<", count, rows)
	if err != nil {
		return nil, err
	}
	null := expr.NullConst(types.Of(types.Boolean))
	return b.call(e.Pos, "CASE", none, expr.BoolConst(false), is, expr.BoolConst(true), unknown, null, nulls, null, expr.BoolConst(false))
}

// extremes asks a query of one column for its least and its greatest value, its rows, and those that are not NULL.
func extremes(q *ast.Query) *ast.Query {
	value := ast.Ident{Pos: q.Pos, Name: "$value"}
	column := &ast.ColumnRef{Pos: q.Pos, Parts: []ast.Ident{value}}
	call := func(fn string, arg ast.Expr) ast.SelectItem {
		name := ast.Name{Pos: q.Pos, Parts: []ast.Ident{{Pos: q.Pos, Name: fn}}}
		return ast.SelectItem{Pos: q.Pos, Expr: &ast.Call{Pos: q.Pos, Name: name, Args: []ast.Expr{arg}}}
	}
	return &ast.Query{Pos: q.Pos, Body: &ast.Select{
		Pos:   q.Pos,
		Items: []ast.SelectItem{call("MIN", column), call("MAX", column), call("COUNT", &ast.Star{Pos: q.Pos}), call("COUNT", column)},
		From:  &ast.DerivedTable{Pos: q.Pos, Query: q, Alias: ast.TableAlias{Name: ast.Ident{Pos: q.Pos, Name: "$values"}, Columns: []ast.Ident{value}}},
	}}
}
