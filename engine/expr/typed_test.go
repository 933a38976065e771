package expr

import (
	"testing"

	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/types"
)

// The closures over integers give what the general ones give, with NULLs in every place.
func TestTypedClosuresAgreeWithTheGeneralOnes(t *testing.T) {
	values := []row.Datum{row.NullDatum, row.Int(-3), row.Int(0), row.Int(3)}
	column := func(i int) Expr { return &Column{Index: i, Name: "c", T: types.Of(types.BigInt)} }
	positive := func(i int) Expr { return resolved(t, ">", column(i), 0) }
	for _, e := range []Expr{
		resolved(t, "CASE", positive(0), column(1), positive(1), column(2)),
		resolved(t, "CASE", positive(0), column(1), column(2)),
		resolved(t, "COALESCE", column(0), column(1), column(2)),
		resolved(t, "NULLIF", column(0), column(1)),
		resolved(t, "GREATEST", column(0), column(1), column(2)),
		resolved(t, "LEAST", column(0), column(1), column(2)),
	} {
		call := e.(*Call)
		var args []Fn
		for _, a := range call.Args {
			f, err := Compile(a)
			if err != nil {
				t.Fatal(err)
			}
			args = append(args, f)
		}
		general, err := call.Fn.build(call, args)
		if err != nil {
			t.Fatal(err)
		}
		typed, err := call.Fn.ints(call)
		if err != nil || typed == nil {
			t.Fatalf("%s: no closure over integers: %v", e, err)
		}
		for n := range len(values) * len(values) * len(values) {
			var b row.Builder
			b.Begin(nil, 3)
			phys := []types.Phys{types.PhysInt, types.PhysInt, types.PhysInt}
			for i, k := 0, n; i < 3; i, k = i+1, k/len(values) {
				b.Datum(i, types.PhysInt, values[k%len(values)])
			}
			r := b.Finish(phys)
			var c Ctx
			want := general(&c, r)
			if got, null := typed(&c, r); null != want.Null || got != want.I {
				t.Errorf("%s of row %d: %d (NULL: %v), want %d (NULL: %v)", e, n, got, null, want.I, want.Null)
			}
		}
	}
}
