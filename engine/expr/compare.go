package expr

import (
	"bytes"
	"cmp"
	"errors"

	"github.com/sluicesql/sluice/engine/decimal"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/types"
)

// outcomes is the set of comparison results for which an operator is TRUE: bit 0 less, 1 equal, 2 greater.
type outcomes uint

const (
	isLess outcomes = 1 << iota
	isEqual
	isGreater
)

// holds is 1 or 0.
func (o outcomes) holds(c int) int64 { return int64(o >> uint(c+1) & 1) }

func compareFunctions() []*Function {
	op := func(name string, o outcomes, help string, examples ...Example) *Function {
		return &Function{
			Name: name, Category: Comparison, Signature: "value1 " + name + " value2", Help: help, Examples: examples,
			bind: bindCompare(o), ints: compareTyped(o), build: buildCompare(o), show: showInfix,
		}
	}
	ne := op("<>", isLess|isGreater, "TRUE if the values differ; NULL if one is NULL.", ex("TRUE", 1, 2), ex("FALSE", "a", "a"))
	ne.Aliases = []string{"!="}
	return []*Function{
		op("=", isEqual, "TRUE if the values are equal; NULL if one is NULL.",
			ex("TRUE", 1, int64(1)), ex("TRUE", dec("1.0", 2, 1), 1), ex("FALSE", "a", "A"), ex("NULL", 1, nil),
			ex("TRUE", dec("9007199254740993", 16, 0), int64(9007199254740993)), ex("TRUE", lit(types.Of(types.Date), "2024-02-29"), "2024-2-29")),
		ne,
		op("<", isLess, "TRUE if value1 is less than value2; strings compare by code points.", ex("TRUE", 1, 1.5), ex("TRUE", "Z", "a"), ex("TRUE", "￿", "😀")),
		op("<=", isLess|isEqual, "TRUE if value1 is less than or equal to value2.", ex("TRUE", 2, 2), ex("FALSE", 2.5, 2)),
		op(">", isGreater, "TRUE if value1 is greater than value2.", ex("TRUE", dec("0.1", 2, 1), 0), ex("FALSE", "a", "b")),
		op(">=", isGreater|isEqual, "TRUE if value1 is greater than or equal to value2.", ex("TRUE", true, false)),
		{
			Name: "IS DISTINCT FROM", Category: Comparison, Signature: "value1 IS DISTINCT FROM value2",
			Help:     "TRUE if the values differ, where NULL differs from every value but NULL.",
			Examples: []Example{ex("TRUE", 1, nil), ex("FALSE", nil, nil), ex("TRUE", 1, 2)},
			bind:     bindDistinct, build: buildDistinct(true), show: showInfix,
		},
		{
			Name: "IS NOT DISTINCT FROM", Category: Comparison, Signature: "value1 IS NOT DISTINCT FROM value2",
			Help:     "TRUE if the values are equal, where NULL equals NULL.",
			Examples: []Example{ex("FALSE", 1, nil), ex("TRUE", nil, nil), ex("TRUE", 1, int64(1))},
			bind:     bindDistinct, build: buildDistinct(false), show: showInfix,
		},
		between("BETWEEN", false), between("BETWEEN SYMMETRIC", true),
		{
			Name: "IN", Category: Comparison, Signature: "value IN (value1, value2, …)",
			Help:     "TRUE if value equals one of the list; NULL if it equals none and a NULL is involved.",
			Examples: []Example{ex("TRUE", 2, 1, 2), ex("FALSE", "x", "a", "b"), ex("NULL", 3, 1, nil), ex("TRUE", 1, nil, 1)},
			bind:     bindIn, build: buildIn, show: showIn,
		},
	}
}

func bindCompare(o outcomes) func(args []Expr) ([]Expr, types.Type, error) {
	return func(args []Expr) ([]Expr, types.Type, error) {
		if len(args) != 2 {
			return nil, types.Type{}, argErrorf(-1, "takes 2 arguments, not %d", len(args))
		}
		a, b, err := matchTypes(args[0], args[1], 0, 1)
		if err != nil {
			return nil, types.Type{}, err
		}
		ordered := o != isEqual && o != isLess|isGreater
		if k := a.Type().Kind; ordered && (k == types.Array || k == types.Map || k == types.Row) {
			return nil, types.Type{}, argErrorf(0, "values of %s have no order; only = and <> compare them", a.Type().Nullable())
		}
		args = []Expr{a, b}
		return args, nullable(types.Of(types.Boolean), args), nil
	}
}

// compareTyped builds comparisons of integers (in their widest sense) and of strings.
func compareTyped(o outcomes) func(*Call) (intFn, error) {
	return func(call *Call) (intFn, error) {
		a, b := call.Args[0], alignConst(call.Args[0].Type(), call.Args[1])
		ta, tb := a.Type(), b.Type()
		switch {
		case plainInt(ta) && plainInt(tb) && scaleOf(ta) == scaleOf(tb):
			return compareInts(o, a, b)
		case ta.IsString() || ta.IsBinary():
			return compareStrings(o, a, b)
		}
		return nil, nil
	}
}

func buildCompare(o outcomes) builder {
	return func(call *Call, args []Fn) (Fn, error) {
		f, x, y := compareAs(call.Args[0].Type(), call.Args[1].Type()), args[0], args[1]
		return func(c *Ctx, r row.Row) row.Datum {
			d := x(c, r)
			if d.Null {
				return row.Datum{Null: true}
			}
			e := y(c, r)
			if e.Null {
				return row.Datum{Null: true}
			}
			return row.Datum{I: o.holds(f(d, e))}
		}, nil
	}
}

// plainInt reports whether values of t compare as the integers that they are stored as, given one scale.
func plainInt(t types.Type) bool { return t.Phys() == types.PhysInt }

func scaleOf(t types.Type) int {
	if t.Kind == types.Decimal {
		return t.Scale
	}
	return 0
}

// alignConst brings a constant to the scale of the DECIMAL or integer that it is compared with, where that
// loses nothing: the two then compare as integers.
func alignConst(t types.Type, e Expr) Expr {
	if !isConst(e) || !t.IsNumeric() || t.Phys() != types.PhysInt {
		return e
	}
	k := e.(*Const)
	if !k.T.IsNumeric() || k.T.IsApprox() || scaleOf(k.T) > scaleOf(t) {
		return e
	}
	v, ok := decimal.Rescale(unscaled(k.T.Phys() == types.PhysWide, k.Value), scaleOf(k.T), scaleOf(t), 18)
	if !ok {
		return e
	}
	return &Const{Value: v.Datum(18), T: types.DecimalOf(18, scaleOf(t))}
}

func isConst(e Expr) bool {
	k, ok := e.(*Const)
	return ok && !k.Value.Null
}

// compareInts reads columns and constants without a closure in between: most conditions are a column against
// one of them.
func compareInts(o outcomes, a, b Expr) (intFn, error) {
	x, err := compileInt(a)
	if err != nil {
		return nil, err
	}
	ca, okA := a.(*Column)
	cb, okB := b.(*Column)
	switch {
	case okA && isConst(b):
		i, v := ca.Index, b.(*Const).Value.I
		return func(_ *Ctx, r row.Row) (int64, bool) {
			if r.IsNull(i) {
				return 0, true
			}
			return o.holds(cmp.Compare(r.Int64(i), v)), false
		}, nil
	case isConst(b):
		v := b.(*Const).Value.I
		return func(c *Ctx, r row.Row) (int64, bool) {
			d, null := x(c, r)
			if null {
				return 0, true
			}
			return o.holds(cmp.Compare(d, v)), false
		}, nil
	case okA && okB:
		i, j := ca.Index, cb.Index
		return func(_ *Ctx, r row.Row) (int64, bool) {
			if r.IsNull(i) || r.IsNull(j) {
				return 0, true
			}
			return o.holds(cmp.Compare(r.Int64(i), r.Int64(j))), false
		}, nil
	}
	y, err := compileInt(b)
	return func(c *Ctx, r row.Row) (int64, bool) {
		d, null := x(c, r)
		if null {
			return 0, true
		}
		e, null := y(c, r)
		if null {
			return 0, true
		}
		return o.holds(cmp.Compare(d, e)), false
	}, err
}

func compareStrings(o outcomes, a, b Expr) (intFn, error) {
	x, err := compileBytes(a)
	if err != nil {
		return nil, err
	}
	if isConst(b) {
		v := b.(*Const).Value.B
		if o == isEqual || o == isLess|isGreater {
			want := o == isEqual
			return func(c *Ctx, r row.Row) (int64, bool) {
				d, null := x(c, r)
				if null {
					return 0, true
				}
				return boolInt((string(d) == string(v)) == want), false
			}, nil
		}
		return func(c *Ctx, r row.Row) (int64, bool) {
			d, null := x(c, r)
			if null {
				return 0, true
			}
			return o.holds(bytes.Compare(d, v)), false
		}, nil
	}
	y, err := compileBytes(b)
	return func(c *Ctx, r row.Row) (int64, bool) {
		d, null := x(c, r)
		if null {
			return 0, true
		}
		e, null := y(c, r)
		if null {
			return 0, true
		}
		return o.holds(bytes.Compare(d, e)), false
	}, err
}

func bindDistinct(args []Expr) ([]Expr, types.Type, error) {
	args, t, err := bindCompare(isEqual)(args)
	return args, t.Required(), err
}

func buildDistinct(distinct bool) builder {
	return func(call *Call, args []Fn) (Fn, error) {
		f := compareAs(call.Args[0].Type(), call.Args[1].Type())
		a, b := args[0], args[1]
		return func(c *Ctx, r row.Row) row.Datum {
			x, y := a(c, r), b(c, r)
			return row.Bool((compareNullable(f, x, y) != 0) == distinct)
		}, nil
	}
}

// between is rewritten to comparisons, which the planner knows how to push down.
func between(name string, symmetric bool) *Function {
	help := "TRUE if lower <= value AND value <= upper."
	examples := []Example{ex("TRUE", 2, 1, 3), ex("FALSE", 2, 3, 1), ex("NULL", 2, 1, nil), ex("FALSE", 2, 3, nil)}
	if symmetric {
		help = "TRUE if value lies between the bounds, whichever is the lower."
		examples = []Example{ex("TRUE", 2, 3, 1), ex("FALSE", 0, 1, 3)}
	}
	return &Function{
		Name: name, Category: Comparison, Signature: "value " + name + " lower AND upper", Help: help, Examples: examples,
		show: func(c *Call) string {
			return operand(c.Args[0]) + " " + name + " " + operand(c.Args[1]) + " AND " + operand(c.Args[2])
		},
		rewrite: func(args []Expr) (Expr, error) {
			if len(args) != 3 {
				return nil, argErrorf(-1, "%s: takes 3 arguments, not %d", name, len(args))
			}
			for i, a := range args {
				if isRandom(a) {
					return nil, argErrorf(i, "%s: %s would be computed twice; compute it in a subquery and compare its column", name, a)
				}
			}
			forth, err := inRange(args, 0, 1, 2)
			if err != nil || !symmetric {
				return forth, err
			}
			back, err := inRange(args, 0, 2, 1)
			if err != nil {
				return nil, err
			}
			return Resolve("OR", []Expr{forth, back})
		},
	}
}

// isRandom reports whether two evaluations for one row may differ.
func isRandom(e Expr) bool {
	random := false
	Walk(e, func(e Expr) bool {
		if c, ok := e.(*Call); ok && c.Fn.random {
			random = true
		}
		return !random
	})
	return random
}

func inRange(args []Expr, v, lo, hi int) (Expr, error) {
	above, err := Resolve(">=", []Expr{args[v], args[lo]})
	if err != nil {
		return nil, blame(err, v, lo)
	}
	below, err := Resolve("<=", []Expr{args[v], args[hi]})
	if err != nil {
		return nil, blame(err, v, hi)
	}
	return Resolve("AND", []Expr{above, below})
}

// blame translates the argument index of an inner call to that of the outer.
func blame(err error, outer ...int) error {
	var e *ArgError
	if errors.As(err, &e) && e.Arg >= 0 && e.Arg < len(outer) {
		return &ArgError{outer[e.Arg], e.Msg}
	}
	return err
}

func bindIn(args []Expr) ([]Expr, types.Type, error) {
	if len(args) < 2 {
		return nil, types.Type{}, argErrorf(-1, "takes a value and a list that is not empty")
	}
	out := append([]Expr(nil), args...)
	for i := 1; i < len(args); i++ {
		a, b, err := matchTypes(out[0], args[i], 0, i)
		if err != nil {
			return nil, types.Type{}, err
		}
		// The value itself may have to widen (DATE beside TIMESTAMPs): all of the list then follows.
		if args[0].Type().Kind != types.Null && a != out[0] {
			out[0] = a
			for j := 1; j < i; j++ {
				if _, out[j], err = matchTypes(a, args[j], 0, j); err != nil {
					return nil, types.Type{}, err
				}
			}
		}
		out[i] = b
	}
	return out, nullable(types.Of(types.Boolean), out), nil
}

func buildIn(call *Call, args []Fn) (Fn, error) {
	v := call.Args[0].Type()
	constant, withNull := true, false
	for _, e := range call.Args[1:] {
		k, ok := e.(*Const)
		constant = constant && ok
		withNull = withNull || ok && k.Value.Null
	}
	if constant && len(call.Args) > 9 {
		if ints := intSet(v, call.Args[1:]); ints != nil {
			return strict1(args[0], func(_ *Ctx, x row.Datum) row.Datum { return found(ints[x.I], withNull) }), nil
		}
		if v.IsString() || v.IsBinary() {
			set := map[string]bool{}
			for _, e := range call.Args[1:] {
				if k := e.(*Const); !k.Value.Null {
					set[string(k.Value.B)] = true
				}
			}
			return strict1(args[0], func(_ *Ctx, x row.Datum) row.Datum { return found(set[string(x.B)], withNull) }), nil
		}
	}
	fs := make([]comparer, len(args))
	for i, e := range call.Args[1:] {
		fs[i+1] = compareAs(v, e.Type())
	}
	return func(c *Ctx, r row.Row) row.Datum {
		x := args[0](c, r)
		if x.Null {
			return x
		}
		null := false
		for i := 1; i < len(args); i++ {
			y := args[i](c, r)
			if y.Null {
				null = true
			} else if fs[i](x, y) == 0 {
				return row.Bool(true)
			}
		}
		return found(false, null)
	}, nil
}

func found(yes, withNull bool) row.Datum {
	if !yes && withNull {
		return row.NullDatum
	}
	return row.Bool(yes)
}

// intSet is the constants as a set when they and the value are all of one integer form; else nil.
func intSet(v types.Type, list []Expr) map[int64]bool {
	set := make(map[int64]bool, len(list))
	same := func(t types.Type) bool {
		return t.Phys() == types.PhysInt && t.Kind != types.Decimal
	}
	if !same(v) {
		return nil
	}
	for _, e := range list {
		k := e.(*Const)
		if !same(k.T) {
			return nil
		}
		if !k.Value.Null {
			set[k.Value.I] = true
		}
	}
	return set
}

func showIn(c *Call) string { return operand(c.Args[0]) + " IN (" + list(c.Args[1:]) + ")" }
