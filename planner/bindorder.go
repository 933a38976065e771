package planner

import (
	"slices"

	"github.com/sluicesql/sluice/engine/expr"
	"github.com/sluicesql/sluice/engine/types"
	"github.com/sluicesql/sluice/sql/ast"
)

// orderBy binds the ORDER BY of a SELECT: an item is the number or the name of a result column, or an expression over
// what SELECT sees, which is computed with the SELECT's items.
func (b *binder) orderBy(order []ast.OrderItem, q *ast.Select, sc *scope, fields []field, items *[]extendItem) ([]orderKey, error) {
	column := func(x expr.Expr) int { return b.columns.holding(items, x, x.String()) }
	var keys []orderKey
	for i := range order {
		it := &order[i]
		id, found, err := orderField(it, fields)
		var k orderKey
		switch {
		case err != nil:
			return nil, err
		case found:
			k, err = b.ordered(it, b.columns.ref(id), column)
		default:
			k, err = b.orderColumn(it, sc, column)
		}
		if err != nil {
			return nil, err
		}
		if q.Distinct && !slices.ContainsFunc(fields, func(f field) bool { return f.id == k.col }) {
			return nil, errAt(it.Pos, "ORDER BY behind SELECT DISTINCT needs columns of the result")
		}
		keys = append(keys, k)
	}
	return keys, nil
}

// orderField is the result column that an item of ORDER BY names, by its number or its name.
func orderField(it *ast.OrderItem, fields []field) (id int, found bool, err error) {
	switch e := it.Expr.(type) {
	case *ast.Literal:
		n, ok := ordinal(e)
		if !ok {
			return 0, false, nil
		}
		if n > len(fields) {
			return 0, false, errAt(e.Pos, "ORDER BY %d: the query has %s", n, count(len(fields), "column"))
		}
		return fields[n-1].id, true, nil
	case *ast.ColumnRef:
		if len(e.Parts) == 1 {
			for _, f := range fields {
				if f.name == e.Parts[0].Name {
					return f.id, true, nil
				}
			}
		}
	}
	return 0, false, nil
}

// orderFields binds the ORDER BY of a query that is no SELECT: it sees the result's columns alone.
func (b *binder) orderFields(res *boundQuery, order []ast.OrderItem) error {
	sc := &scope{changing: true}
	for _, f := range res.fields {
		sc.cols = append(sc.cols, scopeColumn{name: f.name, id: f.id, label: f.name})
	}
	var items []extendItem
	var err error
	if res.order, err = b.orderBy(order, &ast.Select{}, sc, res.fields, &items); err == nil && len(items) > 0 {
		res.rel = &relExtend{in: res.rel, items: items}
	}
	return err
}

// limit keeps the rows that LIMIT and OFFSET ask for, in the query's order.
func (b *binder) limit(res *boundQuery, q *ast.Query) error {
	w := &relWindow{in: res.rel, order: res.order, limit: &RankLimit{Kind: expr.WindowRowNumber, Lo: 1}}
	if q.Offset != nil {
		n, err := b.constant(q.Offset, &scope{}, "OFFSET", 0)
		if err != nil {
			return err
		}
		w.limit.Lo = saturatedAdd(n, 1)
	}
	res.rel = w
	if q.Limit == nil {
		return nil
	}
	n, err := b.constant(q.Limit, &scope{}, "LIMIT", 0)
	if err != nil {
		return err
	}
	if n == 0 {
		res.rel = &relFilter{in: w.in, conds: []expr.Expr{&expr.Const{T: types.Of(types.Boolean).Required()}}}
		return nil
	}
	w.limit.Hi = saturatedAdd(w.limit.Lo-1, n)
	return nil
}

// saturatedAdd adds numbers of rows.
func saturatedAdd(a, b int64) int64 {
	if c := a + b; c >= a {
		return c
	}
	return 1<<63 - 1
}

// stable refuses what gives another value each time above a window, whose rows can be taken back although those of its
// input cannot.
func stable(q *ast.Select, items []extendItem, qualify []expr.Expr) error {
	pos := q.Pos
	for _, it := range items {
		if fn := volatileFunction(it.e); fn != "" {
			return volatileError(pos, fn, fn)
		}
	}
	for _, e := range qualify {
		if fn := volatileFunction(e); fn != "" {
			return volatileError(q.Qualify.Position(), fn, fn)
		}
	}
	return nil
}
