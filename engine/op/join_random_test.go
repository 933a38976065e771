package op

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/sluicesql/sluice/engine/changelog"
	"github.com/sluicesql/sluice/engine/expr"
	"github.com/sluicesql/sluice/engine/keyenc"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/state"
	"github.com/sluicesql/sluice/engine/types"
)

// randomTypes are the columns of both sides in random histories: (k INT, id INT, v STRING), joined by k.
var randomTypes = []types.Type{types.Of(types.Int), types.Of(types.Int), types.String()}

type randomRow struct {
	k, id int64
	v     string
}

// noKey is a NULL in column k.
const noKey = -1

func (r randomRow) pack() row.Row {
	var b row.Builder
	b.Begin(nil, 3)
	if r.k != noKey {
		b.Int64(0, r.k)
	}
	b.Int64(1, r.id)
	b.String(2, r.v)
	return b.Finish(nil)
}

// randomForm is how a side's state is laid out and what its input is.
type randomForm struct {
	unique []int // the unique key; nil for a bag
	upsert bool
}

func (f randomForm) String() string {
	return fmt.Sprintf("unique=%v,upsert=%v", f.unique, f.upsert)
}

var randomForms = []randomForm{
	{unique: []int{0}}, {unique: []int{0, 1}}, {}, {unique: []int{0}, upsert: true}, {unique: []int{0, 1}, upsert: true},
}

// randomSide makes the history of one side: units of one change, or of the two halves of an update.
type randomSide struct {
	form    randomForm
	rng     *rand.Rand
	live    []randomRow
	keys    int64
	long    string // makes rows long
	unknown int    // deletes of rows that are not there
	nulls   bool   // some keys are NULL
	kept    bool   // and the join keeps their rows
}

type randomUnit []struct {
	op changelog.Op
	r  row.Row
}

func unit(pairs ...any) randomUnit {
	u := make(randomUnit, len(pairs)/2)
	for i := range u {
		u[i].op, u[i].r = pairs[2*i].(changelog.Op), pairs[2*i+1].(randomRow).pack()
	}
	return u
}

func (s *randomSide) fresh() randomRow {
	if s.nulls && s.rng.IntN(5) == 0 {
		return randomRow{noKey, s.rng.Int64N(6), string(rune('a'+s.rng.IntN(3))) + s.long}
	}
	return randomRow{s.rng.Int64N(s.keys), s.rng.Int64N(6), string(rune('a'+s.rng.IntN(3))) + s.long}
}

// at is the place in live of the row with r's unique key; -1 without one.
func (s *randomSide) at(r randomRow) int {
	for i, x := range s.live {
		if s.form.unique != nil && x.k == r.k && (len(s.form.unique) == 1 || x.id == r.id) {
			return i
		}
	}
	return -1
}

// step makes one change of the table.
func (s *randomSide) step() randomUnit {
	n := s.fresh()
	switch {
	case len(s.live) == 0 || s.rng.IntN(5) < 2:
		if i := s.at(n); i >= 0 {
			return s.update(i, n)
		}
		return s.insert(n)
	case s.rng.IntN(2) == 0:
		i := s.rng.IntN(len(s.live))
		n.k = s.live[i].k
		if j := s.at(n); j >= 0 && j != i {
			i = j
		}
		return s.update(i, n)
	default:
		return s.remove(s.rng.IntN(len(s.live)))
	}
}

func (s *randomSide) insert(n randomRow) randomUnit {
	s.live = append(s.live, n)
	if s.form.upsert {
		return unit(changelog.UpdateAfter, n)
	}
	return unit(changelog.Insert, n)
}

func (s *randomSide) update(i int, n randomRow) randomUnit {
	old := s.live[i]
	s.live[i] = n
	if !s.form.upsert {
		return unit(changelog.UpdateBefore, old, changelog.UpdateAfter, n)
	}
	if len(s.form.unique) == 2 && old.id != n.id {
		return append(s.keyOnly(old), unit(changelog.UpdateAfter, n)...)
	}
	return unit(changelog.UpdateAfter, n)
}

func (s *randomSide) remove(i int) randomUnit {
	old := s.live[i]
	s.live = append(s.live[:i], s.live[i+1:]...)
	if s.form.upsert {
		return s.keyOnly(old)
	}
	return unit(changelog.Delete, old)
}

func (s *randomSide) keyOnly(r randomRow) randomUnit {
	var b changelog.Batch
	var rb row.Builder
	appendKeyOnly(&b, &rb, r.pack(), Phys(randomTypes), s.form.unique)
	u := unit(changelog.Delete, r)
	u[0].r = b.Row(0)
	return u
}

// epoch makes the units of one epoch, in an order in which they may arrive. The changes of one key of an upsert
// stream come in their order; of other streams, which shards of another operator may send, in any.
func (s *randomSide) epoch(steps int) []randomUnit {
	var us []randomUnit
	for range steps {
		u := s.step()
		us = append(us, u)
		if !s.form.upsert {
			continue
		}
		switch s.rng.IntN(8) {
		case 0: // delivered again
			if u[len(u)-1].op != changelog.Delete {
				us = append(us, u[len(u)-1:])
			}
		case 1:
			if n := s.fresh(); s.at(n) < 0 {
				us = append(us, s.keyOnly(n))
				if n.k != noKey || s.kept {
					s.unknown++
				}
			}
		}
	}
	if !s.form.upsert {
		s.rng.Shuffle(len(us), func(i, j int) { us[i], us[j] = us[j], us[i] })
	}
	return us
}

// randomKind is a kind of join.
type randomKind struct {
	name  string
	alone [2]Alone
	semi  bool
}

var randomKinds = []randomKind{
	{name: "inner"},
	{name: "left", alone: [2]Alone{AloneUnmatched, AloneNever}},
	{name: "right", alone: [2]Alone{AloneNever, AloneUnmatched}},
	{name: "full", alone: [2]Alone{AloneUnmatched, AloneUnmatched}},
	{name: "semi", alone: [2]Alone{AloneMatched, AloneNever}, semi: true},
	{name: "anti", alone: [2]Alone{AloneUnmatched, AloneNever}, semi: true},
	{name: "mark", alone: [2]Alone{AloneMarked, AloneNever}, semi: true},
}

// nulls says what the kind does with NULL keys of a side: of an upsert stream whose key is within the unique key
// there are none.
func (k randomKind) nulls(port int, f randomForm) Nulls {
	switch {
	case f.upsert && len(f.unique) == 1:
		return NullsNone
	case k.alone[port] == AloneUnmatched, k.alone[port] == AloneMarked:
		return NullsKept
	}
	return NullsDropped
}

// randomJoin is a join under test with what came out of it.
type randomJoin struct {
	t       *testing.T
	kind    randomKind
	forms   [2]randomForm
	dir     string
	store   *state.Store
	shard   *state.Shard
	join    *Join
	have    map[string]int
	unknown int64
	// evicted counts the entries that left memory, over all tests.
	evicted *atomic.Int64
}

func (j *randomJoin) open(residual bool) {
	j.t.Helper()
	opts := state.Options{Dir: j.dir, Shards: 1}
	if j.dir != "" {
		opts.Budget = 64 << 10
	}
	var err error
	if j.store, err = state.Open(opts); err != nil {
		j.t.Fatal(err)
	}
	j.shard = j.store.Shard(0, 0)
	var on expr.Expr
	if residual {
		on = mustResolve(j.t, "<>", &expr.Column{Index: 2, Name: "v", T: types.String()}, &expr.Column{Index: 5, Name: "v", T: types.String()})
	}
	c, err := NewCombine(&expr.Ctx{}, randomTypes, randomTypes, on, nil)
	if err != nil {
		j.t.Fatal(err)
	}
	var sides [2]JoinSide
	for i, f := range j.forms {
		sides[i] = JoinSide{
			Table: j.shard.Table(state.TableID(0, uint8(i)), f.unique == nil), Key: keyenc.Columns(randomTypes, []int{0}), Bag: f.unique == nil, Upsert: f.upsert,
			Name: [...]string{"left", "right"}[i], Describe: func(r row.Row) string { return fmt.Sprintf("(%d, %d, %.1s)", r.Int64(0), r.Int64(1), r.Bytes(2)) },
		}
		if len(f.unique) == 2 {
			sides[i].Sub = keyenc.Columns(randomTypes, []int{1})
		}
		sides[i].Alone, sides[i].Nulls = j.kind.alone[i], j.kind.nulls(i, f)
		if i == 0 {
			sides[i].Scatter = keyenc.Columns(randomTypes, []int{1})
		}
		if residual && j.kind.alone[i] != AloneNever {
			sides[i].Counts = j.shard.Table(state.TableID(0, uint8(2+i)), true)
		}
	}
	if j.kind.semi {
		var second []types.Type
		if j.kind.alone[0] == AloneMarked {
			second = []types.Type{types.Of(types.Boolean)}
		}
		show, err := NewCombine(&expr.Ctx{}, randomTypes, second, nil, nil)
		if err != nil {
			j.t.Fatal(err)
		}
		if !residual {
			c = nil
		}
		j.join = NewSemiJoin(sides[0], sides[1], c, show, j)
	} else {
		j.join = NewJoin(sides[0], sides[1], c, j)
	}
}

// Push implements Output: it adds up what comes out.
func (j *randomJoin) Push(b *changelog.Batch) error {
	for i := range b.Len() {
		r := string(b.Row(i))
		if j.have[r] += b.Op(i).Weight(); j.have[r] == 0 {
			delete(j.have, r)
		}
		if b.Op(i) == changelog.UpdateBefore && (i+1 == b.Len() || b.Op(i+1) != changelog.UpdateAfter) {
			return fmt.Errorf("half an update in a batch")
		}
	}
	return nil
}

// feed pushes the units of both sides in batches of random size, in turns.
func (j *randomJoin) feed(rng *rand.Rand, units [2][]randomUnit) {
	j.t.Helper()
	for len(units[0])+len(units[1]) > 0 {
		port := rng.IntN(2)
		n := min(1+rng.IntN(1+rng.IntN(12)), len(units[port]))
		var b changelog.Batch
		for _, u := range units[port][:n] {
			for _, c := range u {
				b.AppendRow(c.op, c.r)
			}
		}
		units[port] = units[port][n:]
		if err := j.join.Port(port).Push(&b); err != nil {
			j.t.Fatal(err)
		}
		if err := j.shard.Maintain(); err != nil {
			j.t.Fatal(err)
		}
	}
}

// naive joins the live rows of both sides anew.
func (k randomKind) naive(l, r []randomRow, residual bool) map[string]int {
	out := map[string]int{}
	give := func(x, y *randomRow, marked bool) {
		var b row.Builder
		switch {
		case k.alone[0] == AloneMarked:
			b.Begin(nil, 4)
			b.Bool(3, marked)
		case k.semi:
			b.Begin(nil, 3)
		default:
			b.Begin(nil, 6)
		}
		for i, z := range []*randomRow{x, y} {
			if z == nil || i == 1 && k.semi {
				continue
			}
			if z.k != noKey {
				b.Int64(3*i, z.k)
			}
			b.Int64(3*i+1, z.id)
			b.String(3*i+2, z.v)
		}
		out[string(b.Finish(nil))]++
	}
	matched := map[int]bool{} // of the right side
	for i := range l {
		x, matches := &l[i], 0
		for n := range r {
			y := &r[n]
			if x.k == noKey || x.k != y.k || residual && x.v == y.v {
				continue
			}
			matches++
			matched[n] = true
			if !k.semi {
				give(x, y, false)
			}
		}
		if a := k.alone[0]; a == AloneMatched && matches > 0 || a == AloneUnmatched && matches == 0 || a == AloneMarked {
			give(x, nil, matches > 0)
		}
	}
	for n := range r {
		if k.alone[1] == AloneUnmatched && !matched[n] {
			give(nil, &r[n], false)
		}
	}
	return out
}

// checkpoint commits the state; now and then the store is opened anew from it.
func (j *randomJoin) checkpoint(rng *rand.Rand, residual bool) {
	j.t.Helper()
	if j.dir == "" || rng.IntN(4) == 0 {
		return
	}
	f := j.shard.Freeze()
	if err := j.store.Commit([]*state.Frozen{f}, []byte("cut")); err != nil {
		j.t.Fatal(err)
	}
	if err := j.shard.Durable(f); err != nil {
		j.t.Fatal(err)
	}
	if rng.IntN(4) == 0 {
		j.evicted.Add(j.store.Stats().Evicted)
		if err := j.store.Close(); err != nil {
			j.t.Fatal(err)
		}
		j.unknown += j.join.UnknownDeletes
		j.open(residual)
	}
}

// TestJoinRandom holds the join, after every epoch, to a join of the live rows computed anew: over all layouts and
// kinds of input of both sides, histories whose changes arrive in any order, any division into batches, and state
// in memory alone and beyond it.
func TestJoinRandom(t *testing.T) {
	var runs, evicted atomic.Int64
	t.Cleanup(func() {
		if runs.Load() > 20 && evicted.Load() == 0 { // fewer when the command line selects some
			t.Error("no state was ever beyond memory")
		}
	})
	seed := uint64(0)
	for _, l := range randomForms {
		for _, r := range randomForms {
			for _, residual := range []bool{false, true} {
				for _, kind := range randomKinds {
					for _, pebble := range []bool{false, true} {
						seed++
						if pebble && seed%7 >= 3 {
							continue
						}
						name := fmt.Sprintf("%s/left=%s/right=%s/residual=%v/pebble=%v", kind.name, l, r, residual, pebble)
						t.Run(name, func(t *testing.T) {
							t.Parallel()
							j := &randomJoin{t: t, kind: kind, forms: [2]randomForm{l, r}, have: map[string]int{}, evicted: &evicted}
							if pebble {
								runs.Add(1)
								j.dir = t.TempDir()
							}
							j.run(seed, residual)
						})
					}
				}
			}
		}
	}
}

func (j *randomJoin) run(seed uint64, residual bool) {
	rng := rand.New(rand.NewPCG(seed, 1))
	j.open(residual)
	defer func() { _ = j.store.Close() }()
	var sides [2]*randomSide
	for i, f := range j.forms {
		sides[i] = &randomSide{form: f, rng: rng, keys: 5, nulls: j.kind.nulls(i, f) != NullsNone, kept: j.kind.nulls(i, f) == NullsKept}
		if j.dir != "" {
			sides[i].keys, sides[i].long = 60, strings.Repeat(".", 3000)
		}
	}
	epochs := 40
	if j.dir != "" {
		epochs = 12 // with rows so long that they do not fit into the budget
	}
	for epoch := range epochs {
		j.feed(rng, [2][]randomUnit{sides[0].epoch(rng.IntN(20)), sides[1].epoch(rng.IntN(20))})
		j.atBarrier(epoch, sides, residual)
		j.checkpoint(rng, residual)
	}
	j.evicted.Add(j.store.Stats().Evicted)
	var last [2][]randomUnit
	for i, s := range sides {
		for len(s.live) > 0 {
			last[i] = append(last[i], s.remove(0))
		}
	}
	j.feed(rng, last)
	j.atBarrier(-1, sides, residual)
	if got, want := j.unknown+j.join.UnknownDeletes, int64(sides[0].unknown+sides[1].unknown); got != want {
		j.t.Errorf("%d unknown deletes, want %d", got, want)
	}
	for i := range sides {
		s := &j.join.sides[i]
		if j.dir == "" && s.Table.Bytes() != 0 || s.Counts != nil && s.Counts.Len() != 0 {
			j.t.Error("every row is deleted, and the state still takes memory")
		}
	}
}

func (j *randomJoin) atBarrier(epoch int, sides [2]*randomSide, residual bool) {
	j.t.Helper()
	if err := j.join.Barrier(); err != nil {
		j.t.Fatalf("epoch %d: %v", epoch, err)
	}
	if want := j.kind.naive(sides[0].live, sides[1].live, residual); !maps.Equal(j.have, want) {
		j.t.Fatalf("after epoch %d: %d different rows came out, of %d wanted", epoch, len(j.have), len(want))
	}
	for i, s := range sides {
		distinct := map[randomRow]bool{}
		for _, r := range s.live {
			if r.k != noKey || j.kind.nulls(i, s.form) == NullsKept {
				distinct[r] = true
			}
		}
		if n := j.join.sides[i].Table.Len(); n > len(distinct) || j.dir == "" && n != len(distinct) {
			j.t.Fatalf("after epoch %d: side %d holds %d rows, %d are alive", epoch, i, n, len(distinct))
		}
	}
}

func mustResolve(t testing.TB, name string, args ...expr.Expr) expr.Expr {
	t.Helper()
	e, err := expr.Resolve(name, args)
	if err != nil {
		t.Fatal(err)
	}
	return e
}
