package planner

import (
	"github.com/sluicesql/sluice/engine/expr"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/types"
	"github.com/sluicesql/sluice/sql/ast"
)

// setOp binds UNION, INTERSECT and EXCEPT. All but UNION ALL compare whole rows, NULLs being equal to each other:
// they group the rows of both sides by all columns and look at how often each came from the left and from the right.
func (b *binder) setOp(q *ast.SetOp) (*boundQuery, error) {
	l, err := b.body(q.Left)
	if err != nil {
		return nil, err
	}
	r, err := b.body(q.Right)
	if err != nil {
		return nil, err
	}
	op := string(q.Kind)
	if q.All {
		op += " ALL"
	}
	if len(l.fields) != len(r.fields) {
		return nil, hint(errAt(q.Pos, "the two sides of %s have %s and %s", op, count(len(l.fields), "column"), count(len(r.fields), "column")).Coded(ast.CodeColumnCount),
			"left: %s; right: %s", b.schemaOf(l.fields), b.schemaOf(r.fields))
	}
	u := &relUnion{inputs: []rel{l.rel, r.rel}, cols: make([][]int, 2)}
	var fields []field
	for i, f := range l.fields {
		lt, rt := b.columns.list[f.id].typ, b.columns.list[r.fields[i].id].typ
		t, ok := expr.CommonType(lt, rt)
		if !ok {
			return nil, hint(errAt(q.Pos, "column %d of %s is %s on the left and %s on the right", i+1, op, lt.Nullable(), rt.Nullable()).Coded(ast.CodeTypeMismatch), "write a CAST")
		}
		if t.Kind == types.Null {
			t = types.String()
		}
		id := b.columns.add(f.name, f.name, t)
		u.ids = append(u.ids, id)
		fields = append(fields, field{name: f.name, id: id})
		for side, from := range []int{f.id, r.fields[i].id} {
			c, err := b.converted(u, side, from, t)
			if err != nil {
				return nil, placeArg(err, q.Pos, nil)
			}
			u.cols[side] = append(u.cols[side], c)
		}
	}
	switch {
	case q.Kind != ast.Union:
		return &boundQuery{rel: b.compared(u, q), fields: fields}, nil
	case q.All:
		return &boundQuery{rel: u, fields: fields}, nil
	}
	return &boundQuery{rel: b.distinct(u, fields, nil), fields: fields}, nil
}

// converted is the column of a side that holds from as type t.
func (b *binder) converted(u *relUnion, side, from int, t types.Type) (int, error) {
	if b.columns.list[from].typ.SameIgnoringNull(t) {
		return from, nil
	}
	e, err := expr.Cast(b.columns.ref(from), t.Nullable(), false)
	if err != nil {
		return 0, err
	}
	return b.with1(&u.inputs[side], b.columns.list[from].name, e), nil
}

// with1 adds a computed column to r.
func (b *binder) with1(r *rel, name string, e expr.Expr) int {
	id := b.columns.add(name, name, e.Type())
	if x, ok := (*r).(*relExtend); ok && !contains(x, e) {
		x.items = append(x.items, extendItem{id, e})
	} else {
		*r = &relExtend{in: *r, items: []extendItem{{id, e}}}
	}
	return id
}

// contains reports whether e reads a column that x computes.
func contains(x *relExtend, e expr.Expr) bool {
	for _, c := range expr.ColumnsOf(e) {
		if x.item(c) != nil {
			return true
		}
	}
	return false
}

// compared is INTERSECT or EXCEPT of u's two inputs.
func (b *binder) compared(u *relUnion, q *ast.SetOp) rel {
	keys := u.ids
	boolean, bigint := types.Of(types.Boolean).Required(), types.Of(types.BigInt).Required()
	a := &relAggregate{in: u, keys: append([]int(nil), keys...)}
	var counts [2]expr.Expr
	for side, name := range []string{"left", "right"} {
		is := b.columns.add("is "+name, "is "+name, boolean)
		u.ids = append(u.ids, is)
		for i := range u.inputs {
			u.cols[i] = append(u.cols[i], b.with1(&u.inputs[i], "is "+name, &expr.Const{Value: row.Bool(i == side), T: boolean}))
		}
		id := b.columns.add("rows of the "+name, "rows of the "+name, bigint)
		a.calls = append(a.calls, aggCall{id: id, fn: expr.LookupAggregate("COUNT"), filter: is})
		counts[side] = b.columns.ref(id)
	}
	l, r := counts[0], counts[1]
	zero := &expr.Const{Value: row.Int(0), T: bigint}
	call := func(name string, args ...expr.Expr) expr.Expr {
		e, err := expr.Resolve(name, args)
		if err != nil {
			panic("planner: " + err.Error())
		}
		return e
	}
	switch {
	case q.Kind == ast.Intersect && q.All:
		return b.repeated(a, call("LEAST", l, r))
	case q.Kind == ast.Intersect:
		return &relFilter{in: a, conds: []expr.Expr{call(">", l, zero), call(">", r, zero)}}
	case q.All:
		return b.repeated(a, call("-", l, r))
	}
	return &relFilter{in: a, conds: []expr.Expr{call(">", l, zero), call("=", r, zero)}}
}

// repeated is r with each row as often as times says, and not at all where that is below one.
func (b *binder) repeated(r rel, times expr.Expr) rel {
	id := b.with1(&r, "times", times)
	return &relRepeat{in: r, times: id}
}
