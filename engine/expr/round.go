package expr

import (
	"fmt"
	"math"
	"strconv"

	"github.com/sluicesql/sluice/engine/decimal"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/text"
	"github.com/sluicesql/sluice/engine/types"
)

// bindRound types ROUND and TRUNCATE. Of a DECIMAL the number of digits must be constant for the scale of the
// result to follow from it; when it is not, the argument's scale stays, as in Flink.
func bindRound(args []Expr) ([]Expr, types.Type, error) {
	if len(args) == 1 {
		args = []Expr{args[0], IntConst(0)}
	}
	args, t, err := sig{params: []param{aNumber, anInt}, ret: returnsArg(0)}.bind(args)
	if err != nil || t.Kind != types.Decimal {
		return args, t, err
	}
	if d, ok := constant(args[1]); ok && !d.Null {
		n := int(max(min(d.I, decimal.MaxPrecision), -decimal.MaxPrecision))
		t.Precision, t.Scale = decimal.RoundType(t.Precision, t.Scale, n)
	}
	return args, t, nil
}

func buildRound(up bool) builder {
	return func(call *Call, args []Fn) (Fn, error) {
		switch {
		case call.T.IsApprox():
			bits := 64
			if call.T.Kind == types.Float {
				bits = 32
			}
			return strict2(args[0], args[1], func(_ *Ctx, a, n row.Datum) row.Datum {
				return row.Float(roundFloat(a.Float(), n.I, up, bits))
			}), nil
		case call.T.Kind == types.Decimal:
			return roundDecimals(call, args, up), nil
		}
		lo, hi := text.IntRange(call.T.Kind)
		return strict2(args[0], args[1], func(c *Ctx, a, n row.Datum) row.Datum {
			v, ok := roundUnscaled(decimal.FromInt64(a.I), -n.I, up).Int64()
			if !ok || v < lo || v > hi {
				return c.fail(fmt.Errorf("%s overflow: %s(%d, %d)", call.T.Nullable(), call.Fn.Name, a.I, n.I))
			}
			return row.Int(v)
		}), nil
	}
}

func roundDecimals(call *Call, args []Fn, up bool) Fn {
	from := call.Args[0].Type()
	wide, p, s := from.Phys() == types.PhysWide, call.T.Precision, call.T.Scale
	overflows := func(a row.Datum, n int64) error {
		return fmt.Errorf("%s overflow: %s(%s, %d)", call.T.Nullable(), call.Fn.Name, text.Append(nil, from, a, nil), n)
	}
	if d, ok := constant(call.Args[1]); up && ok && !d.Null && d.I >= 0 {
		// The result's scale is the number of digits asked for, or the argument's, so that one step does it.
		x := args[0]
		return func(c *Ctx, r row.Row) row.Datum {
			a := x(c, r)
			if a.Null {
				return a
			}
			v, ok := decimal.Rescale(unscaled(wide, a), from.Scale, s, p)
			if !ok {
				return c.fail(overflows(a, d.I))
			}
			return v.Datum(p)
		}
	}
	return strict2(args[0], args[1], func(c *Ctx, a, n row.Datum) row.Datum {
		v := roundUnscaled(unscaled(wide, a), int64(from.Scale)-min(n.I, int64(from.Scale)), up)
		// The digits that go are zeros by now.
		v, ok := decimal.Rescale(v, from.Scale, s, p)
		if !ok {
			return c.fail(overflows(a, n.I))
		}
		return v.Datum(p)
	})
}

// roundUnscaled makes the last n digits of v zeros, rounding HALF_UP or cutting.
func roundUnscaled(v decimal.Int128, n int64, up bool) decimal.Int128 {
	switch {
	case n <= 0:
		return v
	case n > decimal.MaxPrecision:
		return decimal.Int128{}
	}
	var q decimal.Int128
	if up {
		q, _ = decimal.Rescale(v, int(n), 0, decimal.MaxPrecision)
	} else {
		q = decimal.Truncate(v, int(n), 0)
	}
	// At most 39 digits: 128 bits hold them, and the caller checks against the type.
	q, _ = decimal.Rescale(q, 0, int(n), decimal.MaxPrecision)
	return q
}

// roundFloat rounds the shortest decimal text of f, as Java's BigDecimal.valueOf does, so that 2.675 rounds
// to 2.68 although its binary value is a little less.
func roundFloat(f float64, n int64, up bool, bits int) float64 {
	if f == 0 || math.IsNaN(f) || math.IsInf(f, 0) || n > 340 {
		return f
	}
	var digits [32]byte
	b := strconv.AppendFloat(digits[:0], math.Abs(f), 'e', -1, bits) // d.ddde±xx
	m, e := 0, 0
	var mantissa [24]byte
	for i, c := range b {
		if c == 'e' {
			e, _ = strconv.Atoi(string(b[i+1:]))
			break
		}
		if c != '.' {
			mantissa[m] = c
			m++
		}
	}
	keep := int64(e) + 1 + max(n, -400) // the digits of the mantissa that stay
	if keep >= int64(m) {
		return f
	}
	var out [40]byte
	s := out[:0]
	carry := false
	if keep >= 0 {
		carry = up && mantissa[keep] >= '5'
		s = append(s, mantissa[:keep]...)
	}
	for i := len(s) - 1; carry && i >= 0; i-- {
		if s[i] != '9' {
			s[i]++
			carry = false
		} else {
			s[i] = '0'
		}
	}
	if carry {
		s = append(s, 0)
		copy(s[1:], s)
		s[0] = '1'
	}
	if len(s) == 0 {
		s = append(s, '0')
	}
	s = strconv.AppendInt(append(s, 'e'), -max(n, -400), 10)
	v, err := strconv.ParseFloat(string(s), bits)
	if err != nil {
		return f // rounded beyond the largest float
	}
	return math.Copysign(v, f)
}

// floorCeil is FLOOR and CEIL, of numbers and of temporal values TO a unit.
func floorCeil(name string, aliases []string, help string, sign int, examples ...Example) *Function {
	return &Function{
		Name: name, Aliases: aliases, Category: Arithmetic, Signature: name + "(numeric), " + name + "(temporal TO unit)",
		Help: help + " a number; or a temporal value rounded to a unit.", Examples: examples,
		bind: func(args []Expr) ([]Expr, types.Type, error) {
			if len(args) == 2 {
				return bindRoundTime(args)
			}
			args, t, err := sig{params: []param{aNumber}, ret: returnsArg(0)}.bind(args)
			if t.Kind == types.Decimal {
				t.Scale = 0
			}
			return args, t, err
		},
		build: func(call *Call, args []Fn) (Fn, error) {
			if len(args) == 2 {
				return buildRoundTime(call, args, sign > 0)
			}
			return floorNumber(call, args[0], sign), nil
		},
		show: func(c *Call) string {
			if len(c.Args) == 2 {
				unit, _ := constString(c.Args[1])
				return name + "(" + c.Args[0].String() + " TO " + unit + ")"
			}
			return name + "(" + list(c.Args) + ")"
		},
	}
}

func floorNumber(call *Call, a Fn, sign int) Fn {
	switch {
	case call.T.IsApprox():
		f := math.Floor
		if sign > 0 {
			f = math.Ceil
		}
		return strict1(a, func(_ *Ctx, x row.Datum) row.Datum { return row.Float(f(x.Float())) })
	case call.T.Kind == types.Decimal:
		from := call.Args[0].Type()
		load, p, f := loadDecimal(from), call.T.Precision, decimal.Floor
		if sign > 0 {
			f = decimal.Ceil
		}
		return strict1(a, func(_ *Ctx, x row.Datum) row.Datum { return f(load(x), from.Scale).Datum(p) })
	}
	return a
}
