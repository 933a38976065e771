// Package keyenc encodes keys so that the order of the bytes is the order of the values, and hashes them.
//
// The encoding of a key is the concatenation of its columns' encodings, each self-delimiting, so that a
// key that is a prefix of another in columns is a prefix of it in bytes. Both the encoding and the hash
// are on-disk format: they never change without a new state format version, and golden tests hold them.
//
//	NULL       00
//	not NULL   01 followed by
//	  PhysInt    8 bytes big-endian, the sign bit flipped
//	  PhysFloat  8 bytes big-endian; positive: the sign bit flipped, negative: all bits flipped; −0 is
//	             encoded as +0, so that the two are one key, as SQL's = says
//	  PhysWide   16 bytes big-endian, the sign bit flipped
//	  PhysBytes  the bytes with each 00 written as 00 FF, ended by 00 01
package keyenc

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/types"
)

// Column is a column of a key: where it stands in the row and how.
type Column struct {
	Index int
	Phys  types.Phys
}

// Columns returns the key columns for the given indexes into a schema's types.
func Columns(schema []types.Type, indexes []int) []Column {
	c := make([]Column, len(indexes))
	for i, x := range indexes {
		c[i] = Column{x, schema[x].Phys()}
	}
	return c
}

// Append appends the encoding of r's key columns to buf.
func Append(buf []byte, r row.Row, key []Column) []byte {
	for _, c := range key {
		if r.IsNull(c.Index) {
			buf = append(buf, 0)
			continue
		}
		switch c.Phys {
		case types.PhysInt:
			buf = appendInt(buf, r.Int64(c.Index))
		case types.PhysBytes:
			buf = appendBytes(buf, r.Bytes(c.Index))
		case types.PhysWide:
			hi, lo := r.Wide(c.Index)
			buf = appendWide(buf, hi, lo)
		default:
			buf = appendFloat(buf, uint64(r.Int64(c.Index)))
		}
	}
	return buf
}

// AppendDatum appends the encoding of one value of physical form p.
func AppendDatum(buf []byte, p types.Phys, d row.Datum) []byte {
	if d.Null {
		return append(buf, 0)
	}
	switch p {
	case types.PhysInt:
		return appendInt(buf, d.I)
	case types.PhysBytes:
		return appendBytes(buf, d.B)
	case types.PhysWide:
		return appendWide(buf, d.Hi, uint64(d.I))
	default:
		return appendFloat(buf, uint64(d.I))
	}
}

// HasNull reports whether one of r's key columns is NULL: such a key equals no other.
func HasNull(r row.Row, key []Column) bool {
	for _, c := range key {
		if r.IsNull(c.Index) {
			return true
		}
	}
	return false
}

func appendInt(buf []byte, v int64) []byte {
	return binary.BigEndian.AppendUint64(append(buf, 1), uint64(v)^1<<63)
}

func appendFloat(buf []byte, u uint64) []byte {
	if u == 1<<63 {
		u = 0
	}
	if u>>63 != 0 {
		u = ^u
	} else {
		u ^= 1 << 63
	}
	return binary.BigEndian.AppendUint64(append(buf, 1), u)
}

func appendWide(buf []byte, hi int64, lo uint64) []byte {
	buf = binary.BigEndian.AppendUint64(append(buf, 1), uint64(hi)^1<<63)
	return binary.BigEndian.AppendUint64(buf, lo)
}

func appendBytes(buf, v []byte) []byte {
	buf = append(buf, 1)
	for {
		i := bytes.IndexByte(v, 0)
		if i < 0 {
			buf = append(buf, v...)
			return append(buf, 0, 1)
		}
		buf = append(buf, v[:i]...)
		buf = append(buf, 0, 0xFF)
		v = v[i+1:]
	}
}

// Decode reads one value of physical form p from the front of key and returns what follows it. Bytes are
// copied to the end of scratch, which may be nil.
func Decode(key []byte, p types.Phys, scratch []byte) (d row.Datum, rest []byte, err error) {
	if len(key) == 0 {
		return d, nil, fmt.Errorf("key ends before its last column")
	}
	mark := key[0]
	key = key[1:]
	if mark == 0 {
		return row.NullDatum, key, nil
	}
	if mark != 1 {
		return d, nil, fmt.Errorf("key column starts with byte %#x", mark)
	}
	if p == types.PhysBytes {
		out := scratch
		for {
			i := bytes.IndexByte(key, 0)
			if i < 0 || i+1 >= len(key) {
				return d, nil, fmt.Errorf("key column of bytes has no end")
			}
			out = append(out, key[:i]...)
			end := key[i+1]
			key = key[i+2:]
			if end == 1 {
				return row.Datum{B: out[len(scratch):]}, key, nil
			}
			if end != 0xFF {
				return d, nil, fmt.Errorf("key column of bytes has escape %#x", end)
			}
			out = append(out, 0)
		}
	}
	need := 8
	if p == types.PhysWide {
		need = 16
	}
	if len(key) < need {
		return d, nil, fmt.Errorf("key ends within a column")
	}
	u := binary.BigEndian.Uint64(key)
	switch p {
	case types.PhysWide:
		return row.Wide(int64(u^1<<63), binary.BigEndian.Uint64(key[8:])), key[16:], nil
	case types.PhysFloat:
		if u>>63 != 0 {
			u ^= 1 << 63
		} else {
			u = ^u
		}
		return row.Datum{I: int64(u)}, key[8:], nil
	default:
		return row.Datum{I: int64(u ^ 1<<63)}, key[8:], nil
	}
}

// Hash is a 64-bit hash of an encoded key (or any bytes) with a fixed seed, by folded 128-bit products in
// the manner of wyhash. Routing and key groups derive from it.
func Hash(b []byte) uint64 {
	const (
		k0 = 0x9E3779B97F4A7C15
		k1 = 0xD6E8FEB86659FD93
		k2 = 0xA0761D6478BD642F
	)
	h := uint64(len(b)) ^ k0
	for len(b) > 16 {
		h = mix(binary.LittleEndian.Uint64(b)^k1, binary.LittleEndian.Uint64(b[8:])^h)
		b = b[16:]
	}
	var x, y uint64
	switch n := len(b); {
	case n >= 8:
		x, y = binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[n-8:])
	case n >= 4:
		x, y = uint64(binary.LittleEndian.Uint32(b)), uint64(binary.LittleEndian.Uint32(b[n-4:]))
	case n > 0:
		x, y = uint64(b[0])|uint64(b[n>>1])<<8, uint64(b[n-1])
	}
	return mix(k2^h, mix(x^k1, y^h))
}

func mix(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}

// KeyGroups is the number of key groups, the units in which state is divided among shards; it bounds
// the parallelism. Part of the on-disk format.
const KeyGroups = 128

// Group is the key group of a key with hash h.
func Group(h uint64) int { return int(h >> 57) }

// Shard is the shard, of n, that owns key group g: contiguous ranges of groups.
func Shard(g, n int) int { return g * n / KeyGroups }
