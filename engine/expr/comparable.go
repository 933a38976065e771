package expr

import (
	"bytes"
	"cmp"
	"math"
	"strings"

	"github.com/sluicesql/sluice/engine/decimal"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/text"
	"github.com/sluicesql/sluice/engine/types"
)

// comparer orders two values that are not NULL: negative, zero or positive.
type comparer func(a, b row.Datum) int

// matchTypes brings two arguments to forms that can be compared: a literal string beside a number, a BOOLEAN or a temporal
// value is read as one, DATE widens to TIMESTAMP, precisions of different form are made the same. Numbers need no
// conversion: the comparer sees both types, and so compares exact numbers exactly.
func matchTypes(a, b Expr, i, j int) (Expr, Expr, error) {
	ta, tb := a.Type(), b.Type()
	switch {
	case ta.Kind == types.Null && tb.Kind == types.Null:
		t := types.Of(types.Boolean)
		return NullConst(t), NullConst(t), nil
	case ta.Kind == types.Null:
		return NullConst(tb), b, nil
	case tb.Kind == types.Null:
		return a, NullConst(ta), nil
	case readsLiteral(ta, b):
		lit, err := literalAs(b, ta, j)
		if err != nil {
			return nil, nil, err
		}
		return matchTypes(a, lit, i, j)
	case readsLiteral(tb, a):
		lit, err := literalAs(a, tb, i)
		if err != nil {
			return nil, nil, err
		}
		return matchTypes(lit, b, i, j)
	}
	t, ok := CommonType(ta, tb)
	if !ok {
		return nil, nil, argErrorf(j, "cannot compare %s with %s%s", ta.Nullable(), tb.Nullable(), compareRemedy(ta, tb))
	}
	if t.IsNumeric() || t.IsString() || t.IsBinary() {
		return a, b, nil
	}
	return coerce(a, t), coerce(b, t), nil
}

func compareRemedy(a, b types.Type) string {
	to := a
	if a.IsString() {
		to = b
	}
	if _, ok := castKernel(a, b); !ok {
		return ""
	}
	return "; write CAST(… AS " + to.Nullable().String() + ")"
}

// readsLiteral reports whether e, beside a value of type t, is a string to be read as one. Of a string that is no literal
// only a temporal value's error says more than that of other types.
func readsLiteral(t types.Type, e Expr) bool {
	if !e.Type().IsString() {
		return false
	}
	_, literal := constString(e)
	return t.IsTemporal() || literal && (t.IsNumeric() || t.Kind == types.Boolean)
}

// literalAs reads a constant string as a value to compare with those of a type.
func literalAs(e Expr, t types.Type, i int) (Expr, error) {
	s, ok := constString(e)
	if !ok {
		if v, isConst := constant(e); isConst && v.Null {
			return NullConst(t), nil
		}
		return nil, argErrorf(i, "cannot compare %s with %s; write CAST(… AS %s)", e.Type().Nullable(), t.Nullable(), t.Nullable())
	}
	wanted := t.Nullable()
	switch {
	case t.Kind == types.Timestamp || t.Kind == types.TimestampLTZ || t.Kind == types.Time:
		t.Precision = max(t.Precision, fractionDigits(s))
		wanted = t.Nullable()
	case t.IsNumeric() && !t.IsApprox():
		t = numberType(s)
	}
	d, err := text.Parse(t, []byte(s), nil)
	if err != nil {
		return nil, argErrorf(i, "%s is no %s: %v", quote([]byte(s)), wanted, err)
	}
	if t.Kind == types.TimestampLTZ {
		// Its value depends on the session's time zone, which is known when the query runs.
		return must(Cast(e, t, false)), nil
	}
	return &Const{Value: d, T: t.Required()}, nil
}

// numberType is a type that holds the number that a string writes with all its digits: whole numbers and fractions are
// not rounded to those that they are compared with.
func numberType(s string) types.Type {
	s = strings.TrimLeft(strings.TrimSpace(s), "+-")
	whole, frac, point := strings.Cut(s, ".")
	p := max(len(strings.TrimLeft(whole, "0"))+len(frac), 1)
	switch {
	case strings.ContainsAny(s, "eE"):
		return types.Of(types.Double)
	case p > types.MaxDecimalPrecision || !point && p < 19:
		return types.Of(types.BigInt)
	}
	return types.DecimalOf(p, len(frac))
}

func fractionDigits(s string) int {
	for i := range len(s) {
		if s[i] == '.' {
			n := 0
			for n < 9 && i+1+n < len(s) && s[i+1+n] >= '0' && s[i+1+n] <= '9' {
				n++
			}
			return n
		}
	}
	return 0
}

// compareAs is the comparer of values of types a and b, as matchTypes left them.
func compareAs(a, b types.Type) comparer {
	switch {
	case a.IsApprox() || b.IsApprox():
		x, y := asFloat(a), asFloat(b)
		return func(d, e row.Datum) int { return compareFloat(x(d), y(e)) }
	case a.Kind == types.Decimal || b.Kind == types.Decimal:
		x, y := a.Phys() == types.PhysWide, b.Phys() == types.PhysWide
		xs, ys := scaleOf(a), scaleOf(b)
		return func(d, e row.Datum) int { return decimal.Compare(unscaled(x, d), xs, unscaled(y, e), ys) }
	case a.Kind == types.Array:
		return compareArrays(*a.Elem, *b.Elem)
	case a.Kind == types.Map:
		return compareMaps(a)
	case a.Kind == types.Row:
		return compareRows(a.Fields)
	}
	switch a.Phys() {
	case types.PhysBytes:
		return func(d, e row.Datum) int { return bytes.Compare(d.B, e.B) }
	case types.PhysWide:
		return func(d, e row.Datum) int {
			return decimal.Int128{Hi: d.Hi, Lo: uint64(d.I)}.Cmp(decimal.Int128{Hi: e.Hi, Lo: uint64(e.I)})
		}
	default:
		return func(d, e row.Datum) int { return cmp.Compare(d.I, e.I) }
	}
}

// compareFloat is the order of keyenc: NaN equals itself and is above everything, the zeros are equal.
// Flink's = follows Java, where NaN equals nothing, but its join and group keys do not; here a predicate and
// a key agree.
func compareFloat(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	case a == b:
		return 0
	case math.IsNaN(a) && math.IsNaN(b):
		return 0
	case math.IsNaN(a):
		return 1
	default:
		return -1
	}
}

// compareNullable puts NULL, inside of nested values, before everything and equal to itself.
func compareNullable(f comparer, a, b row.Datum) int {
	switch {
	case a.Null && b.Null:
		return 0
	case a.Null:
		return -1
	case b.Null:
		return 1
	}
	return f(a, b)
}

func compareArrays(a, b types.Type) comparer {
	f, p, q := compareAs(a, b), a.Phys(), b.Phys()
	return func(x, y row.Datum) int {
		m, n := row.ArrayLen(x.B), row.ArrayLen(y.B)
		xs, ys := row.ArrayRow(x.B), row.ArrayRow(y.B)
		for i := range min(m, n) {
			if c := compareNullable(f, xs.Get(i, p), ys.Get(i, q)); c != 0 {
				return c
			}
		}
		return cmp.Compare(m, n)
	}
}

func compareRows(fields []types.Field) comparer {
	fs := make([]comparer, len(fields))
	for i, f := range fields {
		fs[i] = compareAs(f.Type, f.Type)
	}
	return func(x, y row.Datum) int {
		for i, f := range fs {
			p := fields[i].Type.Phys()
			if c := compareNullable(f, row.Row(x.B).Get(i, p), row.Row(y.B).Get(i, p)); c != 0 {
				return c
			}
		}
		return 0
	}
}

// compareMaps tells equality only: two maps are equal when they hold the same entries, in any order.
func compareMaps(t types.Type) comparer {
	key, value := compareAs(*t.Key, *t.Key), compareAs(*t.Elem, *t.Elem)
	kp, vp := t.Key.Phys(), t.Elem.Phys()
	return func(x, y row.Datum) int {
		xk, xv := row.MapArrays(x.B)
		yk, yv := row.MapArrays(y.B)
		n := row.ArrayLen(xk)
		if n != row.ArrayLen(yk) {
			return 1
		}
	entries:
		for i := range n {
			k, v := row.ArrayRow(xk).Get(i, kp), row.ArrayRow(xv).Get(i, vp)
			for j := range n {
				if compareNullable(key, k, row.ArrayRow(yk).Get(j, kp)) == 0 {
					if compareNullable(value, v, row.ArrayRow(yv).Get(j, vp)) != 0 {
						return 1
					}
					continue entries
				}
			}
			return 1
		}
		return 0
	}
}

// asFloat reads a number of any type as a float64.
func asFloat(t types.Type) func(row.Datum) float64 {
	switch {
	case t.IsApprox():
		return row.Datum.Float
	case t.Kind == types.Decimal:
		load, s := loadDecimal(t), t.Scale
		return func(d row.Datum) float64 { return load(d).Float(s) }
	default:
		return func(d row.Datum) float64 { return float64(d.I) }
	}
}

// loadDecimal reads an exact number of any type as an unscaled value.
func loadDecimal(t types.Type) func(row.Datum) decimal.Int128 {
	wide := t.Phys() == types.PhysWide
	return func(d row.Datum) decimal.Int128 { return unscaled(wide, d) }
}

// unscaled is loadDecimal without a closure, for paths where that counts.
func unscaled(wide bool, d row.Datum) decimal.Int128 {
	if wide {
		return decimal.Int128{Hi: d.Hi, Lo: uint64(d.I)}
	}
	return decimal.FromInt64(d.I)
}
