package op

import (
	"bytes"

	"github.com/sluicesql/sluice/engine/expr"
	"github.com/sluicesql/sluice/engine/keyenc"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/state"
	"github.com/sluicesql/sluice/engine/types"
)

// AggregateBag is a multiset of values that a group keeps: for DISTINCT, for MIN and MAX of what can be taken back, and
// for functions whose result holds all values.
type AggregateBag struct {
	// Table is a bag.
	Table *state.Table
	// Order comes first in what is kept, and Args after it: so the values are ordered by both.
	Order []keyenc.OrderColumn
	Args  []int
	// Filter is as in AggregateCall. Unless KeepNull, rows with a NULL among Args are left out.
	Filter   int
	KeepNull bool
}

type placedBag struct {
	AggregateBag
	args     []keyenc.Column
	distinct []int // the accumulators that see each value once
	enc      []byte
}

// counts reports whether a row's filter column is TRUE.
func counts(filter int, r row.Row) bool {
	return filter < 0 || r.Int64(filter) != 0 // the slot of a NULL is zero
}

// add applies a row w times, and reports whether its value thereby came to be in the bag (+1) or no longer is (−1).
func (p *placedBag) add(h uint64, key []byte, r row.Row, w int32) int64 {
	if !counts(p.Filter, r) || !p.KeepNull && keyenc.HasNull(r, p.args) {
		return 0
	}
	p.enc = keyenc.AppendOrder(p.enc[:0], r, p.Order)
	p.enc = keyenc.Append(p.enc, r, p.args)
	now := p.Table.Add(h, key, nil, p.enc, w)
	switch before := now - w; {
	case now > 0 && before <= 0:
		return 1
	case now <= 0 && before > 0:
		return -1
	}
	return 0
}

// value is the encoded argument of an entry.
func (p *placedBag) value(r state.Ref) ([]byte, error) {
	enc := p.Table.Value(r)
	n, err := keyenc.SkipOrder(enc, p.Order)
	return enc[n:], err
}

// showsValues reports whether the result of a call is made of the values that its bag holds, rather than of an accumulator
// that sees each once.
func showsValues(k expr.AggKind) bool {
	switch k {
	case expr.AggMin, expr.AggMax, expr.AggFirst, expr.AggLast, expr.AggList, expr.AggArray, expr.AggJSONArray, expr.AggJSONObject:
		return true
	}
	return false
}

// bagResult makes the result of the values kept.
func (a *Aggregate) bagResult(c *AggregateCall) resultFunc {
	p := &a.bags[c.Bag]
	phys := a.spec.Types[c.Args[0]].Phys()
	end := func(pick func(uint64, []byte) state.Ref) resultFunc {
		return func(g *group, b *row.Builder, i int) error {
			r := pick(g.h, g.key)
			if r == 0 {
				return nil
			}
			enc, err := p.value(r)
			if err != nil {
				return err
			}
			return setEncoded(b, i, phys, enc)
		}
	}
	switch c.Kind {
	case expr.AggMin, expr.AggFirst:
		return end(p.Table.Least)
	case expr.AggMax, expr.AggLast:
		return end(p.Table.Greatest)
	case expr.AggArray:
		return a.arrayResult(c, p, phys)
	}
	return a.textResult(c, p)
}

// each calls f for the values in order, as often as they are there.
func (p *placedBag) each(g *group, distinct bool, phys types.Phys, f func(d row.Datum)) (err error) {
	p.Table.Ascend(g.h, g.key, func(r state.Ref) bool {
		enc, e := p.value(r)
		var d row.Datum
		if e == nil {
			d, _, e = keyenc.Decode(enc, phys, nil)
		}
		if e != nil {
			err = e
			return false
		}
		n := p.Table.Weight(r)
		if distinct {
			n = min(n, 1)
		}
		for range n {
			f(d)
		}
		return true
	})
	return err
}

func (a *Aggregate) arrayResult(c *AggregateCall, p *placedBag, phys types.Phys) resultFunc {
	var elems []row.Datum
	return func(g *group, b *row.Builder, i int) error {
		elems = elems[:0]
		if err := p.each(g, c.Distinct, phys, func(d row.Datum) { elems = append(elems, d) }); err != nil {
			return err
		}
		if len(elems) > 0 {
			a.text = row.AppendArray(a.text[:0], phys, elems)
			b.Bytes(i, a.text)
		}
		return nil
	}
}

// textResult joins strings: LISTAGG's with its separator, and those of JSON, which come as arrays or objects of one
// element, without their brackets between.
func (a *Aggregate) textResult(c *AggregateCall, p *placedBag) resultFunc {
	json := c.Kind != expr.AggList
	separator := c.Separator
	if json {
		separator = ","
	}
	return func(g *group, b *row.Builder, i int) error {
		a.text = a.text[:0]
		n := 0
		err := p.each(g, c.Distinct, types.PhysBytes, func(d row.Datum) {
			element := d.B
			if json {
				if element = element[1 : len(element)-1]; len(bytes.TrimSpace(element)) == 0 {
					return // a NULL that is left out
				}
			}
			if n > 0 {
				a.text = append(a.text, separator...)
			} else if json {
				a.text = append(a.text, d.B[0])
			}
			n++
			a.text = append(a.text, element...)
		})
		switch {
		case err != nil:
			return err
		case json && n == 0:
			b.String(i, map[expr.AggKind]string{expr.AggJSONArray: "[]", expr.AggJSONObject: "{}"}[c.Kind])
		case json:
			b.Bytes(i, append(a.text, map[byte]byte{'[': ']', '{': '}'}[a.text[0]]))
		case n > 0:
			b.Bytes(i, a.text)
		}
		return nil
	}
}
