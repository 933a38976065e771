package row

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/sluicesql/sluice/engine/types"
)

// Check reports how r differs from a canonical row of the given types: what every reader of rows takes for
// granted, and nobody has the time to verify on the way. Columns that are NOT NULL may hold NULL all the same: a
// delete of which only the key is known does. It is meant for tests, and may be given any bytes.
func Check(r Row, ts []types.Type) error {
	head := HeadSize(len(ts))
	if len(r) < head {
		return fmt.Errorf("%d bytes, where %d columns take %d at least", len(r), len(ts), head)
	}
	at := head // where the next part of the tail has to begin
	for i, t := range ts {
		s := binary.LittleEndian.Uint64(r[slot(i):])
		if r.IsNull(i) {
			if s != 0 && (s != unavailable || t.Phys() != types.PhysBytes) {
				return fmt.Errorf("column %d is NULL and its slot holds %#x", i, s)
			}
			continue
		}
		p := t.Phys()
		if p == types.PhysInt || p == types.PhysFloat {
			if err := checkSlot(s, t); err != nil {
				return fmt.Errorf("column %d: %w", i, err)
			}
			continue
		}
		off, n := int(uint32(s)), int(s>>32)
		switch {
		case off != at:
			return fmt.Errorf("column %d begins at byte %d instead of %d", i, off, at)
		case off+n > len(r):
			return fmt.Errorf("column %d ends at byte %d of %d", i, off+n, len(r))
		case p == types.PhysWide && n != 16:
			return fmt.Errorf("column %d has %d bytes instead of 16", i, n)
		}
		if err := checkNested(r[off:off+n], t); err != nil {
			return fmt.Errorf("column %d, %s: %w", i, t, err)
		}
		at += n
	}
	if at != len(r) {
		return fmt.Errorf("%d bytes behind the last column", len(r)-at)
	}
	if n := len(ts) & 63; n != 0 {
		if w := binary.LittleEndian.Uint64(r[(len(ts)>>6)*65*8:]); w>>n != 0 {
			return fmt.Errorf("null bits are set beyond the last column")
		}
	}
	return nil
}

// checkSlot checks a value that lies in its slot.
func checkSlot(s uint64, t types.Type) error {
	bits := 64
	switch t.Kind {
	case types.Boolean:
		if s > 1 {
			return fmt.Errorf("%d is no BOOLEAN", s)
		}
	case types.TinyInt:
		bits = 8
	case types.SmallInt:
		bits = 16
	case types.Int, types.Date:
		bits = 32
	case types.Float, types.Double:
		if f := math.Float64frombits(s); f != f && s != math.Float64bits(math.NaN()) {
			return fmt.Errorf("%#x is not the NaN that stands for all", s)
		} else if t.Kind == types.Float && f == f && float64(float32(f)) != f {
			return fmt.Errorf("%v is no FLOAT", f)
		}
	}
	if v := int64(s); v<<(64-bits)>>(64-bits) != v {
		return fmt.Errorf("%d is no %s", v, t.Kind)
	}
	return nil
}

// checkNested checks the packed value of a nested type; other bytes are what they are.
func checkNested(b []byte, t types.Type) error {
	switch t.Kind {
	case types.Row:
		ts := make([]types.Type, len(t.Fields))
		for i, f := range t.Fields {
			ts[i] = f.Type
		}
		return Check(Row(b), ts)
	case types.Array:
		return checkArray(b, *t.Elem)
	case types.Map:
		if len(b) < 24 { // two empty arrays and the length of one
			return fmt.Errorf("%d bytes are no MAP", len(b))
		}
		if n := binary.LittleEndian.Uint64(b); n < 8 || n > uint64(len(b)-16) {
			return fmt.Errorf("the keys take %d of %d bytes", n, len(b))
		}
		keys, values := MapArrays(b)
		if ArrayLen(keys) != ArrayLen(values) {
			return fmt.Errorf("%d keys have %d values", ArrayLen(keys), ArrayLen(values))
		}
		if err := checkArray(keys, *t.Key); err != nil {
			return fmt.Errorf("keys: %w", err)
		}
		if err := checkArray(values, *t.Elem); err != nil {
			return fmt.Errorf("values: %w", err)
		}
	}
	return nil
}

func checkArray(b []byte, elem types.Type) error {
	if len(b) < 8 || uint64(len(b)/8) < binary.LittleEndian.Uint64(b) {
		return fmt.Errorf("%d bytes hold no such ARRAY", len(b))
	}
	ts := make([]types.Type, ArrayLen(b))
	for i := range ts {
		ts[i] = elem
	}
	return Check(ArrayRow(b), ts)
}
