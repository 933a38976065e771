package runtime

import (
	"fmt"

	"github.com/sluicesql/sluice/engine/expr"
	"github.com/sluicesql/sluice/engine/keyenc"
	"github.com/sluicesql/sluice/engine/op"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/types"
	"github.com/sluicesql/sluice/planner"
)

// nullsOf and aloneOf are the operators' words for those of the plan.
var (
	nullsOf = map[planner.Nulls]op.Nulls{
		planner.NullsNone: op.NullsNone, planner.NullsDropped: op.NullsDropped, planner.NullsKept: op.NullsKept,
	}
	aloneOf = map[planner.Alone]op.Alone{
		planner.AloneNever: op.AloneNever, planner.AloneUnmatched: op.AloneUnmatched, planner.AloneMatched: op.AloneMatched,
		planner.AloneMarked: op.AloneMarked,
	}
)

func (b *builder) join(in *instance, n *planner.Join, out op.Output) error {
	l, r := b.joinSide(in, n, 0), b.joinSide(in, n, 1)
	o, err := newJoin(in.ctx, n, l, r, b.projection(n), out)
	if err != nil {
		return err
	}
	in.unknown = append(in.unknown, &o.UnknownDeletes)
	in.barrier = append(in.barrier, o)
	in.inputs[n] = []op.Output{o.Port(0), o.Port(1)}
	in.forgets(o, l.Table, r.Table)
	return b.reemits(in, n, o)
}

// newJoin makes a join with its output projected by exprs, nil for all columns.
func newJoin(ctx *expr.Ctx, n *planner.Join, l, r op.JoinSide, exprs []expr.Expr, out op.Output) (*op.Join, error) {
	lt, rt := n.Left.Out().Types(), n.Right.Out().Types()
	if !n.Kind.Semi() {
		c, err := op.NewCombine(ctx, lt, rt, n.Residual, exprs)
		if err != nil {
			return nil, err
		}
		return op.NewJoin(l, r, c, out), nil
	}
	var on *op.Combine
	if n.Residual != nil {
		var err error
		if on, err = op.NewCombine(ctx, lt, rt, n.Residual, nil); err != nil {
			return nil, err
		}
	}
	show, err := op.NewCombine(ctx, lt, n.Types()[len(lt):], nil, exprs) // the mark is like a right row
	if err != nil {
		return nil, err
	}
	return op.NewSemiJoin(l, r, on, show, out), nil
}

func (b *builder) joinSide(in *instance, n *planner.Join, port int) op.JoinSide {
	s, input := n.L, n.Left
	if port == 1 {
		s, input = n.R, n.Right
	}
	j := b.sideOf(in, n, port, s, input, [...]string{"left", "right"}[port])
	j.Alone = aloneOf[n.Alone(port)]
	if port == 1 {
		j.Single = n.Single
	}
	if n.Counts(port) {
		j.Counts = b.table(in, n, 2+port, true)
	}
	return j
}

// sideOf is an input of a join with its state.
func (b *builder) sideOf(in *instance, n planner.Node, port int, s planner.JoinSide, input planner.Node, name string) op.JoinSide {
	ts := input.Out().Types()
	bag := s.Layout == planner.LayoutBag
	j := op.JoinSide{
		Table: b.lifeTable(in, n, port, bag, &s.Life), Key: keyenc.Columns(ts, s.Key), Bag: bag, Upsert: s.Upsert,
		Nulls: nullsOf[s.Nulls], Scatter: keyenc.Columns(ts, s.Scatter),
		Name:     fmt.Sprintf("the %s input of join #%d, %s,", name, n.Out().ID, tablesOf(input)),
		Describe: func(r row.Row) string { return describe(r, input.Out().Columns, b.job.cfg.TimeZone) },
	}
	if s.Upsert {
		j.Completer = b.completer(input)
	}
	if s.Layout == planner.LayoutUnique {
		j.Sub = keyenc.Columns(ts, s.Unique)
	}
	return j
}

func (b *builder) joinMany(in *instance, n *planner.JoinMany, out op.Output) error {
	var sides []op.JoinSide
	var ins [][]types.Type
	for i, s := range n.Sides {
		sides = append(sides, b.sideOf(in, n, i, s, n.Parts[i], fmt.Sprintf("%d.", i+1)))
		ins = append(ins, n.Parts[i].Out().Types())
	}
	o, err := op.NewJoinMany(in.ctx, sides, ins, n.Residual, b.projection(n), out)
	if err != nil {
		return err
	}
	in.unknown = append(in.unknown, &o.UnknownDeletes)
	in.barrier = append(in.barrier, o)
	for i := range sides {
		in.inputs[n] = append(in.inputs[n], o.Port(i))
		in.forgets(o, sides[i].Table)
	}
	return nil
}

// fusable returns the projection that is a join's only consumer and can be done while its rows are made; nil for
// other nodes.
func (b *builder) fusable(j planner.Node) *planner.Project {
	switch j.(type) {
	case *planner.Join, *planner.JoinMany:
	default:
		return nil
	}
	ps := b.graph.parents[j]
	if len(ps) != 1 {
		return nil
	}
	p, _ := ps[0].node.(*planner.Project)
	return p
}

// projection is what the fusable projection of a join computes, nil where there is none. One of no columns is not nil:
// its rows are empty, and not the join's.
func (b *builder) projection(j planner.Node) []expr.Expr {
	p := b.fusable(j)
	if p == nil {
		return nil
	}
	return append([]expr.Expr{}, p.Exprs...)
}

func (b *builder) fused(p *planner.Project) bool { return b.fusable(p.Input) == p }
