package planner

import (
	"slices"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/expr"
)

// window builds a window: the input's columns in use, divided by the partition.
func (b *builder) window(r *relWindow, need colSet) *stream {
	below := r.below(need)
	return b.windowOver(b.narrow(b.stream(r.in, below), below), r, "")
}

func (b *builder) windowOver(in *stream, r *relWindow, why string) *stream {
	partition := r.partition
	if p := permutation(in, partition); p != nil {
		partition = pick(partition, p)
	}
	if !in.dividedBy(partition) {
		in = b.exchange(in, partition)
	}
	f := r.facts(in.facts)
	n := &Window{Input: in.node, Partition: in.mustAt(partition), Order: in.orderKeys(r.order), Ties: in.orderKeys(r.ties), Limit: r.limit, Why: why}
	ids := slices.Clone(in.ids)
	for i := range r.calls {
		c := &r.calls[i]
		ids = append(ids, c.id)
		w := WindowCall{Kind: c.kind, Arg: -1, Default: -1, N: c.n, Frame: c.frame}
		if c.arg >= 0 {
			w.Arg = in.mustAt([]int{c.arg})[0]
		}
		if c.deflt >= 0 {
			w.Default = in.mustAt([]int{c.deflt})[0]
		}
		if c.kind == expr.WindowAggregate {
			agg := in.aggCall(&c.agg)
			agg.Bag = -1
			w.Aggregate = &agg
		}
		n.Calls = append(n.Calls, w)
	}
	n.Props = b.derive(ids, spi.Retract, f, in.props().Bounded, in.dist)
	return &stream{node: n, ids: ids, facts: f, dist: in.dist}
}
