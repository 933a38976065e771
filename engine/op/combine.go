package op

import (
	"github.com/sluicesql/sluice/engine/changelog"
	"github.com/sluicesql/sluice/engine/expr"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/types"
)

// Combine makes output rows of pairs of a left and a right row: their columns side by side, filtered by a
// residual condition, and projected. Where all output columns are plain columns and there is no condition
// they are copied straight from the two rows; otherwise the wide row is built first.
type Combine struct {
	ctx      *expr.Ctx
	left     int // number of left columns
	wide     []types.Phys
	residual func(*expr.Ctx, row.Row) (bool, error)
	cols     []column // nil: the wide row itself
	phys     []types.Phys
	direct   bool
	wb, rb   row.Builder
	buf      []byte
	err      error // the first since the caller looked
}

// NewCombine returns a Combine of rows with the given types. residual and project may be nil.
func NewCombine(ctx *expr.Ctx, left, right []types.Type, residual expr.Expr, project []expr.Expr) (*Combine, error) {
	c := &Combine{ctx: ctx, left: len(left), wide: append(Phys(left), Phys(right)...)}
	if residual != nil {
		p, err := expr.Predicate(residual)
		if err != nil {
			return nil, err
		}
		c.residual = p
	}
	if project == nil {
		c.phys = c.wide
		for i, p := range c.wide {
			c.cols = append(c.cols, column{phys: p, from: i})
		}
	} else {
		cols, err := compileColumns(project, nil)
		if err != nil {
			return nil, err
		}
		c.cols = cols
		for _, k := range cols {
			c.phys = append(c.phys, k.phys)
		}
	}
	c.direct = c.residual == nil
	for _, k := range c.cols {
		c.direct = c.direct && k.set == nil
	}
	return c, nil
}

// append appends the row made of l and r, or nothing when the residual condition does not hold.
func (c *Combine) append(out *changelog.Batch, op changelog.Op, l, r row.Row) {
	if c.direct {
		c.rb.Begin(out.Buf(), len(c.cols))
		for j := range c.cols {
			k := &c.cols[j]
			if k.from < c.left {
				c.rb.Copy(j, l, k.from, k.phys)
			} else {
				c.rb.Copy(j, r, k.from-c.left, k.phys)
			}
		}
		out.Commit(op, c.rb.Finish(c.phys))
		return
	}
	c.wb.Begin(c.buf[:0], len(c.wide))
	for i, p := range c.wide {
		if i < c.left {
			c.wb.Copy(i, l, i, p)
		} else {
			c.wb.Copy(i, r, i-c.left, p)
		}
	}
	c.buf = c.wb.Finish(c.wide)
	w := row.Row(c.buf)
	if c.residual != nil {
		ok, err := c.residual(c.ctx, w)
		c.fail(err)
		if !ok {
			return
		}
	}
	c.ctx.Reset()
	c.rb.Begin(out.Buf(), len(c.cols))
	for j := range c.cols {
		k := &c.cols[j]
		if k.set == nil {
			c.rb.Copy(j, w, k.from, k.phys)
		} else {
			k.set(c.ctx, w, &c.rb)
		}
	}
	out.Commit(op, c.rb.Finish(c.phys))
	c.fail(c.ctx.Err)
}

func (c *Combine) fail(err error) {
	if c.err == nil {
		c.err = err
	}
}
