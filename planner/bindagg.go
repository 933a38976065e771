package planner

import (
	"slices"
	"strconv"

	"github.com/sluicesql/sluice/engine/expr"
	"github.com/sluicesql/sluice/engine/types"
	"github.com/sluicesql/sluice/sql/ast"
)

// aggregateCall binds the call of an aggregate function, with or without OVER, over the rows of sc. column gives
// the column that holds an expression.
func (b *binder) aggregateCall(c *ast.Call, sc *scope, column func(expr.Expr) int) (aggCall, types.Type, error) {
	fail := func(err error) (aggCall, types.Type, error) { return aggCall{}, types.Type{}, err }
	fn := expr.LookupAggregate(c.Name.Base().Name)
	call := aggCall{fn: fn, filter: -1, distinct: c.Distinct || fn.Distinct}
	values, err := b.aggregateArgs(c, fn, sc)
	if err != nil {
		return fail(err)
	}
	args, err := b.jsonElement(c, fn, values)
	if err != nil {
		return fail(err)
	}
	if fn.Kind == expr.AggList {
		if args, err = call.takeSeparator(c, args); err != nil {
			return fail(err)
		}
	}
	args, t, err := fn.Resolve(args)
	if err != nil {
		return fail(placeArg(err, c.Pos, c.Args))
	}
	for _, a := range args {
		if f := volatileFunction(a); f != "" && sc.changing {
			return fail(volatileError(c.Pos, f, f))
		}
		if fn.Kind == expr.AggCount && !call.distinct && a.Type().NotNull {
			continue // it always counts
		}
		call.args = append(call.args, column(a))
	}
	switch fn.Kind {
	case expr.AggMin, expr.AggMax, expr.AggFirst, expr.AggLast:
		call.distinct = false // it makes no difference
	}
	if c.Filter != nil {
		conds, err := b.condition(c.Filter, sc, "FILTER")
		if err != nil {
			return fail(err)
		}
		call.filter = column(expr.And(conds...))
	}
	if call.order, err = b.aggregateOrder(c, &call, sc, column); err != nil {
		return fail(err)
	}
	if fn.Kind == expr.AggJSONArray || fn.Kind == expr.AggJSONObject {
		for _, v := range values {
			if hasOrder(v.Type()) {
				call.order = append(call.order, orderKey{col: column(v)})
			}
		}
	}
	return call, t, nil
}

// aggregateArgs binds the arguments; COUNT(*) has none.
func (b *binder) aggregateArgs(c *ast.Call, fn *expr.Aggregate, sc *scope) ([]expr.Expr, error) {
	if len(c.Args) == 1 {
		if _, star := c.Args[0].(*ast.Star); star {
			if fn.Name != "COUNT" || c.Distinct {
				return nil, errAt(c.Args[0].Position(), "only COUNT(*) takes a *").Coded(ast.CodeWrongArguments)
			}
			return nil, nil
		}
	}
	if fn.Name == "COUNT" && len(c.Args) == 0 {
		return nil, errAt(c.Pos, "COUNT() counts nothing; write COUNT(*)").Coded(ast.CodeWrongArguments)
	}
	var args []expr.Expr
	for _, a := range c.Args {
		if hasAggregate(a) {
			return nil, errAt(a.Position(), "an aggregate function cannot stand within another, %s", fn.Name).Coded(ast.CodeMisplaced)
		}
		x, err := b.expr(a, sc)
		if err != nil {
			return nil, err
		}
		args = append(args, x)
	}
	return args, nil
}

// jsonElement makes of a row's values the array or object of one element that a JSON aggregate puts together; the
// values of other functions it leaves.
func (b *binder) jsonElement(c *ast.Call, fn *expr.Aggregate, values []expr.Expr) ([]expr.Expr, error) {
	name, args, mode := "", 1, "ABSENT"
	switch fn.Kind {
	case expr.AggJSONArray:
		name = "JSON_ARRAY"
	case expr.AggJSONObject:
		name, args, mode = "JSON_OBJECT", 2, "NULL"
	}
	for i := range c.Options {
		if o := &c.Options[i]; name == "" || o.Name != "ON NULL" {
			return nil, notAvailable(o.Pos, "the clause "+clauseText(o)+" of "+fn.Name, "")
		}
		mode = c.Options[i].Word
	}
	if name == "" {
		return values, nil
	}
	if len(c.Args) != args {
		return nil, errAt(c.Pos, "%s takes %s", fn.Name, fn.Signature).Coded(ast.CodeWrongArguments)
	}
	element, err := b.call(c.Pos, name, append([]expr.Expr{expr.StringConst(mode)}, values...)...)
	return []expr.Expr{element}, err
}

// takeSeparator takes LISTAGG's separator out of the arguments.
func (c *aggCall) takeSeparator(call *ast.Call, args []expr.Expr) ([]expr.Expr, error) {
	c.separator = ","
	if len(args) != 2 {
		return args, nil
	}
	k, ok := args[1].(*expr.Const)
	if !ok || !k.T.IsString() {
		return nil, errAt(call.Args[1].Position(), "the separator of %s is a constant string", c.fn.Name).Coded(ast.CodeWrongArguments)
	}
	c.separator = string(k.Value.B)
	return args[:1], nil
}

// aggregateOrder binds ORDER BY within the parentheses, or WITHIN GROUP.
func (b *binder) aggregateOrder(c *ast.Call, call *aggCall, sc *scope, column func(expr.Expr) int) ([]orderKey, error) {
	items := c.OrderBy
	if len(c.WithinGroup) > 0 {
		items = c.WithinGroup
	}
	switch call.fn.Kind {
	case expr.AggFirst, expr.AggLast, expr.AggList, expr.AggArray:
	default:
		// The order of its values makes no difference to the function.
		for i := range items {
			if _, err := b.orderColumn(&items[i], sc, column); err != nil {
				return nil, err
			}
		}
		return nil, nil
	}
	var order []orderKey
	for i := range items {
		k, err := b.orderColumn(&items[i], sc, column)
		if err != nil {
			return nil, err
		}
		if call.distinct && !slices.Contains(call.args, k.col) {
			return nil, errAt(items[i].Expr.Position(), "%s with DISTINCT can be ordered by its argument alone: a value that stands in several rows has no one place in another order", call.fn.Name)
		}
		order = append(order, k)
	}
	return order, nil
}

// orderColumn binds an item of ORDER BY.
func (b *binder) orderColumn(it *ast.OrderItem, sc *scope, column func(expr.Expr) int) (orderKey, error) {
	x, err := b.expr(it.Expr, sc)
	if err != nil {
		return orderKey{}, err
	}
	return b.ordered(it, x, column)
}

// ordered is x as an order.
func (b *binder) ordered(it *ast.OrderItem, x expr.Expr, column func(expr.Expr) int) (orderKey, error) {
	switch t := x.Type(); {
	case !hasOrder(t):
		return orderKey{}, errAt(it.Expr.Position(), "values of type %s have no order", t.Nullable()).Coded(ast.CodeTypeMismatch)
	case t.Kind == types.Null:
		x, _ = expr.Cast(x, types.Of(types.Int), false)
	}
	// As in Flink, NULLs are the smallest values unless asked for otherwise.
	last := it.Desc
	if it.Nulls != ast.NullsDefault {
		last = it.Nulls == ast.NullsLast
	}
	return orderKey{col: column(x), desc: it.Desc, nullsLast: last}, nil
}

// hasOrder reports whether rows can be ordered by values of a type.
func hasOrder(t types.Type) bool {
	return t.Kind != types.Array && t.Kind != types.Map && t.Kind != types.Row
}

// ordinal reads a literal as the number of an item of SELECT.
func ordinal(e *ast.Literal) (int, bool) {
	if e.Kind != ast.IntLiteral {
		return 0, false
	}
	n, err := strconv.Atoi(e.Text)
	return n, err == nil && n > 0
}
