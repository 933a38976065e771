package op

import (
	"slices"

	"github.com/sluicesql/sluice/engine/changelog"
	"github.com/sluicesql/sluice/engine/expr"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/types"
)

// column computes one output column: a plain copy of input column from, or an expression.
type column struct {
	phys types.Phys
	from int
	set  expr.Setter // nil for a copy
	e    expr.Expr   // what set computes, for errors
	key  bool        // it follows from the upsert key alone, and so is known in deletes
}

func compileColumns(exprs []expr.Expr, upsertKey []int) ([]column, error) {
	cols := make([]column, len(exprs))
	for i, e := range exprs {
		cols[i].phys = e.Type().Phys()
		cols[i].key = true
		for _, c := range expr.ColumnsOf(e) {
			cols[i].key = cols[i].key && slices.Contains(upsertKey, c)
		}
		if c, ok := e.(*expr.Column); ok {
			cols[i].from = c.Index
			continue
		}
		f, err := expr.CompileSetter(e, i)
		if err != nil {
			return nil, err
		}
		cols[i].set, cols[i].e = f, e
	}
	return cols, nil
}

// Project computes new columns from each row.
type Project struct {
	ctx    *expr.Ctx
	cols   []column
	phys   []types.Phys
	upsert bool
	next   Output
	out    changelog.Batch
	rb     row.Builder
}

// NewProject returns a projection. upsertKey, the key within the input columns, is set for upsert streams
// alone: their deletes know no other column.
func NewProject(ctx *expr.Ctx, exprs []expr.Expr, upsertKey []int, next Output) (*Project, error) {
	cols, err := compileColumns(exprs, upsertKey)
	if err != nil {
		return nil, err
	}
	p := &Project{ctx: ctx, cols: cols, upsert: upsertKey != nil, next: next}
	for _, c := range cols {
		p.phys = append(p.phys, c.phys)
	}
	return p, nil
}

// Push implements Output.
func (p *Project) Push(b *changelog.Batch) error {
	for i := range b.Len() {
		op, r := b.Op(i), b.Row(i)
		p.ctx.Reset()
		p.rb.Begin(p.out.Buf(), len(p.cols))
		keyOnly := p.upsert && op == changelog.Delete
		for j := range p.cols {
			c := &p.cols[j]
			switch {
			case keyOnly && !c.key:
			case c.set == nil:
				p.rb.Copy(j, r, c.from, c.phys)
			default:
				c.set(p.ctx, r, &p.rb)
				if p.ctx.Err != nil {
					return expr.EvalError(p.ctx.Err, p.ctx, c.e, r)
				}
			}
		}
		p.out.Commit(op, p.rb.Finish(p.phys))
	}
	return flush(&p.out, p.next)
}
