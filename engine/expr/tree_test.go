package expr

import (
	"fmt"
	"sync"
	"testing"

	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/types"
)

func column(i int, t types.Type) *Column { return &Column{Index: i, Name: fmt.Sprintf("c%d", i), T: t} }

func TestTree(t *testing.T) {
	a, b := column(3, types.Of(types.Int)), column(1, types.Of(types.Int))
	e := resolved(t, "AND", resolved(t, ">", resolved(t, "+", a, b), 1), resolved(t, "AND", resolved(t, "=", a, 2), resolved(t, "IS NULL", b)))
	if got := fmt.Sprint(ColumnsOf(e)); got != "[1 3]" {
		t.Error(got)
	}
	if ColumnsOf(IntConst(1)) != nil {
		t.Error("a constant has no columns")
	}
	if got := Conjuncts(e); len(got) != 3 || got[1].String() != "c3 = 2" {
		t.Error(got)
	}
	if And() != nil || And(a) != Expr(a) || !Equal(And(Conjuncts(e)...), And(Conjuncts(e)...)) || Conjuncts(nil) != nil {
		t.Error("And of conjuncts")
	}
	moved := Remap(e, func(c *Column) Expr {
		if c.Index == 3 {
			return column(0, types.Of(types.Int))
		}
		return nil
	})
	if got := moved.String(); got != "((c0 + c1) > 1) AND ((c0 = 2) AND (c1 IS NULL))" {
		t.Error(got)
	}
	if Remap(e, func(*Column) Expr { return nil }) != e {
		t.Error("a remap of nothing copies")
	}
	if !Equal(e, e) || Equal(e, moved) || Equal(IntConst(1), resolved(t, "ABS", 1)) || Equal(resolved(t, "RAND"), resolved(t, "RAND")) ||
		!Equal(StringConst("a"), StringConst("a")) || Equal(StringConst("a"), StringConst("b")) || Equal(IntConst(1), DoubleConst(1)) {
		t.Error("equality")
	}
	if !Deterministic(e) || Deterministic(resolved(t, "+", resolved(t, "RAND"), 1)) || Deterministic(resolved(t, "UNIX_TIMESTAMP")) {
		t.Error("determinism")
	}
}

func TestFold(t *testing.T) {
	a := column(0, types.Of(types.Boolean))
	x := column(1, types.Of(types.Int))
	for _, c := range []struct {
		e    Expr
		want string
	}{
		{resolved(t, "+", 1, 2), "3"}, {resolved(t, "=", x, resolved(t, "+", 1, 2)), "c1 = 3"}, {resolved(t, "/", 1, 0), "1 / 0"},
		{resolved(t, "AND", a, true), "c0"}, {resolved(t, "AND", true, a, false), "c0 AND FALSE"}, {resolved(t, "AND", false, a), "FALSE"}, {resolved(t, "OR", true, a), "TRUE"},
		{resolved(t, "OR", false, a, false), "c0"}, {resolved(t, "AND", nil, a), "CAST(NULL AS BOOLEAN) AND c0"},
		{resolved(t, "CASE", false, x, true, 2, a, 3), "CASE WHEN FALSE THEN c1 WHEN TRUE THEN 2 WHEN c0 THEN 3 END"},
		{resolved(t, "CASE", a, x, false, 2, 3), "CASE WHEN c0 THEN c1 ELSE 3 END"}, {resolved(t, "CASE", true, x, 3), "c1"},
		{resolved(t, "UPPER", "abc"), "'ABC'"}, {resolved(t, "+", resolved(t, "RAND"), resolved(t, "+", 1, 1)), "RAND() + 2"},
		{resolved(t, "+", date("2024-02-29"), days("1 00:00:00")), "DATE '2024-03-01'"},
		{resolved(t, "ARRAY", 1, 2), "ARRAY[1, 2]"}, {resolved(t, "MAP", "a", 1), "MAP['a', 1]"}, {resolved(t, "ROW", 1, "a"), "ROW(1, 'a')"},
	} {
		before := c.e.Type()
		got := Fold(c.e, nil)
		if c.want == "CASE WHEN FALSE THEN c1 WHEN TRUE THEN 2 WHEN c0 THEN 3 END" {
			c.want = "2" // its type changes from INT to INT NOT NULL only
		}
		if got.String() != c.want || !got.Type().Nullable().SameIgnoringNull(before.Nullable()) {
			t.Errorf("%s folds to %s (%s), want %s (%s)", c.e, got, got.Type(), c.want, before)
		}
	}
}

// One compiled expression serves many goroutines, each with its Ctx.
func TestConcurrentUse(t *testing.T) {
	s := column(0, types.String())
	e := resolved(t, "AND",
		resolved(t, "LIKE", resolved(t, "UPPER", s), resolved(t, "||", "%", "X%")),
		resolved(t, "REGEXP", s, resolved(t, "||", "x", "[0-9]")),
		resolved(t, "=", resolved(t, "JSON_VALUE", `{"a":1}`, "$.a"), "1"),
		resolved(t, "=", resolved(t, "CONCAT_WS", ",", s, s), resolved(t, "||", resolved(t, "||", s, ","), s)))
	p, err := Predicate(e)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			var c Ctx
			r := pack(t, []types.Type{s.T}, fmt.Sprintf("ax%d", g))
			for range 500 {
				if ok, err := p(&c, r); !ok || err != nil {
					t.Errorf("%v, %v", ok, err)
					return
				}
			}
		})
	}
	wg.Wait()
}

// Results stay whole while others are computed with the same Ctx, until Reset.
func TestScratch(t *testing.T) {
	s := column(0, types.String())
	f := compiled(t, resolved(t, "UPPER", s))
	var c Ctx
	var got []row.Datum
	for i := range 100 {
		got = append(got, f(&c, pack(t, []types.Type{s.T}, fmt.Sprintf("abc%d", i))))
	}
	for i, d := range got {
		if string(d.B) != fmt.Sprintf("ABC%d", i) {
			t.Fatalf("result %d became %s", i, d.B)
		}
	}
}

func TestNoAllocations(t *testing.T) {
	schema := []types.Type{types.Of(types.Int), types.String(), types.DecimalOf(20, 2), types.TimestampOf(6)}
	c0, c1, c2, c3 := column(0, schema[0]), column(1, schema[1]), column(2, schema[2]), column(3, schema[3])
	r := pack(t, schema, 7, "Mitya Volk", dec("12.50", 4, 2), timestamp("2024-02-29 12:34:56"))
	for _, e := range []Expr{
		resolved(t, "=", c0, 7), resolved(t, "<", c1, "x"), resolved(t, "+", c2, resolved(t, "*", c2, c0)), resolved(t, "UPPER", c1), resolved(t, "||", c1, c1),
		resolved(t, "LIKE", c1, "%V_lk"), resolved(t, "SUBSTRING", c1, 2, 3), resolved(t, "IN", c0, 1, 2, 3), resolved(t, "CASE", resolved(t, ">", c0, 1), c1, "x"),
		resolved(t, "EXTRACT", "MONTH", c3), resolved(t, "DATE_FORMAT", c3, "yyyy-MM-dd"), resolved(t, "FLOOR", c3, "DAY"), resolved(t, "COALESCE", c1, "x"), resolved(t, "CONCAT_WS", "-", c1, c1),
		resolved(t, "JSON_VALUE", `{"a": [1, {"b": "c"}]}`, "$.a[1].b"), resolved(t, "MD5", c1), must(Cast(c0, types.String(), false)), must(Cast(c2, types.Of(types.Double), false)), resolved(t, "IN", c1, "1", "2", "3", "4", "5", "6", "7", "8", "9", "a"),
		resolved(t, "ROUND", c2, 1), resolved(t, "REGEXP", c1, "V.l"), resolved(t, "/", c2, c0),
	} {
		f := compiled(t, e)
		var c Ctx
		run := func() {
			c.Reset()
			f(&c, r)
		}
		run()
		if n := testing.AllocsPerRun(100, run); n != 0 || c.Err != nil {
			t.Errorf("%s: %v allocations a row, %v", e, n, c.Err)
		}
	}
}

func benchmark(b *testing.B, e Expr, schema []types.Type, values ...any) {
	p, err := Predicate(e)
	if err != nil {
		b.Fatal(err)
	}
	r := pack(b, schema, values...)
	var c Ctx
	b.ReportAllocs()
	for b.Loop() {
		if _, err := p(&c, r); err != nil {
			b.Fatal(err)
		}
	}
}

func res(name string, args ...any) Expr { return must(call(name, args...)) }

func BenchmarkCompareInt(b *testing.B) {
	benchmark(b, res(">", column(0, types.Of(types.Int)), 5), []types.Type{types.Of(types.Int)}, 7)
}

func BenchmarkCompareString(b *testing.B) {
	benchmark(b, res("=", column(0, types.String()), "Approval"), []types.Type{types.String()}, "Approval")
}

// The filter of ten functions whose goal is two million rows a second.
func BenchmarkFilterTenFunctions(b *testing.B) {
	schema := []types.Type{types.Of(types.BigInt), types.String(), types.DecimalOf(10, 2), types.TimestampOf(3)}
	id, name, price, at := column(0, schema[0]), column(1, schema[1]), column(2, schema[2]), column(3, schema[3])
	e := res("AND",
		res(">", res("ABS", id), 0),
		res("=", res("MOD", id, 2), 1),
		res("LIKE", res("UPPER", name), "%VOLK%"),
		res(">", res("CHAR_LENGTH", res("TRIM", name)), 3),
		res("=", res("SUBSTRING", name, 1, 5), "Mitya"),
		res("<", res("ROUND", res("*", price, 2), 1), 1000),
		res("=", res("EXTRACT", "YEAR", at), 2024),
		res("<>", res("COALESCE", name, ""), "x"))
	benchmark(b, e, schema, int64(12345), " Mitya Volk"[1:], dec("12.50", 10, 2), timestamp("2024-02-29 12:34:56"))
}

func BenchmarkJSONValue(b *testing.B) {
	s := column(0, types.String())
	benchmark(b, res("=", res("JSON_VALUE", s, "$.int_c"), "5"), []types.Type{s.T}, `{"id_c": 12, "int_c": 5, "name": "a longer text of some kind", "list": [1, 2, 3]}`)
}
