package op

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/sluicesql/sluice/engine/changelog"
	"github.com/sluicesql/sluice/engine/expr"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/types"
)

// combineTypes are one column of each physical form, in turn.
func combineTypes(n, from int) []types.Type {
	of := []types.Type{types.Of(types.BigInt), types.String(), types.DecimalOf(38, 2), types.Of(types.Double)}
	ts := make([]types.Type, n)
	for i := range ts {
		ts[i] = of[(i+from)%len(of)]
	}
	return ts
}

func randomOf(rng *rand.Rand, ts []types.Type) row.Row {
	var b row.Builder
	b.Begin(nil, len(ts))
	for i, t := range ts {
		if rng.IntN(4) == 0 {
			continue
		}
		b.Datum(i, t.Phys(), row.Datum{I: rng.Int64N(1000), Hi: rng.Int64N(3), B: []byte("some text"[:rng.IntN(10)])})
	}
	return b.Finish(nil)
}

// Copying straight from two rows gives the same rows as computing columns from the wide one: in any selection and
// order of columns, across the border of 64 columns too.
func TestCombineDirectAndWide(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, n := range [][2]int{{1, 1}, {3, 5}, {40, 40}, {63, 1}, {70, 70}} {
		l, r := combineTypes(n[0], 0), combineTypes(n[1], 1)
		wide := append(append([]types.Type(nil), l...), r...)
		for range 20 {
			var project []expr.Expr
			ts := wide
			if rng.IntN(4) > 0 { // else the wide row itself
				ts = nil
				for range 1 + rng.IntN(len(wide)) {
					i := rng.IntN(len(wide))
					project = append(project, &expr.Column{Index: i, Name: fmt.Sprint(i), T: wide[i]})
					ts = append(ts, wide[i])
				}
			}
			direct, err := NewCombine(&expr.Ctx{}, l, r, nil, project)
			if err != nil {
				t.Fatal(err)
			}
			if !direct.plain {
				t.Fatal("plain columns are not copied directly")
			}
			always := &expr.Const{Value: row.Bool(true), T: types.Of(types.Boolean)}
			computed := make([]expr.Expr, len(ts))
			for i := range computed {
				computed[i] = columnOf(i, wide)
				if project != nil {
					computed[i] = project[i]
				}
				if rng.IntN(2) == 0 {
					computed[i] = mustResolve(t, "COALESCE", computed[i], computed[i])
				}
			}
			wideWay, err := NewCombine(&expr.Ctx{}, l, r, always, computed)
			if err != nil {
				t.Fatal(err)
			}
			var a, b changelog.Batch
			for range 5 {
				x, y := randomOf(rng, l), randomOf(rng, r)
				direct.append(&a, changelog.Insert, x, y)
				wideWay.append(&b, changelog.Insert, x, y)
			}
			for i := range a.Len() {
				if !bytes.Equal(a.Row(i), b.Row(i)) {
					t.Fatalf("%v of %v:\n%x directly\n%x by expressions", project, wide, a.Row(i), b.Row(i))
				}
				if err := row.Check(a.Row(i), ts); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}
