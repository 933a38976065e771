package runtime

import (
	"fmt"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/keyenc"
	"github.com/sluicesql/sluice/engine/op"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/types"
	"github.com/sluicesql/sluice/planner"
)

// aggregate builds a grouping.
func (b *builder) aggregate(in *instance, n *planner.Aggregate, out op.Output) error {
	ts := n.Input.Out().Types()
	spec := op.AggregateSpec{
		Table: b.lifeTable(in, n, 0, false, &n.Life), Tails: b.table(in, n, 1, false), Types: ts, Key: n.Key,
		Global:   n.Global && in.index == keyenc.Shard(keyenc.Group(keyenc.Hash(nil)), in.frag.width),
		Name:     fmt.Sprintf("aggregate #%d, over %s", n.ID, tablesOf(n.Input)),
		Describe: func(r row.Row) string { return describe(r, n.Columns[:len(n.Key)], b.job.cfg.TimeZone) },
	}
	for i := range n.Bags {
		g := &n.Bags[i]
		spec.Bags = append(spec.Bags, op.AggregateBag{
			Table: b.table(in, n, 2+i, true), Order: orderColumns(ts, g.Order), Args: g.Args, Filter: g.Filter, KeepNull: g.KeepNull,
		})
	}
	for i := range n.Calls {
		c := &n.Calls[i]
		spec.Calls = append(spec.Calls, op.AggregateCall{
			Kind: c.Fn.Kind, Args: c.Args, Filter: c.Filter, Bag: c.Bag, Distinct: c.Distinct, Separator: c.Separator, Result: n.Columns[len(n.Key)+i].Type, Name: n.Columns[len(n.Key)+i].Name,
		})
	}
	o, err := op.NewAggregate(spec, out)
	if err != nil {
		return err
	}
	in.unknown = append(in.unknown, &o.UnknownDeletes)
	in.barrier = append(in.barrier, o)
	in.inputs[n] = []op.Output{o}
	in.forgets(o, spec.Table)
	return b.reemits(in, n, o)
}

// union passes on what its inputs give.
func (b *builder) union(in *instance, n *planner.Union, out op.Output) {
	for range n.Parts {
		in.inputs[n] = append(in.inputs[n], out)
	}
}

func orderColumns(ts []types.Type, order []planner.OrderKey) []keyenc.OrderColumn {
	var out []keyenc.OrderColumn
	for _, k := range order {
		out = append(out, keyenc.OrderColumn{Column: keyenc.Column{Index: k.Col, Phys: ts[k.Col].Phys()}, Desc: k.Desc, NullsLast: k.NullsLast})
	}
	return out
}

// window builds a window.
func (b *builder) window(in *instance, n *planner.Window, out op.Output) error {
	p := n.Input.Out()
	ts := p.Types()
	spec := op.WindowSpec{
		Table: b.table(in, n, 0, true), Types: ts, Partition: n.Partition, Order: orderColumns(ts, n.Order), Ties: orderColumns(ts, n.Ties),
		AppendOnly: p.Mode == spi.AppendOnly, Name: fmt.Sprintf("window #%d, over %s", n.ID, tablesOf(n.Input)),
	}
	if n.Life.Timed {
		spec.Ages = b.lifeTable(in, n, 1, false, &n.Life)
	}
	if l := n.Limit; l != nil {
		spec.Limit = &op.WindowLimit{Kind: l.Kind, Lo: l.Lo, Hi: l.Hi}
	}
	for i := range n.Calls {
		c := &n.Calls[i]
		w := op.WindowCall{Kind: c.Kind, Arg: c.Arg, N: c.N, Default: c.Default, Frame: c.Frame, Result: n.Columns[len(ts)+i].Type}
		if a := c.Aggregate; a != nil {
			w.Aggregate = op.AggregateCall{Kind: a.Fn.Kind, Args: a.Args, Filter: a.Filter, Bag: -1, Result: w.Result, Name: n.Columns[len(ts)+i].Name}
		}
		spec.Calls = append(spec.Calls, w)
	}
	o, err := op.NewWindow(spec, out)
	if err != nil {
		return err
	}
	in.unknown = append(in.unknown, &o.UnknownDeletes)
	in.barrier = append(in.barrier, o)
	in.inputs[n] = []op.Output{o}
	in.forgets(o, spec.Ages)
	return b.reemits(in, n, o)
}
