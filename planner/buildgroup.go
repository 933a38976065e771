package planner

import (
	"slices"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/expr"
)

// aggregate builds a grouping: the input's columns in use, divided by the group's key.
func (b *builder) aggregate(r *relAggregate, need colSet) *stream {
	below := setOf(r.keys)
	for i := range r.calls {
		r.calls[i].reads(below)
	}
	in := b.narrow(b.stream(r.in, below), below)
	keys := r.keys
	if p := permutation(in, keys); p != nil {
		keys = pick(keys, p)
	}
	if !in.dividedBy(keys) {
		in = b.exchange(in, keys)
	}
	f := r.facts(in.facts)
	n := &Aggregate{Input: in.node, Key: in.mustAt(keys), Global: r.global, Life: Lifetime{hint: r.ttl}}
	ids := slices.Clone(keys)
	for i := range r.calls {
		c := &r.calls[i]
		ids = append(ids, c.id)
		n.Calls = append(n.Calls, in.aggCall(c))
	}
	n.Bags = bags(n.Calls, in.props().Mode != spi.AppendOnly)
	n.Props = b.derive(ids, spi.Retract, f, in.props().Bounded, in.dist)
	return &stream{node: n, ids: ids, facts: f, dist: in.dist}
}

func (s *stream) aggCall(c *aggCall) AggCall {
	out := AggCall{Fn: c.fn, Args: s.mustAt(c.args), Distinct: c.distinct, Filter: -1, Order: s.orderKeys(c.order), Separator: c.separator}
	if c.filter >= 0 {
		out.Filter = s.mustAt([]int{c.filter})[0]
	}
	return out
}

func (s *stream) orderKeys(order []orderKey) []OrderKey {
	var out []OrderKey
	for _, k := range order {
		out = append(out, OrderKey{Col: s.mustAt([]int{k.col})[0], Desc: k.desc, NullsLast: k.nullsLast})
	}
	return out
}

// narrow drops the columns that are not needed; one is left, if there are any.
func (b *builder) narrow(s *stream, need colSet) *stream {
	keep := need.of(s.ids)
	for _, id := range sortedInts(need) {
		if !slices.Contains(keep, id) && s.facts.find(s.ids, id) >= 0 {
			keep = append(keep, id) // it equals one of the stream's
		}
	}
	if len(keep) == 0 && len(s.ids) > 0 {
		keep = s.ids[:1]
	}
	return b.project(s, passed(keep), nil)
}

// union builds the inputs with the same columns in the same order. Inputs that still run in their readers'
// tasks go through an exchange: a task reads one table.
func (b *builder) union(r *relUnion, _ colSet) *stream {
	out := &stream{ids: r.ids, facts: newFacts()}
	for i, in := range r.inputs {
		outs := make([]output, len(r.ids))
		for k, id := range r.ids {
			outs[k] = output{id: id, e: b.columns.ref(r.cols[i][k])}
		}
		part := b.project(b.stream(in, setOf(r.cols[i])), outs, nil)
		part.dist = part.seen(part.dist)
		out.branches = append(out.branches, part)
	}
	return b.unite(out, func(s *stream) *stream {
		if !s.reader {
			return s
		}
		x := &Exchange{Input: s.node, Spread: true}
		x.Props = b.derive(s.ids, s.props().Mode, s.facts, s.props().Bounded, nil)
		return &stream{node: x, ids: s.ids, facts: s.facts}
	})
}

// unite makes a Union of u's branches, each as place makes it.
func (b *builder) unite(u *stream, place func(*stream) *stream) *stream {
	n := &Union{}
	mode, bounded := spi.AppendOnly, true
	out := &stream{ids: u.ids, facts: u.facts, branches: u.branches}
	for i, s := range u.branches {
		s = place(s)
		if s.props().Mode != spi.AppendOnly {
			mode = spi.Retract
		}
		bounded = bounded && s.props().Bounded
		n.Parts = append(n.Parts, s.node)
		if i == 0 {
			out.dist = s.dist
		} else if !slices.Equal(out.dist, s.dist) || s.dist == nil {
			out.dist = nil
		}
	}
	n.Props = b.derive(u.ids, mode, u.facts, bounded, out.dist)
	out.node = n
	return out
}

// seen are the stream's own columns that stand for cols; nil where one is missing.
func (s *stream) seen(cols []int) []int {
	if cols == nil {
		return nil
	}
	pos, ok := s.at(cols)
	if !ok {
		return nil
	}
	return pick(s.ids, pos)
}

// bags finds the calls for which a group has to keep the values themselves: to see each once, to show all, or to know
// the next when the least or greatest is taken back. Calls over the same values share them.
func bags(calls []AggCall, changing bool) []AggBag {
	var out []AggBag
	for i := range calls {
		c := &calls[i]
		c.Bag = -1
		switch c.Fn.Kind {
		case expr.AggMin, expr.AggMax:
			if !changing {
				continue
			}
		case expr.AggFirst, expr.AggLast, expr.AggList, expr.AggArray, expr.AggJSONArray, expr.AggJSONObject:
		default:
			if !c.Distinct {
				continue
			}
		}
		bag := AggBag{Args: c.Args, Filter: c.Filter, Order: c.Order, KeepNull: c.Fn.KeepNull}
		c.Bag = slices.IndexFunc(out, func(b AggBag) bool {
			return slices.Equal(b.Args, bag.Args) && b.Filter == bag.Filter && slices.Equal(b.Order, bag.Order) && b.KeepNull == bag.KeepNull
		})
		if c.Bag < 0 {
			c.Bag = len(out)
			out = append(out, bag)
		}
	}
	return out
}

func (b *builder) repeat(r *relRepeat, need colSet) *stream {
	below := need.clone()
	below[r.times] = true
	in := b.stream(r.in, below)
	f := in.facts.clone()
	f.keys = nil
	p := in.props()
	n := &Repeat{Props: b.derive(in.ids, p.Mode, f, p.Bounded, in.dist), Input: in.node, Times: in.mustAt([]int{r.times})[0]}
	return &stream{node: n, ids: in.ids, facts: f, dist: in.dist, reader: in.reader}
}
