package op

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/sluicesql/sluice/engine/changelog"
	"github.com/sluicesql/sluice/engine/expr"
	"github.com/sluicesql/sluice/engine/keyenc"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/state"
	"github.com/sluicesql/sluice/engine/types"
)

// TestJoinManyRandom holds the join of three inputs, after every epoch, to a join of the live rows computed anew: over
// all layouts and kinds of input, with changes that arrive in any order.
func TestJoinManyRandom(t *testing.T) {
	seed := uint64(0)
	for _, a := range randomForms {
		for _, b := range randomForms {
			for _, c := range randomForms {
				seed++
				t.Run(fmt.Sprintf("%s/%s/%s", a, b, c), func(t *testing.T) {
					t.Parallel()
					runMany(t, seed, []randomForm{a, b, c}, seed%2 == 0)
				})
			}
		}
	}
}

func runMany(t *testing.T, seed uint64, forms []randomForm, residual bool) {
	rng := rand.New(rand.NewPCG(seed, 9))
	have := rowSum{}
	opts := state.Options{Shards: 1}
	if seed%10 == 0 {
		opts.Dir = t.TempDir()
	}
	store, err := state.Open(opts)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	sh := store.Shard(0, 0)
	var inputs []JoinSide
	var ins [][]types.Type
	sides := make([]*randomSide, len(forms))
	for i, f := range forms {
		s := JoinSide{
			Table: sh.Table(state.TableID(0, uint8(i)), f.unique == nil), Key: keyenc.Columns(randomTypes, []int{0}), Bag: f.unique == nil, Upsert: f.upsert,
			Name: fmt.Sprint("input ", i), Describe: func(r row.Row) string { return fmt.Sprintf("%x", []byte(r)) },
		}
		if len(f.unique) == 2 {
			s.Sub = keyenc.Columns(randomTypes, []int{1})
		}
		sides[i] = &randomSide{form: f, rng: rng, keys: 4}
		if i == 1 && !f.upsert {
			s.Nulls, sides[i].nulls = NullsDropped, true
		}
		inputs, ins = append(inputs, s), append(ins, randomTypes)
	}
	var on expr.Expr
	if residual {
		on = mustResolve(t, "<>", &expr.Column{Index: 2, Name: "v", T: types.String()}, &expr.Column{Index: 8, Name: "v", T: types.String()})
	}
	j, err := NewJoinMany(&expr.Ctx{}, inputs, ins, on, nil, have)
	if err != nil {
		t.Fatal(err)
	}
	for epoch := range 30 {
		units := make([][]randomUnit, len(sides))
		left := 0
		for i, s := range sides {
			units[i] = s.epoch(rng.IntN(10))
			left += len(units[i])
		}
		for left > 0 {
			port := rng.IntN(len(sides))
			n := min(1+rng.IntN(8), len(units[port]))
			var b changelog.Batch
			for _, u := range units[port][:n] {
				for _, c := range u {
					b.AppendRow(c.op, c.r)
				}
			}
			units[port], left = units[port][n:], left-n
			if err := j.Port(port).Push(&b); err != nil {
				t.Fatal(err)
			}
		}
		if err := j.Barrier(); err != nil {
			t.Fatalf("epoch %d: %v", epoch, err)
		}
		if want := naiveMany(sides, residual); !maps.Equal(have, want) {
			t.Fatalf("after epoch %d: %d different rows came out, of %d wanted", epoch, len(have), len(want))
		}
	}
	if opts.Dir == "" {
		return
	}
	f := sh.Freeze()
	if err := store.Commit([]*state.Frozen{f}, []byte("cut")); err != nil {
		t.Fatal(err)
	}
	if err := sh.Durable(f); err != nil {
		t.Fatal(err)
	}
	again := rowSum{}
	j.next = again
	if err := j.Reemit(); err != nil || !maps.Equal(again, have) {
		t.Errorf("reemitted %d different rows, want %d: %v", len(again), len(have), err)
	}
}

func naiveMany(sides []*randomSide, residual bool) rowSum {
	out := rowSum{}
	for _, x := range sides[0].live {
		for _, y := range sides[1].live {
			for _, z := range sides[2].live {
				if x.k != y.k || x.k != z.k || residual && x.v == z.v {
					continue
				}
				var b row.Builder
				b.Begin(nil, 9)
				for i, r := range []randomRow{x, y, z} {
					b.Int64(3*i, r.k)
					b.Int64(3*i+1, r.id)
					b.String(3*i+2, r.v)
				}
				out[string(b.Finish(nil))]++
			}
		}
	}
	return out
}
