package op

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"

	"github.com/sluicesql/sluice/engine/decimal"
	"github.com/sluicesql/sluice/engine/expr"
	"github.com/sluicesql/sluice/engine/keyenc"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/state"
	"github.com/sluicesql/sluice/engine/types"
	"github.com/sluicesql/sluice/internal/fault"
)

// group is one group while its row is made.
type group struct {
	h    uint64
	key  []byte
	v    []byte // its words
	tail []byte // of the call's accumulator
}

// resultFunc sets column i of a group's row, or leaves it NULL.
type resultFunc func(g *group, b *row.Builder, i int) error

// accSet are the accumulators of a group.
type accSet struct {
	types []types.Type // of the input
	accs  []placedAcc
	words int
}

type placedAcc struct {
	accumulator
	at     int // the first word
	filter int
	bag    int    // it sees what comes into and leaves this bag; −1: every row
	ident  string // what it accumulates
}

// compiledCall makes a call's result; acc is the accumulator that it needs, −1 for the group's count alone.
type compiledCall struct {
	acc    int
	result resultFunc
}

// share returns the index of an accumulator like acc: the calls SUM(x) and AVG(x) keep one.
func (a *accSet) share(acc accumulator, c *AggregateCall) int {
	bag := -1
	if c.Distinct {
		bag = c.Bag
	}
	ident := fmt.Sprintf("%T%v %d %d", acc, acc, c.Filter, bag)
	for i := range a.accs {
		if a.accs[i].ident == ident {
			return i
		}
	}
	a.accs = append(a.accs, placedAcc{acc, a.words, c.Filter, bag, ident})
	a.words += acc.words()
	return len(a.accs) - 1
}

// compile chooses what a group keeps for a call, and how the call's result comes of it.
func (a *accSet) compile(c *AggregateCall) (compiledCall, error) {
	switch c.Kind {
	case expr.AggCount:
		if len(c.Args) == 0 && c.Filter < 0 {
			return compiledCall{acc: -1, result: countResult}, nil
		}
		return compiledCall{a.share(&countAcc{c.Args}, c), countResult}, nil
	case expr.AggSum, expr.AggAvg:
		return a.compileSum(c), nil
	case expr.AggVarPop, expr.AggVarSamp, expr.AggStddevPop, expr.AggStddevSamp:
		s := &floatSum{col: c.Args[0], squares: true}
		at := a.share(s, c)
		return compiledCall{at, varianceResult(a.accs[at].accumulator.(*floatSum), c.Kind)}, nil
	case expr.AggAnd, expr.AggOr:
		return compiledCall{a.share(&boolAcc{c.Args[0]}, c), boolResult(c.Kind)}, nil
	case expr.AggMin, expr.AggMax:
		return a.compileExtreme(c), nil
	}
	return compiledCall{}, fault.Errorf(fault.Internal, "internal: no accumulator for %s", c.Name)
}

func countResult(g *group, b *row.Builder, i int) error {
	b.Int64(i, word(g.v, 0))
	return nil
}

func boolResult(kind expr.AggKind) resultFunc {
	return func(g *group, b *row.Builder, i int) error {
		n, trues := word(g.v, 0), word(g.v, 1)
		if n > 0 {
			b.Bool(i, trues == n || kind == expr.AggOr && trues > 0)
		}
		return nil
	}
}

func (a *accSet) compileSum(c *AggregateCall) compiledCall {
	t, in := c.Result, a.types[c.Args[0]]
	mean := c.Kind == expr.AggAvg
	if in.IsApprox() {
		at := a.share(&floatSum{col: c.Args[0]}, c)
		return compiledCall{at, floatResult(a.accs[at].accumulator.(*floatSum), t, mean)}
	}
	at := a.share(&intSum{c.Args[0], in.Phys() == types.PhysWide}, c)
	return compiledCall{at, func(g *group, b *row.Builder, i int) error {
		n := word(g.v, 0)
		if n <= 0 {
			return nil
		}
		if mean {
			return setExact(b, i, t, exactMean(g.v[8:], n, t.Scale-in.Scale, t.Kind == types.Decimal))
		}
		x := decimal.Int128{Hi: word(g.v, 2), Lo: uint64(word(g.v, 1))}
		if word(g.v, 3) != x.Hi>>63 {
			return rangeError(t)
		}
		return setExact(b, i, t, x)
	}}
}

// exactMean is the sum in v's three words divided by n, with more fractional digits. It is cut off, as Flink's mean of
// integers is, or rounded half up.
func exactMean(v []byte, n int64, more int, round bool) decimal.Int128 {
	z := big.NewInt(word(v, 2))
	for i := 1; i >= 0; i-- {
		z.Lsh(z, 64).Add(z, new(big.Int).SetUint64(uint64(word(v, i))))
	}
	z.Mul(z, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(more)), nil))
	negative := z.Sign() < 0
	z.Abs(z)
	count := big.NewInt(n)
	if round {
		z.Lsh(z, 1).Add(z, count)
		count.Lsh(count, 1)
	}
	if z.Quo(z, count); z.BitLen() > 127 {
		return decimal.Int128{Hi: math.MaxInt64} // fits no type
	}
	var b [16]byte
	z.FillBytes(b[:])
	x := decimal.Int128{Hi: int64(binary.BigEndian.Uint64(b[:])), Lo: binary.BigEndian.Uint64(b[8:])}
	if negative {
		return x.Neg()
	}
	return x
}

func floatResult(s *floatSum, t types.Type, mean bool) resultFunc {
	return func(g *group, b *row.Builder, i int) error {
		n := word(g.v, floatCount)
		if n <= 0 {
			return nil
		}
		x, special := s.special(g.v)
		if !special {
			s.load(g.tail)
			switch {
			case mean:
				x = s.sum.mean(n, t.Kind == types.Float)
			case t.Kind == types.Float:
				x = s.sum.float32()
			default:
				x = s.sum.float64()
			}
		}
		b.Float64(i, x)
		return nil
	}
}

func varianceResult(s *floatSum, kind expr.AggKind) resultFunc {
	sample := kind == expr.AggVarSamp || kind == expr.AggStddevSamp
	root := kind == expr.AggStddevPop || kind == expr.AggStddevSamp
	return func(g *group, b *row.Builder, i int) error {
		n := word(g.v, floatCount)
		if n <= 0 || sample && n == 1 {
			return nil
		}
		x := math.NaN()
		if _, special := s.special(g.v); !special {
			s.load(g.tail)
			d := float64(n)
			if sample {
				d--
			}
			x = s.sum.spread(&s.sq, n) / float64(n) / d
		}
		if root {
			x = math.Sqrt(x)
		}
		b.Float64(i, x)
		return nil
	}
}

// compileExtreme is MIN and MAX of an input that takes nothing back.
func (a *accSet) compileExtreme(c *AggregateCall) compiledCall {
	greatest := c.Kind == expr.AggMax
	col := keyenc.Columns(a.types, c.Args)[0]
	if col.Phys == types.PhysInt {
		return compiledCall{a.share(&intExtreme{col.Index, greatest}, c), func(g *group, b *row.Builder, i int) error {
			if word(g.v, 0) != 0 {
				b.Int64(i, word(g.v, 1))
			}
			return nil
		}}
	}
	return compiledCall{a.share(&extreme{col: col, greatest: greatest}, c), func(g *group, b *row.Builder, i int) error {
		if len(g.tail) == 0 {
			return nil
		}
		return setEncoded(b, i, col.Phys, g.tail)
	}}
}

// setEncoded sets column i to the value that is encoded at the front of enc.
func setEncoded(b *row.Builder, i int, p types.Phys, enc []byte) error {
	d, _, err := keyenc.Decode(enc, p, nil)
	if err != nil {
		return state.Damaged("damaged state: %w", err)
	}
	b.Datum(i, p, d)
	return nil
}
