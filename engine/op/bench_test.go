package op

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/sluicesql/sluice/engine/changelog"
	"github.com/sluicesql/sluice/engine/expr"
	"github.com/sluicesql/sluice/engine/keyenc"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/state"
	"github.com/sluicesql/sluice/engine/types"
)

// The hot paths work on the tables of the first example: a user has three domains.
var (
	usersTypes   = []types.Type{types.Of(types.Int), types.String(), types.String()}      // id, firstname, lastname
	domainsTypes = []types.Type{types.Of(types.Int), types.Of(types.Int), types.String()} // id, user_id, domain_name
)

const hotBatch = 1024 // rows that travel together

func columnOf(i int, ts []types.Type) expr.Expr {
	return &expr.Column{Index: i, Name: fmt.Sprintf("c%d", i), T: ts[i]}
}

// hotRows makes rows.
type hotRows struct{ rb row.Builder }

func (h *hotRows) user(b *changelog.Batch, op changelog.Op, id int64, version int) {
	h.rb.Begin(b.Buf(), 3)
	h.rb.Int64(0, id)
	h.rb.Append(1, func(buf []byte) []byte { return fmt.Appendf(buf, "firstname%d", version%10) })
	h.rb.Append(2, func(buf []byte) []byte { return fmt.Appendf(buf, "lastname%08d", id) })
	b.Commit(op, h.rb.Finish(nil))
}

func (h *hotRows) domain(b *changelog.Batch, op changelog.Op, id, user int64, version int) {
	h.rb.Begin(b.Buf(), 3)
	h.rb.Int64(0, id)
	h.rb.Int64(1, user)
	h.rb.Append(2, func(buf []byte) []byte { return fmt.Appendf(buf, "domain%08d-%d.example", id, version%10) })
	b.Commit(op, h.rb.Finish(nil))
}

// hotPath is a way that most rows go. make returns a function that pushes a batch and tells its length; size is the
// number of rows in the state.
type hotPath struct {
	name  string
	state bool
	make  func(t testing.TB, size int) func() (int, error)
}

// forget takes batches and forgets them.
type forget struct{ b changelog.Batch }

func (f *forget) Batch() (*changelog.Batch, error) { return &f.b, nil }
func (f *forget) Send() error                      { f.b.Reset(); return nil }

func must[T any](t testing.TB) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// domainUpdates is a batch of updates of random domains, of which every fourth moves to another user.
func domainUpdates(pairs bool) *changelog.Batch {
	rng := rand.New(rand.NewPCG(1, 2))
	var h hotRows
	var b changelog.Batch
	for i := 0; b.Len() < hotBatch; i++ {
		id := rng.Int64N(1000)
		if pairs {
			h.domain(&b, changelog.UpdateBefore, id, id/3, 1)
		}
		h.domain(&b, changelog.UpdateAfter, id, id/3+int64(i%4/3), 2)
	}
	return &b
}

var hotPaths = []hotPath{
	{"router", false, func(_ testing.TB, _ int) func() (int, error) {
		in := domainUpdates(true)
		x := NewRouter(RouteByKey, keyenc.Columns(domainsTypes, []int{1}), 0, []Sender{&forget{}, &forget{}}, hotBatch)
		x.SetNulls(NullsDropped, nil)
		return func() (int, error) { return in.Len(), x.Push(in) }
	}},
	{"filter", false, func(t testing.TB, _ int) func() (int, error) {
		in := domainUpdates(true)
		cond := mustResolve(t, ">", columnOf(0, domainsTypes), expr.IntConst(500))
		f := must[*Filter](t)(NewFilter(&expr.Ctx{}, cond, domainsTypes, nil, discard{}))
		return func() (int, error) { return in.Len(), f.Push(in) }
	}},
	{"filter/upsert", false, func(t testing.TB, _ int) func() (int, error) {
		in := domainUpdates(false)
		cond := mustResolve(t, ">", columnOf(0, domainsTypes), expr.IntConst(500))
		f := must[*Filter](t)(NewFilter(&expr.Ctx{}, cond, domainsTypes, []int{0}, discard{}))
		return func() (int, error) { return in.Len(), f.Push(in) }
	}},
	{"project", false, func(t testing.TB, _ int) func() (int, error) {
		in := domainUpdates(true)
		es := []expr.Expr{columnOf(1, domainsTypes), columnOf(2, domainsTypes), mustResolve(t, "+", columnOf(0, domainsTypes), expr.IntConst(1))}
		p := must[*Project](t)(NewProject(&expr.Ctx{}, es, nil, discard{}))
		return func() (int, error) { return in.Len(), p.Push(in) }
	}},
	{"combine/direct", false, func(t testing.TB, _ int) func() (int, error) { return hotCombine(t, nil) }},
	{"combine/wide", false, func(t testing.TB, _ int) func() (int, error) {
		return hotCombine(t, mustResolve(t, "=", &expr.Column{Index: 0, Name: "id", T: usersTypes[0]}, &expr.Column{Index: 4, Name: "user_id", T: domainsTypes[1]}))
	}},
	{"join/weights", true, func(t testing.TB, size int) func() (int, error) { return hotJoin(t, size, false, "") }},
	{"join/upsert", true, func(t testing.TB, size int) func() (int, error) { return hotJoin(t, size, true, "") }},
	{"join/left", true, func(t testing.TB, size int) func() (int, error) { return hotJoin(t, size, true, "left") }},
	{"join/left-counted", true, func(t testing.TB, size int) func() (int, error) { return hotJoin(t, size, true, "counted") }},
	{"join/full", true, func(t testing.TB, size int) func() (int, error) { return hotJoin(t, size, true, "full") }},
	{"join/anti", true, func(t testing.TB, size int) func() (int, error) { return hotJoin(t, size, true, "anti") }},
	{"normalise-rows", true, func(t testing.TB, size int) func() (int, error) {
		n := NewNormaliseRows(memoryShard(t).Table(0, false), keyenc.Columns(domainsTypes, []int{0}), discard{})
		return hotUpserts(t, size, n)
	}},
	{"normalise-index", true, func(t testing.TB, size int) func() (int, error) {
		n := NewNormaliseIndex(memoryShard(t).Table(0, false), domainsTypes, []int{0}, []int{1}, discard{})
		return hotUpserts(t, size, n)
	}},
	{"consolidate/inserts", false, func(_ testing.TB, _ int) func() (int, error) {
		return hotConsolidate(domainInserts(), ConsolidateSpec{})
	}},
	{"consolidate/doubt", false, func(_ testing.TB, _ int) func() (int, error) {
		return hotConsolidate(domainInserts(), ConsolidateSpec{Pair: keyenc.Columns(domainsTypes, []int{0}), Doubt: true})
	}},
	{"consolidate/updates", false, func(_ testing.TB, _ int) func() (int, error) {
		return hotConsolidate(domainUpdates(true), ConsolidateSpec{})
	}},
	{"consolidate/by-key", false, func(_ testing.TB, _ int) func() (int, error) {
		var h hotRows
		var in changelog.Batch
		for i := range int64(hotBatch / 2) {
			h.domain(&in, changelog.UpdateBefore, i, i, 0)
			h.domain(&in, changelog.UpdateAfter, i, i, 1)
		}
		return hotConsolidate(&in, ConsolidateSpec{Pair: keyenc.Columns(domainsTypes, []int{0})})
	}},
}

func domainInserts() *changelog.Batch {
	var h hotRows
	var in changelog.Batch
	for i := range int64(hotBatch) {
		h.domain(&in, changelog.Insert, i, i, 0)
	}
	return &in
}

func hotConsolidate(in *changelog.Batch, spec ConsolidateSpec) func() (int, error) {
	k := NewConsolidate(spec)
	return func() (int, error) {
		if err := k.Push(in); err != nil {
			return 0, err
		}
		return in.Len(), k.Finish(discard{})
	}
}

func hotCombine(t testing.TB, residual expr.Expr) func() (int, error) {
	var h hotRows
	var u, d, out changelog.Batch
	for i := range int64(hotBatch) {
		h.user(&u, changelog.Insert, i, 0)
		h.domain(&d, changelog.Insert, i, i, 0)
	}
	c := exampleCombine(t, residual)
	return func() (int, error) {
		out.Reset()
		for i := range hotBatch {
			c.append(&out, changelog.Insert, u.Row(i), d.Row(i))
		}
		return hotBatch, c.err
	}
}

// exampleCombine makes id, firstname, lastname, domain_name.
func exampleCombine(t testing.TB, residual expr.Expr) *Combine {
	wide := append(append([]types.Type(nil), usersTypes...), domainsTypes...)
	es := []expr.Expr{columnOf(0, wide), columnOf(1, wide), columnOf(2, wide), columnOf(5, wide)}
	return must[*Combine](t)(NewCombine(&expr.Ctx{}, usersTypes, domainsTypes, residual, es))
}

// ring is a circle of updates to push again and again: each row of a random selection goes from version 0 to 1, then
// each back. write appends a version of row i; without before, new versions alone.
func ring(size, batches int, before bool, write func(b *changelog.Batch, op changelog.Op, i int64, version int)) []*changelog.Batch {
	ids := rand.New(rand.NewPCG(3, 4)).Perm(size)
	ids = ids[:min(size, batches*hotBatch)]
	var out []*changelog.Batch
	for to := 1; to >= 0; to-- {
		b := &changelog.Batch{}
		for _, i := range ids {
			if before {
				write(b, changelog.UpdateBefore, int64(i), 1-to)
			}
			write(b, changelog.UpdateAfter, int64(i), to)
			if b.Len() >= hotBatch {
				out = append(out, b)
				b = &changelog.Batch{}
			}
		}
		out = append(out, b)
	}
	return out
}

// fill pushes version 0 of size rows.
func fill(t testing.TB, size int, op changelog.Op, to Output, write func(b *changelog.Batch, op changelog.Op, i int64, version int)) {
	t.Helper()
	var b changelog.Batch
	for i := range size {
		if write(&b, op, int64(i), 0); b.Len() == hotBatch || i == size-1 {
			if err := to.Push(&b); err != nil {
				t.Fatal(err)
			}
			b.Reset()
		}
	}
}

// hotKind is a join of users with domains: inner, left, left with a condition, full, anti.
func hotKind(t testing.TB, upsert bool, kind string) *Join {
	sh := memoryShard(t)
	side := func(id uint8, ts []types.Type, key int, sub ...int) JoinSide {
		return JoinSide{Table: sh.Table(state.TableID(0, id), false), Key: keyenc.Columns(ts, []int{key}), Sub: keyenc.Columns(ts, sub), Upsert: upsert}
	}
	l, r := side(0, usersTypes, 0), side(1, domainsTypes, 1, 0)
	var residual expr.Expr
	switch kind {
	case "":
		return NewJoin(l, r, exampleCombine(t, nil), discard{})
	case "anti":
		l.Alone = AloneUnmatched
		return NewSemiJoin(l, r, nil, must[*Combine](t)(NewCombine(&expr.Ctx{}, usersTypes, nil, nil, nil)), discard{})
	case "counted":
		residual = mustResolve(t, "<>", &expr.Column{Index: 1, Name: "firstname", T: usersTypes[1]}, &expr.Column{Index: 5, Name: "domain_name", T: domainsTypes[2]})
		l.Counts = sh.Table(state.TableID(0, 2), true)
	case "full":
		r.Alone, r.Nulls, r.Scatter = AloneUnmatched, NullsKept, keyenc.Columns(domainsTypes, []int{0})
	}
	l.Alone = AloneUnmatched
	return NewJoin(l, r, exampleCombine(t, residual), discard{})
}

// hotComings is a left join in which a user's only domain goes and comes again, in epochs of their own.
func hotComings(t testing.TB, size int) func() (int, error) {
	j := hotKind(t, true, "left")
	var h hotRows
	users := size / 2
	fill(t, users, changelog.UpdateAfter, j.Port(0), h.user)
	domains := ring(users, 64, false, func(b *changelog.Batch, _ changelog.Op, i int64, version int) {
		h.domain(b, pick(version == 1, changelog.Delete, changelog.UpdateAfter), i, i, 0)
	})
	turn := 0
	return func() (int, error) {
		b := domains[turn%len(domains)]
		turn++
		if err := j.Port(1).Push(b); err != nil {
			return 0, err
		}
		return b.Len(), j.Barrier()
	}
}

// hotJoin is a join of size domains with their users under random updates: three batches of domains, one of users.
func hotJoin(t testing.TB, size int, upsert bool, kind string) func() (int, error) {
	j := hotKind(t, upsert, kind)
	var h hotRows
	domain := func(b *changelog.Batch, op changelog.Op, i int64, version int) {
		h.domain(b, op, i, i%int64(size/3), version)
	}
	first := pick(upsert, changelog.UpdateAfter, changelog.Insert)
	fill(t, size/3, first, j.Port(0), h.user)
	fill(t, size, first, j.Port(1), domain)
	users, domains := ring(size/3, 32, !upsert, h.user), ring(size, 96, !upsert, domain)
	turn := 0
	return func() (int, error) {
		turn++
		if j.alone && turn%16 == 0 {
			if err := j.Barrier(); err != nil {
				return 0, err
			}
		}
		if n := turn / 4; turn%4 == 0 {
			b := users[n%len(users)]
			return b.Len(), j.Port(0).Push(b)
		}
		b := domains[(turn-turn/4-1)%len(domains)]
		return b.Len(), j.Port(1).Push(b)
	}
}

// hotUpserts fills a normaliser with size domains and updates them at random; every fourth moves to another user.
func hotUpserts(t testing.TB, size int, n Output) func() (int, error) {
	var h hotRows
	domain := func(b *changelog.Batch, op changelog.Op, i int64, version int) {
		h.domain(b, op, i, i/3+int64(version)*(i%4/3), version)
	}
	fill(t, size, changelog.UpdateAfter, n, domain)
	in := ring(size, 96, false, domain)
	turn := 0
	return func() (int, error) {
		turn++
		b := in[turn%len(in)]
		return b.Len(), n.Push(b)
	}
}

// BenchmarkHotPaths measures batches of some 1024 changes, and reports the time of one change.
func BenchmarkHotPaths(b *testing.B) {
	for _, p := range hotPaths {
		if !p.state {
			b.Run(p.name, func(b *testing.B) { benchPath(b, p, 0) })
			continue
		}
		for _, size := range []int{100_000, 1_000_000} {
			b.Run(fmt.Sprintf("%s/rows=%d", p.name, size), func(b *testing.B) { benchPath(b, p, size) })
		}
	}
}

// BenchmarkJoinComeAndGo is apart since groups come and go in it, for which the state's index allocates now and then.
func BenchmarkJoinComeAndGo(b *testing.B) { benchPath(b, hotPath{make: hotComings}, 1_000_000) }

func benchPath(b *testing.B, p hotPath, size int) {
	push := p.make(b, size)
	for range 500 { // one way round the circle: state and buffers reach their size
		if _, err := push(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	rows := 0
	for b.Loop() {
		n, err := push()
		if err != nil {
			b.Fatal(err)
		}
		rows += n
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(rows), "ns/row")
}

// In steady state no row costs an allocation.
func TestHotPathsAllocateNothing(t *testing.T) {
	for _, p := range hotPaths {
		t.Run(p.name, func(t *testing.T) {
			push := p.make(t, 3*hotBatch)
			again := func() {
				if _, err := push(); err != nil {
					t.Fatal(err)
				}
			}
			for range 50 {
				again()
			}
			if n := testing.AllocsPerRun(20, again); n >= 1 {
				t.Errorf("%v allocations a batch", n)
			}
		})
	}
}
