package row

import (
	"encoding/binary"

	"github.com/sluicesql/sluice/engine/types"
)

// Nested values are PhysBytes whose bytes are themselves packed:
//
//	ROW      a packed row
//	ARRAY    the number of elements (8 bytes, little-endian), then a packed row with a column for each
//	MAP      the length in bytes of its first array (8 bytes), then two arrays of equal length: keys, values.
//	         Keys are distinct and stand in the order they came in.

// ArrayLen is the number of elements of a packed ARRAY.
func ArrayLen(b []byte) int { return int(binary.LittleEndian.Uint64(b)) }

// ArrayRow is the row that holds the elements of a packed ARRAY, one a column.
func ArrayRow(b []byte) Row { return Row(b[8:]) }

// AppendArray appends a packed ARRAY of elements of physical form p.
func AppendArray(buf []byte, p types.Phys, elems []Datum) []byte {
	buf = binary.LittleEndian.AppendUint64(buf, uint64(len(elems)))
	var b Builder
	b.Begin(buf, len(elems))
	for i, e := range elems {
		b.Datum(i, p, e)
	}
	return b.Finish(nil) // columns were set in order
}

// MapArrays are the two packed ARRAYs of a packed MAP.
func MapArrays(b []byte) (keys, values []byte) {
	n := binary.LittleEndian.Uint64(b)
	return b[8 : 8+n], b[8+n:]
}

// AppendMap appends a packed MAP of keys of physical form kp and values of physical form vp.
func AppendMap(buf []byte, kp, vp types.Phys, keys, values []Datum) []byte {
	at := len(buf)
	buf = append(buf, zeros[:8]...)
	buf = AppendArray(buf, kp, keys)
	binary.LittleEndian.PutUint64(buf[at:], uint64(len(buf)-at-8))
	return AppendArray(buf, vp, values)
}
