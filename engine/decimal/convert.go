package decimal

import (
	"encoding/binary"
	"math"
	"strconv"
)

// FromBigEndian reads a two's-complement integer, the most significant byte first, of any length whose
// value fits 128 bits: the form in which Debezium and Kafka Connect write decimals, below their base64.
func FromBigEndian(b []byte) (Int128, error) {
	if len(b) == 0 {
		return Int128{}, ErrSyntax
	}
	fill := byte(int8(b[0]) >> 7)
	for len(b) > 16 {
		if b[0] != fill {
			return Int128{}, ErrOverflow
		}
		b = b[1:]
	}
	if byte(int8(b[0])>>7) != fill {
		return Int128{}, ErrOverflow
	}
	var w [16]byte
	for i := range w {
		w[i] = fill
	}
	copy(w[16-len(b):], b)
	return Int128{int64(binary.BigEndian.Uint64(w[:])), binary.BigEndian.Uint64(w[8:])}, nil
}

// FromFloat rounds f to DECIMAL(precision, scale), by way of the shortest decimal text that reads back as
// f, as Flink does. NaN and infinities are ErrOverflow.
func FromFloat(f float64, precision, scale int) (Int128, error) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return Int128{}, ErrOverflow
	}
	var text [32]byte
	return Parse(strconv.AppendFloat(text[:0], f, 'e', -1, 64), precision, scale, true)
}

var floatPow10 = [...]float64{
	1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
	1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
}

// Float is the float64 nearest to v · 10^−scale.
func (v Int128) Float(scale int) float64 {
	// Both operands are exact in this range, so that the one division rounds correctly.
	if i, ok := v.Int64(); ok && i <= 1<<53 && i >= -1<<53 && scale < len(floatPow10) {
		return float64(i) / floatPow10[scale]
	}
	var text [48]byte
	f, err := strconv.ParseFloat(string(Append(text[:0], v, scale)), 64)
	if err != nil {
		panic("decimal text is no float: " + err.Error())
	}
	return f
}
