package planner

import (
	"slices"
	"time"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/expr"
)

// joinSide is a side of a join before its exchange.
type joinSide struct {
	*stream
	key    []int
	upsert bool
	pk     []int // of an upsert side
	// index says that an upsert side is routed by columns that its primary key does not determine, so that
	// an index has to remember where each row went.
	index bool
	// kept says that rows with a NULL in their key are kept, as the join gives them alone.
	kept bool
	ttl  *time.Duration
}

// join builds a keyed join of two inputs, which may be an inner one.
func (b *builder) join(o *relOuter, need colSet) *stream {
	kind, conds := o.kind, o.conds
	if parts := manyParts(o); len(parts) > 2 {
		return b.joinMany(parts, conds, need)
	}
	all := need.clone().addExprs(conds)
	l, r := b.joinSide(o.left.rel, all, o.keyL, o.left.ttl), b.joinSide(o.right.rel, all, o.keyR, o.right.ttl)
	l.kept, r.kept = kind.Alone(0) == AloneUnmatched || kind.Alone(0) == AloneMarked, kind.Alone(1) == AloneUnmatched
	// The order of the key's columns is free: one that a side is divided by already saves its exchange.
	if p := permutation(l.stream, l.key); p != nil {
		l.key, r.key = pick(l.key, p), pick(r.key, p)
	} else if p := permutation(r.stream, r.key); p != nil {
		l.key, r.key = pick(l.key, p), pick(r.key, p)
	}
	n := &Join{Kind: kind, early: o.early, L: b.route(l), R: b.route(r)}
	n.Left, n.Right = l.node, r.node
	var f *facts
	if kind == InnerJoin {
		f = joinFacts(l.facts, r.facts, l.key, r.key)
		f.filter(conds)
	} else {
		f = o.facts(l.facts, r.facts, l.ids, r.ids)
	}
	mode := spi.Retract
	if (kind == InnerJoin || kind == SemiJoin) && l.props().Mode == spi.AppendOnly && r.props().Mode == spi.AppendOnly {
		mode = spi.AppendOnly
	}
	both := &stream{ids: slices.Concat(l.ids, r.ids), facts: joinFacts(l.facts, r.facts, nil, nil)}
	n.Residual = expr.And(both.exprs(conds)...)
	out := &stream{node: n, ids: both.ids, facts: f}
	if kind.Semi() {
		out.ids = l.ids
	}
	if kind == MarkJoin {
		out.ids = append(slices.Clone(l.ids), o.mark)
	}
	if len(conds) > 0 || !r.facts.isKey(r.key) {
		n.Single = o.single
	}
	if kind != FullJoin && n.L.Nulls != NullsKept { // else rows without a match, or with a NULL in the key, are elsewhere
		out.dist = append([]int{}, l.key...)
	}
	n.Props = b.derive(out.ids, mode, f, l.props().Bounded && r.props().Bounded, out.dist)
	n.Pos = o.right.pos
	return out
}

// joinSide builds an input of a join up to its exchange, without the columns that nothing above needs.
func (b *builder) joinSide(r rel, need colSet, key []int, ttl *time.Duration) *joinSide {
	keep := setOf(need.of(r.out()), key) // the other side's columns are none of its business
	if len(keep) == 0 {
		keep[r.out()[0]] = true // as the pruner had it
	}
	if c := asChain(r); b.upsertSide(c) {
		s := &joinSide{stream: b.upsertTable(c, keep), key: key, upsert: true, pk: c.pk(), ttl: ttl}
		s.index = !c.determined(key)
		return s
	}
	s := b.stream(r, keep)
	if k := s.bestKey(); s.props().Mode != spi.AppendOnly && k != nil {
		// A unique key makes the join's state smaller and faster than a bag, for eight bytes or so.
		for _, i := range k {
			keep[s.ids[i]] = true
		}
	}
	return &joinSide{stream: b.project(s, passed(keep.of(s.ids)), nil), key: key, ttl: ttl}
}

// bestKey is the smallest unique key, as positions; nil without one.
func (s *stream) bestKey() []int {
	if keys := s.facts.visible(s.ids); len(keys) > 0 {
		return keys[0]
	}
	return nil
}

// determined reports whether the primary key alone tells the given columns: they are of it, or computed
// from it.
func (c *chain) determined(cols []int) bool {
	pk := setOf(c.pk())
	for _, id := range cols {
		if pk[id] {
			continue
		}
		i := slices.IndexFunc(c.items, func(it extendItem) bool { return it.id == id })
		if i < 0 {
			return false
		}
		for _, used := range expr.ColumnsOf(c.items[i].e) {
			if !pk[used] {
				return false
			}
		}
	}
	return true
}

// permutation orders key so that it becomes what s is divided by; nil when that cannot be.
func permutation(s *stream, key []int) []int {
	if s.dist == nil || len(s.dist) != len(key) || len(key) == 0 {
		return nil
	}
	var p []int
	for _, d := range s.dist {
		i := slices.IndexFunc(key, func(k int) bool { return s.facts.same(k, d) })
		if i < 0 || slices.Contains(p, i) {
			return nil
		}
		p = append(p, i)
	}
	return p
}

// route divides a side by its join key and chooses its state's layout.
func (b *builder) route(s *joinSide) JoinSide {
	nulls := NullsNone
	if slices.ContainsFunc(s.mustAt(s.key), func(k int) bool { return !s.props().Columns[k].Type.NotNull }) {
		nulls = NullsDropped
		if s.kept {
			nulls = NullsKept
		}
	}
	side := JoinSide{Upsert: s.upsert, Life: Lifetime{hint: s.ttl}}
	if s.index {
		s.stream = b.exchange(s.stream, s.pk)
		s.stream = b.normaliseIndex(s)
		if nulls == NullsDropped {
			nulls = NullsNone // the index has dropped them
		}
	}
	divided := s.dividedBy(s.key)
	if !divided {
		var scatter []int
		if nulls == NullsKept {
			scatter = s.identity()
		}
		s.stream = b.exchangeNulls(s.stream, s.key, nulls, scatter)
		side.Scatter = s.mustAt(scatter)
	}
	if nulls == NullsKept || divided {
		side.Nulls = nulls
	}
	side.Key = s.mustAt(s.key)
	unique, ok := s.pk, s.upsert
	if !s.upsert {
		unique, ok = s.uniqueFor(s.key)
	}
	if !ok {
		side.Layout = LayoutBag
		return side
	}
	side.Layout = LayoutOne
	for _, id := range unique {
		if i := s.mustAt([]int{id})[0]; !slices.Contains(side.Key, i) {
			side.Unique = append(side.Unique, i)
			side.Layout = LayoutUnique
		}
	}
	return side
}

// identity are columns that tell the side's rows apart.
func (s *joinSide) identity() []int {
	if s.upsert {
		return s.pk
	}
	if k := s.bestKey(); k != nil {
		return pick(s.ids, k)
	}
	return s.ids
}

// uniqueFor is the unique key that needs the fewest columns beside key.
func (s *stream) uniqueFor(key []int) (best []int, ok bool) {
	cost := -1
	known := s.facts.reduce(key)
	for _, k := range s.facts.visible(s.ids) {
		var more []int
		for _, i := range k {
			if id := s.facts.rep(s.ids[i]); !slices.Contains(known, id) {
				more = append(more, s.ids[i])
			}
		}
		if cost < 0 || len(more) < cost {
			best, cost = more, len(more)
		}
	}
	return best, cost >= 0
}

// dividedBy reports whether s is divided by the hash of exactly these columns in this order.
func (s *stream) dividedBy(key []int) bool {
	if s.reader || s.dist == nil || len(s.dist) != len(key) {
		return false
	}
	for i := range key {
		if !s.facts.same(s.dist[i], key[i]) {
			return false
		}
	}
	return true
}

// normaliseIndex remembers by primary key where each row went.
func (b *builder) normaliseIndex(s *joinSide) *stream {
	n := &Normalise{
		Why:   "the join key is not determined by the primary key, so an index remembers where each row went; the join's own state keeps the rows",
		Props: b.derive(s.ids, spi.Upsert, s.facts, s.props().Bounded, s.dist), Input: s.node, Kind: NormaliseIndex, Key: s.mustAt(s.pk), Route: s.mustAt(s.key), KeepNull: s.kept,
		Life: Lifetime{hint: s.ttl},
	}
	return &stream{node: n, ids: s.ids, facts: s.facts, dist: s.dist}
}

// exchange divides s by the hash of key, or sends all to one shard without one.
func (b *builder) exchange(s *stream, key []int) *stream {
	return b.exchangeNulls(s, key, NullsNone, nil)
}

// exchangeNulls is exchange where something is done with the rows that have a NULL in their key. scatter are the
// columns by which they are divided where they are kept.
func (b *builder) exchangeNulls(s *stream, key []int, nulls Nulls, scatter []int) *stream {
	if s.branches != nil {
		// Each input goes to where the key says, rather than all through the shards of a union.
		return b.unite(s, func(part *stream) *stream {
			if part.dividedBy(key) && nulls == NullsNone {
				return part
			}
			return b.exchangeNulls(part, key, nulls, scatter)
		})
	}
	n := &Exchange{Input: s.node, Key: s.mustAt(key), Nulls: nulls, Scatter: s.mustAt(scatter)}
	dist := append([]int{}, key...)
	if nulls == NullsKept {
		dist = nil
	}
	n.Props = b.derive(s.ids, s.props().Mode, s.facts, s.props().Bounded, dist)
	return &stream{node: n, ids: s.ids, facts: s.facts, dist: dist}
}
