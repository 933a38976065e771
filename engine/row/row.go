// Package row holds the packed row: the one form in which values travel through the engine and lie in
// its state.
//
// A row of n columns is a sequence of 8-byte little-endian words followed by a tail:
//
//	word 0           null bits of columns 0–63 (bit i set: column i is NULL)
//	words 1–64       one slot for each of those columns
//	word 65          null bits of columns 64–127
//	…                and so on; the last group is cut after the last column
//	tail             the variable parts, in column order, without gaps
//
// The address of a slot depends on the column alone, so that a field is read without knowing how many
// there are. The slot holds the value (PhysInt, PhysFloat), or the offset from the start of the row
// (low 32 bits) and the length (high 32 bits) of the value's bytes in the tail (PhysBytes, PhysWide).
// The slot of a NULL is zero (but see Unavailable). A row is canonical: two rows of one schema hold equal values if and only
// if their bytes are equal, floating-point zeros of different sign aside, which differ.
package row

import (
	"encoding/binary"
	"math"

	"github.com/sluicesql/sluice/engine/types"
)

// Row is a packed row. It is read only; whoever keeps it beyond the life of the batch it came from
// copies it.
type Row []byte

// slot is the byte offset of column i's slot.
func slot(i int) int { return (i + i>>6 + 1) << 3 }

// HeadSize is the number of bytes of a row of n columns before its tail.
func HeadSize(n int) int { return (n + (n+63)>>6) << 3 }

// IsNull reports whether column i is NULL.
func (r Row) IsNull(i int) bool {
	return binary.LittleEndian.Uint64(r[(i>>6)*65*8:])>>(uint(i)&63)&1 != 0
}

// unavailable is the slot of a NULL that stands for a value that was left out.
const unavailable = 1

// Unavailable reports whether column i, which then reads as NULL, stands for a value that was left out because
// it did not change. Only rows of an upsert stream, on their way from the source to where the rows are kept, have
// such columns.
func (r Row) Unavailable(i int) bool {
	return r.IsNull(i) && binary.LittleEndian.Uint64(r[slot(i):]) == unavailable
}

// Int64 is the value of column i, of physical form PhysInt; 0 for NULL.
func (r Row) Int64(i int) int64 { return int64(binary.LittleEndian.Uint64(r[slot(i):])) }

// Float64 is the value of column i, of physical form PhysFloat; 0 for NULL.
func (r Row) Float64(i int) float64 {
	return math.Float64frombits(binary.LittleEndian.Uint64(r[slot(i):]))
}

// Bytes is the value of column i, of physical form PhysBytes; empty for NULL. It points into the row.
func (r Row) Bytes(i int) []byte {
	s := binary.LittleEndian.Uint64(r[slot(i):])
	off, n := uint32(s), uint32(s>>32)
	return r[off : off+n : off+n]
}

// Wide is the value of column i, of physical form PhysWide, as the high and low half of a 128-bit
// two's-complement integer; 0 for NULL.
func (r Row) Wide(i int) (hi int64, lo uint64) {
	s := uint32(binary.LittleEndian.Uint64(r[slot(i):]))
	if s == 0 {
		return 0, 0
	}
	return int64(binary.LittleEndian.Uint64(r[s+8:])), binary.LittleEndian.Uint64(r[s:])
}

// Datum is one value outside a row. Its zero value is the integer 0 (or false); Null is explicit.
// Which of its fields count follows from the type's physical form.
type Datum struct {
	// I is the value of PhysInt, the bits of PhysFloat, and the low half of PhysWide.
	I int64
	// Hi is the high half of PhysWide.
	Hi int64
	// B is the value of PhysBytes. It may point into a row or a scratch buffer.
	B []byte
	// Null says that the value is NULL; the other fields are then zero, but for UnavailableDatum's.
	Null bool
}

// NullDatum is SQL's NULL.
var NullDatum = Datum{Null: true}

// UnavailableDatum is a NULL that stands for a value that was left out: see Row.Unavailable.
var UnavailableDatum = Datum{Null: true, I: unavailable}

// Float returns the value of PhysFloat.
func (d Datum) Float() float64 { return math.Float64frombits(uint64(d.I)) }

// Int returns a datum of PhysInt.
func Int(v int64) Datum { return Datum{I: v} }

// Float returns a datum of PhysFloat.
func Float(v float64) Datum { return Datum{I: int64(math.Float64bits(v))} }

// Bool returns a datum of BOOLEAN.
func Bool(v bool) Datum {
	if v {
		return Datum{I: 1}
	}
	return Datum{}
}

// Bytes returns a datum of PhysBytes.
func Bytes(v []byte) Datum { return Datum{B: v} }

// String returns a datum of PhysBytes.
func String(v string) Datum { return Datum{B: []byte(v)} }

// Wide returns a datum of PhysWide.
func Wide(hi int64, lo uint64) Datum { return Datum{I: int64(lo), Hi: hi} }

// Get returns column i, whose physical form is p. Bytes point into the row.
func (r Row) Get(i int, p types.Phys) Datum {
	if r.IsNull(i) {
		return NullDatum
	}
	switch p {
	case types.PhysBytes:
		return Datum{B: r.Bytes(i)}
	case types.PhysWide:
		hi, lo := r.Wide(i)
		return Datum{I: int64(lo), Hi: hi}
	default:
		return Datum{I: r.Int64(i)}
	}
}
