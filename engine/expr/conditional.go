package expr

import (
	"strings"

	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/types"
)

func conditionalFunctions() []*Function {
	return []*Function{
		{
			Name: "CASE", Category: Conditional, Signature: "CASE WHEN condition THEN result [WHEN …] [ELSE result] END",
			Help:     "The result of the first condition that is TRUE; without one the ELSE result, else NULL.",
			Examples: []Example{ex("b", false, "a", true, "b"), ex("NULL", nil, 1), ex("c", nil, "a", "c")},
			bind:     bindCase, ints: caseInts, build: buildCase, show: showCase,
		},
		{
			Name: "IF", Category: Conditional, Signature: "IF(condition, value1, value2)",
			Help:     "value1 if the condition is TRUE, else value2.",
			Examples: []Example{ex("1", true, 1, 2), ex("2", nil, 1, 2)},
			rewrite: func(args []Expr) (Expr, error) {
				if len(args) != 3 {
					return nil, argErrorf(-1, "IF: takes 3 arguments, not %d", len(args))
				}
				return Resolve("CASE", args)
			},
		},
		{
			Name: "COALESCE", Category: Conditional, Signature: "COALESCE(value1, value2, …)",
			Help:     "The first value that is not NULL; those after it are not evaluated.",
			Examples: []Example{ex("2", nil, 2, 3), ex("NULL", nil, nil), ex("1.5", nil, dec("1.5", 2, 1), 2)},
			bind:     bindCoalesce(1), ints: coalesceInts, bytes: coalesceBytes, build: buildCoalesce,
		},
		{
			Name: "IFNULL", Category: Conditional, Signature: "IFNULL(value1, value2)", Help: "value1, or value2 if value1 is NULL.",
			Examples: []Example{ex("5", nil, 5), ex("1", 1, 5)},
			rewrite: func(args []Expr) (Expr, error) {
				if len(args) != 2 {
					return nil, argErrorf(-1, "IFNULL: takes 2 arguments, not %d", len(args))
				}
				return Resolve("COALESCE", args)
			},
		},
		{
			Name: "NULLIF", Category: Conditional, Signature: "NULLIF(value1, value2)", Help: "NULL if the values are equal, else value1.",
			Examples: []Example{ex("NULL", 5, 5), ex("5", 5, 0), ex("5", 5, nil)},
			bind:     bindNullIf, ints: nullIfInts, build: buildNullIf,
		},
		extreme("GREATEST", "greatest", 1, ex("3", 1, 3, 2), ex("NULL", 1, nil), ex("b", "a", "b")),
		extreme("LEAST", "least", -1, ex("1", 1, 3, 2), ex("NULL", 1, nil), ex("0.5", 2, dec("0.5", 2, 1))),
	}
}

func bindCase(args []Expr) ([]Expr, types.Type, error) {
	if len(args) < 2 {
		return nil, types.Type{}, argErrorf(-1, "needs WHEN and THEN")
	}
	out := append([]Expr(nil), args...)
	var results []Expr
	var at []int
	for i := 0; i < len(out); i += 2 {
		if i+1 == len(out) {
			results, at = append(results, out[i]), append(at, i)
			break
		}
		condition, err := aBool.take(out[i], i)
		if err != nil {
			return nil, types.Type{}, err
		}
		out[i] = condition
		results, at = append(results, out[i+1]), append(at, i+1)
	}
	t, err := commonOf(results, 0)
	if err != nil {
		return nil, t, blame(err, at...)
	}
	for _, i := range at {
		out[i] = coerce(out[i], t)
	}
	if t = nullable(t, results); len(args)%2 == 0 {
		t.NotNull = false
	}
	return out, t, nil
}

func caseInts(call *Call) (intFn, error) {
	if call.T.Phys() != types.PhysInt {
		return nil, nil
	}
	args, err := compileInts(call.Args)
	return func(c *Ctx, r row.Row) (int64, bool) {
		i := 0
		for ; i+1 < len(args); i += 2 {
			if v, null := args[i](c, r); v != 0 && !null {
				return args[i+1](c, r)
			}
			if c.Err != nil {
				return 0, true
			}
		}
		if i < len(args) {
			return args[i](c, r)
		}
		return 0, true
	}, err
}

func buildCase(_ *Call, args []Fn) (Fn, error) {
	return func(c *Ctx, r row.Row) row.Datum {
		i := 0
		for ; i+1 < len(args); i += 2 {
			if isTrue(args[i](c, r)) {
				return args[i+1](c, r)
			}
			if c.Err != nil {
				return row.NullDatum
			}
		}
		if i < len(args) {
			return args[i](c, r)
		}
		return row.NullDatum
	}, nil
}

func showCase(c *Call) string {
	var b strings.Builder
	b.WriteString("CASE")
	i := 0
	for ; i+1 < len(c.Args); i += 2 {
		b.WriteString(" WHEN " + c.Args[i].String() + " THEN " + c.Args[i+1].String())
	}
	if i < len(c.Args) {
		b.WriteString(" ELSE " + c.Args[i].String())
	}
	return b.String() + " END"
}

func bindCoalesce(least int) func(args []Expr) ([]Expr, types.Type, error) {
	return func(args []Expr) ([]Expr, types.Type, error) {
		if len(args) < least {
			return nil, types.Type{}, argErrorf(-1, "takes %s, not %d", counts(least, least, true), len(args))
		}
		t, err := commonOf(args, 0)
		if err != nil {
			return nil, t, err
		}
		t.NotNull = false
		for _, a := range args {
			t.NotNull = t.NotNull || a.Type().NotNull
		}
		return coerceAll(args, 0, t), t, nil
	}
}

func coalesceInts(call *Call) (intFn, error) {
	if call.T.Phys() != types.PhysInt {
		return nil, nil
	}
	args, err := compileInts(call.Args)
	return func(c *Ctx, r row.Row) (int64, bool) {
		for _, a := range args {
			if v, null := a(c, r); !null || c.Err != nil {
				return v, null
			}
		}
		return 0, true
	}, err
}

func coalesceBytes(call *Call) (bytesFn, error) {
	if call.T.Phys() != types.PhysBytes {
		return nil, nil
	}
	args := make([]bytesFn, len(call.Args))
	for i, a := range call.Args {
		var err error
		if args[i], err = compileBytes(a); err != nil {
			return nil, err
		}
	}
	return func(c *Ctx, r row.Row) ([]byte, bool) {
		for _, a := range args {
			if b, null := a(c, r); !null || c.Err != nil {
				return b, null
			}
		}
		return nil, true
	}, nil
}

func buildCoalesce(_ *Call, args []Fn) (Fn, error) {
	return func(c *Ctx, r row.Row) row.Datum {
		for _, a := range args {
			if d := a(c, r); !d.Null || c.Err != nil {
				return d
			}
		}
		return row.NullDatum
	}, nil
}

func bindNullIf(args []Expr) ([]Expr, types.Type, error) {
	if len(args) != 2 {
		return nil, types.Type{}, argErrorf(-1, "takes 2 arguments, not %d", len(args))
	}
	a, b, err := matchTypes(args[0], args[1], 0, 1)
	if err != nil {
		return nil, types.Type{}, err
	}
	return []Expr{a, b}, a.Type().Nullable(), nil
}

func nullIfInts(call *Call) (intFn, error) {
	if ta, tb := call.Args[0].Type(), call.Args[1].Type(); !plainInt(ta) || !plainInt(tb) || scaleOf(ta) != scaleOf(tb) {
		return nil, nil
	}
	a, b, err := compileInt2(call)
	return func(c *Ctx, r row.Row) (int64, bool) {
		x, null := a(c, r)
		if null {
			return 0, true
		}
		if y, null := b(c, r); !null && x == y {
			return 0, true
		}
		return x, false
	}, err
}

func buildNullIf(call *Call, args []Fn) (Fn, error) {
	f := compareAs(call.Args[0].Type(), call.Args[1].Type())
	a, b := args[0], args[1]
	return func(c *Ctx, r row.Row) row.Datum {
		x := a(c, r)
		if x.Null {
			return x
		}
		if y := b(c, r); !y.Null && f(x, y) == 0 {
			return row.NullDatum
		}
		return x
	}, nil
}

func extreme(name, word string, sign int, examples ...Example) *Function {
	return &Function{
		Name: name, Category: Conditional, Signature: name + "(value1, value2, …)",
		Help: "The " + word + " of the values; NULL if one is NULL.", Examples: examples,
		bind: func(args []Expr) ([]Expr, types.Type, error) {
			if len(args) == 0 {
				return nil, types.Type{}, argErrorf(-1, "takes at least 1 argument, not 0")
			}
			t, err := commonOf(args, 0)
			if err != nil {
				return nil, t, err
			}
			if t.Kind == types.Array || t.Kind == types.Map || t.Kind == types.Row {
				return nil, t, argErrorf(0, "values of %s have no order", t.Nullable())
			}
			return coerceAll(args, 0, t), nullable(t, args), nil
		},
		ints: extremeInts(sign),
		build: func(call *Call, args []Fn) (Fn, error) {
			f := compareAs(call.T, call.T)
			return evalFold(args, func(best, x row.Datum) row.Datum {
				if sign*f(x, best) > 0 {
					return x
				}
				return best
			}), nil
		},
	}
}

func extremeInts(sign int) func(*Call) (intFn, error) {
	return func(call *Call) (intFn, error) {
		if !plainInt(call.T) {
			return nil, nil
		}
		args, err := compileInts(call.Args)
		if err != nil {
			return nil, err
		}
		first, rest := args[0], args[1:]
		return func(c *Ctx, r row.Row) (int64, bool) {
			best, null := first(c, r)
			if null {
				return 0, true
			}
			for _, a := range rest {
				x, null := a(c, r)
				if null {
					return 0, true
				}
				if x != best && (x > best) == (sign > 0) {
					best = x
				}
			}
			return best, false
		}, nil
	}
}

// evalFold combines the arguments from left to right; NULL if one is NULL.
func evalFold(args []Fn, f func(acc, x row.Datum) row.Datum) Fn {
	return func(c *Ctx, r row.Row) row.Datum {
		acc := args[0](c, r)
		for _, a := range args[1:] {
			if acc.Null {
				return acc
			}
			x := a(c, r)
			if x.Null {
				return x
			}
			acc = f(acc, x)
		}
		return acc
	}
}
