package planner

import (
	"fmt"
	"slices"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/expr"
)

// chain is a scan with the filter and the projection directly above it.
type chain struct {
	scan  *relScan
	conds []expr.Expr // over the scan's columns
	items []extendItem
}

// asChain reads r as a chain; nil when it is none.
func asChain(r rel) *chain {
	switch r := r.(type) {
	case *relScan:
		return &chain{scan: r}
	case *relFilter:
		if c := asChain(r.in); c != nil && len(c.items) == 0 {
			c.conds = append(slices.Clone(c.conds), r.conds...)
			return c
		}
	case *relExtend:
		if c := asChain(r.in); c != nil && len(c.items) == 0 {
			c.items = r.items
			return c
		}
	}
	return nil
}

// pk are the numbers of the primary key's columns.
func (c *chain) pk() []int { return pick(c.scan.ids, c.scan.src.table.PrimaryKey) }

// tableBase is what several reads of one table share: its scan, the conditions that all of them have, and
// the normaliser. Its columns are those of the table's connector schema, by index.
type tableBase struct {
	node    Node
	columns []int // indexes into the connector's columns
	common  []expr.Expr
	reader  bool
	dist    []int // indexes into the connector's columns, nil when unknown
}

// alone reports whether the chain is the only read of its table in the job, and nothing asks for the table's rows to
// be kept apart.
func (b *builder) alone(c *chain) bool {
	return len(b.scans[c.scan.src.table]) == 1 && !c.scan.src.keepsRows()
}

// upsertSide reports whether a chain can go into a keyed join by key, the join's state being the
// normaliser.
func (b *builder) upsertSide(c *chain) bool {
	return c != nil && c.scan.src.mode == spi.Upsert && b.alone(c)
}

// table builds a chain whose consumer is not a keyed join that normalises by itself.
func (b *builder) table(c *chain, need colSet) *stream {
	if !b.alone(c) {
		return b.sharedTable(c, need)
	}
	if c.scan.src.mode != spi.Upsert {
		return b.plainTable(c, need)
	}
	s := b.upsertTable(c, need)
	s = b.exchange(s, c.pk())
	return b.normaliseRows(s, c.pk(), "its consumer is not a keyed join, so the rows are kept here")
}

// plainTable is scan, filter, projection of a table that needs no normaliser.
func (b *builder) plainTable(c *chain, need colSet) *stream {
	keep := need.clone()
	if c.scan.src.changing() {
		// The key of a changing table identifies its rows in joins and sinks, for eight bytes or so.
		for _, id := range c.pk() {
			keep[id] = true
		}
	}
	s := b.scan(c.scan.src, c.scan.ids, keep.clone().addItems(c.items).addExprs(c.conds).of(c.scan.ids), spi.AppendOnly)
	s = b.filter(s, c.conds, nil)
	return b.project(s, append(passed(keep.of(s.ids)), computed(b.needed(c.items, need))...), nil)
}

// upsertTable is scan, filter and projection in mode Upsert. The primary key is always among the columns.
func (b *builder) upsertTable(c *chain, need colSet) *stream {
	pk := c.pk()
	keep := setOf(pk)
	for id := range need {
		keep[id] = true
	}
	s := b.scan(c.scan.src, c.scan.ids, keep.clone().addItems(c.items).addExprs(c.conds).of(c.scan.ids), spi.Upsert)
	s = b.filter(s, c.conds, pk)
	return b.project(s, append(passed(keep.of(s.ids)), computed(b.needed(c.items, need))...), pk)
}

func (b *builder) needed(items []extendItem, need colSet) []extendItem {
	var out []extendItem
	for _, it := range items {
		if need[it.id] {
			out = append(out, it)
		}
	}
	return out
}

func (s colSet) addItems(items []extendItem) colSet {
	for _, it := range items {
		s.addExprs([]expr.Expr{it.e})
	}
	return s
}

// scan makes the Scan of the given columns, which are among all, the numbers of the table's columns.
func (b *builder) scan(src *sourceInfo, all, cols []int, mode spi.Mode) *stream {
	if mode != spi.Upsert {
		mode = src.mode
	}
	if len(cols) == 0 {
		// Rows without columns would be a special case for every decoder: one column is read all the same.
		cols = all[:1]
	}
	f := tableFacts(src.table, all)
	pk := pick(all, src.table.PrimaryKey)
	n := &Scan{Connector: src.table.Connector, Table: src.table.Name}
	n.Props = b.derive(cols, mode, f, src.traits.Bounded, nil)
	n.Spec = spi.Scan{Table: src.spec, Mode: mode, DeadLetters: src.traits.DeadLetters, Readers: src.traits.Parallelism, TimeZone: b.zone}
	for _, id := range cols {
		n.Spec.Columns = append(n.Spec.Columns, slices.Index(all, id))
	}
	s := &stream{node: n, ids: cols, facts: f, reader: true}
	if mode == spi.Upsert {
		n.Spec.Key = s.mustAt(pk)
		n.Partial = src.traits.Partial
	}
	n.Why, n.Pos = src.why, src.ref
	b.read = append(b.read, readTable{n, src})
	return s
}

// normaliseRows keeps each row by its key.
func (b *builder) normaliseRows(s *stream, key []int, why string) *stream {
	n := &Normalise{Why: why, Props: b.derive(s.ids, spi.Retract, s.facts, s.props().Bounded, s.dist), Input: s.node, Kind: NormaliseRows, Key: s.mustAt(key)}
	return &stream{node: n, ids: s.ids, facts: s.facts, dist: s.dist}
}

// sharedTable is one of several reads of a table. The scan and the normaliser are shared; conditions that
// all reads have stand below them, the others above.
func (b *builder) sharedTable(c *chain, need colSet) *stream {
	t := c.scan.src.table
	base := b.bases[t]
	if base == nil {
		base = b.makeBase(t)
		b.bases[t] = base
	}
	f := tableFacts(t, c.scan.ids)
	var rest []expr.Expr
	for _, e := range c.conds {
		if containsExpr(base.common, c.toTable(e)) {
			f.filter([]expr.Expr{e})
		} else {
			rest = append(rest, e)
		}
	}
	s := &stream{node: base.node, ids: pick(c.scan.ids, base.columns), facts: f, reader: base.reader}
	if base.dist != nil {
		s.dist = pick(c.scan.ids, base.dist)
	}
	s = b.filter(s, rest, nil)
	keep := need.clone()
	if c.scan.src.changing() {
		for _, id := range c.pk() {
			keep[id] = true
		}
	}
	return b.project(s, append(passed(keep.of(s.ids)), computed(b.needed(c.items, need))...), nil)
}

// toTable rewrites an expression over the chain's column numbers to one over the table's columns by index,
// so that the conditions of several reads can be compared.
func (c *chain) toTable(e expr.Expr) expr.Expr {
	return expr.Remap(e, func(col *expr.Column) expr.Expr {
		i := slices.Index(c.scan.ids, col.Index)
		return &expr.Column{Index: i, Name: c.scan.src.spec.Columns[i].Name, T: col.T}
	})
}

// makeBase builds what the reads of a table share.
func (b *builder) makeBase(t *Table) *tableBase {
	scans := b.scans[t]
	src := scans[0].src
	used := map[int]bool{}
	var common []expr.Expr
	for k, sc := range scans {
		c := b.chain[sc]
		for i, id := range sc.ids {
			if slices.Contains(sc.need, id) {
				used[i] = true
			}
		}
		var conds []expr.Expr
		for _, e := range c.conds {
			if expr.Deterministic(e) && !src.keepsRows() {
				conds = append(conds, c.toTable(e))
			}
		}
		if k == 0 {
			common = conds
			continue
		}
		common = slices.DeleteFunc(common, func(e expr.Expr) bool { return !containsExpr(conds, e) })
	}
	// The shared part has column numbers of its own: the table's columns by index.
	all := make([]int, len(src.spec.Columns))
	for i, c := range src.spec.Columns {
		col := b.columns.list[scans[0].ids[i]]
		col.typ.NotNull = col.typ.NotNull || col.solid
		all[i] = b.columns.add(c.Name, c.Name, col.typ)
		if src.changing() && slices.Contains(t.PrimaryKey, i) {
			used[i] = true
		}
	}
	own := make([]expr.Expr, len(common))
	for i, e := range common {
		own[i] = expr.Remap(e, func(c *expr.Column) expr.Expr { return b.columns.ref(all[c.Index]) })
	}
	s := b.scan(src, all, pick(all, sortedInts(used)), src.mode)
	base := &tableBase{common: common, reader: true}
	if src.mode == spi.Upsert {
		pk := pick(all, t.PrimaryKey)
		s = b.filter(s, own, pk)
		why := fmt.Sprintf("%d places of the job read the table, so the rows are kept once for all", len(scans))
		if src.keepsRows() {
			why = "the table's options ask for its rows to be kept, so that values which events leave out are known"
		}
		s = b.normaliseRows(b.exchange(s, pk), pk, why)
		base.reader, base.dist = false, t.PrimaryKey
	} else {
		s = b.filter(s, own, nil)
	}
	base.node = s.node
	for _, id := range s.ids {
		base.columns = append(base.columns, slices.Index(all, id))
	}
	return base
}
