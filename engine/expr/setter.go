package expr

import (
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/types"
)

// Setter evaluates an expression for r and sets a column of the row under construction to the result. When
// the evaluation fails (c.Err) the row means nothing and is to be aborted.
type Setter func(c *Ctx, r row.Row, b *row.Builder)

// CompileSetter is Compile for projections: the result goes straight into column i of a row.
func CompileSetter(e Expr, i int) (Setter, error) {
	p := e.Type().Phys()
	if col, ok := e.(*Column); ok {
		j := col.Index
		return func(_ *Ctx, r row.Row, b *row.Builder) { b.Copy(i, r, j, p) }, nil
	}
	switch p {
	case types.PhysInt:
		f, err := compileInt(e)
		return func(c *Ctx, r row.Row, b *row.Builder) {
			if v, null := f(c, r); !null {
				b.Int64(i, v)
			}
		}, err
	case types.PhysBytes:
		f, err := compileBytes(e)
		return func(c *Ctx, r row.Row, b *row.Builder) {
			if v, null := f(c, r); !null {
				b.Bytes(i, v)
			}
		}, err
	}
	f, err := Compile(e)
	return func(c *Ctx, r row.Row, b *row.Builder) { b.Datum(i, p, f(c, r)) }, err
}
