package op

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/sluicesql/sluice/engine/changelog"
	"github.com/sluicesql/sluice/engine/expr"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/types"
)

// unnestForms are the kinds of lists: an ARRAY of values, of ROWs, and a MAP.
var unnestForms = map[string]types.Type{
	"array": types.ArrayOf(types.Of(types.Int)),
	"rows":  types.ArrayOf(types.RowOf(types.Field{Name: "a", Type: types.Of(types.Int)}, types.Field{Name: "b", Type: types.String()})),
	"map":   types.MapOf(types.String().Required(), types.Of(types.Int)),
}

// listRow is a row (id, list) whose list is NULL, or has n elements made from salt.
type listRow struct {
	id, salt int64
	n        int // −1: NULL
}

// elements are the parts of each element.
func (l listRow) elements(form string) [][]row.Datum {
	var out [][]row.Datum
	for i := range int64(l.n) {
		v := row.Int(l.salt + i)
		if (l.salt+i)%5 == 0 {
			v = row.NullDatum
		}
		text := row.Bytes([]byte(fmt.Sprint("t", i)))
		switch form {
		case "array":
			out = append(out, []row.Datum{v})
		case "rows":
			if v.Null { // the ROW itself is NULL
				text = row.NullDatum
			}
			out = append(out, []row.Datum{v, text})
		default:
			out = append(out, []row.Datum{text, v})
		}
	}
	return out
}

func (l listRow) pack(form string) row.Row {
	var b row.Builder
	b.Begin(nil, 2)
	b.Int64(0, l.id)
	if l.n >= 0 {
		var first, second []row.Datum
		for _, e := range l.elements(form) {
			switch form {
			case "rows":
				if e[0].Null {
					first = append(first, row.NullDatum)
					continue
				}
				var inner row.Builder
				inner.Begin(nil, 2)
				inner.Int64(0, e[0].I)
				inner.Bytes(1, e[1].B)
				first = append(first, row.Bytes(inner.Finish(nil)))
			default:
				first = append(first, e[0])
				second = append(second, e[len(e)-1])
			}
		}
		switch form {
		case "array":
			b.Bytes(1, row.AppendArray(nil, types.PhysInt, first))
		case "rows":
			b.Bytes(1, row.AppendArray(nil, types.PhysBytes, first))
		default:
			b.Bytes(1, row.AppendMap(nil, types.PhysBytes, types.PhysInt, first, second))
		}
	}
	return b.Finish(nil)
}

// TestUnnestRandom holds the operator, over random histories, to the elements of the live rows.
func TestUnnestRandom(t *testing.T) {
	for form, list := range unnestForms {
		for _, numbered := range []bool{false, true} {
			for _, keepEmpty := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/numbered=%v/keepEmpty=%v", form, numbered, keepEmpty), func(t *testing.T) {
					have := rowSum{}
					in := []types.Type{types.Of(types.Int), list}
					u, err := NewUnnest(&expr.Ctx{}, in, []int{0}, &expr.Column{Index: 1, Name: "list", T: list}, numbered, keepEmpty, have)
					if err != nil {
						t.Fatal(err)
					}
					rng := rand.New(rand.NewPCG(7, 8))
					var live []listRow
					for range 300 {
						var b changelog.Batch
						n := listRow{rng.Int64N(5), rng.Int64N(9), rng.IntN(5) - 1}
						switch at := rng.IntN(len(live) + 1); {
						case at == len(live) || rng.IntN(3) == 0:
							live = append(live, n)
							b.AppendRow(changelog.Insert, n.pack(form))
						case rng.IntN(2) == 0:
							b.AppendRow(changelog.Delete, live[at].pack(form))
							live = append(live[:at], live[at+1:]...)
						default:
							b.AppendRow(changelog.UpdateBefore, live[at].pack(form))
							b.AppendRow(changelog.UpdateAfter, n.pack(form))
							live[at] = n
						}
						if err := u.Push(&b); err != nil {
							t.Fatal(err)
						}
						if want := unnested(live, form, list, numbered, keepEmpty); !maps.Equal(have, want) {
							t.Fatalf("%d different rows, want %d", len(have), len(want))
						}
					}
				})
			}
		}
	}
}

// rowSum adds up weights by row.
type rowSum map[string]int

func (s rowSum) Push(b *changelog.Batch) error {
	for i := range b.Len() {
		r := string(b.Row(i))
		if s[r] += b.Op(i).Weight(); s[r] == 0 {
			delete(s, r)
		}
	}
	return nil
}

func unnested(live []listRow, form string, list types.Type, numbered, keepEmpty bool) rowSum {
	parts, _ := expr.ListParts(list)
	width := 1 + len(parts)
	if numbered {
		width++
	}
	out := rowSum{}
	for _, l := range live {
		elems := l.elements(form)
		if len(elems) == 0 && keepEmpty {
			elems = [][]row.Datum{nil}
		}
		for i, e := range elems {
			var b row.Builder
			b.Begin(nil, width)
			b.Int64(0, l.id)
			for k, d := range e {
				b.Datum(1+k, parts[k].Phys(), d)
			}
			if numbered && e != nil {
				b.Int64(width-1, int64(i+1))
			}
			out[string(b.Finish(nil))]++
		}
	}
	return out
}
