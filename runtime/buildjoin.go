package runtime

import (
	"fmt"

	"github.com/sluicesql/sluice/engine/expr"
	"github.com/sluicesql/sluice/engine/keyenc"
	"github.com/sluicesql/sluice/engine/op"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/planner"
)

// nullsOf and aloneOf are the operators' words for those of the plan.
var (
	nullsOf = map[planner.Nulls]op.Nulls{
		planner.NullsNone: op.NullsNone, planner.NullsDropped: op.NullsDropped, planner.NullsKept: op.NullsKept,
	}
	aloneOf = map[planner.Alone]op.Alone{
		planner.AloneNever: op.AloneNever, planner.AloneUnmatched: op.AloneUnmatched, planner.AloneMatched: op.AloneMatched,
	}
)

func (b *builder) join(in *instance, n *planner.Join, out op.Output) error {
	lt, rt := n.Left.Out().Types(), n.Right.Out().Types()
	var exprs []expr.Expr
	if p := b.fusable(n); p != nil {
		exprs = p.Exprs
	} else if n.Kind.Semi() {
		for i, c := range n.Columns {
			exprs = append(exprs, &expr.Column{Index: i, Name: c.Name, T: c.Type})
		}
	}
	c, err := op.NewCombine(in.ctx, lt, rt, n.Residual, exprs)
	if err != nil {
		return err
	}
	l, r := b.joinSide(in, n, 0), b.joinSide(in, n, 1)
	made := op.NewJoin
	if n.Kind.Semi() {
		made = op.NewSemiJoin
	}
	o := made(l, r, c, out)
	in.unknown = append(in.unknown, &o.UnknownDeletes)
	in.barrier = append(in.barrier, o)
	in.inputs[n] = []op.Output{o.Port(0), o.Port(1)}
	return nil
}

func (b *builder) joinSide(in *instance, n *planner.Join, port int) op.JoinSide {
	s, input := n.L, n.Left
	if port == 1 {
		s, input = n.R, n.Right
	}
	ts := input.Out().Types()
	bag := s.Layout == planner.LayoutBag
	j := op.JoinSide{
		Table: b.table(in, n, port, bag), Key: keyenc.Columns(ts, s.Key), Bag: bag, Upsert: s.Upsert,
		Alone: aloneOf[n.Alone(port)], Nulls: nullsOf[s.Nulls], Scatter: keyenc.Columns(ts, s.Scatter),
		Name:     fmt.Sprintf("the %s input of join #%d, %s,", [...]string{"left", "right"}[port], n.ID, tablesOf(input)),
		Describe: func(r row.Row) string { return describe(r, input.Out().Columns, b.job.cfg.TimeZone) },
	}
	if s.Layout == planner.LayoutUnique {
		j.Sub = keyenc.Columns(ts, s.Unique)
	}
	if n.Counts(port) {
		j.Counts = b.table(in, n, 2+port, true)
	}
	return j
}

// fusable returns the projection that is a join's only consumer and can be done while its rows are made.
func (b *builder) fusable(j *planner.Join) *planner.Project {
	ps := b.graph.parents[j]
	if len(ps) != 1 {
		return nil
	}
	p, _ := ps[0].node.(*planner.Project)
	return p
}

func (b *builder) fused(p *planner.Project) bool {
	j, ok := p.Input.(*planner.Join)
	return ok && b.fusable(j) == p
}
