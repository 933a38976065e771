package planner

import (
	"slices"

	"github.com/sluicesql/sluice/engine/expr"
)

// relAggregate has one row for each group of its input's rows: the group's key, whose columns keep their
// numbers, and the calls' results. Without calls it is DISTINCT.
type relAggregate struct {
	in    rel
	keys  []int
	calls []aggCall
	// global says that there is no GROUP BY: one row, over no rows too.
	global bool
}

// aggCall is a call of an aggregate function over columns of the input.
type aggCall struct {
	id       int
	fn       *expr.Aggregate
	args     []int
	distinct bool
	filter   int // a BOOLEAN column; −1 for none
	order    []orderKey
	// separator is LISTAGG's.
	separator string
}

// orderKey is a column that rows are ordered by.
type orderKey struct {
	col             int
	desc, nullsLast bool
}

func (a *relAggregate) out() []int {
	o := slices.Clone(a.keys)
	for i := range a.calls {
		o = append(o, a.calls[i].id)
	}
	return o
}

// reads adds the columns that the call reads.
func (c *aggCall) reads(s colSet) {
	for _, id := range c.args {
		s[id] = true
	}
	if c.filter >= 0 {
		s[c.filter] = true
	}
	for _, k := range c.order {
		s[k.col] = true
	}
}

// facts are those of the input that speak of the group's key, which is a key.
func (a *relAggregate) facts(in *facts) *facts {
	f := in.clone()
	f.keys = nil
	f.addKey(a.keys)
	return f
}

// relUnion has the rows of all inputs: column ids[k] is cols[i][k] of input i.
type relUnion struct {
	inputs []rel
	cols   [][]int
	ids    []int
}

func (u *relUnion) out() []int { return u.ids }

// sweep drops the columns that nothing uses.
func (u *relUnion) sweep(used colSet) {
	var ids []int
	cols := make([][]int, len(u.cols))
	for k, id := range u.ids {
		if !used[id] {
			continue
		}
		ids = append(ids, id)
		for i := range cols {
			cols[i] = append(cols[i], u.cols[i][k])
		}
	}
	u.ids, u.cols = ids, cols
}

func (c aggCall) renumbered(f func(int) int) aggCall {
	c.id = f(c.id)
	c.args = slices.Clone(c.args)
	for i := range c.args {
		c.args[i] = f(c.args[i])
	}
	if c.filter >= 0 {
		c.filter = f(c.filter)
	}
	c.order = renumberedOrder(c.order, f)
	return c
}

func renumberedOrder(order []orderKey, f func(int) int) []orderKey {
	order = slices.Clone(order)
	for i := range order {
		order[i].col = f(order[i].col)
	}
	return order
}

// relRepeat has each row of its input as often as a column says, and not at all where that is below one.
type relRepeat struct {
	in    rel
	times int
}

func (r *relRepeat) out() []int { return r.in.out() }
