package op

import (
	"bytes"

	"github.com/sluicesql/sluice/engine/changelog"
	"github.com/sluicesql/sluice/engine/expr"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/types"
)

// Unnest gives some columns of each row once for every element of an ARRAY or entry of a MAP, with columns added: the element (of an
// ARRAY of ROWs the fields, of a MAP key and value) and perhaps its number, from 1 on. It keeps no state: what
// a row gives follows from the row alone.
type Unnest struct {
	ctx       *expr.Ctx
	list      expr.Fn
	e         expr.Expr
	keep      []column     // the input's columns that are passed on
	parts     []types.Phys // of an element
	rows      bool         // elements are ROWs
	entries   bool         // the list is a MAP
	numbered  bool
	keepEmpty bool
	phys      []types.Phys
	next      Output
	out       changelog.Batch
	rb        row.Builder
	old       []byte
}

// NewUnnest returns the operator over rows of the types in; list is an expression over them, and keep are the columns
// that are passed on. numbered adds the element's number; with keepEmpty a row whose list is empty or NULL comes out
// once, with NULLs.
func NewUnnest(ctx *expr.Ctx, in []types.Type, keep []int, list expr.Expr, numbered, keepEmpty bool, next Output) (*Unnest, error) {
	f, err := expr.Compile(list)
	if err != nil {
		return nil, err
	}
	t := list.Type()
	parts, _ := expr.ListParts(t)
	u := &Unnest{
		ctx: ctx, list: f, e: list, parts: Phys(parts), numbered: numbered, keepEmpty: keepEmpty, next: next,
		entries: t.Kind == types.Map, rows: t.Kind == types.Array && t.Elem.Kind == types.Row,
	}
	for _, c := range keep {
		u.keep = append(u.keep, column{phys: in[c].Phys(), from: c})
		u.phys = append(u.phys, in[c].Phys())
	}
	u.phys = append(u.phys, u.parts...)
	if numbered {
		u.phys = append(u.phys, types.PhysInt)
	}
	return u, nil
}

// Push implements Output.
func (u *Unnest) Push(b *changelog.Batch) error {
	n := b.Len()
	for i := 0; i < n; i++ {
		op, r := b.Op(i), b.Row(i)
		var err error
		if op == changelog.UpdateBefore && i+1 < n && b.Op(i+1) == changelog.UpdateAfter {
			i++
			err = u.update(r, b.Row(i))
		} else {
			err = u.change(op, r)
		}
		if err != nil {
			return err
		}
	}
	return flush(&u.out, u.next)
}

// open evaluates the list of a row. Its bytes are valid until the next call.
func (u *Unnest) open(r row.Row) ([]byte, error) {
	u.ctx.Reset()
	d := u.list(u.ctx, r)
	if u.ctx.Err != nil {
		return nil, expr.EvalError(u.ctx.Err, u.ctx, u.e, r)
	}
	if d.Null {
		return nil, nil
	}
	return d.B, nil
}

// count is the number of rows that a list gives.
func (u *Unnest) count(list []byte) int {
	n := 0
	if list != nil {
		keys := list
		if u.entries {
			keys, _ = row.MapArrays(list)
		}
		n = row.ArrayLen(keys)
	}
	if n == 0 && u.keepEmpty {
		return 1
	}
	return n
}

func (u *Unnest) change(op changelog.Op, r row.Row) error {
	list, err := u.open(r)
	if err != nil {
		return err
	}
	for i := range u.count(list) {
		u.emit(op, r, list, i)
		if err := u.spill(); err != nil {
			return err
		}
	}
	return nil
}

// update pairs the elements of the same place.
func (u *Unnest) update(before, after row.Row) error {
	list, err := u.open(before)
	if err != nil {
		return err
	}
	var old []byte
	if list != nil {
		u.old = append(u.old[:0], list...)
		old = u.old
	}
	if list, err = u.open(after); err != nil {
		return err
	}
	was, is := u.count(old), u.count(list)
	for i := range max(was, is) {
		switch {
		case i >= is:
			u.emit(changelog.Delete, before, old, i)
		case i >= was:
			u.emit(changelog.Insert, after, list, i)
		default:
			at := u.out.Len()
			u.emit(changelog.UpdateBefore, before, old, i)
			u.emit(changelog.UpdateAfter, after, list, i)
			if bytes.Equal(u.out.Row(at), u.out.Row(at+1)) {
				u.out.Truncate(at)
			}
		}
		if err := u.spill(); err != nil {
			return err
		}
	}
	return nil
}

func (u *Unnest) spill() error {
	if full(&u.out) {
		return flush(&u.out, u.next)
	}
	return nil
}

// emit appends r with element i of its list.
func (u *Unnest) emit(op changelog.Op, r row.Row, list []byte, i int) {
	u.rb.Begin(u.out.Buf(), len(u.phys))
	for i := range u.keep {
		u.rb.Copy(i, r, u.keep[i].from, u.keep[i].phys)
	}
	at := len(u.keep)
	elems, values := list, []byte(nil)
	if u.entries && list != nil {
		elems, values = row.MapArrays(list)
	}
	if list != nil && i < row.ArrayLen(elems) {
		switch e := row.ArrayRow(elems); {
		case u.entries:
			u.rb.Copy(at, e, i, u.parts[0])
			u.rb.Copy(at+1, row.ArrayRow(values), i, u.parts[1])
		case !u.rows:
			u.rb.Copy(at, e, i, u.parts[0])
		case !e.IsNull(i):
			fields := row.Row(e.Bytes(i))
			for k, p := range u.parts {
				u.rb.Copy(at+k, fields, k, p)
			}
		}
		if u.numbered {
			u.rb.Int64(len(u.phys)-1, int64(i+1))
		}
	}
	u.out.Commit(op, u.rb.Finish(u.phys))
}
