package op

import (
	"slices"

	"github.com/sluicesql/sluice/engine/changelog"
	"github.com/sluicesql/sluice/engine/expr"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/types"
)

// combineMany is Combine for any number of rows side by side.
type combineMany struct {
	ctx      *expr.Ctx
	at       []place // of each column of the rows side by side
	used     []int   // those that expressions read, in order
	residual func(*expr.Ctx, row.Row) (bool, error)
	cond     expr.Expr // what residual tests, for errors
	cols     []column
	phys     []types.Phys
	plain    bool // all of cols are copies
	wb, rb   row.Builder
	buf      []byte
	err      error // the first
}

// place is a column of one of the rows.
type place struct {
	row, col int
	phys     types.Phys
}

func newCombineMany(ctx *expr.Ctx, ins [][]types.Type, residual expr.Expr, project []expr.Expr) (*combineMany, error) {
	c := &combineMany{ctx: ctx, plain: true}
	for i, in := range ins {
		for k, t := range in {
			c.at = append(c.at, place{i, k, t.Phys()})
			if project == nil {
				c.cols = append(c.cols, column{phys: t.Phys(), from: len(c.at) - 1})
			}
		}
	}
	if project != nil {
		cols, err := compileColumns(project, nil)
		if err != nil {
			return nil, err
		}
		c.cols = cols
	}
	for i := range c.cols {
		c.phys = append(c.phys, c.cols[i].phys)
		if c.cols[i].set != nil {
			c.plain = false
			c.used = append(c.used, expr.ColumnsOf(project[i])...)
		}
	}
	if residual != nil {
		p, err := expr.Predicate(residual)
		if err != nil {
			return nil, err
		}
		c.residual, c.cond = p, residual
		c.used = append(c.used, expr.ColumnsOf(residual)...)
	}
	slices.Sort(c.used)
	c.used = slices.Compact(c.used)
	return c, nil
}

// append appends the row made of rows, and reports whether the residual condition held, without which it appends
// nothing.
func (c *combineMany) append(out *changelog.Batch, op changelog.Op, rows []row.Row) bool {
	var w row.Row
	if c.residual != nil || !c.plain {
		c.wb.Begin(c.buf[:0], len(c.at))
		for _, i := range c.used {
			p := &c.at[i]
			c.wb.Copy(i, rows[p.row], p.col, p.phys)
		}
		c.buf = c.wb.Finish(nil) // set in order
		w = row.Row(c.buf)
	}
	if c.residual != nil {
		ok, err := c.residual(c.ctx, w)
		if err != nil {
			c.fail(expr.EvalError(err, c.ctx, c.cond, w))
		}
		if !ok {
			return false
		}
	}
	if !c.plain {
		c.ctx.Reset()
	}
	c.rb.Begin(out.Buf(), len(c.cols))
	for j := range c.cols {
		k := &c.cols[j]
		if k.set == nil {
			p := &c.at[k.from]
			c.rb.Copy(j, rows[p.row], p.col, k.phys)
			continue
		}
		k.set(c.ctx, w, &c.rb)
		if c.ctx.Err != nil {
			c.fail(expr.EvalError(c.ctx.Err, c.ctx, k.e, w))
		}
	}
	out.Commit(op, c.rb.Finish(c.phys))
	return true
}

func (c *combineMany) fail(err error) {
	if c.err == nil {
		c.err = err
	}
}
