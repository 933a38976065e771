package expr

import (
	"cmp"
	"fmt"
	"math"
	"strconv"

	"github.com/sluicesql/sluice/engine/decimal"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/text"
	"github.com/sluicesql/sluice/engine/types"
)

func mathFunctions() []*Function {
	one := func(name, help string, f func(float64) float64, examples ...Example) *Function {
		return &Function{
			Name: name, Category: Arithmetic, Signature: name + "(numeric)", Help: help, Examples: examples,
			bind:  sig{params: []param{aDouble}, ret: returnsDouble}.bind,
			build: eval1(func(_ *Ctx, a row.Datum) row.Datum { return row.Float(f(a.Float())) }),
		}
	}
	constant := func(name, help string, v float64, want string) *Function {
		return &Function{
			Name: name, Category: Arithmetic, Signature: name + "()", Help: help, Examples: []Example{ex(want)},
			bind: noArgs(types.Of(types.Double)), build: eval0(func(*Ctx) row.Datum { return row.Float(v) }),
		}
	}
	logarithm := func(name, help string, f func(float64) float64, examples ...Example) *Function {
		fn := one(name, help, f, examples...)
		fn.build = eval1(func(c *Ctx, a row.Datum) row.Datum {
			if a.Float() <= 0 {
				return c.fail(fmt.Errorf("%s of %v: the logarithm needs a positive number", name, a.Float()))
			}
			return row.Float(f(a.Float()))
		})
		return fn
	}
	same := sig{params: []param{aNumber}, ret: returnsArg(0)}.bind
	return []*Function{
		{
			Name: "ABS", Category: Arithmetic, Signature: "ABS(numeric)", Help: "The absolute value, of the argument's type.",
			Examples: []Example{ex("5", -5), ex("1.50", dec("-1.50", 3, 2)), ex("error: overflow", int64(math.MinInt64))},
			bind:     same, ints: absInt, build: buildAbs,
		},
		{
			Name: "SIGN", Category: Arithmetic, Signature: "SIGN(numeric)", Help: "-1, 0 or 1, of the argument's type.",
			Examples: []Example{ex("-1", -5), ex("1.00", dec("2.50", 3, 2)), ex("0.0", 0.0)}, bind: bindSignum, ints: signumInt, build: buildSignum,
		},
		{
			Name: "ROUND", Category: Arithmetic, Signature: "ROUND(numeric [, integer])",
			Help:     "Rounded HALF_UP to a number of fractional digits (0 if missing); a negative number rounds before the point.",
			Examples: []Example{ex("1.24", dec("1.235", 4, 3), 2), ex("-3", dec("-2.5", 2, 1)), ex("1200", 1234, -2), ex("2.68", 2.675, 2), ex("NULL", nil, 1)},
			bind:     bindRound, build: buildRound(true),
		},
		{
			Name: "TRUNCATE", Category: Arithmetic, Signature: "TRUNCATE(numeric [, integer])",
			Help:     "Cut off after a number of fractional digits (0 if missing).",
			Examples: []Example{ex("42.32", dec("42.324", 5, 3), 2), ex("-42", dec("-42.9", 3, 1)), ex("1200", 1299, -2), ex("2.67", 2.675, 2)},
			bind:     bindRound, build: buildRound(false),
		},
		floorCeil("FLOOR", nil, "The greatest integer not above", -1, ex("2", dec("2.7", 2, 1)), ex("-3.0", -2.1), ex("5", 5)),
		floorCeil("CEIL", []string{"CEILING"}, "The least integer not below", 1, ex("3", dec("2.1", 2, 1)), ex("-2.0", -2.9), ex("5", 5)),
		one("SQRT", "The square root.", math.Sqrt, ex("3.0", 9), ex("NaN", -1)),
		one("EXP", "e raised to a power.", math.Exp, ex("1.0", 0)),
		logarithm("LN", "The natural logarithm.", math.Log, ex("0.0", 1), ex("error: positive", 0)),
		logarithm("LOG10", "The logarithm to base 10.", math.Log10, ex("3.0", 1000)),
		logarithm("LOG2", "The logarithm to base 2.", math.Log2, ex("3.0", 8)),
		{
			Name: "LOG", Category: Arithmetic, Signature: "LOG([base,] numeric)", Help: "The logarithm to a base; the natural one without.",
			Examples: []Example{ex("0.0", 1), ex("3.0", 2, 8)},
			bind:     sig{params: []param{aDouble, aDouble}, min: 1, ret: returnsDouble}.bind, build: evalN(logBase),
		},
		{
			Name: "POWER", Category: Arithmetic, Signature: "POWER(numeric1, numeric2)", Help: "numeric1 raised to the power of numeric2.",
			Examples: []Example{ex("8.0", 2, 3)}, bind: sig{params: []param{aDouble, aDouble}, ret: returnsDouble}.bind,
			build: eval2(func(_ *Ctx, a, b row.Datum) row.Datum { return row.Float(math.Pow(a.Float(), b.Float())) }),
		},
		one("SIN", "The sine of radians.", math.Sin, ex("0.0", 0)),
		one("COS", "The cosine of radians.", math.Cos, ex("1.0", 0)),
		one("TAN", "The tangent of radians.", math.Tan, ex("0.0", 0)),
		one("COT", "The cotangent of radians.", func(x float64) float64 { return 1 / math.Tan(x) }, ex("Infinity", 0)),
		one("ASIN", "The arc sine.", math.Asin, ex("0.0", 0)),
		one("ACOS", "The arc cosine.", math.Acos, ex("0.0", 1)),
		one("ATAN", "The arc tangent.", math.Atan, ex("0.0", 0)),
		one("SINH", "The hyperbolic sine.", math.Sinh, ex("0.0", 0)),
		one("COSH", "The hyperbolic cosine.", math.Cosh, ex("1.0", 0)),
		one("TANH", "The hyperbolic tangent.", math.Tanh, ex("0.0", 0)),
		{
			Name: "ATAN2", Category: Arithmetic, Signature: "ATAN2(y, x)", Help: "The angle of the point (x, y) in radians.",
			Examples: []Example{ex("0.0", 0, 1)}, bind: sig{params: []param{aDouble, aDouble}, ret: returnsDouble}.bind,
			build: eval2(func(_ *Ctx, a, b row.Datum) row.Datum { return row.Float(math.Atan2(a.Float(), b.Float())) }),
		},
		one("DEGREES", "Radians to degrees.", func(x float64) float64 { return x * 180 / math.Pi }, ex("180.0", math.Pi)),
		one("RADIANS", "Degrees to radians.", func(x float64) float64 { return x / 180 * math.Pi }, ex("3.141592653589793", 180)),
		constant("PI", "The number π.", math.Pi, "3.141592653589793"),
		constant("E", "Euler's number.", math.E, "2.718281828459045"),
		{
			Name: "BIN", Category: Arithmetic, Signature: "BIN(integer)", Help: "The integer in binary; a negative one in two's complement of 64 bits.",
			Examples: []Example{ex("100", 4), ex("0", 0)}, bind: sig{params: []param{anInt}, ret: returnsString}.bind,
			build: eval1(func(c *Ctx, a row.Datum) row.Datum {
				at := len(c.scratch)
				return c.done(strconv.AppendUint(c.scratch, uint64(a.I), 2), at)
			}),
		},
	}
}

func noArgs(t types.Type) func(args []Expr) ([]Expr, types.Type, error) {
	return func(args []Expr) ([]Expr, types.Type, error) {
		if len(args) != 0 {
			return nil, types.Type{}, argErrorf(-1, "takes no arguments")
		}
		return nil, t.Required(), nil
	}
}

func logBase(c *Ctx, args []row.Datum) row.Datum {
	x := args[len(args)-1].Float()
	if x <= 0 || len(args) == 2 && (args[0].Float() <= 0 || args[0].Float() == 1) {
		return c.fail(fmt.Errorf("LOG of %v: the logarithm needs a positive number, and a positive base other than 1", x))
	}
	switch {
	case len(args) == 1:
		return row.Float(math.Log(x))
	case args[0].Float() == 2:
		return row.Float(math.Log2(x))
	case args[0].Float() == 10:
		return row.Float(math.Log10(x))
	}
	return row.Float(math.Log(x) / math.Log(args[0].Float()))
}

func absInt(call *Call) (intFn, error) {
	if !call.T.IsInteger() {
		return nil, nil
	}
	lo, _ := text.IntRange(call.T.Kind)
	a, err := compileInt(call.Args[0])
	return func(c *Ctx, r row.Row) (int64, bool) {
		v, null := a(c, r)
		switch {
		case null:
			return 0, true
		case v == lo:
			c.fail(fmt.Errorf("%s overflow: ABS(%d)", call.T.Nullable(), v))
			return 0, true
		case v < 0:
			return -v, false
		}
		return v, false
	}, err
}

func buildAbs(call *Call, args []Fn) (Fn, error) {
	if call.T.IsApprox() {
		return strict1(args[0], func(_ *Ctx, a row.Datum) row.Datum { return row.Float(math.Abs(a.Float())) }), nil
	}
	load, p := loadDecimal(call.T), call.T.Precision
	return strict1(args[0], func(_ *Ctx, a row.Datum) row.Datum { return load(a).Abs().Datum(p) }), nil
}

// bindSignum widens DECIMAL(p, s) where 1 does not fit it, as in DECIMAL(2, 2).
func bindSignum(args []Expr) ([]Expr, types.Type, error) {
	args, t, err := sig{params: []param{aNumber}, ret: returnsArg(0)}.bind(args)
	if err == nil && t.Kind == types.Decimal && t.Precision == t.Scale {
		if t.Precision == decimal.MaxPrecision {
			t.Scale--
		} else {
			t.Precision++
		}
	}
	return args, t, err
}

func signumInt(call *Call) (intFn, error) {
	if !call.T.IsInteger() {
		return nil, nil
	}
	a, err := compileInt(call.Args[0])
	return func(c *Ctx, r row.Row) (int64, bool) {
		v, null := a(c, r)
		return int64(cmp.Compare(v, 0)), null
	}, err
}

func buildSignum(call *Call, args []Fn) (Fn, error) {
	if call.T.IsApprox() {
		return strict1(args[0], func(_ *Ctx, a row.Datum) row.Datum {
			switch f := a.Float(); {
			case f > 0:
				return row.Float(1)
			case f < 0:
				return row.Float(-1)
			}
			return a // both zeros and NaN
		}), nil
	}
	load, p := loadDecimal(call.Args[0].Type()), call.T.Precision
	one := decimal.Pow10(call.T.Scale)
	values := [3]row.Datum{one.Neg().Datum(p), decimal.Int128{}.Datum(p), one.Datum(p)}
	return strict1(args[0], func(_ *Ctx, a row.Datum) row.Datum { return values[load(a).Sign()+1] }), nil
}
