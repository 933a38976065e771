package planner

import (
	"slices"
	"time"

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
	ttl    *time.Duration // what a STATE_TTL hint says of its state
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

// facts are those of the input that speak of the group's key, which is a key: some of its columns are, where they
// determine the others.
func (a *relAggregate) facts(in *facts) *facts {
	f := in.clone()
	f.determine(a.keys) // a key of the input that is within the group's
	f.keys = nil
	f.addKey(f.determinant(a.keys))
	f.determine(a.out())
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

// relWindow adds to each row what window functions give for it among the rows of its partition, in order. With a limit
// it keeps only rows of some ranks: it is then top-N.
type relWindow struct {
	in        rel
	partition []int
	order     []orderKey
	// ties order the rows that order holds equal, which are peers all the same.
	ties  []orderKey
	calls []windowCall
	limit *RankLimit
}

// windowCall is a call of a window function over columns of the input.
type windowCall struct {
	id    int
	kind  expr.WindowKind
	arg   int // −1 for none
	n     int64
	deflt int // −1 for none
	frame expr.Frame
	agg   aggCall // of WindowAggregate
}

func (w *relWindow) out() []int {
	o := slices.Clone(w.in.out())
	for i := range w.calls {
		o = append(o, w.calls[i].id)
	}
	return o
}

// reads adds the columns by which rows are divided and ordered, and those of the calls in need.
func (w *relWindow) reads(s, need colSet) {
	for _, id := range w.partition {
		s[id] = true
	}
	for _, k := range w.order {
		s[k.col] = true
	}
	for _, k := range w.ties {
		s[k.col] = true
	}
	for i := range w.calls {
		c := &w.calls[i]
		if !need[c.id] {
			continue
		}
		if c.kind == expr.WindowAggregate {
			c.agg.reads(s)
		}
		for _, id := range []int{c.arg, c.deflt} {
			if id >= 0 {
				s[id] = true
			}
		}
	}
}

// below is what the input must deliver for need.
func (w *relWindow) below(need colSet) colSet {
	s := need.clone()
	for i := range w.calls {
		delete(s, w.calls[i].id)
	}
	w.reads(s, need)
	return s
}

// facts are those of the input, and what row numbers tell: with the partition they are a key, and the partition alone is
// one where one number is kept.
func (w *relWindow) facts(in *facts) *facts {
	f := in.clone()
	for i := range w.calls {
		if w.calls[i].kind == expr.WindowRowNumber {
			f.addKey(append(slices.Clone(w.partition), w.calls[i].id))
		}
	}
	if l := w.limit; l != nil && l.Kind == expr.WindowRowNumber && l.Hi > 0 && l.Hi <= max(l.Lo, 1) {
		f.addKey(f.determinant(w.partition))
		for i := range w.calls {
			f.consts[f.rep(w.calls[i].id)] = true
		}
		f.rekey()
	}
	f.determine(w.out())
	return f
}

func (w *relWindow) renumbered(in rel, f func(int) int) *relWindow {
	n := &relWindow{in: in, order: renumberedOrder(w.order, f), ties: renumberedOrder(w.ties, f), limit: w.limit}
	for _, id := range w.partition {
		n.partition = append(n.partition, f(id))
	}
	for _, c := range w.calls {
		c.id = f(c.id)
		if c.arg >= 0 {
			c.arg = f(c.arg)
		}
		if c.deflt >= 0 {
			c.deflt = f(c.deflt)
		}
		if c.kind == expr.WindowAggregate {
			c.agg.id = c.id
			id := c.id
			c.agg = c.agg.renumbered(f)
			c.agg.id = id
		}
		n.calls = append(n.calls, c)
	}
	return n
}
