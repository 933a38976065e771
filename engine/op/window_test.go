package op

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/sluicesql/sluice/engine/changelog"
	"github.com/sluicesql/sluice/engine/expr"
	"github.com/sluicesql/sluice/engine/keyenc"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/state"
	"github.com/sluicesql/sluice/engine/types"
)

// windowTypes are (k INT, o INT, v STRING): partition, order, and what makes ties.
var windowTypes = []types.Type{types.Of(types.Int), types.Of(types.Int), types.String()}

// TestWindowRandom holds windows with and without limits to their definition, over random changes that come in any order
// within an epoch: with ties, equal rows, NULLs, groups large and small, in memory and over a directory with restarts.
func TestWindowRandom(t *testing.T) {
	kinds := []expr.WindowKind{expr.WindowRowNumber, expr.WindowRank, expr.WindowDenseRank}
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 3))
		w := &windowTest{t: t, rng: rng, kind: kinds[seed%3], changing: rng.IntN(3) > 0, durable: seed%4 == 0, size: []int{30, 400}[rng.IntN(2)]}
		order := keyenc.OrderColumn{Column: keyenc.Column{Index: 1, Phys: types.PhysInt}, Desc: rng.IntN(2) == 0, NullsLast: rng.IntN(2) == 0}
		w.spec = WindowSpec{Types: windowTypes, Partition: []int{0}, Order: []keyenc.OrderColumn{order}, AppendOnly: !w.changing, Name: "test"}
		if rng.IntN(2) == 0 {
			w.spec.Ties = []keyenc.OrderColumn{{Column: keyenc.Column{Index: 2, Phys: types.PhysBytes}, Desc: true}}
		}
		if rng.IntN(4) > 0 {
			w.spec.Limit = &WindowLimit{Kind: w.kind, Lo: 1, Hi: 1 + rng.Int64N(4)}
			switch rng.IntN(4) {
			case 0:
				w.spec.Limit.Hi = 1
			case 1:
				w.spec.Limit.Lo = 1 + rng.Int64N(w.spec.Limit.Hi)
			case 2:
				w.spec.Limit.Lo, w.spec.Limit.Hi = 3, 0
			}
		}
		if rng.IntN(2) == 0 || w.spec.Limit == nil {
			w.spec.Calls = []WindowCall{{Kind: w.kind, Arg: -1, Default: -1, Result: types.Of(types.BigInt).Required()}}
		}
		t.Run(fmt.Sprintf("%d/kind=%d/limit=%+v/calls=%d/ties=%d/changing=%v/durable=%v", seed, w.kind, w.spec.Limit, len(w.spec.Calls), len(w.spec.Ties), w.changing, w.durable), w.run)
	}
}

type windowTest struct {
	t                 *testing.T
	rng               *rand.Rand
	spec              WindowSpec
	kind              expr.WindowKind
	changing, durable bool
	size              int // changes an epoch
	live              []row.Row
	have              map[string]int
}

func (w *windowTest) row() row.Row {
	var b row.Builder
	b.Begin(nil, 3)
	b.Int64(0, w.rng.Int64N(2))
	if w.rng.IntN(6) > 0 {
		b.Int64(1, w.rng.Int64N(8))
	}
	b.String(2, string(rune('a'+w.rng.IntN(4))))
	return b.Finish(nil)
}

func (w *windowTest) run(t *testing.T) {
	w.t, w.have = t, map[string]int{}
	dir := ""
	if w.durable {
		dir = t.TempDir()
	}
	var store *state.Store
	var o *Window
	open := func() {
		var err error
		if store, err = state.Open(state.Options{Dir: dir, Shards: 1}); err != nil {
			t.Fatal(err)
		}
		w.spec.Table = store.Shard(0, 0).Table(0, true)
		ts := windowTypes
		if len(w.spec.Calls) > 0 {
			ts = append(slices.Clone(ts), w.spec.Calls[0].Result)
		}
		if o, err = NewWindow(w.spec, &counting{have: w.have, types: ts}); err != nil {
			t.Fatal(err)
		}
	}
	open()
	for epoch := range 10 {
		for _, b := range w.epoch() {
			if err := o.Push(b); err != nil {
				t.Fatal(err)
			}
		}
		if err := o.Barrier(); err != nil {
			t.Fatal(err)
		}
		if got, want := fmt.Sprint(w.have), fmt.Sprint(w.want()); got != want {
			t.Fatalf("epoch %d\ngot  %s\nwant %s", epoch, got, want)
		}
		if l := w.spec.Limit; l != nil && l.Kind == expr.WindowRowNumber && l.Hi > 0 && !w.changing && int64(w.spec.Table.Len()) > 2*l.Hi {
			t.Fatalf("%d rows are kept, of which %d can show", w.spec.Table.Len(), 2*l.Hi)
		}
		if w.durable {
			if err := store.Commit([]*state.Frozen{store.Shard(0, 0).Freeze()}, nil); err != nil {
				t.Fatal(err)
			}
			if err := store.Close(); err != nil {
				t.Fatal(err)
			}
			open()
		}
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
}

// epoch makes the changes of one epoch in batches.
func (w *windowTest) epoch() []*changelog.Batch {
	type change struct {
		op changelog.Op
		r  row.Row
	}
	var changes []change
	for range w.rng.IntN(w.size) {
		if w.changing && len(w.live) > 0 && w.rng.IntN(2) == 0 {
			i := w.rng.IntN(len(w.live))
			changes = append(changes, change{changelog.Delete, w.live[i]})
			w.live = slices.Delete(w.live, i, i+1)
			continue
		}
		r := w.row()
		w.live = append(w.live, r)
		changes = append(changes, change{changelog.Insert, r})
	}
	w.rng.Shuffle(len(changes), func(i, j int) { changes[i], changes[j] = changes[j], changes[i] })
	var out []*changelog.Batch
	for len(changes) > 0 {
		b := &changelog.Batch{}
		n := min(len(changes), 1+w.rng.IntN(20))
		for _, c := range changes[:n] {
			b.AppendRow(c.op, c.r)
		}
		out, changes = append(out, b), changes[n:]
	}
	return out
}

// want computes what shows of the live rows, from the start.
func (w *windowTest) want() map[string]int {
	out := map[string]int{}
	for k := range int64(2) {
		rows := slices.DeleteFunc(slices.Clone(w.live), func(r row.Row) bool { return r.Int64(0) != k })
		slices.SortFunc(rows, func(a, b row.Row) int {
			if c := w.compare(a, b); c != 0 {
				return c
			}
			if c := bytes.Compare(b.Bytes(2), a.Bytes(2)); c != 0 && len(w.spec.Ties) > 0 {
				return c
			}
			return slices.Compare(a, b)
		})
		rank, dense := int64(0), int64(0)
		for i, r := range rows {
			if i == 0 || w.compare(rows[i-1], r) != 0 {
				rank, dense = int64(i)+1, dense+1
			}
			n := map[expr.WindowKind]int64{expr.WindowRowNumber: int64(i) + 1, expr.WindowRank: rank, expr.WindowDenseRank: dense}[w.kind]
			if l := w.spec.Limit; l != nil && (n < l.Lo || l.Hi > 0 && n > l.Hi) {
				continue
			}
			text := []string{}
			for c, typ := range windowTypes {
				text = append(text, aggText(r, c, typ))
			}
			if len(w.spec.Calls) > 0 {
				text = append(text, fmt.Sprint(n))
			}
			out[strings.Join(text, "|")]++
		}
	}
	return out
}

// compare is the declared order.
func (w *windowTest) compare(a, b row.Row) int {
	o := w.spec.Order[0]
	if a.IsNull(1) != b.IsNull(1) {
		if a.IsNull(1) == o.NullsLast {
			return 1
		}
		return -1
	}
	c := int(a.Int64(1) - b.Int64(1))
	if o.Desc {
		return -c
	}
	return c
}
