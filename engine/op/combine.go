package op

import (
	"slices"

	"github.com/sluicesql/sluice/engine/changelog"
	"github.com/sluicesql/sluice/engine/expr"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/types"
)

// Combine makes output rows of pairs of a left and a right row: their columns side by side, filtered by a
// residual condition, and projected. Plain columns are copied straight from the two rows. Expressions see a wide
// row of both, which holds the columns that they read and no others.
type Combine struct {
	ctx      *expr.Ctx
	left     int // number of left columns
	wide     []types.Phys
	used     []int // columns of the wide row that expressions read, in order
	residual func(*expr.Ctx, row.Row) (bool, error)
	cond     expr.Expr // what residual tests, for errors
	cols     []column
	phys     []types.Phys
	plain    bool       // all of cols are copies
	nulls    [2]row.Row // a left and a right row of NULLs
	wb, rb   row.Builder
	buf      []byte
	err      error // the first since the caller looked
}

// NewCombine returns a Combine of rows with the given types. residual may be nil, and so may project, for all columns; an
// empty one makes rows without columns.
func NewCombine(ctx *expr.Ctx, left, right []types.Type, residual expr.Expr, project []expr.Expr) (*Combine, error) {
	c := &Combine{ctx: ctx, left: len(left), wide: append(Phys(left), Phys(right)...)}
	if project == nil {
		for i, p := range c.wide {
			c.cols = append(c.cols, column{phys: p, from: i})
		}
	} else {
		cols, err := compileColumns(project, nil)
		if err != nil {
			return nil, err
		}
		c.cols = cols
	}
	c.plain = true
	for i, k := range c.cols {
		c.phys = append(c.phys, k.phys)
		if k.set != nil {
			c.plain = false
			c.use(project[i])
		}
	}
	if residual != nil {
		p, err := expr.Predicate(residual)
		if err != nil {
			return nil, err
		}
		c.residual, c.cond = p, residual
		c.use(residual)
	}
	for i, ts := range [][]types.Type{left, right} {
		c.rb.Begin(nil, len(ts))
		c.nulls[i] = c.rb.Finish(Phys(ts))
	}
	slices.Sort(c.used)
	c.used = slices.Compact(c.used)
	return c, nil
}

// use makes the columns that e reads part of the wide row.
func (c *Combine) use(e expr.Expr) {
	c.used = append(c.used, expr.ColumnsOf(e)...)
}

// append appends the row made of l and r, or nothing when the residual condition does not hold.
func (c *Combine) append(out *changelog.Batch, op changelog.Op, l, r row.Row) {
	var w row.Row
	if c.residual != nil {
		w = c.widen(l, r)
		if !c.passes(w) {
			return
		}
	}
	c.make(out, op, l, r, w)
}

// holds evaluates the residual condition, which there is.
func (c *Combine) holds(l, r row.Row) bool { return c.passes(c.widen(l, r)) }

func (c *Combine) passes(w row.Row) bool {
	ok, err := c.residual(c.ctx, w)
	if err != nil {
		c.fail(expr.EvalError(err, c.ctx, c.cond, w))
	}
	return ok
}

// alone appends the row made of r, of the left (0) or right (1) side, and NULLs for the other side.
func (c *Combine) alone(out *changelog.Batch, op changelog.Op, port int, r row.Row) {
	if port == 0 {
		c.make(out, op, r, c.nulls[1], nil)
	} else {
		c.make(out, op, c.nulls[0], r, nil)
	}
}

// make appends the row made of l and r, whatever the residual condition says. w is their wide row, where it is made
// already.
func (c *Combine) make(out *changelog.Batch, op changelog.Op, l, r, w row.Row) {
	if c.plain {
		c.rb.Begin(out.Buf(), len(c.cols))
		for j := range c.cols {
			k := &c.cols[j]
			c.copy(&c.rb, j, l, r, k.from, k.phys)
		}
		out.Commit(op, c.rb.Finish(c.phys))
		return
	}
	if w == nil {
		w = c.widen(l, r)
	}
	c.ctx.Reset()
	c.rb.Begin(out.Buf(), len(c.cols))
	for j := range c.cols {
		k := &c.cols[j]
		if k.set == nil {
			c.copy(&c.rb, j, l, r, k.from, k.phys)
		} else {
			k.set(c.ctx, w, &c.rb)
			if c.ctx.Err != nil {
				c.fail(expr.EvalError(c.ctx.Err, c.ctx, k.e, w))
			}
		}
	}
	out.Commit(op, c.rb.Finish(c.phys))
}

// widen makes the wide row of l and r.
func (c *Combine) widen(l, r row.Row) row.Row {
	c.wb.Begin(c.buf[:0], len(c.wide))
	for _, i := range c.used {
		c.copy(&c.wb, i, l, r, i, c.wide[i])
	}
	c.buf = c.wb.Finish(nil) // set in order
	return row.Row(c.buf)
}

// copy sets column j from column i of l and r side by side.
func (c *Combine) copy(b *row.Builder, j int, l, r row.Row, i int, p types.Phys) {
	if i >= c.left {
		l, i = r, i-c.left
	}
	b.Copy(j, l, i, p)
}

func (c *Combine) fail(err error) {
	if c.err == nil {
		c.err = err
	}
}
