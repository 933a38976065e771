package text

import (
	"math"
	"math/bits"
)

// Units of the storage forms.
const (
	MicrosPerSecond = 1_000_000
	MicrosPerDay    = 86_400 * MicrosPerSecond
	NanosPerSecond  = 1_000_000_000
	NanosPerDay     = 86_400 * NanosPerSecond
)

// The range of dates in years: what microseconds since the epoch in 64 bits reach. Debezium's ±infinity of
// PostgreSQL lies at its ends.
const (
	MinYear = -290_308
	MaxYear = 294_247
)

// Days is the number of days from 1970-01-01 to the given day of the proleptic Gregorian calendar. Month
// and day need not be in range: month 13 is the January after, day 0 the last of the month before.
func Days(year, month, day int) int64 {
	m0 := month - 1
	y := int64(year) + int64(floorDiv(m0, 12))
	m := m0 - 12*floorDiv(m0, 12) + 1
	if m <= 2 {
		y--
	}
	// Years begin in March, so that the leap day is the last one; 400 years are an era of 146097 days
	// (Howard Hinnant's days_from_civil).
	era := FloorDiv(y, 400)
	yoe := y - era*400
	mp := int64(m+9) % 12
	doy := (153*mp+2)/5 + int64(day) - 1
	return era*146097 + yoe*365 + yoe/4 - yoe/100 + doy - 719468
}

// Civil is the inverse of Days.
func Civil(days int64) (year, month, day int) {
	z := days + 719468
	era := FloorDiv(z, 146097)
	doe := z - era*146097
	yoe := (doe - doe/1460 + doe/36524 - doe/146096) / 365
	doy := doe - (365*yoe + yoe/4 - yoe/100)
	mp := (5*doy + 2) / 153
	day = int(doy - (153*mp+2)/5 + 1)
	month = int(mp) + 3
	if month > 12 {
		month -= 12
	}
	year = int(yoe + era*400)
	if month <= 2 {
		year++
	}
	return year, month, day
}

// IsLeap reports whether a year of the proleptic Gregorian calendar has 366 days.
func IsLeap(year int) bool { return year%4 == 0 && (year%100 != 0 || year%400 == 0) }

// DaysIn is the number of days of a month, 1 to 12.
func DaysIn(year, month int) int {
	if month == 2 && IsLeap(year) {
		return 29
	}
	return [...]int{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}[month-1]
}

// AddMonths adds n months to a day; a day that the target month does not have becomes its last one.
func AddMonths(days int64, n int64) int64 {
	y, m, d := Civil(days)
	at := int64(y)*12 + int64(m-1) + n
	year, month := int(FloorDiv(at, 12)), int(at-12*FloorDiv(at, 12))+1
	return Days(year, month, min(d, DaysIn(year, month)))
}

// FloorDiv is the quotient rounded towards minus infinity, for d > 0.
func FloorDiv(n, d int64) int64 {
	q := n / d
	if n%d < 0 {
		q--
	}
	return q
}

// FloorMod is n − d·FloorDiv(n, d), never negative.
func FloorMod(n, d int64) int64 {
	m := n % d
	if m < 0 {
		m += d
	}
	return m
}

func floorDiv(n, d int) int { return int(FloorDiv(int64(n), int64(d))) }

// SplitMicros divides microseconds since the epoch into days and nanoseconds of the day.
func SplitMicros(us int64) (days, nanos int64) {
	days = FloorDiv(us, MicrosPerDay)
	return days, (us - days*MicrosPerDay) * 1000
}

// JoinMicros is the inverse of SplitMicros; nanoseconds below a microsecond are dropped, towards the past.
// It reports false when the result leaves the 64 bits.
func JoinMicros(days, nanos int64) (us int64, ok bool) {
	const last = math.MaxInt64 / MicrosPerDay
	if days > last || days < -last-1 {
		return 0, false
	}
	rest := FloorDiv(nanos, 1000)
	if days < 0 { // one day less towards zero, so that no intermediate leaves the 64 bits
		days++
		rest -= MicrosPerDay
	}
	us = days*MicrosPerDay + rest
	return us, (us < 0) == (days < 0 || rest < 0)
}

// SplitNanos divides 128-bit nanoseconds since the epoch into days and nanoseconds of the day. The days
// fit 64 bits for every year in range.
func SplitNanos(hi int64, lo uint64) (days, nanos int64) {
	negative := hi < 0
	h, l := uint64(hi), lo
	if negative { // floor(n/d) = −1 − floor((−1−n)/d) for n < 0, and −1−n is ^n
		h, l = ^h, ^l
	}
	q, r := bits.Div64(h%NanosPerDay, l, NanosPerDay)
	if negative {
		return -1 - int64(q), NanosPerDay - 1 - int64(r)
	}
	return int64(q), int64(r)
}

// JoinNanos is the inverse of SplitNanos.
func JoinNanos(days, nanos int64) (hi int64, lo uint64) {
	negative := days < 0
	d := uint64(days)
	if negative {
		d = -d
	}
	h, l := bits.Mul64(d, NanosPerDay)
	if negative {
		var borrow uint64
		l, borrow = bits.Sub64(0, l, 0)
		h, _ = bits.Sub64(0, h, borrow)
	}
	l, carry := bits.Add64(l, uint64(nanos), 0)
	h += uint64(nanos>>63) + carry
	return int64(h), l
}
