package expr

import (
	"github.com/sluicesql/sluice/engine/decimal"
	"github.com/sluicesql/sluice/engine/types"
)

// CommonType is the type that values of a and b both convert to implicitly, in CASE, COALESCE, UNION and
// comparisons; false when there is none. The rules are those of Flink's LogicalTypeMerging: the wider
// integer; DECIMAL that holds both; approximate wins over exact, DOUBLE over FLOAT and over DECIMAL; CHAR of
// different lengths become VARCHAR; the higher precision; DATE widens to TIMESTAMP.
func CommonType(a, b types.Type) (types.Type, bool) {
	t, ok := commonRoot(a, b)
	t.NotNull = a.NotNull && b.NotNull
	return t, ok
}

func commonRoot(a, b types.Type) (types.Type, bool) {
	switch {
	case a.Kind == types.Null:
		return b, true
	case b.Kind == types.Null:
		return a, true
	case a.IsNumeric() && b.IsNumeric():
		return commonNumeric(a, b), true
	case a.IsString() && b.IsString():
		return commonText(a, b, types.Char, types.Varchar), true
	case a.IsBinary() && b.IsBinary():
		return commonText(a, b, types.Binary, types.Varbinary), true
	case a.Kind == types.Date && (b.Kind == types.Timestamp || b.Kind == types.TimestampLTZ):
		return b, true
	case b.Kind == types.Date && (a.Kind == types.Timestamp || a.Kind == types.TimestampLTZ):
		return a, true
	case a.Kind != b.Kind:
		return types.Type{}, false
	}
	switch a.Kind {
	case types.Time, types.Timestamp, types.TimestampLTZ:
		a.Precision = max(a.Precision, b.Precision)
		return a, true
	case types.Array:
		elem, ok := CommonType(*a.Elem, *b.Elem)
		return types.ArrayOf(elem), ok
	case types.Map:
		key, ok1 := CommonType(*a.Key, *b.Key)
		elem, ok2 := CommonType(*a.Elem, *b.Elem)
		return types.MapOf(key, elem), ok1 && ok2
	case types.Row:
		return commonRow(a, b)
	default:
		return a, true
	}
}

func commonRow(a, b types.Type) (types.Type, bool) {
	if len(a.Fields) != len(b.Fields) {
		return types.Type{}, false
	}
	fields := make([]types.Field, len(a.Fields))
	for i, f := range a.Fields {
		t, ok := CommonType(f.Type, b.Fields[i].Type)
		if !ok {
			return types.Type{}, false
		}
		fields[i] = types.Field{Name: f.Name, Type: t}
	}
	return types.RowOf(fields...), true
}

func commonText(a, b types.Type, fixed, varying types.Kind) types.Type {
	if a.Kind == fixed && b.Kind == fixed && a.Precision == b.Precision {
		return a
	}
	return types.Type{Kind: varying, Precision: max(a.Precision, b.Precision)}
}

func commonNumeric(a, b types.Type) types.Type {
	switch {
	case a.IsInteger() && b.IsInteger():
		return types.Of(max(a.Kind, b.Kind))
	case a.IsApprox() || b.IsApprox():
		if a.Kind == types.Float && b.Kind != types.Double && b.Kind != types.Decimal ||
			b.Kind == types.Float && a.Kind != types.Double && a.Kind != types.Decimal {
			return types.Of(types.Float)
		}
		return types.Of(types.Double)
	default:
		p1, s1 := digits(a)
		p2, s2 := digits(b)
		return types.DecimalOf(decimal.CommonType(p1, s1, p2, s2))
	}
}

// digits is the precision and scale of an exact number type; integers count as decimals of scale 0.
func digits(t types.Type) (precision, scale int) {
	switch t.Kind {
	case types.TinyInt:
		return 3, 0
	case types.SmallInt:
		return 5, 0
	case types.Int:
		return 10, 0
	case types.BigInt:
		return 19, 0
	default:
		return t.Precision, t.Scale
	}
}

// commonOf folds CommonType over arguments; it names the first argument that does not fit.
func commonOf(args []Expr, from int) (types.Type, error) {
	t := args[from].Type()
	for i := from + 1; i < len(args); i++ {
		u, ok := CommonType(t, args[i].Type())
		if !ok {
			return t, argErrorf(i, "%s and %s have no common type; write a CAST", t.Nullable(), args[i].Type().Nullable())
		}
		t = u
	}
	return t, nil
}

// coerceAll converts the arguments from index from on to t.
func coerceAll(args []Expr, from int, t types.Type) []Expr {
	out := append([]Expr(nil), args...)
	for i := from; i < len(out); i++ {
		out[i] = coerce(out[i], t)
	}
	return out
}
