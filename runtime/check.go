package runtime

import (
	"fmt"
	"slices"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/expr"
	"github.com/sluicesql/sluice/engine/op"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/planner"
)

// check puts a checker in front of what takes node n's changes, when the hook asks for it: tests have every
// operator held to what the plan says of it, and every exchange too, where its changes arrive.
func (b *builder) check(in *instance, n planner.Node, out op.Output) op.Output {
	h := b.job.cfg.Hooks
	if h == nil || !h.Check {
		return out
	}
	spec := b.specs[n]
	if spec == nil {
		spec = b.spec(n, in.frag.width)
		b.specs[n] = spec
		if b.accountable(n) {
			b.ledgers[n] = op.NewLedger(spec)
		}
	}
	c := op.NewChecker(spec, in.index, b.ledgers[n], out)
	in.checks = append(in.checks, c)
	return c
}

func (b *builder) spec(n planner.Node, width int) *op.CheckSpec {
	p := n.Out()
	s := &op.CheckSpec{
		Name: fmt.Sprintf("node #%d", p.ID), Types: p.Types(), Width: width, Dist: p.Dist, Keys: p.Keys,
		Describe: func(r row.Row) string { return describe(r, p.Columns, b.job.cfg.TimeZone) },
	}
	switch p.Mode {
	case spi.AppendOnly:
		s.Mode = op.CheckAppend
	case spi.Upsert:
		s.Mode, s.UpsertKey, s.NullKeys = op.CheckUpsert, upsertKey(n), nullKeys(n)
	default:
		s.Mode = op.CheckRetract
	}
	return s
}

// accountable reports whether n's weights and keys can be added up: from the first epoch on, since what came before
// a restart is not known, and only where nothing is forgotten; not of a source, whose faults are not the engine's; and
// not of an exchange, which may end in several places. An upsert stream may hold one key in several readers, until an
// exchange brings its changes together.
func (b *builder) accountable(n planner.Node) bool {
	switch n.(type) {
	case *planner.Scan, *planner.Exchange:
		return false
	}
	return b.job.control.epoch == 1 && !forgetful(n) && (n.Out().Mode != spi.Upsert || n.Out().Dist != nil)
}

// forgetful reports whether n, or what it reads, forgets rows, so that they may be given twice and never be taken back.
func forgetful(n planner.Node) bool {
	return planner.Forgets(n) || slices.ContainsFunc(n.Inputs(), forgetful)
}

// upsertKey are the columns that deletes of an upsert stream carry.
func upsertKey(n planner.Node) []int {
	switch n := n.(type) {
	case *planner.Scan:
		return n.Spec.Key
	case *planner.Filter:
		return n.UpsertKey
	case *planner.Exchange:
		return upsertKey(n.Input)
	case *planner.Project:
		var key []int
		for i, e := range n.Exprs {
			if c, ok := e.(*expr.Column); ok && slices.Contains(n.UpsertKey, c.Index) {
				key = append(key, i)
			}
		}
		return key
	case *planner.Normalise:
		key := slices.Clone(n.Key)
		for _, c := range n.Route {
			if !slices.Contains(key, c) {
				key = append(key, c)
			}
		}
		return key
	}
	return nil
}

// nullKeys reports whether the keys of an upsert stream may hold NULLs: join keys that an outer join keeps.
func nullKeys(n planner.Node) bool {
	if x, ok := n.(*planner.Exchange); ok {
		return nullKeys(x.Input)
	}
	m, ok := n.(*planner.Normalise)
	return ok && m.KeepNull
}

// checkEpoch tells the checkers that an epoch has ended.
func (in *instance) checkEpoch(epoch uint64) error {
	for _, c := range in.checks {
		if err := c.Barrier(epoch); err != nil {
			return err
		}
	}
	return nil
}
