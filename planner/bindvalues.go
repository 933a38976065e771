package planner

import (
	"fmt"

	"github.com/sluicesql/sluice/engine/expr"
	"github.com/sluicesql/sluice/engine/types"
	"github.com/sluicesql/sluice/sql/ast"
)

// values binds VALUES: the rows' columns get common types.
func (b *binder) values(q *ast.Values) (*boundQuery, error) {
	rows := make([][]expr.Expr, len(q.Rows))
	width := len(q.Rows[0].Items)
	common := make([]types.Type, width)
	for i, r := range q.Rows {
		if len(r.Items) != width {
			return nil, errAt(r.Pos, "row %d of VALUES has %d values, but the first has %d", i+1, len(r.Items), width).Coded(ast.CodeColumnCount)
		}
		for k, item := range r.Items {
			e, err := b.expr(item, &scope{})
			if err != nil {
				return nil, err
			}
			rows[i] = append(rows[i], e)
			t, ok := e.Type(), true
			if i > 0 {
				t, ok = expr.CommonType(common[k], t)
			}
			if !ok {
				return nil, errAt(item.Position(), "column %d of VALUES is %s in this row and %s before; write a CAST", k+1, e.Type().Nullable(), common[k].Nullable()).Coded(ast.CodeTypeMismatch)
			}
			common[k] = t
		}
	}
	v := &relValues{}
	var fields []field
	for k, t := range common {
		name := fmt.Sprintf("EXPR$%d", k)
		id := b.columns.add(name, name, t)
		v.ids = append(v.ids, id)
		fields = append(fields, field{name: name, id: id})
	}
	for i, r := range rows {
		for k := range r {
			e := r[k]
			if !e.Type().SameIgnoringNull(common[k]) {
				var err error
				if e, err = expr.Cast(e, common[k], false); err != nil {
					return nil, placeArg(err, q.Rows[i].Items[k].Position(), nil)
				}
			}
			if r[k] = expr.Fold(e, b.s.exprCtx()); !isConstant(r[k]) {
				return nil, hint(errAt(q.Rows[i].Items[k].Position(), "VALUES needs constants, and %s is none", r[k]), "write SELECT … without FROM for one computed row")
			}
		}
	}
	v.rows = rows
	return &boundQuery{rel: v, fields: fields}, nil
}

func isConstant(e expr.Expr) bool {
	_, ok := e.(*expr.Const)
	return ok
}
