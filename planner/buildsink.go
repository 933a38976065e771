package planner

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/keyenc"
	"github.com/sluicesql/sluice/sql/ast"
)

// sink builds a root: projection to the sink's columns, the exchange that brings together what has to be
// consolidated, and the sink.
func (b *builder) sink(l *logicalSink) (*Sink, error) {
	s := b.stream(l.in, setOf(l.ids, l.order))
	if l.order != nil {
		need := setOf(l.ids, l.order)
		s = b.materialise(l, b.narrow(s, need))
	}
	s = b.project(s, passed(l.ids), nil)
	if l.unique { // the projections may be one by now, and no longer tell what follows from what
		s.facts = s.facts.clone()
		s.facts.addKey(pick(s.ids, l.sink.key))
	}
	n := &Sink{}
	if l.sink == nil {
		b.resultSink(n, l, s)
	} else if err := b.tableSink(n, l, s); err != nil {
		return nil, err
	}
	s = b.toSink(n, l, s)
	n.Input = s.node
	n.PairKey = n.pairKey(s)
	n.Keys, n.Bounded, n.Mode = s.facts.visible(s.ids), s.props().Bounded, n.Spec.Mode
	n.Dist = s.props().Dist
	if n.Pos = l.at.table; !n.Pos.IsValid() {
		n.Pos = l.at.stmt
	}
	return n, nil
}

// resultSink describes the result of a top-level SELECT.
func (b *builder) resultSink(n *Sink, l *logicalSink, s *stream) {
	t := &spi.Table{}
	for i := range l.names {
		typ := s.props().Columns[i].Type
		t.Columns = append(t.Columns, spi.Column{Name: l.names[i], Type: typ})
		n.Spec.Columns = append(n.Spec.Columns, i)
		n.Columns = append(n.Columns, Column{l.names[i], typ})
	}
	n.Columns = append(n.Columns, s.props().Columns[len(l.names):]...)
	for _, k := range s.orderKeys(l.shown) {
		n.Spec.Order = append(n.Spec.Order, keyenc.OrderColumn{Column: keyenc.Column{Index: k.Col, Phys: n.Columns[k.Col].Type.Phys()}, Desc: k.Desc, NullsLast: k.NullsLast})
	}
	n.Spec.Table, n.Spec.Mode, n.Spec.TimeZone = t, s.props().Mode, b.zone
}

func (b *builder) tableSink(n *Sink, l *logicalSink, s *stream) error {
	info := l.sink
	n.Connector, n.Table, n.Width = info.table.Connector, info.table.Name, info.traits.Parallelism
	n.Transactional = info.traits.Transactional
	n.Spec = spi.SinkSpec{Table: info.spec, Columns: info.columns, Key: info.key, TimeZone: b.zone}
	for pos, i := range info.columns {
		c := info.spec.Columns[i]
		n.Columns = append(n.Columns, Column{c.Name, c.Type})
		if info.declared(pos).Type.NotNull && !s.props().Columns[pos].Type.NotNull {
			n.NotNull = append(n.NotNull, pos)
		}
	}
	changes := s.props().Mode
	switch info.traits.Accepts {
	case spi.AppendOnly:
		if changes != spi.AppendOnly {
			return cannotTakeBack(l, s)
		}
		n.Spec.Mode = spi.AppendOnly
		return nil
	case spi.Retract:
		n.Spec.Mode = changes
	case spi.Upsert:
		n.Spec.Mode = spi.Upsert
	}
	if len(info.key) > 0 && !s.facts.isKey(pick(s.ids, info.key)) {
		return b.keyMismatch(l, s)
	}
	return nil
}

// cannotTakeBack refuses a changing query into a sink that can only append.
func cannotTakeBack(l *logicalSink, s *stream) error {
	name := l.sink.table.Name
	why := "its rows can change and be deleted"
	if t := changingTable(l.in); t != nil {
		why = fmt.Sprintf("%s is a changing table (%s), so that rows of the result are changed and deleted", t.table.Name, t.why)
	}
	return hint(errAt(l.at.table, "%s cannot take the query's changes: connector %s is append-only as declared, but %s", name, l.sink.table.Connector.Name(), why).Coded(ast.CodeSinkChanges),
		"write with a format or connector that can express deletes, such as 'debezium-json' or upsert-kafka")
}

// changingTable is the first table of a tree whose rows can be taken back.
func changingTable(r rel) *sourceInfo {
	switch r := r.(type) {
	case *relScan:
		if r.src.changing() {
			return r.src
		}
	case *relFilter:
		return changingTable(r.in)
	case *relExtend:
		return changingTable(r.in)
	case *relShared:
		return changingTable(r.def.body)
	case *relAggregate:
		return changingTable(r.in)
	case *relRepeat:
		return changingTable(r.in)
	case *relUnnest:
		return changingTable(r.in)
	case *relWindow:
		return changingTable(r.in)
	case *relUnion:
		for _, in := range r.inputs {
			if t := changingTable(in); t != nil {
				return t
			}
		}
	case *relJoin:
		for _, in := range r.inputs {
			if t := changingTable(in.rel); t != nil {
				return t
			}
		}
	case *relOuter:
		if t := changingTable(r.left.rel); t != nil {
			return t
		}
		return changingTable(r.right.rel)
	}
	return nil
}

// keyMismatch refuses a query of which several rows could have one key of the sink.
func (b *builder) keyMismatch(l *logicalSink, s *stream) error {
	var key []string
	for _, k := range l.sink.key {
		key = append(key, l.sink.declared(k).Name)
	}
	known := "no unique key of the query is known"
	if keys := s.props().Keys; len(keys) > 0 {
		var parts []string
		for _, k := range keys {
			var cols []string
			for _, i := range k {
				cols = append(cols, l.sink.declared(i).Name)
			}
			parts = append(parts, "("+strings.Join(cols, ", ")+")")
		}
		known = "the query's rows are unique by " + strings.Join(parts, " and by ")
	} else if all := s.facts.keys; len(all) > 0 {
		var cols []string
		for _, id := range all[0] {
			cols = append(cols, b.columns.list[id].label)
		}
		known = "the query's rows are unique by (" + strings.Join(cols, ", ") + "), which it does not write"
	}
	return hint(errAt(l.at.table, "several rows of the query may have one PRIMARY KEY (%s) of %s, and '%s' is NONE: %s",
		strings.Join(key, ", "), l.sink.table.Name, OptUpsertMaterialize, known).Coded(ast.CodeSinkKey),
		"make a unique key of the query the PRIMARY KEY of %s, or leave the option at AUTO", l.sink.table.Name)
}

// toSink adds the exchange before a sink, where one is needed: rows that are equal, or that have one key of
// the sink, have to meet in one writer. Without a key of the sink, changes that a sink routes alike do.
func (b *builder) toSink(n *Sink, l *logicalSink, s *stream) *stream {
	key := pick(s.ids, n.Spec.Key)
	if len(key) == 0 && l.sink != nil && s.props().Mode != spi.AppendOnly {
		key = pick(s.ids, l.sink.route)
	}
	there := !s.reader && n.Width == 0
	if len(key) > 0 {
		if there && s.dist != nil && s.distWithin(key) {
			return s
		}
		return b.toWriters(s, key, n.Width)
	}
	if there {
		if s.props().Mode == spi.AppendOnly {
			return s
		}
		if _, visible := s.at(s.dist); visible && s.dist != nil {
			return s
		}
	}
	if k := s.bestKey(); len(k) > 0 && s.props().Mode != spi.AppendOnly {
		// Equal rows have equal keys; the key rather than the row brings an update's two rows together too.
		return b.toWriters(s, pick(s.ids, k), n.Width)
	}
	x := &Exchange{Input: s.node, Width: n.Width}
	// Inserts alone need not meet anything; they stay with the shard of the reader's number.
	x.Spread = s.props().Mode == spi.AppendOnly && n.Width == 0
	x.ByRow = !x.Spread
	x.Props = b.derive(s.ids, s.props().Mode, s.facts, s.props().Bounded, nil)
	return &stream{node: x, ids: s.ids, facts: s.facts}
}

// toWriters divides s by key among a sink's writers; width 0 is the job's parallelism.
func (b *builder) toWriters(s *stream, key []int, width int) *stream {
	if width == 0 {
		return b.exchange(s, key)
	}
	plain := *s
	plain.branches = nil
	out := b.exchange(&plain, key)
	out.node.(*Exchange).Width = width
	return out
}

// distWithin reports whether rows of equal cols are on one shard.
func (s *stream) distWithin(cols []int) bool {
	return !slices.ContainsFunc(s.dist, func(d int) bool { return s.facts.find(cols, d) < 0 && !s.facts.isConst(d) })
}

// pairKey is a unique key of the sink's input: the sink's own where the query is known to respect it.
func (s *Sink) pairKey(in *stream) []int {
	if len(s.Spec.Key) > 0 && in.facts.isKey(pick(in.ids, s.Spec.Key)) {
		return s.Spec.Key
	}
	return in.bestKey()
}
