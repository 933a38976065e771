package op

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/sluicesql/sluice/engine/changelog"
	"github.com/sluicesql/sluice/engine/expr"
	"github.com/sluicesql/sluice/engine/keyenc"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/state"
	"github.com/sluicesql/sluice/engine/types"
)

// aggTypes are (k INT, i BIGINT, d DOUBLE, s STRING, f BOOLEAN, w DECIMAL(38, 2)), all with NULLs.
var aggTypes = []types.Type{types.Of(types.Int), types.Of(types.BigInt), types.Of(types.Double), types.String(), types.Of(types.Boolean), types.DecimalOf(38, 2)}

type aggRow struct {
	k int64
	i *int64
	d *float64
	s *string
	f *bool
}

func randomAggRow(rng *rand.Rand) aggRow {
	r := aggRow{k: rng.Int64N(3)}
	if rng.IntN(5) > 0 {
		v := rng.Int64N(7) - 3
		if rng.IntN(10) == 0 {
			v = math.MaxInt64 / 1000
		}
		r.i = &v
	}
	if rng.IntN(5) > 0 {
		v := []float64{0.1, 0.2, -0.3, 1e300, -1e300, 1e-300, 5e-324, 3, -1}[rng.IntN(9)]
		r.d = &v
	}
	if rng.IntN(5) > 0 {
		v := []string{"", "a", "b", "ab", "\x00"}[rng.IntN(5)]
		r.s = &v
	}
	if rng.IntN(5) > 0 {
		v := rng.IntN(2) == 0
		r.f = &v
	}
	return r
}

func (r aggRow) pack() row.Row {
	var b row.Builder
	b.Begin(nil, len(aggTypes))
	b.Int64(0, r.k)
	if r.i != nil {
		b.Int64(1, *r.i)
		b.Wide(5, *r.i>>63, uint64(*r.i))
	}
	if r.d != nil {
		b.Float64(2, *r.d)
	}
	if r.s != nil {
		b.String(3, *r.s)
	}
	if r.f != nil {
		b.Bool(4, *r.f)
	}
	return b.Finish(Phys(aggTypes))
}

// aggWant computes a call over the live rows of a group, from the start.
type aggWant struct {
	call AggregateCall
	want func(rows []aggRow) string
}

func call(kind expr.AggKind, result types.Type, bag int, distinct bool, filter int, args ...int) AggregateCall {
	return AggregateCall{Kind: kind, Args: args, Filter: filter, Bag: bag, Distinct: distinct, Result: result, Separator: ",", Name: "a call"}
}

func valuesOf[T any](rows []aggRow, f func(aggRow) *T) []T {
	var out []T
	for _, r := range rows {
		if v := f(r); v != nil {
			out = append(out, *v)
		}
	}
	return out
}

func ofI(r aggRow) *int64   { return r.i }
func ofS(r aggRow) *string  { return r.s }
func ofD(r aggRow) *float64 { return r.d }

func distinctOf[T comparable](list []T) []T {
	var out []T
	for _, v := range list {
		if !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	return out
}

func sumText(list []int64) string {
	if len(list) == 0 {
		return "NULL"
	}
	var n int64
	for _, v := range list {
		n += v
	}
	return fmt.Sprint(n)
}

func orNull[T any](list []T, f func([]T) T) string {
	if len(list) == 0 {
		return "NULL"
	}
	return fmt.Sprint(f(list))
}

// exact sums floats as big fractions would, by sorting out what cancels first: the values of the test do.
func exact(list []float64) float64 {
	var s exactSum
	for _, v := range list {
		s.add(v, 1)
	}
	return s.float64()
}

func aggCases(changing bool) ([]AggregateBag, []aggWant) {
	bigint, double := types.Of(types.BigInt), types.Of(types.Double)
	bags := []AggregateBag{
		{Args: []int{1}, Filter: -1}, {Args: []int{3}, Filter: -1}, {Args: []int{1}, Filter: 4}, {Args: []int{2}, Filter: -1},
		{Args: []int{3}, Filter: -1, Order: []keyenc.OrderColumn{{Column: keyenc.Column{Index: 1, Phys: types.PhysInt}, Desc: true}}},
		{Args: []int{3}, Filter: -1, KeepNull: true},
	}
	extreme := func(bag int) int {
		if changing {
			return bag
		}
		return -1
	}
	trues := func(rows []aggRow) []aggRow {
		return slices.DeleteFunc(slices.Clone(rows), func(r aggRow) bool { return r.f == nil || !*r.f })
	}
	return bags, []aggWant{
		{call(expr.AggCount, bigint, -1, false, -1), func(rs []aggRow) string { return fmt.Sprint(len(rs)) }},
		{call(expr.AggCount, bigint, -1, false, -1, 1, 3), func(rs []aggRow) string {
			return fmt.Sprint(len(valuesOf(slices.DeleteFunc(slices.Clone(rs), func(r aggRow) bool { return r.s == nil }), ofI)))
		}},
		{call(expr.AggSum, bigint, -1, false, -1, 1), func(rs []aggRow) string { return sumText(valuesOf(rs, ofI)) }},
		{call(expr.AggSum, types.DecimalOf(38, 2), -1, false, 4, 5), func(rs []aggRow) string { return sumText(valuesOf(trues(rs), ofI)) }},
		{call(expr.AggSum, bigint, 0, true, -1, 1), func(rs []aggRow) string { return sumText(distinctOf(valuesOf(rs, ofI))) }},
		{call(expr.AggCount, bigint, 1, true, -1, 3), func(rs []aggRow) string { return fmt.Sprint(len(distinctOf(valuesOf(rs, ofS)))) }},
		{call(expr.AggAvg, bigint, -1, false, -1, 1), func(rs []aggRow) string {
			return orNull(valuesOf(rs, ofI), func(l []int64) (m int64) {
				for _, v := range l {
					m += v
				}
				return m / int64(len(l))
			})
		}},
		{call(expr.AggMin, bigint, extreme(2), false, 4, 1), func(rs []aggRow) string { return orNull(valuesOf(trues(rs), ofI), slices.Min[[]int64]) }},
		{call(expr.AggMax, bigint, extreme(0), false, -1, 1), func(rs []aggRow) string { return orNull(valuesOf(rs, ofI), slices.Max[[]int64]) }},
		{call(expr.AggMin, types.String(), extreme(1), false, -1, 3), func(rs []aggRow) string { return orNull(valuesOf(rs, ofS), slices.Min[[]string]) }},
		{call(expr.AggMax, types.String(), extreme(1), false, -1, 3), func(rs []aggRow) string { return orNull(valuesOf(rs, ofS), slices.Max[[]string]) }},
		{call(expr.AggMax, double, extreme(3), false, -1, 2), func(rs []aggRow) string { return orNull(valuesOf(rs, ofD), slices.Max[[]float64]) }},
		{call(expr.AggSum, double, -1, false, -1, 2), func(rs []aggRow) string { return orNull(valuesOf(rs, ofD), exact) }},
		{call(expr.AggSum, double, 3, true, -1, 2), func(rs []aggRow) string { return orNull(distinctOf(valuesOf(rs, ofD)), exact) }},
		{call(expr.AggAnd, types.Of(types.Boolean), -1, false, -1, 4), func(rs []aggRow) string {
			return orNull(valuesOf(rs, func(r aggRow) *bool { return r.f }), func(l []bool) bool { return !slices.Contains(l, false) })
		}},
		{call(expr.AggOr, types.Of(types.Boolean), -1, false, -1, 4), func(rs []aggRow) string {
			return orNull(valuesOf(rs, func(r aggRow) *bool { return r.f }), func(l []bool) bool { return slices.Contains(l, true) })
		}},
		{call(expr.AggList, types.String(), 1, false, -1, 3), func(rs []aggRow) string {
			l := valuesOf(rs, ofS)
			slices.Sort(l)
			return orNull(l, func(l []string) string { return strings.Join(l, ",") })
		}},
		{call(expr.AggList, types.String(), 4, false, -1, 3), func(rs []aggRow) string {
			rs = slices.DeleteFunc(slices.Clone(rs), func(r aggRow) bool { return r.s == nil })
			sort.SliceStable(rs, func(a, b int) bool { return listedBefore(rs[a], rs[b]) })
			return orNull(valuesOf(rs, ofS), func(l []string) string { return strings.Join(l, ",") })
		}},
		{call(expr.AggArray, types.ArrayOf(types.String()), 5, true, -1, 3), func(rs []aggRow) string {
			l := distinctOf(valuesOf(rs, ofS))
			slices.Sort(l)
			if slices.ContainsFunc(rs, func(r aggRow) bool { return r.s == nil }) {
				l = append([]string{"NULL"}, l...)
			}
			return fmt.Sprint(l)
		}},
	}
}

// listedBefore is the order i DESC, the NULLs first, and then s.
func listedBefore(a, b aggRow) bool {
	switch {
	case a.i == nil || b.i == nil:
		if a.i != nil || b.i != nil {
			return a.i == nil
		}
	case *a.i != *b.i:
		return *a.i > *b.i
	}
	return *a.s < *b.s
}

func aggText(r row.Row, i int, t types.Type) string {
	d := r.Get(i, t.Phys())
	switch {
	case d.Null:
		return "NULL"
	case t.Kind == types.Array:
		var l []string
		for k := range row.ArrayLen(d.B) {
			l = append(l, aggText(row.ArrayRow(d.B), k, *t.Elem))
		}
		return fmt.Sprint(l)
	case t.IsString():
		return string(d.B)
	case t.IsApprox():
		return fmt.Sprint(d.Float())
	case t.Kind == types.Boolean:
		return fmt.Sprint(d.I != 0)
	}
	return fmt.Sprint(d.I)
}

// TestAggregateRandom holds every function to its definition, over random changes that come in any order within an epoch, in
// memory and with a small budget and restarts.
func TestAggregateRandom(t *testing.T) {
	for seed := range uint64(40) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { runAggregate(t, seed, seed%4 != 0, seed%3 == 0) })
	}
}

func runAggregate(t *testing.T, seed uint64, changing, durable bool) {
	rng := rand.New(rand.NewPCG(seed, 1))
	bags, cases := aggCases(changing)
	dir := ""
	if durable {
		dir = t.TempDir()
	}
	have := map[string]int{}
	var a *Aggregate
	var store *state.Store
	open := func() {
		var err error
		if store, err = state.Open(state.Options{Dir: dir, Shards: 1}); err != nil {
			t.Fatal(err)
		}
		sh := store.Shard(0, 0)
		spec := AggregateSpec{
			Table: sh.Table(0, false), Tails: sh.Table(1, false), Types: aggTypes, Key: []int{0}, Name: "test",
			Describe: func(row.Row) string { return "a group" },
		}
		for i, b := range bags {
			b.Table = sh.Table(uint16(2+i), true)
			spec.Bags = append(spec.Bags, b)
		}
		for _, c := range cases {
			spec.Calls = append(spec.Calls, c.call)
		}
		if a, err = NewAggregate(spec, &counting{have: have, types: append([]types.Type{aggTypes[0]}, resultTypes(cases)...)}); err != nil {
			t.Fatal(err)
		}
	}
	open()
	var live []aggRow
	for epoch := range 12 {
		var changes []struct {
			op changelog.Op
			r  aggRow
		}
		add := func(op changelog.Op, r aggRow) {
			changes = append(changes, struct {
				op changelog.Op
				r  aggRow
			}{op, r})
		}
		for range rng.IntN(40) {
			switch {
			case changing && len(live) > 0 && (rng.IntN(2) == 0 || epoch == 11):
				i := rng.IntN(len(live))
				add(changelog.Delete, live[i])
				live = slices.Delete(live, i, i+1)
			default:
				r := randomAggRow(rng)
				live = append(live, r)
				add(changelog.Insert, r)
			}
		}
		if changing && epoch == 11 {
			for _, r := range live {
				add(changelog.Delete, r)
			}
			live = nil
		}
		rng.Shuffle(len(changes), func(i, j int) { changes[i], changes[j] = changes[j], changes[i] })
		for len(changes) > 0 {
			var b changelog.Batch
			n := min(len(changes), 1+rng.IntN(9))
			for _, c := range changes[:n] {
				b.AppendRow(c.op, c.r.pack())
			}
			changes = changes[n:]
			if err := a.Push(&b); err != nil {
				t.Fatal(err)
			}
		}
		if err := a.Barrier(); err != nil {
			t.Fatal(err)
		}
		if got, want := fmt.Sprint(have), fmt.Sprint(wantGroups(cases, live)); got != want {
			t.Fatalf("epoch %d\ngot  %s\nwant %s", epoch, got, want)
		}
		if durable {
			f := store.Shard(0, 0).Freeze()
			if err := store.Commit([]*state.Frozen{f}, nil); err != nil {
				t.Fatal(err)
			}
			if err := store.Close(); err != nil {
				t.Fatal(err)
			}
			open()
		}
	}
	if n := store.Shard(0, 0).Table(0, false).Len() + store.Shard(0, 0).Table(1, false).Len() + store.Shard(0, 0).Table(2, true).Len(); len(live) == 0 && n > 0 {
		t.Errorf("no row is left, and %d are in the state", n)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
}

func resultTypes(cases []aggWant) (ts []types.Type) {
	for _, c := range cases {
		ts = append(ts, c.call.Result)
	}
	return ts
}

func wantGroups(cases []aggWant, live []aggRow) map[string]int {
	want := map[string]int{}
	for k := range int64(3) {
		rows := slices.DeleteFunc(slices.Clone(live), func(r aggRow) bool { return r.k != k })
		if len(rows) == 0 {
			continue
		}
		text := []string{fmt.Sprint(k)}
		for _, c := range cases {
			text = append(text, c.want(rows))
		}
		want[strings.Join(text, "|")]++
	}
	return want
}

// counting adds up what comes, and checks the rows.
type counting struct {
	have  map[string]int
	types []types.Type
}

func (c *counting) Push(b *changelog.Batch) error {
	for i := range b.Len() {
		if err := row.Check(b.Row(i), c.types); err != nil {
			return err
		}
		var text []string
		for k, t := range c.types {
			text = append(text, aggText(b.Row(i), k, t))
		}
		s := strings.Join(text, "|")
		if c.have[s] += b.Op(i).Weight(); c.have[s] == 0 {
			delete(c.have, s)
		}
	}
	return nil
}
