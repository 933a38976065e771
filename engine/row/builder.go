package row

import (
	"encoding/binary"
	"math"

	"github.com/sluicesql/sluice/engine/types"
)

// Builder packs one row after another at the end of a buffer. Between Begin and Finish columns may be
// set in any order, each at most once; those not set are NULL. The zero value is ready for Begin.
type Builder struct {
	buf   []byte
	start int
	n     int
	last  int // the last column whose bytes went into the tail; -1 for none
	mixed bool
	spare []byte
}

var zeros [512]byte

// Begin starts a row of n columns at the end of buf, all of them NULL. The builder owns buf until Finish.
func (b *Builder) Begin(buf []byte, n int) {
	b.start, b.n, b.last, b.mixed = len(buf), n, -1, false
	head := HeadSize(n)
	for head > len(zeros) {
		buf = append(buf, zeros[:]...)
		head -= len(zeros)
	}
	b.buf = append(buf, zeros[:head]...)
	for i := 0; i < n; i += 64 {
		ones := ^uint64(0)
		if n-i < 64 {
			ones = 1<<uint(n-i) - 1
		}
		binary.LittleEndian.PutUint64(b.buf[b.start+(i>>6)*65*8:], ones)
	}
}

func (b *Builder) put(i int, v uint64) {
	head := b.buf[b.start:]
	w := (i >> 6) * 65 * 8
	binary.LittleEndian.PutUint64(head[w:], binary.LittleEndian.Uint64(head[w:])&^(1<<(uint(i)&63)))
	binary.LittleEndian.PutUint64(head[slot(i):], v)
}

// Int64 sets column i, of physical form PhysInt.
func (b *Builder) Int64(i int, v int64) { b.put(i, uint64(v)) }

// Float64 sets column i, of physical form PhysFloat. Every NaN becomes the same NaN.
func (b *Builder) Float64(i int, v float64) {
	if v != v {
		v = math.NaN()
	}
	b.put(i, math.Float64bits(v))
}

// Bool sets column i of type BOOLEAN.
func (b *Builder) Bool(i int, v bool) {
	if v {
		b.put(i, 1)
	} else {
		b.put(i, 0)
	}
}

func (b *Builder) tail(i, n int) {
	if i < b.last {
		b.mixed = true
	}
	b.last = i
	b.put(i, uint64(len(b.buf)-b.start)|uint64(n)<<32)
}

// Bytes sets column i, of physical form PhysBytes, to a copy of v.
func (b *Builder) Bytes(i int, v []byte) {
	b.tail(i, len(v))
	b.buf = append(b.buf, v...)
}

// String sets column i, of physical form PhysBytes.
func (b *Builder) String(i int, v string) {
	b.tail(i, len(v))
	b.buf = append(b.buf, v...)
}

// Wide sets column i, of physical form PhysWide.
func (b *Builder) Wide(i int, hi int64, lo uint64) {
	b.tail(i, 16)
	b.buf = binary.LittleEndian.AppendUint64(b.buf, lo)
	b.buf = binary.LittleEndian.AppendUint64(b.buf, uint64(hi))
}

// Append lets f append column i's bytes, of physical form PhysBytes, to the buffer in place; f returns
// the extended buffer, as append does, and keeps what the buffer held.
func (b *Builder) Append(i int, f func(buf []byte) []byte) {
	at := len(b.buf)
	b.buf = f(b.buf)
	if i < b.last {
		b.mixed = true
	}
	b.last = i
	b.put(i, uint64(at-b.start)|uint64(len(b.buf)-at)<<32)
}

// Unavailable leaves column i NULL, for a value that was left out: see Row.Unavailable.
func (b *Builder) Unavailable(i int) {
	binary.LittleEndian.PutUint64(b.buf[b.start+slot(i):], unavailable)
}

// Datum sets column i, whose physical form is p; a NULL datum leaves it NULL.
func (b *Builder) Datum(i int, p types.Phys, d Datum) {
	if d.Null {
		if d.I == unavailable {
			b.Unavailable(i)
		}
		return
	}
	switch p {
	case types.PhysBytes:
		b.Bytes(i, d.B)
	case types.PhysWide:
		b.Wide(i, d.Hi, uint64(d.I))
	case types.PhysFloat:
		b.Float64(i, d.Float())
	default:
		b.Int64(i, d.I)
	}
}

// Copy sets column i from column j of r, both of physical form p.
func (b *Builder) Copy(i int, r Row, j int, p types.Phys) {
	if r.IsNull(j) {
		if r.Unavailable(j) {
			b.Unavailable(i)
		}
		return
	}
	s := binary.LittleEndian.Uint64(r[slot(j):])
	switch p {
	case types.PhysBytes:
		off, n := uint32(s), uint32(s>>32)
		b.Bytes(i, r[off:off+n])
	case types.PhysWide:
		b.tail(i, 16)
		b.buf = append(b.buf, r[uint32(s):uint32(s)+16]...)
	default:
		b.put(i, s)
	}
}

// Row is the row under construction, for a look at the columns already set. It is not canonical before
// Finish, and valid only until the next call that sets a column.
func (b *Builder) Row() Row { return Row(b.buf[b.start:]) }

// Finish ends the row and returns the buffer, with the row at its end. phys holds the physical form of
// each column; it is looked at only when columns with a tail part were set out of column order.
func (b *Builder) Finish(phys []types.Phys) []byte {
	if b.mixed {
		b.reorder(phys)
	}
	return b.buf
}

// Abort drops the row under construction and returns the buffer as Begin got it.
func (b *Builder) Abort() []byte { return b.buf[:b.start] }

// reorder lays the tail's parts in column order, which makes the row canonical.
func (b *Builder) reorder(phys []types.Phys) {
	r := b.buf[b.start:]
	head := HeadSize(b.n)
	b.spare = append(b.spare[:0], r[head:]...)
	at := head
	for i := range b.n {
		if p := phys[i]; p != types.PhysBytes && p != types.PhysWide || Row(r).IsNull(i) {
			continue
		}
		s := binary.LittleEndian.Uint64(r[slot(i):])
		off, n := int(uint32(s))-head, int(s>>32)
		copy(r[at:], b.spare[off:off+n])
		binary.LittleEndian.PutUint64(r[slot(i):], uint64(at)|uint64(n)<<32)
		at += n
	}
}
