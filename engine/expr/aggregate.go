package expr

import (
	"strings"

	"github.com/sluicesql/sluice/engine/types"
)

// AggKind tells what an aggregate function computes of the values of a group.
type AggKind uint8

// The kinds of aggregates.
const (
	AggCount AggKind = iota
	AggSum
	AggAvg
	AggMin
	AggMax
	AggVarPop
	AggVarSamp
	AggStddevPop
	AggStddevSamp
	AggAnd
	AggOr
	AggFirst
	AggLast
	AggList
	AggArray
	AggJSONArray
	AggJSONObject
)

// Aggregate declares an aggregate function.
type Aggregate struct {
	Name    string
	Aliases []string
	Kind    AggKind
	// Signature shows the arguments in SQL.
	Signature string
	// Help is one line of what it does.
	Help string
	// Examples are run as tests.
	Examples []RowsExample
	// Distinct says that the function sees each value once, whether or not DISTINCT is written.
	Distinct bool
	// KeepNull says that NULLs count as values; the others leave them out.
	KeepNull bool

	least, most int // number of arguments; most -1: any
	bind        func(args []Expr) ([]Expr, types.Type, error)
}

// Resolve types a call: it returns the arguments with what conversions they need, and the result's type, which
// allows NULL unless the function never gives one. Errors are *ArgError.
func (a *Aggregate) Resolve(args []Expr) ([]Expr, types.Type, error) {
	if len(args) < a.least || a.most >= 0 && len(args) > a.most {
		return nil, types.Type{}, argErrorf(-1, "%s takes %s", a.Name, a.Signature)
	}
	for i, e := range args {
		if e.Type().Kind == types.Null {
			return nil, types.Type{}, argErrorf(i, "%s: the type of NULL is unknown here; write a CAST", a.Name)
		}
	}
	return a.bind(args)
}

// Aggregates are all declarations.
func Aggregates() []*Aggregate { return aggregateList }

// LookupAggregate finds an aggregate function by its name in any case; nil when there is none.
func LookupAggregate(name string) *Aggregate {
	name = strings.ToUpper(name)
	for _, a := range aggregateList {
		if a.Name == name {
			return a
		}
		for _, n := range a.Aliases {
			if n == name {
				return a
			}
		}
	}
	return nil
}

var aggregateList = []*Aggregate{
	{Name: "COUNT", Kind: AggCount, Signature: "COUNT(*), COUNT([DISTINCT] x, …)", most: -1,
		Help:     "The number of rows; with arguments, of those in which none of them is NULL.",
		Examples: []RowsExample{{"COUNT(x)", "(1), (CAST(NULL AS INT)), (3)", "2"}, {"COUNT(*)", "(1), (CAST(NULL AS INT)), (3)", "3"}, {"COUNT(DISTINCT x)", "(1), (1), (3)", "2"}}, bind: aggTyped(types.Of(types.BigInt).Required())},
	{Name: "SUM", Kind: AggSum, Signature: "SUM([DISTINCT] x)", least: 1, most: 1,
		Help:     "The sum, exact; one that does not fit the type is an error.",
		Examples: []RowsExample{{"SUM(x)", "(1), (2), (3)", "6"}, {"SUM(DISTINCT x)", "(1.5), (1.5), (2)", "3.5"}}, bind: bindSum},
	{Name: "AVG", Kind: AggAvg, Signature: "AVG([DISTINCT] x)", least: 1, most: 1,
		Help:     "The mean, of the argument's type: that of integers is cut off to an integer.",
		Examples: []RowsExample{{"AVG(x)", "(1), (2), (4)", "2"}, {"AVG(x)", "(1.0), (2), (4)", "2.333333"}}, bind: bindAvg},
	{Name: "MIN", Kind: AggMin, Signature: "MIN(x)", least: 1, most: 1, Help: "The smallest value.",
		Examples: []RowsExample{{"MIN(x)", "('b'), ('a'), ('c')", "a"}}, bind: bindOrdered},
	{Name: "MAX", Kind: AggMax, Signature: "MAX(x)", least: 1, most: 1, Help: "The greatest value.",
		Examples: []RowsExample{{"MAX(x)", "(1), (3), (2)", "3"}, {"MAX(x) FILTER (WHERE x < 3)", "(1), (3), (2)", "2"}}, bind: bindOrdered},
	{Name: "VAR_POP", Kind: AggVarPop, Signature: "VAR_POP([DISTINCT] x)", least: 1, most: 1, Help: "The population variance, a DOUBLE.",
		Examples: []RowsExample{{"VAR_POP(x)", "(2), (4)", "1.0"}}, bind: bindDouble},
	{Name: "VAR_SAMP", Aliases: []string{"VARIANCE"}, Kind: AggVarSamp, Signature: "VAR_SAMP([DISTINCT] x)", least: 1, most: 1,
		Help:     "The sample variance, a DOUBLE; NULL for one value.",
		Examples: []RowsExample{{"VAR_SAMP(x)", "(2), (4)", "2.0"}, {"VARIANCE(x)", "(2), (CAST(NULL AS INT))", "NULL"}}, bind: bindDouble},
	{Name: "STDDEV_POP", Kind: AggStddevPop, Signature: "STDDEV_POP([DISTINCT] x)", least: 1, most: 1,
		Help:     "The population standard deviation, a DOUBLE.",
		Examples: []RowsExample{{"STDDEV_POP(x)", "(2), (4)", "1.0"}}, bind: bindDouble},
	{Name: "STDDEV_SAMP", Aliases: []string{"STDDEV"}, Kind: AggStddevSamp, Signature: "STDDEV_SAMP([DISTINCT] x)", least: 1, most: 1,
		Help:     "The sample standard deviation, a DOUBLE; NULL for one value.",
		Examples: []RowsExample{{"STDDEV_SAMP(x)", "(1), (5), (3)", "2.0"}, {"STDDEV(x)", "(1), (5), (3)", "2.0"}}, bind: bindDouble},
	{Name: "BOOL_AND", Aliases: []string{"EVERY"}, Kind: AggAnd, Signature: "BOOL_AND(condition)", least: 1, most: 1,
		Help:     "Whether all conditions are TRUE.",
		Examples: []RowsExample{{"BOOL_AND(x > 1)", "(1), (2)", "FALSE"}, {"EVERY(x > 0)", "(1), (2)", "TRUE"}}, bind: bindBoolean},
	{Name: "BOOL_OR", Aliases: []string{"ANY", "SOME"}, Kind: AggOr, Signature: "BOOL_OR(condition)", least: 1, most: 1,
		Help:     "Whether one condition is TRUE.",
		Examples: []RowsExample{{"BOOL_OR(x > 1)", "(1), (2)", "TRUE"}}, bind: bindBoolean},
	{Name: "APPROX_COUNT_DISTINCT", Kind: AggCount, Distinct: true, Signature: "APPROX_COUNT_DISTINCT(x)", least: 1, most: 1,
		Help:     "The number of different values; it is exact here.",
		Examples: []RowsExample{{"APPROX_COUNT_DISTINCT(x)", "('a'), ('b'), ('a')", "2"}}, bind: aggTyped(types.Of(types.BigInt).Required())},
	{Name: "FIRST_VALUE", Kind: AggFirst, Signature: "FIRST_VALUE(x [ORDER BY …])", least: 1, most: 1,
		Help:     "The first value by the order given; without one, by the values themselves.",
		Examples: []RowsExample{{"FIRST_VALUE(x ORDER BY y DESC)", "('a', 1), ('b', 3), ('c', 2)", "b"}, {"FIRST_VALUE(x)", "('b'), ('a')", "a"}}, bind: bindSame},
	{Name: "LAST_VALUE", Kind: AggLast, Signature: "LAST_VALUE(x [ORDER BY …])", least: 1, most: 1,
		Help:     "The last value by the order given; without one, by the values themselves.",
		Examples: []RowsExample{{"LAST_VALUE(x ORDER BY y DESC)", "('a', 1), ('b', 3), ('c', 2)", "a"}}, bind: bindSame},
	{Name: "LISTAGG", Aliases: []string{"STRING_AGG"}, Kind: AggList, Signature: "LISTAGG([DISTINCT] x [, separator]) [WITHIN GROUP (ORDER BY …)]", least: 1, most: 2,
		Help:     "The strings in one, with a separator, ',' by default; ordered as given, or by the strings themselves.",
		Examples: []RowsExample{{"LISTAGG(x, '-') WITHIN GROUP (ORDER BY y)", "('a', 1), ('b', 3), ('c', 2)", "a-c-b"}, {"LISTAGG(DISTINCT x)", "('b'), ('a'), ('b')", "a,b"}}, bind: bindList},
	{Name: "ARRAY_AGG", Kind: AggArray, KeepNull: true, Signature: "ARRAY_AGG([DISTINCT] x [ORDER BY …])", least: 1, most: 1,
		Help:     "The values in an array, NULLs too; ordered as given, or by the values themselves.",
		Examples: []RowsExample{{"ARRAY_AGG(x ORDER BY x DESC)", "(1), (3), (2)", "[3, 2, 1]"}}, bind: bindArrayAgg},
	{Name: "JSON_ARRAYAGG", Kind: AggJSONArray, Signature: "JSON_ARRAYAGG(x [NULL | ABSENT ON NULL])", least: 1, most: 1,
		Help:     "The values in a JSON array, in their order; without NULLs unless NULL ON NULL is written.",
		Examples: []RowsExample{{"JSON_ARRAYAGG(x)", "('b'), ('a')", `["a","b"]`}, {"JSON_ARRAYAGG(x)", "(11), (1), (9)", `[1,9,11]`}}, bind: bindList},
	{Name: "JSON_OBJECTAGG", Kind: AggJSONObject, Signature: "JSON_OBJECTAGG([KEY] k VALUE v [NULL | ABSENT ON NULL])", least: 1, most: 1,
		Help:     "The pairs in a JSON object, in the order of their keys; with NULLs unless ABSENT ON NULL is written.",
		Examples: []RowsExample{{"JSON_OBJECTAGG(KEY x VALUE y)", "('b', '2'), ('a', '1')", `{"a":"1","b":"2"}`}}, bind: bindList},
}

func aggTyped(t types.Type) func([]Expr) ([]Expr, types.Type, error) {
	return func(args []Expr) ([]Expr, types.Type, error) { return args, t, nil }
}

// bindSum follows Flink: a sum has its argument's type, and of DECIMAL all the digits there are.
func bindSum(args []Expr) ([]Expr, types.Type, error) {
	t := args[0].Type().Nullable()
	if !t.IsNumeric() {
		return nil, t, argErrorf(0, "a sum needs numbers, and this is %s", t)
	}
	if t.Kind == types.Decimal {
		t = types.DecimalOf(types.MaxDecimalPrecision, t.Scale)
	}
	return args, t, nil
}

// bindAvg follows Flink: of DECIMAL with six fractional digits at least.
func bindAvg(args []Expr) ([]Expr, types.Type, error) {
	t := args[0].Type().Nullable()
	if !t.IsNumeric() {
		return nil, t, argErrorf(0, "a mean needs numbers, and this is %s", t)
	}
	if t.Kind == types.Decimal {
		t = types.DecimalOf(types.MaxDecimalPrecision, max(6, t.Scale))
	}
	return args, t, nil
}

func bindOrdered(args []Expr) ([]Expr, types.Type, error) {
	t := args[0].Type().Nullable()
	switch t.Kind {
	case types.Array, types.Map, types.Row:
		return nil, t, argErrorf(0, "values of type %s have no order", t)
	}
	return args, t, nil
}

func bindDouble(args []Expr) ([]Expr, types.Type, error) {
	t := args[0].Type()
	if !t.IsNumeric() {
		return nil, t, argErrorf(0, "a variance needs numbers, and this is %s", t)
	}
	e, err := Cast(args[0], types.Of(types.Double), false)
	return []Expr{e}, types.Of(types.Double), err
}

func bindBoolean(args []Expr) ([]Expr, types.Type, error) {
	if t := args[0].Type(); t.Kind != types.Boolean {
		return nil, t, argErrorf(0, "a condition is BOOLEAN, and this is %s", t)
	}
	return args, types.Of(types.Boolean), nil
}

func bindSame(args []Expr) ([]Expr, types.Type, error) { return args, args[0].Type().Nullable(), nil }

func bindList(args []Expr) ([]Expr, types.Type, error) {
	for i, a := range args {
		if !a.Type().IsString() {
			return nil, a.Type(), argErrorf(i, "a string is needed, and this is %s; write a CAST", a.Type())
		}
	}
	return args, types.String(), nil
}

func bindArrayAgg(args []Expr) ([]Expr, types.Type, error) {
	return args, types.ArrayOf(args[0].Type().Nullable()), nil
}
