package runtime

import (
	"fmt"

	"github.com/sluicesql/sluice/engine/expr"
	"github.com/sluicesql/sluice/engine/keyenc"
	"github.com/sluicesql/sluice/engine/op"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/state"
	"github.com/sluicesql/sluice/internal/fault"
	"github.com/sluicesql/sluice/planner"
)

// instance is one goroutine's copy of a fragment: its operators, wired from the consumers up.
type instance struct {
	frag    *fragment
	index   int
	ctx     *expr.Ctx
	shard   *state.Shard  // nil in source fragments and where no operator has state
	barrier []op.Operator // in the order in which barriers pass: inputs before consumers
	sinks   []*sinkTask
	routers []*op.Router
	out     []*edge     // all outgoing edges
	entry   []op.Output // shard fragments: where each link's batches go
	source  op.Output   // source fragments: where the reader's batches go
	dead    op.Output   // source fragments: where its dead letters go; nil without
	inputs  map[planner.Node][]op.Output
	tables  []*state.Table
	timed   []timedTable
	unknown []*int64 // counters of deletes that deleted nothing
	checks  []*op.Checker
	meters  *meters // nil unless the job is measured
	// What writes sinks anew; see reemission.
	reemit []op.Reemitter
	closed bool // gates are closed
}

// builder makes the instances of a job.
type builder struct {
	job   *Job
	graph *graph
	// edges[link][producer][consumer]
	edges map[*link][][]*edge
	// What the checkers of a node's instances share; see check.
	specs   map[planner.Node]*op.CheckSpec
	ledgers map[planner.Node]*op.Ledger
}

// build makes instance index of fragment f.
func (b *builder) build(f *fragment, index int) (*instance, error) {
	in := &instance{frag: f, index: index, ctx: b.job.newExprCtx(), inputs: map[planner.Node][]op.Output{}, closed: b.job.control.closedFirst}
	if b.job.cfg.Measure {
		in.meters = newMeters()
	}
	for i := len(f.nodes) - 1; i >= 0; i-- { // consumers first: an operator is made with its output
		barriers := len(in.barrier)
		if err := b.node(in, f.nodes[i]); err != nil {
			return nil, fmt.Errorf("node #%d: %w", f.nodes[i].Out().ID, err)
		}
		in.measureNode(f.nodes[i], barriers)
	}
	for i, j := 0, len(in.barrier)-1; i < j; i, j = i+1, j-1 {
		in.barrier[i], in.barrier[j] = in.barrier[j], in.barrier[i]
	}
	for _, l := range f.in {
		entry := in.inputs[l.parent.node][l.parent.port]
		if l.exchange != nil {
			entry = b.check(in, l.exchange, entry)
			if b.first(l) {
				entry = in.measureOutput(l.exchange, entry)
			}
		}
		in.entry = append(in.entry, entry)
	}
	return in, nil
}

// output returns what takes node n's changes: its consumers in this fragment, and the routers of its
// exchanges.
func (b *builder) output(in *instance, n planner.Node) (op.Output, error) {
	var outs op.Tee
	for _, p := range b.graph.parents[n] {
		if at, ok := in.inputs[p.node]; ok {
			outs = append(outs, b.gate(in, n, p.node, at[p.port]))
		}
	}
	for _, l := range b.graph.links {
		if l.node == n {
			outs = append(outs, b.gate(in, n, l.parent.node, b.router(in, l)))
		}
	}
	if len(outs) == 0 {
		return nil, fault.Errorf(fault.Internal, "internal: nothing reads its output")
	}
	var out op.Output = outs
	if len(outs) == 1 {
		out = outs[0]
	}
	return in.measureOutput(n, b.check(in, n, out)), nil
}

func (b *builder) router(in *instance, l *link) op.Output {
	edges := b.edges[l][in.index]
	to := make([]op.Sender, len(edges))
	for i, e := range edges {
		to[i] = in.measureSender(e)
	}
	x := l.exchange
	by, fixed := op.RouteByKey, 0
	var key, scatter []keyenc.Column
	nulls := op.NullsNone
	switch {
	case x == nil || len(x.Key) == 0 && x.Spread:
		by, fixed = op.RouteFixed, in.index%len(edges)
	case x.ByRow:
		by = op.RouteByRow
	default:
		ts := x.Out().Types()
		key, scatter, nulls = keyenc.Columns(ts, x.Key), keyenc.Columns(ts, x.Scatter), nullsOf[x.Nulls]
	}
	r := op.NewRouter(by, key, fixed, to, b.job.cfg.BatchRows)
	r.SetNulls(nulls, scatter)
	in.routers = append(in.routers, r)
	in.out = append(in.out, edges...)
	out, barrier := b.measureExchange(in, l, r)
	in.barrier = append(in.barrier, barrier)
	return out
}

func (b *builder) node(in *instance, n planner.Node) error {
	if s, ok := n.(*planner.Sink); ok {
		t := b.job.newSinkTask(s, in.index)
		in.sinks = append(in.sinks, t)
		in.inputs[n] = []op.Output{t}
		return nil
	}
	if p, ok := n.(*planner.Project); ok && b.fused(p) {
		in.meters.fuse(p)
		return nil // the join below projects
	}
	made := n // the node whose rows come out
	if b.fusable(n) != nil {
		made = b.fusable(n)
	}
	out, err := b.output(in, made)
	if err != nil {
		return err
	}
	switch n := n.(type) {
	case *planner.Scan, *planner.Values:
		in.source = out
	case *planner.DeadLetters:
		in.dead = out
	case *planner.Filter:
		f, err := op.NewFilter(in.ctx, n.Cond, n.Input.Out().Types(), n.UpsertKey, out)
		if err != nil {
			return err
		}
		in.inputs[n] = []op.Output{f}
	case *planner.Project:
		p, err := op.NewProject(in.ctx, n.Exprs, n.UpsertKey, out)
		if err != nil {
			return err
		}
		in.inputs[n] = []op.Output{p}
	case *planner.Unnest:
		u, err := op.NewUnnest(in.ctx, n.Input.Out().Types(), n.Keep, n.List, n.Numbered, n.KeepEmpty, out)
		if err != nil {
			return err
		}
		in.inputs[n] = []op.Output{u}
	case *planner.Normalise:
		return b.normalise(in, n, out)
	case *planner.Join:
		return b.join(in, n, out)
	case *planner.JoinMany:
		return b.joinMany(in, n, out)
	case *planner.Aggregate:
		return b.aggregate(in, n, out)
	case *planner.Window:
		return b.window(in, n, out)
	case *planner.Repeat:
		in.inputs[n] = []op.Output{op.NewRepeat(n.Times, out)}
	case *planner.Union:
		b.union(in, n, out)
	default:
		return fault.Errorf(fault.Internal, "internal: no operator for %T", n)
	}
	return nil
}

func (b *builder) normalise(in *instance, n *planner.Normalise, out op.Output) error {
	ts := n.Input.Out().Types()
	t := b.lifeTable(in, n, 0, false, &n.Life)
	if n.Kind == planner.NormaliseIndex {
		o := op.NewNormaliseIndex(t, ts, n.Key, n.Route, out)
		o.Completer = b.completer(n.Input)
		if n.KeepNull {
			o.KeepNull()
		}
		in.unknown = append(in.unknown, &o.UnknownDeletes)
		in.inputs[n] = []op.Output{o}
		in.forgets(o, t)
		return nil
	}
	o := op.NewNormaliseRows(t, keyenc.Columns(ts, n.Key), out)
	o.Completer = b.completer(n.Input)
	in.unknown = append(in.unknown, &o.UnknownDeletes)
	in.inputs[n] = []op.Output{o}
	in.forgets(o, t)
	return b.reemits(in, n, o)
}

// completer completes the rows that come from n, where values may have been left out; nil otherwise.
func (b *builder) completer(n planner.Node) *op.Completer {
	scan, cols := planner.PartialColumns(n)
	if scan == nil {
		return nil
	}
	out := n.Out()
	c := &op.Completer{
		Columns: cols, Phys: op.Phys(out.Types()), Null: scan.Partial.Null, Fix: scan.Partial.Fix, Table: "table " + scan.Table,
		Describe: func(r row.Row) string { return describe(r, out.Columns, b.job.cfg.TimeZone) },
	}
	for _, col := range out.Columns {
		c.NotNull, c.Names = append(c.NotNull, col.Type.NotNull), append(c.Names, col.Name)
	}
	return c
}

// table is the state table of a node's port.
func (b *builder) table(in *instance, n planner.Node, port int, bag bool) *state.Table {
	stage := in.frag.stage
	if in.shard == nil {
		in.shard = b.job.store.Shard(stage, in.index)
	}
	t := in.shard.Table(b.graph.tables[n][port], bag)
	in.tables = append(in.tables, t)
	if m := in.meters.node(n); m != nil {
		m.tables = append(m.tables, t)
	}
	return t
}

// newExprCtx is the evaluation context of one instance.
func (j *Job) newExprCtx() *expr.Ctx { return &expr.Ctx{Zone: j.cfg.TimeZone} }

// setTime sets the time of the epoch that begins: what CURRENT_TIMESTAMP gives in it.
func (in *instance) setTime(millis int64) {
	in.ctx.Now = millis * 1000
	for _, t := range in.timed {
		t.table.SetTime(millis)
	}
}
