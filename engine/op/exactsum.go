package op

import (
	"encoding/binary"
	"math"
	"math/big"
)

// exactSum adds floating-point numbers without rounding, so that what is taken away again leaves nothing behind, and
// no order of changes gives another sum. A sum is an integer times a power of two, encoded as
//
//	nothing            0
//	exponent (2, little-endian) | sign (1) | magnitude, big-endian, odd
//
// An exactSum is the scratch memory for working on encoded sums.
type exactSum struct {
	sum, x big.Int
	exp    int
	buf    []byte
}

// load takes an encoded sum to work on.
func (s *exactSum) load(enc []byte) {
	if len(enc) == 0 {
		s.sum.SetInt64(0)
		s.exp = 0
		return
	}
	s.exp = int(int16(binary.LittleEndian.Uint16(enc)))
	s.sum.SetBytes(enc[3:])
	if enc[2] != 0 {
		s.sum.Neg(&s.sum)
	}
}

// append appends the encoding of the sum.
func (s *exactSum) append(buf []byte) []byte {
	if s.sum.Sign() == 0 {
		return buf
	}
	if zeros := s.sum.TrailingZeroBits(); zeros > 0 {
		s.sum.Rsh(&s.sum, zeros)
		s.exp += int(zeros)
	}
	sign := byte(0)
	if s.sum.Sign() < 0 {
		sign = 1
	}
	buf = append(binary.LittleEndian.AppendUint16(buf, uint16(int16(s.exp))), sign)
	n := (s.sum.BitLen() + 7) / 8
	if cap(s.buf) < n {
		s.buf = make([]byte, n)
	}
	return append(buf, s.sum.FillBytes(s.buf[:n])...)
}

// split is x, which is finite, as m times two to the power of exp.
func split(x float64) (m int64, exp int) {
	frac, exp := math.Frexp(x)
	return int64(frac * (1 << 53)), exp - 53
}

// add adds x w times.
func (s *exactSum) add(x float64, w int64) {
	m, exp := split(x)
	s.x.SetInt64(m)
	s.addScaled(exp, w)
}

// addSquare adds the square of x w times.
func (s *exactSum) addSquare(x float64, w int64) {
	m, exp := split(x)
	s.x.SetInt64(m)
	s.x.Mul(&s.x, &s.x)
	s.addScaled(2*exp, w)
}

// addScaled adds s.x, times two to the power of exp, w times.
func (s *exactSum) addScaled(exp int, w int64) {
	if s.x.Sign() == 0 {
		return
	}
	switch w {
	case 1:
	case -1:
		s.x.Neg(&s.x)
	default:
		s.x.Mul(&s.x, big.NewInt(w))
	}
	switch {
	case s.sum.Sign() == 0:
		s.exp = exp
	case exp > s.exp:
		s.x.Lsh(&s.x, uint(exp-s.exp))
	case exp < s.exp:
		s.sum.Lsh(&s.sum, uint(s.exp-exp))
		s.exp = exp
	}
	s.sum.Add(&s.sum, &s.x)
}

// float is the sum, unrounded.
func (s *exactSum) float() *big.Float {
	f := new(big.Float).SetInt(&s.sum)
	return f.SetMantExp(f, s.exp)
}

// float64 is the sum, rounded once; beyond the range it is infinite.
func (s *exactSum) float64() float64 {
	f, _ := s.float().Float64()
	return f
}

// float32 is float64 for FLOAT.
func (s *exactSum) float32() float64 {
	f, _ := s.float().Float32()
	return float64(f)
}

// mean is the sum divided by n, rounded once, to the nearest FLOAT if float is set and DOUBLE otherwise.
func (s *exactSum) mean(n int64, float bool) float64 {
	// A sum of 53 bits is a DOUBLE as it is, so that only the division rounds. Near the ends of the range it might not.
	if !float && s.sum.BitLen() <= 53 && n < 1<<53 && s.exp > -500 && s.exp < 500 {
		return math.Ldexp(float64(s.sum.Int64()), s.exp) / float64(n)
	}
	num, den := new(big.Int).Set(&s.sum), big.NewInt(n)
	if s.exp >= 0 {
		num.Lsh(num, uint(s.exp))
	} else {
		den.Lsh(den, uint(-s.exp))
	}
	r := new(big.Rat).SetFrac(num, den)
	if float {
		f, _ := r.Float32()
		return float64(f)
	}
	f, _ := r.Float64()
	return f
}

// spread is n·Σx² − (Σx)², of which variances are made, unrounded: s is Σx.
func (s *exactSum) spread(squares *exactSum, n int64) float64 {
	left := new(big.Int).Mul(&squares.sum, big.NewInt(n))
	right := new(big.Int).Mul(&s.sum, &s.sum)
	exp := min(squares.exp, 2*s.exp)
	if left.Sign() == 0 {
		exp = 2 * s.exp
	} else if right.Sign() == 0 {
		exp = squares.exp
	}
	left.Lsh(left, uint(max(0, squares.exp-exp)))
	right.Lsh(right, uint(max(0, 2*s.exp-exp)))
	f := new(big.Float).SetInt(left.Sub(left, right))
	x, _ := f.SetMantExp(f, exp).Float64()
	return x
}
