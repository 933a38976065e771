package op

import (
	"math/rand/v2"
	"testing"

	"github.com/sluicesql/sluice/engine/changelog"
	"github.com/sluicesql/sluice/engine/expr"
	"github.com/sluicesql/sluice/engine/keyenc"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/types"
)

// benchTypes are (k INT, v BIGINT, id BIGINT).
var benchTypes = []types.Type{types.Of(types.Int), types.Of(types.BigInt), types.Of(types.BigInt)}

// benchBatches are changes over so many keys: inserts, and where changing every other one an update of a row before.
func benchBatches(keys, n int, changing bool) []*changelog.Batch {
	rng := rand.New(rand.NewPCG(1, 1))
	var rb row.Builder
	pack := func(k, v, id int64) row.Row {
		rb.Begin(nil, 3)
		rb.Int64(0, k)
		rb.Int64(1, v)
		rb.Int64(2, id)
		return rb.Finish(nil)
	}
	var out []*changelog.Batch
	var old []row.Row
	for i := 0; i < n; {
		b := &changelog.Batch{}
		for ; b.Len() < 1024 && i < n; i++ {
			k := rng.Int64N(int64(keys))
			if changing && i%2 == 1 && len(old) > 0 {
				at := rng.IntN(len(old))
				r := pack(old[at].Int64(0), rng.Int64N(1<<40), old[at].Int64(2))
				b.AppendRow(changelog.UpdateBefore, old[at])
				b.AppendRow(changelog.UpdateAfter, r)
				old[at] = r
				continue
			}
			r := pack(k, rng.Int64N(1<<40), int64(i))
			old = append(old, r)
			b.AppendRow(changelog.Insert, r)
		}
		out = append(out, b)
	}
	return out
}

// drain drops what it is given.
type drain struct{}

func (drain) Push(*changelog.Batch) error { return nil }

// benchOperator pushes all batches, with a barrier every hundred of them, which is an epoch of a busy job; it reports
// the time of one change.
func benchOperator(b *testing.B, batches []*changelog.Batch, open func() (Output, Operator)) {
	changes := 0
	for _, c := range batches {
		changes += c.Len()
	}
	for b.Loop() {
		o, barrier := open()
		for i, c := range batches {
			if err := o.Push(c); err != nil {
				b.Fatal(err)
			}
			if i%100 == 99 || i == len(batches)-1 {
				if err := barrier.Barrier(); err != nil {
					b.Fatal(err)
				}
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(changes), "ns/change")
}

func benchAggregate(b *testing.B, batches []*changelog.Batch, bags []AggregateBag, calls ...AggregateCall) {
	benchOperator(b, batches, func() (Output, Operator) {
		sh := memoryShard(b)
		spec := AggregateSpec{Table: sh.Table(0, false), Tails: sh.Table(1, false), Types: benchTypes, Key: []int{0}, Calls: calls}
		for i, g := range bags {
			g.Table = sh.Table(uint16(2+i), true)
			spec.Bags = append(spec.Bags, g)
		}
		a, err := NewAggregate(spec, drain{})
		if err != nil {
			b.Fatal(err)
		}
		return a, a
	})
}

func BenchmarkAggregateCountSum(b *testing.B) {
	batches := benchBatches(1_000_000, 2_500_000, true)
	bigint := types.Of(types.BigInt)
	b.ResetTimer()
	benchAggregate(b, batches, nil,
		AggregateCall{Kind: expr.AggCount, Filter: -1, Bag: -1, Result: bigint}, AggregateCall{Kind: expr.AggSum, Args: []int{1}, Filter: -1, Bag: -1, Result: bigint})
}

func BenchmarkAggregateMaxChanging(b *testing.B) {
	batches := benchBatches(1_000_000, 2_500_000, true)
	b.ResetTimer()
	benchAggregate(b, batches, []AggregateBag{{Args: []int{1}, Filter: -1}}, AggregateCall{Kind: expr.AggMax, Args: []int{1}, Filter: -1, Bag: 0, Result: types.Of(types.BigInt)})
}

func BenchmarkAggregateMaxAppend(b *testing.B) {
	batches := benchBatches(1_000_000, 5_000_000, false)
	b.ResetTimer()
	benchAggregate(b, batches, nil, AggregateCall{Kind: expr.AggMax, Args: []int{1}, Filter: -1, Bag: -1, Result: types.Of(types.BigInt)})
}

func BenchmarkAggregateSumDouble(b *testing.B) {
	batches := benchBatches(100_000, 1_000_000, false)
	ts := benchTypes
	defer func() { benchTypes = ts }()
	benchTypes = []types.Type{ts[0], types.Of(types.Double), ts[2]}
	b.ResetTimer()
	benchAggregate(b, batches, nil, AggregateCall{Kind: expr.AggSum, Args: []int{1}, Filter: -1, Bag: -1, Result: types.Of(types.Double)})
}

func benchWindow(b *testing.B, batches []*changelog.Batch, appendOnly bool) {
	b.ResetTimer()
	benchOperator(b, batches, func() (Output, Operator) {
		w, err := NewWindow(WindowSpec{
			Table: memoryShard(b).Table(0, true), Types: benchTypes, Partition: []int{0}, AppendOnly: appendOnly,
			Order: []keyenc.OrderColumn{{Column: keyenc.Column{Index: 1, Phys: types.PhysInt}, Desc: true}},
			Limit: &WindowLimit{Kind: expr.WindowRowNumber, Lo: 1, Hi: 1},
		}, drain{})
		if err != nil {
			b.Fatal(err)
		}
		return w, w
	})
}

func BenchmarkFirstRowChanging(b *testing.B) {
	benchWindow(b, benchBatches(1_000_000, 2_500_000, true), false)
}

func BenchmarkFirstRowAppend(b *testing.B) {
	benchWindow(b, benchBatches(1_000_000, 5_000_000, false), true)
}

// BenchmarkOverOneChange gives a partition of 100,000 rows one row more, and takes it back, each in an epoch: the last of
// its order, which alters no other row's result, or the first, which alters the results of all where they build on one another.
func BenchmarkOverOneChange(b *testing.B) {
	const rows = 100_000
	bigint := types.Of(types.BigInt)
	upToHere := expr.Frame{Rows: true, Start: expr.FrameBound{Kind: expr.UnboundedPreceding}, End: expr.FrameBound{Kind: expr.CurrentRow}}
	for _, c := range []struct {
		name string
		call WindowCall
	}{
		{"row_number", WindowCall{Kind: expr.WindowRowNumber, Arg: -1, Default: -1, Result: bigint}},
		{"sum", WindowCall{Kind: expr.WindowAggregate, Arg: -1, Default: -1, Frame: upToHere, Result: bigint,
			Aggregate: AggregateCall{Kind: expr.AggSum, Args: []int{1}, Filter: -1, Bag: -1, Result: bigint}}},
		{"lag", WindowCall{Kind: expr.WindowLag, Arg: 1, N: 1, Default: -1, Result: bigint}},
	} {
		for place, v := range map[string]int64{"last": rows, "first": -1} {
			b.Run(c.name+"/"+place, func(b *testing.B) {
				w, err := NewWindow(WindowSpec{
					Table: memoryShard(b).Table(0, true), Types: benchTypes, Partition: []int{0}, Calls: []WindowCall{c.call},
					Order: []keyenc.OrderColumn{{Column: keyenc.Column{Index: 1, Phys: types.PhysInt}}},
				}, drain{})
				if err != nil {
					b.Fatal(err)
				}
				var rb row.Builder
				push := func(op changelog.Op, from, to int64) {
					in := &changelog.Batch{}
					for i := from; i < to; i++ {
						rb.Begin(in.Buf(), 3)
						rb.Int64(0, 1)
						rb.Int64(1, i)
						rb.Int64(2, i)
						in.Commit(op, rb.Finish(Phys(benchTypes)))
					}
					if err := w.Push(in); err != nil {
						b.Fatal(err)
					}
					if err := w.Barrier(); err != nil {
						b.Fatal(err)
					}
				}
				push(changelog.Insert, 0, rows)
				for b.Loop() {
					push(changelog.Insert, v, v+1)
					push(changelog.Delete, v, v+1)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(2*b.N), "ns/change")
			})
		}
	}
}
