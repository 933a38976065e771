package decimal

import "math/bits"

// u128 is an unsigned magnitude.
type u128 struct{ hi, lo uint64 }

// u256 is an unsigned product, its least significant word first.
type u256 [4]uint64

func (v Int128) magnitude() u128 {
	a := v.Abs()
	return u128{uint64(a.Hi), a.Lo}
}

func (u u128) signed() Int128 { return Int128{int64(u.hi), u.lo} }

func (u u128) isZero() bool { return u.hi|u.lo == 0 }

func (u u128) less(w u128) bool { return u.hi < w.hi || u.hi == w.hi && u.lo < w.lo }

// inc is u + 1; magnitudes stay far below the wrap.
func (u u128) inc() u128 {
	lo, carry := bits.Add64(u.lo, 1, 0)
	return u128{u.hi + carry, lo}
}

// sub is u − w for w ≤ u.
func (u u128) sub(w u128) u128 {
	lo, borrow := bits.Sub64(u.lo, w.lo, 0)
	hi, _ := bits.Sub64(u.hi, w.hi, borrow)
	return u128{hi, lo}
}

// halfOrMore reports whether rest/unit ≥ 1/2, for rest < unit.
func halfOrMore(rest, unit u128) bool { return !rest.less(unit.sub(rest)) }

func mul128(a, b u128) u256 {
	h0, l0 := bits.Mul64(a.lo, b.lo)
	h1, l1 := bits.Mul64(a.hi, b.lo)
	h2, l2 := bits.Mul64(a.lo, b.hi)
	h3, l3 := bits.Mul64(a.hi, b.hi)
	var r u256
	var c1, c2 uint64
	r[0] = l0
	r[1], c1 = bits.Add64(h0, l1, 0)
	r[2], c1 = bits.Add64(h1, l3, c1)
	r[3] = h3 + c1
	r[1], c2 = bits.Add64(r[1], l2, 0)
	r[2], c2 = bits.Add64(r[2], h2, c2)
	r[3] += c2
	return r
}

// fits128 is the low 128 bits, and whether they leave the sign bit free and hold everything.
func (w u256) fits128() (u128, bool) {
	return u128{w[1], w[0]}, w[3]|w[2] == 0 && w[1]>>63 == 0
}

// divMod divides w by d, which is not zero.
func (w u256) divMod(d u128) (q u256, rest u128) {
	if d.hi == 0 {
		var r uint64
		for i := 3; i >= 0; i-- {
			q[i], r = bits.Div64(r, w[i], d.lo)
		}
		return q, u128{0, r}
	}
	// Knuth's algorithm D with a divisor of two words: shifted so that its top bit is set, each
	// quotient digit guessed from the top words is at most two too large.
	s := uint(bits.LeadingZeros64(d.hi))
	v1, v0 := d.hi<<s|d.lo>>1>>(63-s), d.lo<<s
	u := [5]uint64{
		w[0] << s,
		w[1]<<s | w[0]>>1>>(63-s),
		w[2]<<s | w[1]>>1>>(63-s),
		w[3]<<s | w[2]>>1>>(63-s),
		w[3] >> 1 >> (63 - s),
	}
	for j := 2; j >= 0; j-- {
		var qhat, rhat, over uint64
		if u[j+2] >= v1 {
			qhat = ^uint64(0)
			rhat, over = bits.Add64(u[j+1], v1, 0)
		} else {
			qhat, rhat = bits.Div64(u[j+2], u[j+1], v1)
		}
		for over == 0 {
			h, l := bits.Mul64(qhat, v0)
			if h < rhat || h == rhat && l <= u[j] {
				break
			}
			qhat--
			rhat, over = bits.Add64(rhat, v1, 0)
		}
		h0, l0 := bits.Mul64(qhat, v0)
		h1, l1 := bits.Mul64(qhat, v1)
		mid, c := bits.Add64(h0, l1, 0)
		top := h1 + c
		var b uint64
		u[j], b = bits.Sub64(u[j], l0, 0)
		u[j+1], b = bits.Sub64(u[j+1], mid, b)
		u[j+2], b = bits.Sub64(u[j+2], top, b)
		if b != 0 {
			qhat--
			u[j], c = bits.Add64(u[j], v0, 0)
			u[j+1], c = bits.Add64(u[j+1], v1, c)
			u[j+2] += c
		}
		q[j] = qhat
	}
	return q, u128{u[1] >> s, u[0]>>s | u[1]<<1<<(63-s)}
}

// divMod128 divides u by d, which is not zero.
func (u u128) divMod128(d u128) (q, rest u128) {
	if u.hi|d.hi == 0 {
		return u128{0, u.lo / d.lo}, u128{0, u.lo % d.lo}
	}
	w, r := u256{u.lo, u.hi}.divMod(d)
	return u128{w[1], w[0]}, r
}
