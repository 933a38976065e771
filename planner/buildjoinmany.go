package planner

import (
	"slices"
	"time"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/expr"
)

// keyedPart is an input of a join with its key's columns.
type keyedPart struct {
	rel rel
	key []int
	ttl *time.Duration
}

// manyParts are the inputs of adjacent inner joins by one key. An inner join with a further condition stays by
// itself: what it gives may be much less than what its inputs hold.
func manyParts(o *relOuter) []keyedPart {
	if o.kind != InnerJoin || len(o.keyL) == 0 {
		return nil
	}
	j, ok := o.left.rel.(*relJoin)
	two := []keyedPart{{o.left.rel, o.keyL, o.left.ttl}, {o.right.rel, o.keyR, o.right.ttl}}
	if !ok || o.left.ttl != nil || !j.ordered || len(j.conds) > 0 || len(j.keyL) != len(o.keyL) {
		return two
	}
	// The key's columns in the order of the inner join's.
	known := factsOf(j)
	key := make([]int, len(j.keyL))
	for i, k := range j.keyL {
		at := slices.IndexFunc(o.keyL, func(l int) bool { return known.same(l, k) })
		if at < 0 || slices.Contains(key[:i], o.keyR[at]) {
			return two
		}
		key[i] = o.keyR[at]
	}
	inner := manyParts(&relOuter{kind: InnerJoin, left: j.inputs[0], right: j.inputs[1], keyL: j.keyL, keyR: j.keyR})
	return append(inner, keyedPart{o.right.rel, key, o.right.ttl})
}

// joinMany builds an inner join of several inputs by one key.
func (b *builder) joinMany(parts []keyedPart, conds []expr.Expr, need colSet) *stream {
	all := need.clone().addExprs(conds)
	sides := make([]*joinSide, len(parts))
	for i, p := range parts {
		sides[i] = b.joinSide(p.rel, all, p.key, p.ttl)
	}
	for _, s := range sides {
		if p := permutation(s.stream, s.key); p != nil {
			for _, s := range sides {
				s.key = pick(s.key, p)
			}
			break
		}
	}
	n := &JoinMany{}
	out := &stream{node: n, dist: slices.Clone(sides[0].key)}
	mode, bounded := spi.AppendOnly, true
	for i, s := range sides {
		n.Sides = append(n.Sides, b.route(s))
		n.Parts = append(n.Parts, s.node)
		out.ids = append(out.ids, s.ids...)
		if s.props().Mode != spi.AppendOnly {
			mode = spi.Retract
		}
		bounded = bounded && s.props().Bounded
		if i == 0 {
			out.facts = s.facts
		} else {
			out.facts = joinFacts(out.facts, s.facts, sides[0].key, s.key)
		}
	}
	out.facts.filter(conds)
	n.Residual = expr.And(out.exprs(conds)...)
	n.Props = b.derive(out.ids, mode, out.facts, bounded, out.dist)
	return out
}
