// Package decimal computes with the values of DECIMAL(p, s), exactly.
//
// A value is an unscaled 128-bit integer; its scale, the number of fractional digits, is held by the
// type and passed along. The largest precision is 38 digits, so that every valid value has room to be
// doubled without leaving the 128 bits. Rounding is HALF_UP, away from zero at the half, everywhere: it is
// the rounding of Flink's DecimalData. Nothing here allocates, errors aside.
package decimal
