package op

import (
	"github.com/sluicesql/sluice/engine/changelog"
	"github.com/sluicesql/sluice/engine/expr"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/types"
)

// Filter passes on the rows for which a condition is TRUE.
//
// An update of which only one half passes becomes the delete or the insert that it then is. On an upsert
// stream a new row that fails becomes a delete of its key: the row may have passed before, and would
// otherwise stay in the result for ever.
type Filter struct {
	ctx  *expr.Ctx
	cond func(*expr.Ctx, row.Row) (bool, error)
	e    expr.Expr // what cond tests, for errors
	key  []int     // upsert key; nil on other streams
	phys []types.Phys
	next Output
	out  changelog.Batch
	rb   row.Builder
	err  error // the first of the present batch
}

// NewFilter returns a filter over rows of the given types. upsertKey is set for upsert streams alone.
func NewFilter(ctx *expr.Ctx, cond expr.Expr, ts []types.Type, upsertKey []int, next Output) (*Filter, error) {
	p, err := expr.Predicate(cond)
	if err != nil {
		return nil, err
	}
	return &Filter{ctx: ctx, cond: p, e: cond, key: upsertKey, phys: Phys(ts), next: next}, nil
}

// Push implements Output.
func (f *Filter) Push(b *changelog.Batch) error {
	for i := 0; i < b.Len(); i++ {
		op, r := b.Op(i), b.Row(i)
		switch {
		case f.key != nil:
			f.upsert(op, r)
		case op == changelog.UpdateBefore && i+1 < b.Len() && b.Op(i+1) == changelog.UpdateAfter:
			i++
			after := b.Row(i)
			was, is := f.pass(r), f.pass(after)
			if was {
				f.out.AppendRow(pick(is, changelog.UpdateBefore, changelog.Delete), r)
			}
			if is {
				f.out.AppendRow(pick(was, changelog.UpdateAfter, changelog.Insert), after)
			}
		case f.pass(r):
			f.out.AppendRow(op, r)
		}
	}
	if f.err != nil {
		return f.err
	}
	return flush(&f.out, f.next)
}

func (f *Filter) pass(r row.Row) bool {
	ok, err := f.cond(f.ctx, r)
	if err != nil && f.err == nil {
		f.err = expr.EvalError(err, f.ctx, f.e, r)
	}
	return ok
}

func (f *Filter) upsert(op changelog.Op, r row.Row) {
	if op == changelog.Delete || f.pass(r) {
		f.out.AppendRow(op, r)
		return
	}
	appendKeyOnly(&f.out, &f.rb, r, f.phys, f.key)
}

// appendKeyOnly appends a delete that has only r's key columns.
func appendKeyOnly(out *changelog.Batch, rb *row.Builder, r row.Row, phys []types.Phys, keys ...[]int) {
	rb.Begin(out.Buf(), len(phys))
	for _, key := range keys {
		for _, c := range key {
			if rb.Row().IsNull(c) {
				rb.Copy(c, r, c, phys[c])
			}
		}
	}
	out.Commit(changelog.Delete, rb.Finish(phys))
}

func pick(cond bool, yes, no changelog.Op) changelog.Op {
	if cond {
		return yes
	}
	return no
}
