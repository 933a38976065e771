package op

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"

	"github.com/sluicesql/sluice/engine/decimal"
	"github.com/sluicesql/sluice/engine/keyenc"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/text"
	"github.com/sluicesql/sluice/engine/types"
)

// A group's state is a sequence of 8-byte words: the number of its rows, and then the words of each accumulator.

func word(v []byte, i int) int64 { return int64(binary.LittleEndian.Uint64(v[8*i:])) }

func setWord(v []byte, i int, x int64) { binary.LittleEndian.PutUint64(v[8*i:], uint64(x)) }

// accumulator is what a group keeps of the values of one or more calls.
type accumulator interface {
	// words is the number of its words.
	words() int
	// add applies a row w times; w may be negative. v are the accumulator's words.
	add(v []byte, r row.Row, w int64)
}

// tailed is an accumulator that keeps bytes of any length beside its words.
type tailed interface {
	accumulator
	// addTail is what add is for the bytes: it appends the new ones to buf. old are those of before.
	addTail(buf, old []byte, r row.Row, w int64) []byte
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

// boolAcc counts conditions and those that are TRUE.
type boolAcc struct{ col int }

func (*boolAcc) words() int { return 2 }

func (a *boolAcc) add(v []byte, r row.Row, w int64) {
	if r.IsNull(a.col) {
		return
	}
	setWord(v, 0, word(v, 0)+w)
	setWord(v, 1, word(v, 1)+w*r.Int64(a.col))
}

// intExtreme is the least or greatest integer so far, of an input that takes nothing back: whether there is one, and
// which.
type intExtreme struct {
	col      int
	greatest bool
}

func (*intExtreme) words() int { return 2 }

func (a *intExtreme) add(v []byte, r row.Row, _ int64) {
	if r.IsNull(a.col) {
		return
	}
	x := r.Int64(a.col)
	if word(v, 0) == 0 || a.greatest == (x > word(v, 1)) && x != word(v, 1) {
		setWord(v, 0, 1)
		setWord(v, 1, x)
	}
}

// extreme is intExtreme for values of other forms: the bytes are the value's encoding as a key.
type extreme struct {
	col      keyenc.Column
	greatest bool
	enc      []byte
}

func (*extreme) words() int { return 0 }

func (*extreme) add([]byte, row.Row, int64) {}

func (a *extreme) addTail(buf, old []byte, r row.Row, _ int64) []byte {
	if r.IsNull(a.col.Index) {
		return append(buf, old...)
	}
	a.enc = keyenc.AppendDatum(a.enc[:0], a.col.Phys, r.Get(a.col.Index, a.col.Phys))
	if c := bytes.Compare(a.enc, old); len(old) == 0 || a.greatest == (c > 0) {
		return append(buf, a.enc...)
	}
	return append(buf, old...)
}

// floatSum adds floating-point numbers exactly. The words are the numbers of values, of NaN, of +Inf and of −Inf; the
// bytes are the sum of the others and, for variances, the sum of their squares, the former with its length before it.
type floatSum struct {
	col      int
	squares  bool
	sum, sq  exactSum
	finished []byte
}

const (
	floatCount = iota
	floatNaN
	floatInf
	floatNegInf
	floatWords
)

func (*floatSum) words() int { return floatWords }

func (a *floatSum) add(v []byte, r row.Row, w int64) {
	if r.IsNull(a.col) {
		return
	}
	setWord(v, floatCount, word(v, floatCount)+w)
	switch x := r.Float64(a.col); {
	case math.IsNaN(x):
		setWord(v, floatNaN, word(v, floatNaN)+w)
	case math.IsInf(x, 1):
		setWord(v, floatInf, word(v, floatInf)+w)
	case math.IsInf(x, -1):
		setWord(v, floatNegInf, word(v, floatNegInf)+w)
	}
}

func (a *floatSum) addTail(buf, old []byte, r row.Row, w int64) []byte {
	x := r.Float64(a.col)
	if r.IsNull(a.col) || math.IsNaN(x) || math.IsInf(x, 0) {
		return append(buf, old...)
	}
	a.load(old)
	a.sum.add(x, w)
	if !a.squares {
		return a.sum.append(buf)
	}
	a.sq.addSquare(x, w)
	a.finished = a.sum.append(a.finished[:0])
	buf = binary.LittleEndian.AppendUint16(buf, uint16(len(a.finished)))
	return a.sq.append(append(buf, a.finished...))
}

// load takes the bytes to work on.
func (a *floatSum) load(tail []byte) {
	if a.squares && len(tail) > 0 {
		n := 2 + int(binary.LittleEndian.Uint16(tail))
		a.sum.load(tail[2:n])
		a.sq.load(tail[n:])
		return
	}
	a.sum.load(tail)
	a.sq.load(nil)
}

// special is the sum where values that are no numbers decide it.
func (*floatSum) special(v []byte) (float64, bool) {
	switch inf, neg := word(v, floatInf) > 0, word(v, floatNegInf) > 0; {
	case word(v, floatNaN) > 0, inf && neg:
		return math.NaN(), true
	case inf:
		return math.Inf(1), true
	case neg:
		return math.Inf(-1), true
	}
	return 0, false
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
	if lo, hi := text.IntRange(t.Kind); !ok || v < lo || v > hi {
		return rangeError(t)
	}
	b.Int64(i, v)
	return nil
}
