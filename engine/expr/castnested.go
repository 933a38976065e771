package expr

import (
	"errors"

	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/types"
)

var errNullInside = errors.New("NULL inside of a type that does not allow it")

// castItem converts a part of a nested value; the kernel of the whole reports its failure.
type castItem struct {
	from, to types.Phys
	k        kernel
	notNull  bool
}

func newCastItem(from, to types.Type) (castItem, bool) {
	k, ok := castKernel(from, to)
	return castItem{from.Phys(), to.Phys(), k, to.NotNull}, ok
}

func (it castItem) convert(c *Ctx, r row.Row, i int) (row.Datum, error) {
	d := r.Get(i, it.from)
	if d.Null {
		if it.notNull {
			return d, errNullInside
		}
		return d, nil
	}
	if it.k == nil {
		return d, nil
	}
	return it.k(c, d)
}

func castArray(from, to types.Type) (kernel, bool) {
	it, ok := newCastItem(from, to)
	return func(c *Ctx, d row.Datum) (row.Datum, error) {
		base := len(c.args)
		defer func() { c.args = c.args[:base] }()
		if err := it.pushAll(c, d.B); err != nil {
			return d, err
		}
		at := len(c.scratch)
		return c.done(row.AppendArray(c.scratch, it.to, c.args[base:]), at), nil
	}, ok
}

// pushAll converts the elements of an ARRAY onto the argument stack.
func (it castItem) pushAll(c *Ctx, b []byte) error {
	elems := row.ArrayRow(b)
	for i := range row.ArrayLen(b) {
		e, err := it.convert(c, elems, i)
		if err != nil {
			return err
		}
		c.args = append(c.args, e)
	}
	return nil
}

func castMap(from, to types.Type) (kernel, bool) {
	key, ok1 := newCastItem(*from.Key, *to.Key)
	value, ok2 := newCastItem(*from.Elem, *to.Elem)
	return func(c *Ctx, d row.Datum) (row.Datum, error) {
		base := len(c.args)
		defer func() { c.args = c.args[:base] }()
		keys, values := row.MapArrays(d.B)
		if err := key.pushAll(c, keys); err != nil {
			return d, err
		}
		mid := len(c.args)
		if err := value.pushAll(c, values); err != nil {
			return d, err
		}
		at := len(c.scratch)
		return c.done(row.AppendMap(c.scratch, key.to, value.to, c.args[base:mid], c.args[mid:]), at), nil
	}, ok1 && ok2
}

// castRow converts field by field, by position.
func castRow(from, to []types.Field) (kernel, bool) {
	if len(from) != len(to) {
		return nil, false
	}
	items := make([]castItem, len(from))
	for i := range from {
		var ok bool
		if items[i], ok = newCastItem(from[i].Type, to[i].Type); !ok {
			return nil, false
		}
	}
	return func(c *Ctx, d row.Datum) (row.Datum, error) {
		base := len(c.args)
		defer func() { c.args = c.args[:base] }()
		for i, it := range items {
			e, err := it.convert(c, row.Row(d.B), i)
			if err != nil {
				return d, err
			}
			c.args = append(c.args, e)
		}
		return packRow(c, items, c.args[base:]), nil
	}, true
}

func packRow(c *Ctx, items []castItem, values []row.Datum) row.Datum {
	at := len(c.scratch)
	var b row.Builder
	b.Begin(c.scratch, len(values))
	for i, v := range values {
		b.Datum(i, items[i].to, v)
	}
	return c.done(b.Finish(nil), at) // columns were set in order
}
