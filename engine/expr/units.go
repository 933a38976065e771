package expr

import (
	"strings"

	"github.com/sluicesql/sluice/engine/text"
)

// unit is a unit of time as EXTRACT, FLOOR … TO, TIMESTAMPADD and TIMESTAMPDIFF name it.
type unit string

// The units.
const (
	unitMillennium  unit = "MILLENNIUM"
	unitCentury     unit = "CENTURY"
	unitDecade      unit = "DECADE"
	unitYear        unit = "YEAR"
	unitISOYear     unit = "ISOYEAR"
	unitQuarter     unit = "QUARTER"
	unitMonth       unit = "MONTH"
	unitWeek        unit = "WEEK"
	unitDay         unit = "DAY"
	unitDOW         unit = "DOW"
	unitISODOW      unit = "ISODOW"
	unitDOY         unit = "DOY"
	unitHour        unit = "HOUR"
	unitMinute      unit = "MINUTE"
	unitSecond      unit = "SECOND"
	unitMillisecond unit = "MILLISECOND"
	unitMicrosecond unit = "MICROSECOND"
	unitNanosecond  unit = "NANOSECOND"
	unitEpoch       unit = "EPOCH"
)

// unitAliases are other spellings.
var unitAliases = map[string]unit{
	"YEARS": unitYear, "QUARTERS": unitQuarter, "MONTHS": unitMonth, "WEEKS": unitWeek, "DAYS": unitDay, "HOURS": unitHour,
	"MINUTES": unitMinute, "SECONDS": unitSecond, "MILLISECONDS": unitMillisecond, "MICROSECONDS": unitMicrosecond,
	"SQL_TSI_YEAR": unitYear, "SQL_TSI_QUARTER": unitQuarter, "SQL_TSI_MONTH": unitMonth, "SQL_TSI_WEEK": unitWeek,
	"SQL_TSI_DAY": unitDay, "SQL_TSI_HOUR": unitHour, "SQL_TSI_MINUTE": unitMinute, "SQL_TSI_SECOND": unitSecond,
}

// unitArg reads argument i as one of the allowed units.
func unitArg(e Expr, i int, allowed ...unit) (unit, error) {
	s, ok := constString(e)
	u := unit(strings.ToUpper(s))
	if a, is := unitAliases[string(u)]; is {
		u = a
	}
	for _, a := range allowed {
		if ok && u == a {
			return u, nil
		}
	}
	names := make([]string, len(allowed))
	for j, a := range allowed {
		names[j] = string(a)
	}
	what := e.String()
	if ok {
		what = s
	}
	return "", argErrorf(i, "unknown unit %s; known are %s", what, strings.Join(names, ", "))
}

// isDateUnit reports whether a unit is a whole number of days or months.
func (u unit) isDateUnit() bool {
	switch u {
	case unitHour, unitMinute, unitSecond, unitMillisecond, unitMicrosecond, unitNanosecond, unitEpoch:
		return false
	}
	return true
}

// months is the length of a unit of whole months; 0 for other units.
func (u unit) months() int64 {
	switch u {
	case unitMonth:
		return 1
	case unitQuarter:
		return 3
	case unitYear:
		return 12
	case unitDecade:
		return 120
	case unitCentury:
		return 1200
	case unitMillennium:
		return 12000
	}
	return 0
}

// nanos is the length of a unit of fixed duration; 0 for units of months.
func (u unit) nanos() int64 {
	switch u {
	case unitWeek:
		return 7 * text.NanosPerDay
	case unitDay:
		return text.NanosPerDay
	case unitHour:
		return 3600 * text.NanosPerSecond
	case unitMinute:
		return 60 * text.NanosPerSecond
	case unitSecond:
		return text.NanosPerSecond
	case unitMillisecond:
		return 1_000_000
	case unitMicrosecond:
		return 1000
	case unitNanosecond:
		return 1
	}
	return 0
}

// weekday is 0 for Monday to 6 for Sunday; 1970-01-01 was a Thursday.
func weekday(days int64) int64 { return text.FloorMod(days+3, 7) }

// isoWeek is the ISO 8601 year and week of a day: a week belongs to the year of its Thursday.
func isoWeek(days int64) (year, week int64) {
	thursday := days - weekday(days) + 3
	y, _, _ := text.Civil(thursday)
	return int64(y), (thursday-text.Days(y, 1, 1))/7 + 1
}

// part is a unit's value in a local date and time of day.
func (u unit) part(days, nanos int64) int64 {
	switch u {
	case unitHour:
		return nanos / (3600 * text.NanosPerSecond)
	case unitMinute:
		return nanos / (60 * text.NanosPerSecond) % 60
	case unitSecond:
		return nanos / text.NanosPerSecond % 60
	case unitMillisecond:
		return nanos % text.NanosPerSecond / 1_000_000
	case unitMicrosecond:
		return nanos % text.NanosPerSecond / 1000
	case unitNanosecond:
		return nanos % text.NanosPerSecond
	case unitEpoch:
		return days*86400 + nanos/text.NanosPerSecond
	case unitDOW: // 1 is Sunday
		return (weekday(days)+1)%7 + 1
	case unitISODOW: // 1 is Monday
		return weekday(days) + 1
	case unitWeek:
		_, w := isoWeek(days)
		return w
	case unitISOYear:
		y, _ := isoWeek(days)
		return y
	}
	y, m, d := text.Civil(days)
	year := int64(y)
	switch u {
	case unitYear:
		return year
	case unitQuarter:
		return int64(m-1)/3 + 1
	case unitMonth:
		return int64(m)
	case unitDay:
		return int64(d)
	case unitDOY:
		return days - text.Days(y, 1, 1) + 1
	case unitDecade:
		return text.FloorDiv(year, 10)
	case unitCentury:
		return ordinal(year, 100)
	default:
		return ordinal(year, 1000)
	}
}

// partOf is part with the choice of the unit made once.
func (u unit) partOf() func(days, nanos int64) int64 {
	switch u {
	case unitYear:
		return func(days, _ int64) int64 { y, _, _ := text.Civil(days); return int64(y) }
	case unitMonth:
		return func(days, _ int64) int64 { _, m, _ := text.Civil(days); return int64(m) }
	case unitDay:
		return func(days, _ int64) int64 { _, _, d := text.Civil(days); return int64(d) }
	case unitHour:
		return func(_, nanos int64) int64 { return nanos / (3600 * text.NanosPerSecond) }
	}
	return u.part
}

// ordinal counts centuries and millennia from 1; there is no zeroth, and year 0 (1 BC) belongs to the −1st.
func ordinal(year, n int64) int64 {
	if year > 0 {
		return (year + n - 1) / n
	}
	return -((n - year) / n)
}

// floor is the start of the unit that holds a local date and time. Weeks start on Sunday, as in Flink's
// FLOOR; decades, centuries and millennia at years that their length divides, plus one for the last two.
func (u unit) floor(days, nanos int64) (int64, int64) {
	y, m, _ := text.Civil(days)
	switch u {
	case unitMillennium:
		return text.Days((y-1)-int(text.FloorMod(int64(y-1), 1000))+1, 1, 1), 0
	case unitCentury:
		return text.Days((y-1)-int(text.FloorMod(int64(y-1), 100))+1, 1, 1), 0
	case unitDecade:
		return text.Days(y-int(text.FloorMod(int64(y), 10)), 1, 1), 0
	case unitYear:
		return text.Days(y, 1, 1), 0
	case unitQuarter:
		return text.Days(y, (m-1)/3*3+1, 1), 0
	case unitMonth:
		return text.Days(y, m, 1), 0
	case unitWeek:
		return days - text.FloorMod(days+4, 7), 0
	case unitDay:
		return days, 0
	}
	return days, nanos - nanos%u.nanos()
}

// next is the start of the unit after the one that starts at the given date and time.
func (u unit) next(days, nanos int64) (int64, int64) {
	if m := u.months(); m > 0 {
		return text.AddMonths(days, m), 0
	}
	nanos += u.nanos() % text.NanosPerDay
	days += u.nanos()/text.NanosPerDay + nanos/text.NanosPerDay
	return days, nanos % text.NanosPerDay
}
