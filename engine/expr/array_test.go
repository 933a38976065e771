package expr

import (
	"math"
	"testing"

	"github.com/sluicesql/sluice/engine/types"
)

func TestArrays(t *testing.T) {
	arr := func(args ...any) Expr { return resolved(t, "ARRAY", args...) }
	nested := arr(arr(1, nil), arr(1, nil), resolved(t, "ARRAY_REMOVE", arr(1), 1))
	for _, c := range []struct {
		want, name string
		args       []any
	}{
		// The common type of array and element.
		{"[1.0, 2.5]", "ARRAY_APPEND", []any{arr(1), 2.5}}, {"[a, bcd]", "ARRAY_APPEND", []any{arr("a"), "bcd"}}, {"error: the array's elements are INT, not CHAR(1)", "ARRAY_APPEND", []any{arr(1), "a"}},
		{"TRUE", "ARRAY_CONTAINS", []any{arr(1, 2), dec("2.0", 2, 1)}}, {"[1.0, 2.0]", "ARRAY_UNION", []any{arr(1), arr(2.0)}},
		// Equality is that of comparisons: NaN equals NaN, the zeros of both signs are equal, strings keep their blanks.
		{"[NaN]", "ARRAY_DISTINCT", []any{arr(math.NaN(), math.NaN())}}, {"[0.0]", "ARRAY_DISTINCT", []any{arr(0.0, math.Copysign(0, -1))}}, {"[a, a ]", "ARRAY_DISTINCT", []any{arr("a", "a ", "a")}},
		{"2", "ARRAY_POSITION", []any{arr(1.0, math.NaN()), math.NaN()}},
		// Nested elements, and their NULLs.
		{"[[1, NULL], []]", "ARRAY_DISTINCT", []any{nested}}, {"error: have no order", "ARRAY_SORT", []any{nested}}, {"error: have no order", "ARRAY_MAX", []any{nested}},
		{"[-9223372036854775808, 9223372036854775807]", "ARRAY_SORT", []any{arr(int64(math.MaxInt64), int64(math.MinInt64))}},
		{"[￿, 😀]", "ARRAY_SORT", []any{arr("😀", "\uffff")}}, {"[NULL, 2, 1]", "ARRAY_SORT", []any{arr(1, nil, 2), false, true}}, {"[NULL, NULL]", "ARRAY_SORT", []any{resolved(t, "ARRAY_REMOVE", arr(nil, 1, nil), 1)}},
		{"[1, 2]", "ARRAY_SLICE", []any{arr(1, 2), -9, 9}}, {"[]", "ARRAY_SLICE", []any{arr(1, 2), 3, 4}}, {"[]", "ARRAY_SLICE", []any{arr(1, 2), -1, -2}}, {"[2]", "ARRAY_SLICE", []any{arr(1, 2, 3), -2, -2}}, {"[]", "ARRAY_SLICE", []any{arr(1, 2), 1, -3}},
		{"", "ARRAY_JOIN", []any{resolved(t, "ARRAY_REMOVE", arr("a"), "a"), ","}}, {"error: must be an ARRAY of strings", "ARRAY_JOIN", []any{arr(1), ","}},
		{"1", "CARDINALITY", []any{resolved(t, "SPLIT", "", ",")}}, {"0", "CARDINALITY", []any{resolved(t, "SPLIT", "", "")}}, {"[, a, , b]", "SPLIT", []any{"--a----b", "--"}}, {"[😀, б]", "SPLIT", []any{"😀б", ""}},
		{"NULL", "ARRAY_CONCAT", []any{nil, nil}}, {"error: must be an ARRAY", "ARRAY_REVERSE", []any{"a"}}, {"error: have no common type", "ARRAY_UNION", []any{arr(1), arr("a")}},
		{"NULL", "ELEMENT", []any{resolved(t, "ARRAY_REMOVE", arr(1), 1)}}, {"NULL", "ELEMENT", []any{arr(nil)}},
		{"{a=1, NULL=2}", "MAP_FROM_ARRAYS", []any{arr("a", nil), arr(1, 2)}}, {"[(k, 1.5)]", "MAP_ENTRIES", []any{resolved(t, "MAP", "k", 1.5)}}, {"{1=b}", "MAP_UNION", []any{resolved(t, "MAP", 1, "a"), resolved(t, "MAP", 1, "b")}},
		{"error: takes 1 or 3 arguments", "STR_TO_MAP", []any{"a", ","}}, {"{=, a=NULL}", "STR_TO_MAP", []any{"=,a"}}, {"{ab=NULL}", "STR_TO_MAP", []any{"ab", "", ""}}, {"error: regular expression", "STR_TO_MAP", []any{"a", "(", "="}},
	} {
		check(t, c.want, c.name, c.args...)
	}
}

// Sets of many elements are searched by key; the results are those of few.
func TestManyElements(t *testing.T) {
	for _, typ := range []types.Type{types.Of(types.Double), types.DecimalOf(38, 0), types.String(), types.Of(types.Int)} {
		var args, half []Expr
		for i := range 100 {
			e := must(Cast(IntConst(int64(i%40)), typ, false))
			args = append(args, e)
			if i%2 == 0 {
				half = append(half, e)
			}
		}
		args = append(args, NullConst(typ), NullConst(typ))
		all, some := must(Resolve("ARRAY", args)), must(Resolve("ARRAY", half))
		for want, e := range map[string]Expr{
			"41": resolved(t, "ARRAY_DISTINCT", all), "21": resolved(t, "ARRAY_EXCEPT", all, some), "20": resolved(t, "ARRAY_INTERSECT", all, some),
		} {
			check(t, want, "CARDINALITY", e)
		}
	}
}
