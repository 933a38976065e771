package decimal

// The result types of arithmetic are those of Flink's LogicalTypeMerging, which took them from SQL Server:
// as many digits as an exact result can need; where that is more than 38, fractional digits give way, down
// to six, so that the integer part stays whole.

// AddType is the precision and scale of a sum or difference.
func AddType(p1, s1, p2, s2 int) (precision, scale int) {
	s := max(s1, s2)
	return adjust(max(p1-s1, p2-s2)+s+1, s)
}

// MulType is the precision and scale of a product.
func MulType(p1, s1, p2, s2 int) (precision, scale int) {
	return adjust(p1+p2+1, s1+s2)
}

// DivType is the precision and scale of a quotient.
func DivType(p1, s1, p2, s2 int) (precision, scale int) {
	s := max(6, s1+p2+1)
	return adjust(p1-s1+s2+s, s)
}

// ModType is the precision and scale of a rest.
func ModType(p1, s1, p2, s2 int) (precision, scale int) {
	s := max(s1, s2)
	return adjust(min(p1-s1, p2-s2)+s, s)
}

// RoundType is the precision and scale of ROUND(DECIMAL(p, s), digits) for a constant number of digits.
func RoundType(p, s, digits int) (precision, scale int) {
	switch {
	case digits >= s:
		return p, s
	case digits < 0:
		return min(MaxPrecision, 1+p-s), 0
	default:
		return 1 + p - s + digits, digits
	}
}

// CommonType holds every value of both types where 38 digits suffice for that; where they do not, the
// scale gives way as in arithmetic.
func CommonType(p1, s1, p2, s2 int) (precision, scale int) {
	s := max(s1, s2)
	return adjust(max(p1-s1, p2-s2)+s, s)
}

func adjust(p, s int) (precision, scale int) {
	if p <= MaxPrecision {
		return p, s
	}
	return MaxPrecision, max(MaxPrecision-(p-s), min(s, 6))
}
