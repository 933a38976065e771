package planner

import (
	"math"

	"github.com/sluicesql/sluice/engine/expr"
	"github.com/sluicesql/sluice/engine/text"
	"github.com/sluicesql/sluice/engine/types"
)

// assignable reports whether INSERT may put a value of one type into a column of another without being
// asked by a CAST, and whether a cast is then needed. The rules are Flink's implicit casts without those
// that can lose digits. Nullability is checked at run time. consts are the values where they are constants:
// whole numbers that fit go into any exact type.
func assignable(from, to types.Type, consts []*expr.Const) (ok, cast bool) {
	if from.SameIgnoringNull(to) {
		return true, false
	}
	if from.Kind == types.Null {
		return true, true
	}
	switch {
	case from.IsString() && to.IsString():
		// As in Flink the declared length is no limit: the value is written as it is. CHAR(n) is padded, and
		// never cut off, which would lose characters unasked.
		return to.Kind == types.Varchar || from.Kind == types.Char, to.Kind == types.Char && from.Precision < to.Precision
	case from.IsBinary() && to.IsBinary():
		return to.Kind == types.Varbinary || from.Kind == types.Binary, to.Kind == types.Binary && from.Precision < to.Precision
	case from.IsInteger() && to.IsInteger():
		if from.Kind <= to.Kind {
			return true, true
		}
		return allFit(consts, func(v int64) bool { return fitsInteger(v, to.Kind) }), true
	case from.IsInteger() && to.Kind == types.Decimal:
		digits := to.Precision - to.Scale
		return integerDigits(from) <= digits || allFit(consts, func(v int64) bool { return fitsDigits(v, digits) }), true
	case from.Kind == types.Decimal && to.Kind == types.Decimal:
		return from.Scale <= to.Scale && from.Precision-from.Scale <= to.Precision-to.Scale, true
	case from.IsNumeric() && to.IsApprox():
		return from.Kind != types.Double || to.Kind == types.Double, true
	case from.Kind == types.Date && (to.Kind == types.Timestamp || to.Kind == types.TimestampLTZ):
		return true, true
	case isTimestamp(from) && isTimestamp(to):
		return from.Precision <= to.Precision, true
	case from.Kind == types.Time && to.Kind == types.Time:
		return from.Precision <= to.Precision, true
	case from.Kind == to.Kind && (from.Kind == types.Array || from.Kind == types.Map || from.Kind == types.Row):
		return assignableParts(from, to)
	}
	return false, false
}

// allFit reports whether there are constants, and all of them fit.
func allFit(consts []*expr.Const, fits func(int64) bool) bool {
	for _, c := range consts {
		if !c.Value.Null && !fits(c.Value.I) {
			return false
		}
	}
	return len(consts) > 0
}

func isTimestamp(t types.Type) bool {
	return t.Kind == types.Timestamp || t.Kind == types.TimestampLTZ
}

// assignableParts compares nested types: part by part, names of ROW fields aside.
func assignableParts(from, to types.Type) (ok, cast bool) {
	part := func(a, b types.Type) bool {
		o, c := assignable(a, b, nil)
		cast = cast || c
		return o && (a.NotNull || !b.NotNull)
	}
	switch from.Kind {
	case types.Array:
		ok = part(*from.Elem, *to.Elem)
	case types.Map:
		ok = part(*from.Key, *to.Key)
		ok = part(*from.Elem, *to.Elem) && ok
	default:
		ok = len(from.Fields) == len(to.Fields)
		for i := 0; ok && i < len(from.Fields); i++ {
			ok = part(from.Fields[i].Type, to.Fields[i].Type)
		}
	}
	return ok, cast
}

func fitsInteger(v int64, k types.Kind) bool {
	lo, hi := text.IntRange(k)
	return lo <= v && v <= hi
}

func fitsDigits(v int64, digits int) bool {
	return digits >= 19 || digits >= 0 && math.Abs(float64(v)) < math.Pow10(digits)
}

// integerDigits is the number of decimal digits that an integer type can have.
func integerDigits(t types.Type) int {
	switch t.Kind {
	case types.TinyInt:
		return 3
	case types.SmallInt:
		return 5
	case types.Int:
		return 10
	}
	return 19
}
