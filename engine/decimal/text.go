package decimal

import "math/bits"

// maxExponent bounds the exponent of a text; with a larger one every value but zero overflows or vanishes.
const maxExponent = 1 << 40

// Parse reads a decimal number as DECIMAL(precision, scale): an optional sign, digits with an optional
// point, an optional exponent (1e3, 1.5E-2). Fractional digits beyond the scale are ErrInexact unless they
// are zeros, or are rounded when round is set; an integer part too large is ErrOverflow.
func Parse(s []byte, precision, scale int, round bool) (Int128, error) {
	i, negative := 0, false
	if i < len(s) && (s[i] == '-' || s[i] == '+') {
		negative = s[i] == '-'
		i++
	}
	start, point, digits := i, -1, 0
	for ; i < len(s); i++ {
		if c := s[i]; c >= '0' && c <= '9' {
			digits++
		} else if c == '.' && point < 0 {
			point = digits
		} else {
			break
		}
	}
	if digits == 0 {
		return Int128{}, ErrSyntax
	}
	if point < 0 {
		point = digits
	}
	end, exponent := i, 0
	if i < len(s) {
		if s[i]|0x20 != 'e' {
			return Int128{}, ErrSyntax
		}
		var ok bool
		if exponent, ok = parseExponent(s[i+1:]); !ok {
			return Int128{}, ErrSyntax
		}
	}
	// The number is 0.d1d2d3… · 10^(point+exponent): keep digits make up the unscaled value.
	keep := point + exponent + scale
	var v u128
	significant, seen := 0, 0
	up := false
	for _, c := range s[start:end] {
		if c == '.' {
			continue
		}
		seen++
		d := uint64(c - '0')
		if seen > keep {
			if d != 0 && !round {
				return Int128{}, ErrInexact
			}
			if seen == keep+1 {
				up = d >= 5
			}
			continue
		}
		if significant > 0 || d != 0 {
			if significant++; significant > MaxPrecision {
				return Int128{}, ErrOverflow
			}
			v = v.timesTenPlus(d)
		}
	}
	if pad := keep - seen; pad > 0 && significant > 0 {
		if significant+pad > MaxPrecision {
			return Int128{}, ErrOverflow
		}
		v, _ = mul128(v, pow10s[pad]).fits128()
	}
	if up {
		v = v.inc()
	}
	out := withSign(v, negative)
	if !out.Fits(precision) {
		return Int128{}, ErrOverflow
	}
	return out, nil
}

func (u u128) timesTenPlus(d uint64) u128 {
	hi, lo := bits.Mul64(u.lo, 10)
	lo, carry := bits.Add64(lo, d, 0)
	return u128{u.hi*10 + hi + carry, lo}
}

func parseExponent(s []byte) (int, bool) {
	negative := false
	if len(s) > 0 && (s[0] == '-' || s[0] == '+') {
		negative = s[0] == '-'
		s = s[1:]
	}
	if len(s) == 0 {
		return 0, false
	}
	e := 0
	for _, c := range s {
		if c < '0' || c > '9' {
			return 0, false
		}
		e = min(e*10+int(c-'0'), maxExponent)
	}
	if negative {
		e = -e
	}
	return e, true
}

// Append appends v in plain notation with exactly scale fractional digits: -12.50, 0.007, 3.
func Append(buf []byte, v Int128, scale int) []byte {
	var digits [40]byte
	i := len(digits)
	m := v.magnitude()
	for m.hi != 0 {
		q, r := m.divMod128(u128{0, 1e19})
		for range 19 {
			i--
			digits[i] = byte('0' + r.lo%10)
			r.lo /= 10
		}
		m = q
	}
	for m.lo != 0 {
		i--
		digits[i] = byte('0' + m.lo%10)
		m.lo /= 10
	}
	for len(digits)-i <= scale {
		i--
		digits[i] = '0'
	}
	if v.Hi < 0 {
		buf = append(buf, '-')
	}
	buf = append(buf, digits[i:len(digits)-scale]...)
	if scale > 0 {
		buf = append(buf, '.')
		buf = append(buf, digits[len(digits)-scale:]...)
	}
	return buf
}
