package expr

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/sluicesql/sluice/engine/decimal"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/text"
	"github.com/sluicesql/sluice/engine/types"
	"github.com/sluicesql/sluice/internal/fault"
)

// arithOp is one of the operators on numbers.
type arithOp struct {
	name    string
	ints    func(a, b int64) (int64, bool) // false when the result leaves 64 bits
	floats  func(a, b float64) float64
	decType func(p1, s1, p2, s2 int) (int, int)
	decs    func(a decimal.Int128, as int, b decimal.Int128, bs int, p, s int) (decimal.Int128, error)
	divides bool // refuses a zero as second operand
}

var (
	opAdd = &arithOp{"+", addInt, func(a, b float64) float64 { return a + b }, decimal.AddType, decimal.Add, false}
	opSub = &arithOp{"-", subInt, func(a, b float64) float64 { return a - b }, decimal.AddType, decimal.Sub, false}
	opMul = &arithOp{"*", mulInt, func(a, b float64) float64 { return a * b }, decimal.MulType, decimal.Mul, false}
	opDiv = &arithOp{"/", divInt, func(a, b float64) float64 { return a / b }, decimal.DivType, decimal.Div, true}
	opMod = &arithOp{"%", modInt, math.Mod, decimal.ModType, decimal.Mod, true}
)

func addInt(a, b int64) (int64, bool) { s := a + b; return s, (a^s)&(b^s) >= 0 }

func subInt(a, b int64) (int64, bool) { s := a - b; return s, (a^b)&(a^s) >= 0 }

func mulInt(a, b int64) (int64, bool) {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	// The signed high word, from the unsigned one; it must be the sign of the low word throughout.
	h := int64(hi) - (a>>63)&b - (b>>63)&a
	return int64(lo), h == int64(lo)>>63
}

func divInt(a, b int64) (int64, bool) { return a / b, a != math.MinInt64 || b != -1 }

func modInt(a, b int64) (int64, bool) { return a % b, true }

func arithFunctions() []*Function {
	return []*Function{
		{
			Name: "+", Category: Arithmetic, Signature: "numeric1 + numeric2, temporal + interval, + numeric",
			Help:     "The sum; an overflow is an error.",
			Examples: []Example{ex("3", 1, 2), ex("3.75", 1, dec("2.75", 3, 2)), ex("1.5", 1, 0.5), ex("NULL", 1, nil), ex("error: BIGINT overflow", int64(math.MaxInt64), 1), ex("2024-03-01", date("2024-02-29"), days("1 00:00:00"))},
			bind:     bindPlus, ints: checkedInts, build: buildArith, show: showInfix,
		},
		{
			Name: "-", Category: Arithmetic, Signature: "numeric1 - numeric2, temporal - interval, - numeric",
			Help:     "The difference, or the negation; an overflow is an error.",
			Examples: []Example{ex("-1", 1, 2), ex("-1.25", dec("1.50", 3, 2), dec("2.75", 3, 2)), ex("-7", 7), ex("2024-02-29", date("2024-03-31"), months("0-1"))},
			bind:     bindMinus, ints: checkedInts, build: buildArith, show: showInfix,
		},
		{
			Name: "*", Category: Arithmetic, Signature: "numeric1 * numeric2, interval * numeric", Help: "The product; an overflow is an error.",
			Examples: []Example{ex("6", 2, 3), ex("4.1250", dec("1.50", 3, 2), dec("2.75", 3, 2)), ex("+2 00:00:00.000", days("1 00:00:00"), 2), ex("error: INT overflow", math.MaxInt32, 2)},
			bind:     bindTimes, ints: checkedInts, build: buildArith, show: showInfix,
		},
		{
			Name: "/", Category: Arithmetic, Signature: "numeric1 / numeric2",
			Help:     "The quotient: of integers truncated towards zero, of decimals rounded HALF_UP; division by zero is an error.",
			Examples: []Example{ex("-3", -7, 2), ex("0.333333", dec("1.0", 2, 1), dec("3.0", 2, 1)), ex("3.5", 7, 2.0), ex("error: division by zero", 1, 0)},
			bind:     bindArith(opDiv), ints: checkedInts, build: buildArith, show: showInfix,
		},
		{
			Name: "%", Aliases: []string{"MOD"}, Category: Arithmetic, Signature: "numeric1 % numeric2, MOD(numeric1, numeric2)",
			Help:     "The rest of the division truncated towards zero, with the sign of numeric1; of exact numbers only.",
			Examples: []Example{ex("-1", -7, 2), ex("1", 7, -2), ex("0.5", dec("2.5", 2, 1), 1), ex("error: division by zero", 1, 0)},
			bind:     bindArith(opMod), ints: checkedInts, build: buildArith, show: showInfix,
		},
	}
}

func operatorOf(name string) *arithOp {
	switch name {
	case "+":
		return opAdd
	case "-":
		return opSub
	case "*":
		return opMul
	case "/":
		return opDiv
	default:
		return opMod
	}
}

func bindPlus(args []Expr) ([]Expr, types.Type, error) {
	if len(args) == 1 {
		return bindSign(args)
	}
	if len(args) == 2 && args[0].Type().IsInterval() && args[1].Type().IsTemporal() {
		args = []Expr{args[1], args[0]}
	}
	args = withTime(args)
	if t, ok := temporalArith(args); ok {
		return args, nullable(t, args), nil
	}
	return bindArith(opAdd)(args)
}

func bindMinus(args []Expr) ([]Expr, types.Type, error) {
	if len(args) == 1 {
		return bindSign(args)
	}
	args = withTime(args)
	if t, ok := temporalArith(args); ok {
		return args, nullable(t, args), nil
	}
	if len(args) == 2 && args[0].Type().IsTemporal() && args[1].Type().IsTemporal() {
		return nil, types.Type{}, argErrorf(-1, "cannot subtract %s from %s; write TIMESTAMPDIFF(SECOND, …, …)",
			args[1].Type().Nullable(), args[0].Type().Nullable())
	}
	return bindArith(opSub)(args)
}

func bindSign(args []Expr) ([]Expr, types.Type, error) {
	p := param{"a number or an interval", func(t types.Type) bool { return t.IsNumeric() || t.IsInterval() }, types.Type{}}
	return sig{params: []param{p}, ret: returnsArg(0)}.bind(args)
}

func bindTimes(args []Expr) ([]Expr, types.Type, error) {
	if len(args) == 2 {
		if args[1].Type().IsInterval() {
			args = []Expr{args[1], args[0]}
		}
		if args[0].Type().IsInterval() && args[1].Type().IsInteger() {
			return args, nullable(args[0].Type(), args), nil
		}
	}
	return bindArith(opMul)(args)
}

// bindArith types an operator on two numbers: DECIMAL's rules where both are exact and one is a DECIMAL,
// else the wider type of the two. The rest of two integers has the type of the divisor.
func bindArith(op *arithOp) func(args []Expr) ([]Expr, types.Type, error) {
	return func(args []Expr) ([]Expr, types.Type, error) {
		if len(args) != 2 {
			return nil, types.Type{}, argErrorf(-1, "takes 2 arguments, not %d", len(args))
		}
		args = append([]Expr(nil), args...)
		for i, a := range args {
			if a.Type().Kind != types.Null {
				continue
			}
			if other := args[1-i].Type(); other.IsNumeric() {
				args[i] = NullConst(other)
			}
		}
		for i, a := range args {
			if days := args[1-i].Type(); a.Type().IsTemporal() && days.IsNumeric() && (op == opAdd || op == opSub && i == 0) {
				return nil, types.Type{}, argErrorf(1-i, "%s goes with an interval, not with %s; write INTERVAL '1' DAY", a.Type().Nullable(), days.Nullable())
			}
		}
		number := aNumber
		if op == opMod {
			number = param{"an exact number", func(t types.Type) bool { return t.IsNumeric() && !t.IsApprox() }, types.Type{}}
		}
		args, err := sig{params: []param{number, number}}.check(args)
		if err != nil {
			return nil, types.Type{}, err
		}
		a, b := args[0].Type(), args[1].Type()
		t := commonNumeric(a, b)
		switch {
		case t.Kind == types.Decimal:
			p1, s1 := digits(a)
			p2, s2 := digits(b)
			t = types.DecimalOf(op.decType(p1, s1, p2, s2))
		case op == opMod:
			t = b
		}
		return args, nullable(t, args), nil
	}
}

func buildArith(call *Call, args []Fn) (Fn, error) {
	if len(args) == 1 {
		if call.Fn.Name == "+" {
			return args[0], nil
		}
		return negation(call, args[0]), nil
	}
	a, b := call.Args[0].Type(), call.Args[1].Type()
	op := operatorOf(call.Fn.Name)
	switch {
	case a.IsTemporal():
		return temporalPlus(call, args, op == opSub), nil
	case call.T.Kind == types.Decimal:
		return decimals(call, op, args), nil
	case call.T.IsApprox():
		return floats(call, op, args), nil
	}
	return nil, fmt.Errorf("%s of %s and %s", call.Fn.Name, a, b)
}

// checkedInts builds the operators on two integers, or intervals.
func checkedInts(call *Call) (intFn, error) {
	if len(call.Args) != 2 || !countable(call.Args[0].Type()) || !countable(call.Args[1].Type()) {
		return nil, nil
	}
	a, b, err := compileInt2(call)
	if err != nil {
		return nil, err
	}
	op := operatorOf(call.Fn.Name)
	f, divides := op.ints, op.divides
	lo, hi := text.IntRange(call.T.Kind)
	if call.T.Kind == types.IntervalYM {
		lo, hi = math.MinInt32, math.MaxInt32
	}
	return func(c *Ctx, r row.Row) (int64, bool) {
		x, null := a(c, r)
		if null {
			return 0, true
		}
		y, null := b(c, r)
		if null {
			return 0, true
		}
		if divides && y == 0 {
			c.fail(divisionByZero(call, row.Int(x)))
			return 0, true
		}
		v, ok := f(x, y)
		if !ok || v < lo || v > hi {
			c.fail(overflow(call, row.Int(x), row.Int(y)))
			return 0, true
		}
		return v, false
	}, nil
}

func countable(t types.Type) bool { return t.IsInteger() || t.IsInterval() }

func floats(call *Call, op *arithOp, args []Fn) Fn {
	x, y := asFloat(call.Args[0].Type()), asFloat(call.Args[1].Type())
	f, divides, single := op.floats, op.divides, call.T.Kind == types.Float
	return strict2(args[0], args[1], func(c *Ctx, a, b row.Datum) row.Datum {
		v, w := x(a), y(b)
		if divides && w == 0 {
			return c.fail(divisionByZero(call, a))
		}
		v = f(v, w)
		if single {
			v = float64(float32(v))
		}
		return row.Float(v)
	})
}

func decimals(call *Call, op *arithOp, args []Fn) Fn {
	ta, tb := call.Args[0].Type(), call.Args[1].Type()
	xWide, yWide := ta.Phys() == types.PhysWide, tb.Phys() == types.PhysWide
	xs, ys := scaleOf(ta), scaleOf(tb)
	f, p, s := op.decs, call.T.Precision, call.T.Scale
	x, y := args[0], args[1]
	return func(c *Ctx, r row.Row) row.Datum {
		a := x(c, r)
		if a.Null {
			return a
		}
		b := y(c, r)
		if b.Null {
			return b
		}
		v, err := f(unscaled(xWide, a), xs, unscaled(yWide, b), ys, p, s)
		if err == decimal.ErrDivisionByZero {
			return c.fail(divisionByZero(call, a))
		}
		if err != nil {
			return c.fail(overflow(call, a, b))
		}
		return v.Datum(p)
	}
}

func negation(call *Call, a Fn) Fn {
	switch {
	case call.T.IsApprox():
		return strict1(a, func(_ *Ctx, x row.Datum) row.Datum { return row.Float(-x.Float()) })
	case call.T.Kind == types.Decimal:
		load, p := loadDecimal(call.T), call.T.Precision
		return strict1(a, func(_ *Ctx, x row.Datum) row.Datum { return load(x).Neg().Datum(p) })
	default:
		lo, _ := text.IntRange(call.T.Kind)
		return strict1(a, func(c *Ctx, x row.Datum) row.Datum {
			if x.I == lo {
				return c.fail(fault.Errorf(fault.RowValue, "%s overflow: -(%d)", call.T.Nullable(), x.I).
					Fix("write CAST(… AS DECIMAL(38, 0))"))
			}
			return row.Datum{I: -x.I}
		})
	}
}

func divisionByZero(call *Call, a row.Datum) error {
	return fault.Errorf(fault.RowValue, "division by zero: %s %s 0", text.Append(nil, call.Args[0].Type(), a, nil), call.Fn.Name).
		Fix("write NULLIF(divisor, 0) to get NULL instead")
}

func overflow(call *Call, a, b row.Datum) error {
	wider := "DECIMAL(38, 0)"
	switch call.T.Kind {
	case types.TinyInt, types.SmallInt, types.Int:
		wider = "BIGINT"
	case types.Decimal:
		wider = "DOUBLE"
	case types.IntervalYM, types.IntervalDT:
		return fmt.Errorf("%s overflow", call.T.Nullable())
	}
	return fault.Errorf(fault.RowValue, "%s overflow: %s %s %s", call.T.Nullable(), text.Append(nil, call.Args[0].Type(), a, nil), call.Fn.Name, text.Append(nil, call.Args[1].Type(), b, nil)).
		Fix("CAST an operand to %s", wider)
}
