package planner

import (
	"slices"
	"time"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/expr"
	"github.com/sluicesql/sluice/engine/row"
)

// stream is a physical node with what the builder knows of it in terms of the logical columns.
type stream struct {
	node Node
	// ids are the numbers of the node's columns.
	ids   []int
	facts *facts
	// dist are the columns by whose hash rows are divided, in order; nil when unknown.
	dist []int
	// reader says that the node runs in the readers' tasks: no exchange has come yet.
	reader bool
	// branches are the inputs of a Union that nothing else reads: an exchange above it goes below instead.
	branches []*stream
	// projects is what the node projects, where it is a Project that nothing else reads: a further projection
	// replaces it.
	projects *projection
}

// projection is what a Project computes from its input.
type projection struct {
	in   *stream
	outs []output
}

// output is a column of a projection: computed, or passed on where e is nil.
type output struct {
	id int
	e  expr.Expr
}

func passed(ids []int) []output {
	out := make([]output, len(ids))
	for i, id := range ids {
		out[i].id = id
	}
	return out
}

func computed(items []extendItem) []output {
	out := make([]output, len(items))
	for i, it := range items {
		out[i] = output(it)
	}
	return out
}

func (s *stream) props() *Props { return s.node.Out() }

// at are the positions of columns, or of columns equal to them; ok is false when one is missing.
func (s *stream) at(cols []int) (pos []int, ok bool) {
	pos = make([]int, len(cols))
	for i, c := range cols {
		if pos[i] = s.facts.find(s.ids, c); pos[i] < 0 {
			return nil, false
		}
	}
	return pos, true
}

func (s *stream) mustAt(cols []int) []int {
	pos, ok := s.at(cols)
	if !ok {
		panic("planner: a column that is needed was pruned")
	}
	return pos
}

// expr rewrites an expression over column numbers to one over the node's columns.
func (s *stream) expr(e expr.Expr) expr.Expr {
	return expr.Remap(e, func(c *expr.Column) expr.Expr {
		i := s.facts.find(s.ids, c.Index)
		if i < 0 {
			panic("planner: the column " + c.Name + " was pruned")
		}
		return &expr.Column{Index: i, Name: c.Name, T: c.T}
	})
}

func (s *stream) exprs(es []expr.Expr) []expr.Expr {
	out := make([]expr.Expr, len(es))
	for i, e := range es {
		out[i] = s.expr(e)
	}
	return out
}

// builder makes the physical plan of a job.
type builder struct {
	columns *columnTable
	zone    *time.Location
	// scans are all reads of each table in the job.
	scans map[*Table][]*relScan
	// tables are the tables read, in the order in which they were met.
	tables []*Table
	chain  map[*relScan]*chain
	bases  map[*Table]*tableBase
	built  map[*sharedBody]*stream
	// read are the scans made.
	read []readTable
}

// readTable is a scan and what it reads.
type readTable struct {
	scan *Scan
	src  *sourceInfo
}

// build makes the physical plan.
func build(jb *jobBuilder) (*Plan, error) {
	j := jb.job
	b := &builder{
		columns: j.columns, zone: jb.zone,
		scans: map[*Table][]*relScan{}, chain: map[*relScan]*chain{}, bases: map[*Table]*tableBase{}, built: map[*sharedBody]*stream{},
	}
	for _, sink := range j.sinks {
		b.collect(sink.in)
	}
	for _, d := range j.shared {
		b.collect(d.body)
	}
	if err := b.settleModes(); err != nil {
		return nil, err
	}
	p := &Plan{Options: jb.options}
	for _, sink := range j.sinks {
		n, err := b.sink(sink)
		if err != nil {
			return nil, err
		}
		p.Sinks = append(p.Sinks, n)
	}
	markPartial(p)
	for _, r := range b.read {
		if err := r.src.check(r.scan.Spec); err != nil {
			return nil, err
		}
	}
	if err := addDeadLetters(p); err != nil {
		return nil, err
	}
	settleLifetimes(p)
	number(p)
	p.Fingerprint = fingerprint(p)
	return p, nil
}

// collect notes all scans of a tree, with the filters and projections directly above them.
func (b *builder) collect(r rel) {
	if c := asChain(r); c != nil {
		t := c.scan.src.table
		if b.scans[t] == nil {
			b.tables = append(b.tables, t)
		}
		b.scans[t] = append(b.scans[t], c.scan)
		b.chain[c.scan] = c
		return
	}
	switch r := r.(type) {
	case *relFilter:
		b.collect(r.in)
	case *relExtend:
		b.collect(r.in)
	case *relJoin:
		for _, in := range r.inputs {
			b.collect(in.rel)
		}
	case *relAggregate:
		b.collect(r.in)
	case *relRepeat:
		b.collect(r.in)
	case *relWindow:
		b.collect(r.in)
	case *relUnion:
		for _, in := range r.inputs {
			b.collect(in)
		}
	case *relUnnest:
		b.collect(r.in)
	case *relOuter:
		b.collect(r.left.rel)
		b.collect(r.right.rel)
	}
}

// derive makes the properties of a node from its columns' numbers.
func (b *builder) derive(ids []int, mode spi.Mode, f *facts, bounded bool, dist []int) Props {
	p := Props{Mode: mode, Keys: f.visible(ids), Bounded: bounded}
	for _, id := range ids {
		c := &b.columns.list[id]
		t := c.typ
		t.NotNull = (t.NotNull || c.solid) && !f.filled[id]
		p.Columns = append(p.Columns, Column{c.name, t})
	}
	if dist != nil {
		s := stream{ids: ids, facts: f}
		if pos, ok := s.at(dist); ok {
			p.Dist = pos
		}
	}
	return p
}

// stream builds r; its columns hold at least those of need.
func (b *builder) stream(r rel, need colSet) *stream {
	if c := asChain(r); c != nil {
		return b.table(c, need)
	}
	switch r := r.(type) {
	case *relValues:
		return b.values(r)
	case *relFilter:
		in := b.stream(r.in, need.clone().addExprs(r.conds))
		return b.filter(in, r.conds, nil)
	case *relExtend:
		return b.extend(r, need)
	case *relShared:
		return b.sharedStream(r)
	case *relJoin:
		o := &relOuter{kind: InnerJoin, left: r.inputs[0], right: r.inputs[1], conds: r.conds, keyL: r.keyL, keyR: r.keyR, early: r.early}
		return b.join(o, need)
	case *relOuter:
		return b.join(r, need)
	case *relUnnest:
		return b.unnest(r, need)
	case *relAggregate:
		return b.aggregate(r, need)
	case *relUnion:
		return b.union(r, need)
	case *relRepeat:
		return b.repeat(r, need)
	case *relWindow:
		return b.window(r, need)
	}
	panic("planner: unknown logical node")
}

// filter puts a filter on top of in.
func (b *builder) filter(in *stream, conds []expr.Expr, upsertKey []int) *stream {
	if len(conds) == 0 {
		return in
	}
	f := in.facts.clone()
	f.filter(conds)
	p := in.props()
	n := &Filter{Props: b.derive(in.ids, p.Mode, f, p.Bounded, in.dist), Input: in.node, Cond: expr.And(in.exprs(conds)...)}
	if upsertKey != nil {
		n.UpsertKey = in.mustAt(upsertKey)
	}
	return &stream{node: n, ids: in.ids, facts: f, dist: in.dist, reader: in.reader}
}

// extend computes the items of x and drops what is not needed above.
func (b *builder) extend(x *relExtend, need colSet) *stream {
	below := need.clone()
	for _, it := range x.items {
		delete(below, it.id)
	}
	keep := below.clone()
	for _, it := range x.items {
		below.addExprs([]expr.Expr{it.e})
	}
	in := b.stream(x.in, below)
	return b.project(in, append(passed(keep.of(in.ids)), computed(x.items)...), nil)
}

// project delivers the given columns. With nothing to do it is in itself.
func (b *builder) project(in *stream, outs []output, upsertKey []int) *stream {
	if in.projects != nil && upsertKey == nil {
		if merged := in.projects.merge(outs); merged != nil {
			return b.project(in.projects.in, merged, nil)
		}
	}
	var ids []int
	var es []expr.Expr
	var items []extendItem
	for _, o := range outs {
		ids = append(ids, o.id)
		if o.e == nil {
			es = append(es, in.expr(b.columns.ref(o.id)))
		} else {
			es = append(es, in.expr(o.e))
			items = append(items, extendItem(o))
		}
	}
	if len(items) == 0 && slices.Equal(ids, in.ids) {
		return in
	}
	f := in.facts.clone()
	f.extend(items)
	if v, ok := in.node.(*Values); ok {
		if s := b.projectValues(v, ids, es, f); s != nil {
			return s
		}
	}
	p := in.props()
	n := &Project{Props: b.derive(ids, p.Mode, f, p.Bounded, in.dist), Input: in.node, Exprs: es}
	s := &stream{node: n, ids: ids, facts: f, dist: in.dist, reader: in.reader}
	if upsertKey != nil {
		n.UpsertKey = in.mustAt(upsertKey)
	} else {
		s.projects = &projection{in, outs}
	}
	return s
}

// merge is the projection by which outs, over p's columns, come from p's input directly; nil where that
// would compute a non-deterministic expression twice.
func (p *projection) merge(outs []output) []output {
	x := &relExtend{}
	for _, o := range p.outs {
		if o.e != nil {
			if !expr.Deterministic(o.e) {
				return nil
			}
			x.items = append(x.items, extendItem(o))
		}
	}
	merged := make([]output, len(outs))
	for i, o := range outs {
		merged[i] = o
		if o.e != nil {
			merged[i].e = inline(o.e, x)
		} else if slices.Contains(p.in.ids, o.id) {
			continue
		} else if merged[i].e = x.item(o.id); merged[i].e == nil {
			// A column that only equals one of p's: rare, and right without merging.
			return nil
		}
	}
	return merged
}

// projectValues replaces a projection of constant rows by its rows; nil when it computes anything.
func (b *builder) projectValues(v *Values, ids []int, es []expr.Expr, f *facts) *stream {
	rows := make([][]row.Datum, len(v.Rows))
	for _, e := range es {
		for i := range rows {
			switch e := e.(type) {
			case *expr.Const:
				rows[i] = append(rows[i], e.Value)
			case *expr.Column:
				rows[i] = append(rows[i], v.Rows[i][e.Index])
			default:
				return nil
			}
		}
	}
	n := &Values{Props: b.derive(ids, spi.AppendOnly, f, true, nil), Rows: rows}
	return &stream{node: n, ids: ids, facts: f, reader: true}
}

func (b *builder) values(v *relValues) *stream {
	f := factsOf(v)
	n := &Values{Props: b.derive(v.ids, spi.AppendOnly, f, true, nil)}
	for _, r := range v.rows {
		d := make([]row.Datum, len(r))
		for i, e := range r {
			d[i] = e.(*expr.Const).Value
		}
		n.Rows = append(n.Rows, d)
	}
	return &stream{node: n, ids: v.ids, facts: f, reader: true}
}

// sharedStream is one reference to a shared body, which is built once.
func (b *builder) sharedStream(r *relShared) *stream {
	in := b.built[r.def]
	if in == nil {
		in = b.stream(r.def.body, r.def.need)
		in = b.project(in, passed(r.def.need.of(in.ids)), nil)
		b.built[r.def] = in
	}
	translate := func(ids []int) []int {
		out := make([]int, len(ids))
		for i, id := range ids {
			out[i] = r.ids[slices.Index(r.def.ids, id)]
		}
		return out
	}
	s := &stream{node: in.node, ids: translate(in.ids), facts: r.facts(), reader: in.reader}
	if in.dist != nil {
		visible := make([]int, len(in.dist))
		for i, d := range in.dist {
			k := in.facts.find(r.def.ids, d)
			if k < 0 {
				return s
			}
			visible[i] = r.ids[k]
		}
		s.dist = visible
	}
	return s
}
