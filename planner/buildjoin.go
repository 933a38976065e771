package planner

import (
	"slices"

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
}

// join builds a keyed join of two inputs.
func (b *builder) join(j *relJoin, need colSet) *stream {
	all := need.clone().addExprs(j.conds)
	l := b.joinSide(j.inputs[0].rel, all, j.keyL)
	r := b.joinSide(j.inputs[1].rel, all, j.keyR)
	// The order of the key's columns is free: one that a side is divided by already saves its exchange.
	if p := permutation(l.stream, l.key); p != nil {
		l.key, r.key = pick(l.key, p), pick(r.key, p)
	} else if p := permutation(r.stream, r.key); p != nil {
		l.key, r.key = pick(l.key, p), pick(r.key, p)
	}
	n := &Join{Kind: InnerJoin, L: b.route(l), R: b.route(r)}
	n.Left, n.Right = l.node, r.node
	f := joinFacts(l.facts, r.facts, l.key, r.key)
	f.filter(j.conds)
	mode := spi.Retract
	if l.props().Mode == spi.AppendOnly && r.props().Mode == spi.AppendOnly {
		mode = spi.AppendOnly
	}
	dist := append([]int{}, l.key...)
	out := &stream{node: n, ids: slices.Concat(l.ids, r.ids), facts: f, dist: dist}
	n.Props = b.derive(out.ids, mode, f, l.props().Bounded && r.props().Bounded, dist)
	n.Residual = expr.And(out.exprs(j.conds)...)
	return out
}

// joinSide builds an input of a join up to its exchange, without the columns that nothing above needs.
func (b *builder) joinSide(r rel, need colSet, key []int) *joinSide {
	keep := need.clone()
	for _, k := range key {
		keep[k] = true
	}
	if c := asChain(r); b.upsertSide(c) {
		s := &joinSide{stream: b.upsertTable(c, keep), key: key, upsert: true, pk: c.pk()}
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
	return &joinSide{stream: b.project(s, passed(keep.of(s.ids)), nil), key: key}
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
	if s.index {
		s.stream = b.exchange(s.stream, s.pk, false)
		s.stream = b.normaliseIndex(s.stream, s.pk, s.key)
	}
	if !s.dividedBy(s.key) {
		s.stream = b.exchange(s.stream, s.key, !s.index)
	}
	side := JoinSide{Key: s.mustAt(s.key), Upsert: s.upsert}
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
func (b *builder) normaliseIndex(s *stream, pk, route []int) *stream {
	n := &Normalise{Why: "the join key is not determined by the primary key, so an index remembers where each row went; the join's own state keeps the rows", Props: b.derive(s.ids, spi.Upsert, s.facts, s.props().Bounded, s.dist), Input: s.node, Kind: NormaliseIndex, Key: s.mustAt(pk), Route: s.mustAt(route)}
	return &stream{node: n, ids: s.ids, facts: s.facts, dist: s.dist}
}

// exchange divides s by the hash of key, or sends all to one shard without one.
func (b *builder) exchange(s *stream, key []int, dropNull bool) *stream {
	if s.branches != nil {
		// Each input goes to where the key says, rather than all through the shards of a union.
		return b.unite(s, func(part *stream) *stream {
			if part.dividedBy(key) && !dropNull {
				return part
			}
			return b.exchange(part, key, dropNull)
		})
	}
	n := &Exchange{Input: s.node, Key: s.mustAt(key)}
	n.Props = b.derive(s.ids, s.props().Mode, s.facts, s.props().Bounded, append([]int{}, key...))
	for _, k := range n.Key {
		if dropNull && !n.Columns[k].Type.NotNull {
			n.DropNull = true
		}
	}
	return &stream{node: n, ids: s.ids, facts: s.facts, dist: append([]int{}, key...)}
}
