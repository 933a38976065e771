package expr

import (
	"math"
	"testing"

	"github.com/sluicesql/sluice/engine/types"
)

func TestThreeValuedLogic(t *testing.T) {
	values := []any{true, false, nil}
	and := [3][3]string{{"TRUE", "FALSE", "NULL"}, {"FALSE", "FALSE", "FALSE"}, {"NULL", "FALSE", "NULL"}}
	or := [3][3]string{{"TRUE", "TRUE", "TRUE"}, {"TRUE", "FALSE", "NULL"}, {"TRUE", "NULL", "NULL"}}
	for i, a := range values {
		for j, b := range values {
			check(t, and[i][j], "AND", a, b)
			check(t, or[i][j], "OR", a, b)
		}
	}
	failing := resolved(t, "=", resolved(t, "/", 1, 0), 1)
	check(t, "FALSE", "AND", false, failing)
	check(t, "error: division by zero", "AND", nil, failing)
	check(t, "TRUE", "OR", true, failing)
	check(t, "1", "CASE", true, 1, failing, 2)
	check(t, "1", "COALESCE", 1, resolved(t, "/", 1, 0))
}

func TestComparisons(t *testing.T) {
	big := dec("99999999999999999999999999999999999999", 38, 0)
	for _, c := range []struct {
		a, b any
		cmp  int
	}{
		{1, 2, -1}, {int64(math.MaxInt64), math.MaxInt32, 1}, {int64(math.MinInt64), -1, -1},
		{1, dec("1.00", 3, 2), 0}, {dec("1.01", 3, 2), 1, 1}, {dec("0.1", 2, 1), dec("0.10", 20, 2), 0},
		{int64(math.MaxInt64), big, -1}, {big, dec("0.00000000000000000000000000000000000001", 38, 38), 1},
		{int64(math.MaxInt64), dec("9223372036854775807.1", 20, 1), -1},
		{1.5, 1, 1}, {dec("1.5", 2, 1), 1.5, 0}, {math.NaN(), math.Inf(1), 1}, {math.NaN(), math.NaN(), 0}, {math.Copysign(0, -1), 0.0, 0},
		{"a", "b", -1}, {"", "a", -1}, {"ab", "a", 1}, {"я", "z", 1}, {"￿", "😀", -1},
		{false, true, -1},
		{date("1969-12-31"), date("1970-01-01"), -1}, {date("2024-02-29"), timestamp("2024-02-29 00:00:00"), 0},
		{date("2024-02-29"), timestamp("2024-02-29 00:00:00.001"), -1},
		{lit(types.TimestampOf(9), "1969-12-31 23:59:59.999999999"), timestamp("1970-01-01 00:00:00"), -1},
		{lit(types.TimestampOf(9), "2024-01-01 00:00:00.000000001"), lit(types.TimestampOf(6), "2024-01-01 00:00:00"), 1},
		{timestamp("2024-01-01 00:00:00"), "2024-01-01 00:00:00.000000001", -1},
		{"2024-01-01", date("2024-01-01"), 0}, {instant("2024-01-01 00:00:00Z"), "2024-01-01 00:00:00", 0},
		{days("1 00:00:00"), days("0 23:59:59"), 1}, {months("1-0"), months("0-11"), 1},
	} {
		for op, holds := range map[string]bool{"=": c.cmp == 0, "<>": c.cmp != 0, "<": c.cmp < 0, "<=": c.cmp <= 0, ">": c.cmp > 0, ">=": c.cmp >= 0} {
			want := "FALSE"
			if holds {
				want = "TRUE"
			}
			check(t, want, op, c.a, c.b)
		}
		equal := "FALSE"
		if c.cmp == 0 {
			equal = "TRUE"
		}
		check(t, equal, "IS NOT DISTINCT FROM", c.a, c.b)
		check(t, "TRUE", "IS DISTINCT FROM", c.a, nil)
	}
}

// The fast paths for columns agree with the general ones.
func TestComparisonsOfColumns(t *testing.T) {
	schema := []types.Type{types.Of(types.Int), types.Of(types.BigInt), types.String(), types.DecimalOf(38, 2), types.Of(types.Double)}
	col := func(i int) *Column { return &Column{Index: i, Name: "c", T: schema[i]} }
	values := [][]any{
		{1, 1, "a", 1, 1.0}, {2, 1, "b", 2, 2.5}, {-1, 1, "", -1, -1.0}, {nil, 1, nil, nil, nil}, {1, nil, "abc", 1, 0.0},
	}
	consts := []any{1, int64(1), "b", dec("1.00", 3, 2), 1.0}
	for _, op := range []string{"=", "<>", "<", "<=", ">", ">="} {
		for _, v := range values {
			r := pack(t, schema, v...)
			for i := range schema {
				fast := compiled(t, resolved(t, op, col(i), consts[i]))
				slow := compiled(t, resolved(t, op, resolved(t, "COALESCE", col(i), col(i)), resolved(t, "COALESCE", consts[i], consts[i])))
				var c Ctx
				if a, b := fast(&c, r), slow(&c, r); a.Null != b.Null || a.I != b.I {
					t.Errorf("%v %s %v: %v and %v", v[i], op, consts[i], a, b)
				}
			}
			both := compiled(t, resolved(t, op, col(0), col(1)))
			slow := compiled(t, resolved(t, op, resolved(t, "COALESCE", col(0), col(0)), col(1)))
			var c Ctx
			if a, b := both(&c, r), slow(&c, r); a.Null != b.Null || a.I != b.I {
				t.Errorf("%v: %v and %v", v, a, b)
			}
		}
	}
}

func compiled(t testing.TB, e Expr) Fn {
	t.Helper()
	f, err := Compile(e)
	if err != nil {
		t.Fatalf("%s: %v", e, err)
	}
	return f
}

func TestInSets(t *testing.T) {
	ints := []any{5, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	check(t, "TRUE", "IN", ints...)
	ints[0] = 11
	check(t, "FALSE", "IN", ints...)
	check(t, "NULL", "IN", append(ints, nil)...)
	strings := []any{"k", "a", "b", "c", "d", "e", "f", "g", "h", "i", "j"}
	check(t, "FALSE", "IN", strings...)
	check(t, "TRUE", "IN", append(strings, "k")...)
	check(t, "TRUE", "IN", append(ints, 11.0)...)
	check(t, "TRUE", "IN", date("2024-02-29"), "2024-01-01", timestamp("2024-02-29 00:00:00"))
	check(t, "FALSE", "IN", date("2024-02-29"), date("2024-01-01"), timestamp("2024-02-29 00:00:01"))
	if _, err := call("BETWEEN", resolved(t, "RAND"), 0, 1); err == nil {
		t.Error("BETWEEN of a random value")
	}
}

func TestNestedEquality(t *testing.T) {
	arr := func(v ...any) Expr { return resolved(t, "ARRAY", v...) }
	check(t, "TRUE", "=", arr(1, 2), arr(int64(1), int64(2)))
	check(t, "FALSE", "=", arr(1, 2), arr(1, 2, 3))
	check(t, "TRUE", "=", arr(1, nil), arr(1, nil))
	check(t, "TRUE", "=", resolved(t, "MAP", "a", 1, "b", 2), resolved(t, "MAP", "b", 2, "a", 1))
	check(t, "FALSE", "=", resolved(t, "MAP", "a", 1), resolved(t, "MAP", "a", 2))
	check(t, "TRUE", "<>", resolved(t, "ROW", 1, "x"), resolved(t, "ROW", 1, "y"))
	check(t, "TRUE", "=", resolved(t, "ROW", 1, "x"), resolved(t, "ROW", int64(1), "x"))
	check(t, "2", "ITEM", resolved(t, "MAP", "a", 1, "b", 2), "b")
	check(t, "NULL", "ITEM", resolved(t, "MAP", "a", 1, "b", 2), "c")
	check(t, "2", "CARDINALITY", resolved(t, "MAP", "a", 1, "b", 2))
	check(t, "x", "FIELD", resolved(t, "ROW", 1, "x"), "EXPR$1")
	check(t, "error: no field", "FIELD", resolved(t, "ROW", 1, "x"), "y")
	check(t, "{a=NULL}", "MAP", "a", nil)
}

func TestCommonType(t *testing.T) {
	of := types.Of
	for _, c := range []struct{ a, b, want types.Type }{
		{of(types.TinyInt), of(types.BigInt), of(types.BigInt)},
		{of(types.Int), types.DecimalOf(5, 2), types.DecimalOf(12, 2)},
		{of(types.BigInt), types.DecimalOf(38, 10), types.DecimalOf(38, 10)},
		{of(types.BigInt), of(types.Float), of(types.Float)},
		{types.DecimalOf(5, 2), of(types.Float), of(types.Double)},
		{of(types.Float), of(types.Double), of(types.Double)},
		{types.Type{Kind: types.Char, Precision: 2}, types.Type{Kind: types.Char, Precision: 3}, types.Type{Kind: types.Varchar, Precision: 3}},
		{types.Type{Kind: types.Char, Precision: 2}, types.String(), types.String()},
		{of(types.Date), types.TimestampOf(6), types.TimestampOf(6)},
		{types.TimestampOf(3), types.TimestampOf(9), types.TimestampOf(9)},
		{of(types.Null), of(types.Date), of(types.Date)},
		{types.ArrayOf(of(types.Int)), types.ArrayOf(of(types.BigInt)), types.ArrayOf(of(types.BigInt))},
		{of(types.Int), types.String(), types.Type{}},
		{of(types.Boolean), of(types.Int), types.Type{}},
		{types.TimestampOf(3), types.TimestampLTZOf(3), types.Type{}},
		{of(types.IntervalDT), of(types.IntervalYM), types.Type{}},
	} {
		for _, pair := range [][2]types.Type{{c.a, c.b}, {c.b, c.a}} {
			got, ok := CommonType(pair[0], pair[1])
			if ok != (c.want.Kind != types.Invalid) || ok && !got.Equal(c.want) {
				t.Errorf("%s and %s: %s, %v; want %s", pair[0], pair[1], got, ok, c.want)
			}
		}
	}
}

func TestPredicate(t *testing.T) {
	col := &Column{Index: 0, Name: "a", T: types.Of(types.Int)}
	p, err := Predicate(resolved(t, ">", col, 1))
	if err != nil {
		t.Fatal(err)
	}
	var c Ctx
	for v, want := range map[any]bool{2: true, 1: false, nil: false} {
		got, err := p(&c, pack(t, []types.Type{col.T}, v))
		if err != nil || got != want {
			t.Errorf("%v > 1: %v, %v", v, got, err)
		}
	}
	p, err = Predicate(resolved(t, "=", resolved(t, "/", 1, col), 1))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p(&c, pack(t, []types.Type{col.T}, 0)); err == nil {
		t.Error("no error from a division by zero")
	}
	if ok, err := p(&c, pack(t, []types.Type{col.T}, 1)); !ok || err != nil {
		t.Errorf("after an error: %v, %v", ok, err)
	}
	if _, err := Predicate(col); err == nil {
		t.Error("an INT is no condition")
	}
}
