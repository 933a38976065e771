package op

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/sluicesql/sluice/engine/decimal"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/types"
)

// A group's state is a sequence of 8-byte words: the number of its rows, and then the words of each accumulator.

func word(v []byte, i int) int64 { return int64(binary.LittleEndian.Uint64(v[8*i:])) }

func setWord(v []byte, i int, x int64) { binary.LittleEndian.PutUint64(v[8*i:], uint64(x)) }

// accumulator is what a group keeps of the values of one or more calls. Its words are at a fixed place.
type accumulator interface {
	// words is the number of words.
	words() int
	// add applies a row w times; w may be negative. v are the accumulator's words.
	add(v []byte, r row.Row, w int64)
}

// countAcc counts the rows in which no argument is NULL.
type countAcc struct{ args []int }

func (*countAcc) words() int { return 1 }

func (a *countAcc) add(v []byte, r row.Row, w int64) {
	for _, c := range a.args {
		if r.IsNull(c) {
			return
		}
	}
	setWord(v, 0, word(v, 0)+w)
}

// intSum adds integers, of 64 or of 128 bits, exactly: the words are the number of values and a sum of 192 bits,
// the low word first. No order of changes, and no number of them, can overflow it.
type intSum struct {
	col  int
	wide bool
}

func (*intSum) words() int { return 4 }

func (a *intSum) add(v []byte, r row.Row, w int64) {
	if r.IsNull(a.col) {
		return
	}
	var x decimal.Int128
	if a.wide {
		x.Hi, x.Lo = r.Wide(a.col)
	} else {
		x = decimal.FromInt64(r.Int64(a.col))
	}
	setWord(v, 0, word(v, 0)+w)
	for ; w > 0; w-- {
		addWide(v[8:], x)
	}
	for ; w < 0; w++ {
		addWide(v[8:], x.Neg())
	}
}

// addWide adds x to the 192 bits of v.
func addWide(v []byte, x decimal.Int128) {
	lo, c := bits.Add64(uint64(word(v, 0)), x.Lo, 0)
	mid, c := bits.Add64(uint64(word(v, 1)), uint64(x.Hi), c)
	hi, _ := bits.Add64(uint64(word(v, 2)), uint64(x.Hi>>63), c)
	setWord(v, 0, int64(lo))
	setWord(v, 1, int64(mid))
	setWord(v, 2, int64(hi))
}

// sum is the sum, where 128 bits hold it.
func (a *intSum) sum(v []byte) (x decimal.Int128, ok bool) {
	x = decimal.Int128{Hi: word(v, 2), Lo: uint64(word(v, 1))}
	return x, word(v, 3) == x.Hi>>63
}

// rangeError says that a sum is too large for its type.
func rangeError(t types.Type) error {
	return fmt.Errorf("the sum is out of the range of %s", t.Nullable())
}

// setExact sets column i, of an integer type or DECIMAL, to x.
func setExact(b *row.Builder, i int, t types.Type, x decimal.Int128) error {
	if t.Kind == types.Decimal {
		if !x.Fits(t.Precision) {
			return rangeError(t)
		}
		b.Datum(i, t.Phys(), x.Datum(t.Precision))
		return nil
	}
	v, ok := x.Int64()
	if !ok || !inRange(v, t.Kind) {
		return rangeError(t)
	}
	b.Int64(i, v)
	return nil
}

// inRange reports whether an integer type holds v.
func inRange(v int64, k types.Kind) bool {
	switch k {
	case types.TinyInt:
		return v == int64(int8(v))
	case types.SmallInt:
		return v == int64(int16(v))
	case types.Int:
		return v == int64(int32(v))
	}
	return true
}
