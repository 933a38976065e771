package text

import (
	"time"

	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/types"
)

// Split divides a TIMESTAMP or TIMESTAMP_LTZ of the given precision into days since 1970-01-01 and
// nanoseconds of the day; for TIMESTAMP_LTZ these are of UTC.
func Split(precision int, d row.Datum) (days, nanos int64) {
	if precision > 6 {
		return SplitNanos(d.Hi, uint64(d.I))
	}
	return SplitMicros(d.I)
}

// Join is the inverse of Split; digits beyond the precision are dropped, towards the past. It reports false
// when the date is out of range.
func Join(precision int, days, nanos int64) (row.Datum, bool) {
	if days < minDays || days > maxDays {
		return row.Datum{}, false
	}
	nanos -= nanos % unitNanos[precision]
	if precision > 6 {
		return row.Wide(JoinNanos(days, nanos)), true
	}
	us, ok := JoinMicros(days, nanos)
	return row.Int(us), ok
}

var (
	minDays = Days(MinYear, 1, 1)
	maxDays = Days(MaxYear, 12, 31)
)

// DayInRange reports whether days since 1970-01-01 are a DATE of a year in range.
func DayInRange(days int64) bool { return days >= minDays && days <= maxDays }

// unitNanos[p] is the unit of p fractional second digits.
var unitNanos = [10]int64{1e9, 1e8, 1e7, 1e6, 1e5, 1e4, 1e3, 1e2, 1e1, 1}

// ToLocal shifts an instant, as days and nanoseconds of the day in UTC, to the local time of tz.
func ToLocal(tz *time.Location, days, nanos int64) (int64, int64) {
	if tz == nil || tz == time.UTC {
		return days, nanos
	}
	return shift(days, nanos, Offset(tz, days*86400+nanos/NanosPerSecond))
}

// FromLocal shifts a local time of tz to UTC, by the rules of ToInstant.
func FromLocal(tz *time.Location, days, nanos int64) (int64, int64) {
	if tz == nil || tz == time.UTC {
		return days, nanos
	}
	local := days*86400 + nanos/NanosPerSecond
	return shift(days, nanos, ToInstant(tz, local)-local)
}

func shift(days, nanos, seconds int64) (int64, int64) {
	nanos += seconds * NanosPerSecond
	d := FloorDiv(nanos, NanosPerDay)
	return days + d, nanos - d*NanosPerDay
}

// AppendDate appends days since 1970-01-01 as 2024-02-29.
func AppendDate(buf []byte, days int64) []byte {
	y, m, d := Civil(days)
	if y < 0 {
		buf = append(buf, '-')
		y = -y
	}
	if y > 9999 {
		buf = appendUint(buf, uint64(y))
	} else {
		buf = append2(append2(buf, y/100), y%100)
	}
	buf = append2(append(buf, '-'), m)
	return append2(append(buf, '-'), d)
}

// AppendTime appends nanoseconds of the day as 12:34:56.789 with the given number of fractional digits;
// -1 writes as many as the value needs.
func AppendTime(buf []byte, nanos int64, digits int) []byte {
	s := int(nanos / NanosPerSecond)
	buf = append2(buf, s/3600)
	buf = append2(append(buf, ':'), s/60%60)
	buf = append2(append(buf, ':'), s%60)
	return AppendFraction(buf, nanos%NanosPerSecond, digits)
}

// AppendFraction appends a point and the first digits of a second's nanoseconds; nothing for 0 digits. -1
// writes as many as the value needs.
func AppendFraction(buf []byte, nanos int64, digits int) []byte {
	if digits < 0 {
		digits = 9
		for digits > 0 && nanos%unitNanos[digits-1] == 0 {
			digits--
		}
	}
	if digits == 0 {
		return buf
	}
	buf = append(buf, '.')
	for i := range digits {
		buf = append(buf, byte('0'+nanos/unitNanos[i+1]%10))
	}
	return buf
}

// AppendDateTime appends a date and a time of day with sep between them, digits as in AppendTime.
func AppendDateTime(buf []byte, days, nanos int64, digits int, sep byte) []byte {
	return AppendTime(append(AppendDate(buf, days), sep), nanos, digits)
}

// AppendIntervalYM appends an INTERVAL YEAR TO MONTH of months as +1-02.
func AppendIntervalYM(buf []byte, months int64) []byte {
	buf, m := appendSign(buf, months)
	buf = append(appendUint(buf, m/12), '-')
	return append2(buf, int(m%12))
}

// AppendIntervalDT appends an INTERVAL DAY TO SECOND of microseconds as +1 02:03:04.567, with six
// fractional digits where three do not hold it.
func AppendIntervalDT(buf []byte, micros int64) []byte {
	buf, u := appendSign(buf, micros)
	buf = append(appendUint(buf, u/MicrosPerDay), ' ')
	digits := 3
	if u%1000 != 0 {
		digits = 6
	}
	return AppendTime(buf, int64(u%MicrosPerDay)*1000, digits)
}

func appendSign(buf []byte, v int64) ([]byte, uint64) {
	if v < 0 {
		return append(buf, '-'), -uint64(v)
	}
	return append(buf, '+'), uint64(v)
}

func appendUint(buf []byte, v uint64) []byte {
	var t [20]byte
	i := len(t)
	for {
		i--
		t[i] = byte('0' + v%10)
		if v /= 10; v == 0 {
			return append(buf, t[i:]...)
		}
	}
}

func append2(buf []byte, v int) []byte { return append(buf, byte('0'+v/10), byte('0'+v%10)) }

func appendTimestamp(buf []byte, t types.Type, d row.Datum, tz *time.Location) []byte {
	days, nanos := Split(t.Precision, d)
	if t.Kind == types.TimestampLTZ {
		days, nanos = ToLocal(tz, days, nanos)
	}
	return AppendDateTime(buf, days, nanos, t.Precision, ' ')
}
