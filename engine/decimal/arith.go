package decimal

import (
	"cmp"
	"errors"
	"math/bits"
)

// Errors of arithmetic and conversion. The caller adds the values and types at hand.
var (
	// ErrOverflow: the result has more digits than the type's precision.
	ErrOverflow = errors.New("decimal overflow")
	// ErrDivisionByZero: the divisor is zero.
	ErrDivisionByZero = errors.New("division by zero")
	// ErrInexact: digits would be lost, and rounding was not asked for.
	ErrInexact = errors.New("value has more fractional digits than its type")
	// ErrSyntax: the text is not a decimal number.
	ErrSyntax = errors.New("not a decimal number")
)

// Rescale moves v from one scale to another, rounding HALF_UP when digits go. It returns false when the
// result has more than precision digits.
func Rescale(v Int128, from, to, precision int) (Int128, bool) {
	switch {
	case to == from:
	case to > from:
		if v.Sign() == 0 {
			return v, true
		}
		if to-from > MaxPrecision {
			return v, false
		}
		m, ok := mul128(v.magnitude(), pow10s[to-from]).fits128()
		if !ok {
			return v, false
		}
		v = withSign(m, v.Hi < 0)
	case from-to > MaxPrecision:
		return Int128{}, true
	default:
		unit := pow10s[from-to]
		q, rest := v.magnitude().divMod128(unit)
		if halfOrMore(rest, unit) {
			q = q.inc()
		}
		v = withSign(q, v.Hi < 0)
	}
	return v, v.Fits(precision)
}

// Truncate moves v from one scale to a smaller or equal one, dropping digits.
func Truncate(v Int128, from, to int) Int128 {
	if from-to > MaxPrecision {
		return Int128{}
	}
	q, _ := v.magnitude().divMod128(pow10s[from-to])
	return withSign(q, v.Hi < 0)
}

// Floor is the greatest integer (scale 0) that is not above v.
func Floor(v Int128, scale int) Int128 {
	q, rest := v.magnitude().divMod128(pow10s[scale])
	if v.Hi < 0 && !rest.isZero() {
		q = q.inc()
	}
	return withSign(q, v.Hi < 0)
}

// Ceil is the smallest integer (scale 0) that is not below v.
func Ceil(v Int128, scale int) Int128 { return Floor(v.Neg(), scale).Neg() }

func withSign(m u128, negative bool) Int128 {
	if negative {
		return m.signed().Neg()
	}
	return m.signed()
}

// Compare compares two values of any scales.
func Compare(a Int128, aScale int, b Int128, bScale int) int {
	if aScale == bScale {
		return a.Cmp(b)
	}
	if sa, sb := a.Sign(), b.Sign(); sa != sb || sa == 0 {
		return cmp.Compare(sa, sb)
	}
	// 10^38 · 10^38 needs 253 bits, so that products of magnitudes compare exactly.
	one := u128{0, 1}
	ua, ub := one, one
	if aScale < bScale {
		ua = pow10s[bScale-aScale]
	} else {
		ub = pow10s[aScale-bScale]
	}
	x, y := mul128(a.magnitude(), ua), mul128(b.magnitude(), ub)
	c := 0
	for i := 3; i >= 0 && c == 0; i-- {
		if x[i] < y[i] {
			c = -1
		} else if x[i] > y[i] {
			c = 1
		}
	}
	if a.Hi < 0 {
		return -c
	}
	return c
}

// Add is a + b as DECIMAL(precision, scale).
func Add(a Int128, aScale int, b Int128, bScale int, precision, scale int) (Int128, error) {
	s := max(aScale, bScale)
	x, ok1 := Rescale(a, aScale, s, MaxPrecision)
	y, ok2 := Rescale(b, bScale, s, MaxPrecision)
	sum, ok := x.Plus(y)
	if !ok1 || !ok2 || !ok {
		return addWide(a, aScale, b, bScale, precision, scale)
	}
	if s != scale {
		sum, ok = Rescale(sum, s, scale, precision)
	}
	if !ok || !sum.Fits(precision) {
		return sum, ErrOverflow
	}
	return sum, nil
}

// Sub is a − b as DECIMAL(precision, scale).
func Sub(a Int128, aScale int, b Int128, bScale int, precision, scale int) (Int128, error) {
	return Add(a, aScale, b.Neg(), bScale, precision, scale)
}

// addWide adds values whose common scale needs more than 38 digits, as when a large integer meets a
// small fraction: the sum is formed in 256 bits and rounded once.
func addWide(a Int128, aScale int, b Int128, bScale int, precision, scale int) (Int128, error) {
	s := max(aScale, bScale)
	x := mul128(a.magnitude(), pow10s[s-aScale])
	y := mul128(b.magnitude(), pow10s[s-bScale])
	negative := a.Hi < 0
	if a.Hi < 0 == (b.Hi < 0) {
		x.add(y)
	} else {
		if x.less(y) {
			x, y = y, x
			negative = b.Hi < 0
		}
		x.sub(y)
	}
	return x.round(s, precision, scale, negative)
}

// round brings a magnitude of scale from to DECIMAL(precision, scale), for scale ≤ from.
func (w u256) round(from, precision, scale int, negative bool) (Int128, error) {
	q := w
	if drop := from - scale; drop > MaxPrecision {
		// Two exact steps; only the first digit dropped decides, the ones below it cannot reach a half.
		q, _ = w.divMod(pow10s[MaxPrecision])
		unit := pow10s[drop-MaxPrecision]
		var rest u128
		if q, rest = q.divMod(unit); halfOrMore(rest, unit) {
			q.add(u256{1})
		}
	} else if drop > 0 {
		unit := pow10s[drop]
		var rest u128
		if q, rest = w.divMod(unit); halfOrMore(rest, unit) {
			q.add(u256{1})
		}
	} else if drop < 0 {
		m, ok := w.fits128()
		if !ok {
			return Int128{}, ErrOverflow
		}
		v, ok := Rescale(withSign(m, negative), from, scale, precision)
		if !ok {
			return v, ErrOverflow
		}
		return v, nil
	}
	m, ok := q.fits128()
	if v := withSign(m, negative); ok && v.Fits(precision) {
		return v, nil
	}
	return Int128{}, ErrOverflow
}

// Mul is a · b as DECIMAL(precision, scale).
func Mul(a Int128, aScale int, b Int128, bScale int, precision, scale int) (Int128, error) {
	return mul128(a.magnitude(), b.magnitude()).round(aScale+bScale, precision, scale, a.Hi < 0 != (b.Hi < 0))
}

// Div is a / b as DECIMAL(precision, scale), rounded once.
func Div(a Int128, aScale int, b Int128, bScale int, precision, scale int) (Int128, error) {
	if b.Sign() == 0 {
		return Int128{}, ErrDivisionByZero
	}
	d := b.magnitude()
	negative := a.Hi < 0 != (b.Hi < 0)
	q, rest := a.magnitude().divMod128(d)
	k := scale - aScale + bScale // the quotient wants k more digits
	if k < 0 {
		// The rest is below one unit of the integer quotient and cannot turn a rounding.
		return u256{q.lo, q.hi}.round(-k, precision, 0, negative)
	}
	for k > 0 {
		n := min(k, 19)
		k -= n
		chunk, r := mul128(rest, pow10s[n]).divMod(d)
		w := mul128(q, pow10s[n])
		w.add(chunk)
		var ok bool
		if q, ok = w.fits128(); !ok {
			return Int128{}, ErrOverflow
		}
		rest = r
	}
	if halfOrMore(rest, d) {
		q = q.inc()
	}
	if v := withSign(q, negative); v.Fits(precision) {
		return v, nil
	}
	return Int128{}, ErrOverflow
}

// Mod is the rest of a / b truncated towards zero, with the sign of a, as DECIMAL(precision, scale).
func Mod(a Int128, aScale int, b Int128, bScale int, precision, scale int) (Int128, error) {
	if b.Sign() == 0 {
		return Int128{}, ErrDivisionByZero
	}
	s := max(aScale, bScale)
	x := mul128(a.magnitude(), pow10s[s-aScale])
	y, ok := mul128(b.magnitude(), pow10s[s-bScale]).fits128()
	rest := a.magnitude()
	if ok {
		_, rest = x.divMod(y)
	}
	// Else b was scaled up beyond 128 bits, so that s is a's own scale and a, being smaller, the rest.
	return u256{rest.lo, rest.hi}.round(s, precision, scale, a.Hi < 0)
}

func (w *u256) add(v u256) {
	var c uint64
	for i := range w {
		w[i], c = bits.Add64(w[i], v[i], c)
	}
}

func (w *u256) sub(v u256) {
	var b uint64
	for i := range w {
		w[i], b = bits.Sub64(w[i], v[i], b)
	}
}

func (w u256) less(v u256) bool {
	for i := 3; i >= 0; i-- {
		if w[i] != v[i] {
			return w[i] < v[i]
		}
	}
	return false
}
