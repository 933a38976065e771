package decimal

import (
	"cmp"
	"math/bits"

	"github.com/sluicesql/sluice/engine/row"
)

// MaxPrecision is the largest number of digits of a DECIMAL.
const MaxPrecision = 38

// Int128 is a 128-bit two's-complement integer. Its zero value is 0.
type Int128 struct {
	Hi int64
	Lo uint64
}

// FromInt64 widens v.
func FromInt64(v int64) Int128 { return Int128{v >> 63, uint64(v)} }

// Load reads the unscaled value of a datum of type DECIMAL(precision, …), whose physical form depends on
// the precision.
func Load(precision int, d row.Datum) Int128 {
	if precision > 18 {
		return Int128{d.Hi, uint64(d.I)}
	}
	return FromInt64(d.I)
}

// Datum is v as a datum of type DECIMAL(precision, …). The value must fit the precision.
func (v Int128) Datum(precision int) row.Datum {
	if precision > 18 {
		return row.Wide(v.Hi, v.Lo)
	}
	return row.Int(int64(v.Lo))
}

// Int64 is v's low 64 bits, and whether they hold all of v.
func (v Int128) Int64() (int64, bool) { return int64(v.Lo), v.Hi == int64(v.Lo)>>63 }

// Sign is -1, 0 or +1.
func (v Int128) Sign() int {
	switch {
	case v.Hi < 0:
		return -1
	case v.Hi == 0 && v.Lo == 0:
		return 0
	default:
		return 1
	}
}

// Neg is −v. The most negative value, which no DECIMAL holds, is its own negation.
func (v Int128) Neg() Int128 {
	lo, borrow := bits.Sub64(0, v.Lo, 0)
	hi, _ := bits.Sub64(0, uint64(v.Hi), borrow)
	return Int128{int64(hi), lo}
}

// Abs is |v|.
func (v Int128) Abs() Int128 {
	if v.Hi < 0 {
		return v.Neg()
	}
	return v
}

// Cmp compares v and w, which have one scale.
func (v Int128) Cmp(w Int128) int {
	if v.Hi != w.Hi {
		return cmp.Compare(v.Hi, w.Hi)
	}
	return cmp.Compare(v.Lo, w.Lo)
}

// Plus is v + w, and false when that leaves the 128 bits.
func (v Int128) Plus(w Int128) (Int128, bool) {
	lo, carry := bits.Add64(v.Lo, w.Lo, 0)
	hi, _ := bits.Add64(uint64(v.Hi), uint64(w.Hi), carry)
	s := int64(hi)
	return Int128{s, lo}, (v.Hi^s)&(w.Hi^s) >= 0
}

// pow10s[i] is 10^i; 10^38 is the largest power of ten in 128 bits.
var pow10s = func() (p [MaxPrecision + 1]u128) {
	p[0] = u128{0, 1}
	for i := 1; i < len(p); i++ {
		w := mul128(p[i-1], u128{0, 10})
		p[i] = u128{w[1], w[0]}
	}
	return p
}()

// Pow10 is 10^n, for n from 0 to 38.
func Pow10(n int) Int128 { return pow10s[n].signed() }

// Fits reports whether v has at most precision digits.
func (v Int128) Fits(precision int) bool {
	a := v.Abs()
	p := pow10s[precision]
	return uint64(a.Hi) < p.hi || uint64(a.Hi) == p.hi && a.Lo < p.lo
}

// Digits is the number of decimal digits of v; 1 for 0.
func (v Int128) Digits() int {
	n := 1
	for n < MaxPrecision && !v.Fits(n) {
		n++
	}
	return n
}
