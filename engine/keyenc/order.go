package keyenc

import (
	"bytes"
	"fmt"

	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/types"
)

// OrderColumn is a column that rows are ordered by. Its encoding differs from that of a key's column in this: a
// NULL that comes last is 02, and the value's bytes are inverted for a descending order.
type OrderColumn struct {
	Column
	Desc, NullsLast bool
}

// AppendOrder appends the encoding of r's order columns to buf: the order of the bytes is the order of the rows.
func AppendOrder(buf []byte, r row.Row, order []OrderColumn) []byte {
	for i := range order {
		c := &order[i]
		if r.IsNull(c.Index) {
			buf = append(buf, c.null())
			continue
		}
		at := len(buf)
		buf = AppendDatum(buf, c.Phys, r.Get(c.Index, c.Phys))
		if c.Desc {
			for k := at + 1; k < len(buf); k++ {
				buf[k] ^= 0xFF
			}
		}
	}
	return buf
}

func (c *OrderColumn) null() byte {
	if c.NullsLast {
		return 2
	}
	return 0
}

// SkipOrder is the length of the order columns' encoding at the front of b.
func SkipOrder(b []byte, order []OrderColumn) (int, error) {
	at := 0
	for i := range order {
		n, err := order[i].length(b[at:])
		if err != nil {
			return 0, err
		}
		at += n
	}
	return at, nil
}

func (c *OrderColumn) length(b []byte) (int, error) {
	if len(b) > 0 && b[0] == c.null() {
		return 1, nil
	}
	n := 9
	switch c.Phys {
	case types.PhysWide:
		n = 17
	case types.PhysBytes:
		zero, end := byte(0), byte(1)
		if c.Desc {
			zero, end = ^zero, ^end
		}
		n = 1
		for {
			i := -1
			if n < len(b) {
				i = bytes.IndexByte(b[n:], zero)
			}
			if i < 0 || n+i+1 >= len(b) {
				return 0, fmt.Errorf("order column of bytes has no end")
			}
			n += i + 2
			if b[n-1] == end {
				return n, nil
			}
		}
	}
	if len(b) < n {
		return 0, fmt.Errorf("order ends within a column")
	}
	return n, nil
}
