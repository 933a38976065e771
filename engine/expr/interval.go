package expr

import (
	"fmt"
	"math"

	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/text"
	"github.com/sluicesql/sluice/engine/types"
)

// temporalArith types a temporal value plus or minus an interval, and sums of intervals of one kind.
func temporalArith(args []Expr) (types.Type, bool) {
	if len(args) != 2 {
		return types.Type{}, false
	}
	a, b := args[0].Type(), args[1].Type()
	switch {
	case !b.IsInterval():
		return types.Type{}, false
	case a.IsInterval():
		return a, a.Kind == b.Kind
	case a.Kind == types.Time:
		return a, b.Kind == types.IntervalDT
	}
	return a, a.IsTemporal()
}

// withTime makes a TIMESTAMP of a DATE that a constant interval is added to which is no whole number of days: as a
// DATE the sum would lose its hours.
func withTime(args []Expr) []Expr {
	if len(args) != 2 || args[0].Type().Kind != types.Date || args[1].Type().Kind != types.IntervalDT {
		return args
	}
	by, ok := constant(args[1])
	if !ok || by.Null || by.I%text.MicrosPerDay == 0 {
		return args
	}
	precision := 0
	for unit := int64(text.MicrosPerSecond); by.I%unit != 0; unit /= 1000 {
		precision += 3
	}
	return []Expr{coerce(args[0], types.TimestampOf(precision)), args[1]}
}

// temporalPlus adds an interval to a temporal value. Months clamp to the last day of the month; a TIME wraps
// at midnight; a DATE keeps whole days, towards the past. TIMESTAMP_LTZ counts in UTC, as in Flink: a day has
// 24 hours whatever the time zone.
func temporalPlus(call *Call, args []Fn, minus bool) Fn {
	t, by := call.Args[0].Type(), call.Args[1].Type()
	sign := int64(1)
	if minus {
		sign = -1
	}
	shift := addTo(t, by.Kind)
	return strict2(args[0], args[1], func(c *Ctx, a, b row.Datum) row.Datum {
		d, ok := shift(a, b.I, sign)
		if !ok {
			return c.fail(fmt.Errorf("%s out of range: %s %s %s", t.Nullable(), text.Append(nil, t, a, c.Zone), call.Fn.Name,
				text.Append(nil, by, b, nil)))
		}
		return d
	})
}

// addTo adds n months (IntervalYM) or microseconds (IntervalDT), times a sign, to a value of type t.
func addTo(t types.Type, unit types.Kind) func(d row.Datum, n, sign int64) (row.Datum, bool) {
	const monthLimit = 12 * (text.MaxYear - text.MinYear + 1)
	if t.Kind == types.Time {
		return func(d row.Datum, n, sign int64) (row.Datum, bool) {
			nanos := d.I + sign*(n%text.MicrosPerDay)*1000
			return row.Int(text.FloorMod(nanos, text.NanosPerDay)), true
		}
	}
	read, write := utcMoment(t)
	return func(d row.Datum, n, sign int64) (row.Datum, bool) {
		days, nanos := read(d)
		if unit == types.IntervalYM {
			if n > monthLimit || n < -monthLimit {
				return d, false
			}
			return write(text.AddMonths(days, sign*n), nanos)
		}
		if n == math.MinInt64 {
			return d, false
		}
		n *= sign
		whole := text.FloorDiv(n, text.MicrosPerDay)
		nanos += (n - whole*text.MicrosPerDay) * 1000
		carry := text.FloorDiv(nanos, text.NanosPerDay)
		return write(days+whole+carry, nanos-carry*text.NanosPerDay)
	}
}

// utcMoment reads and writes DATE, TIMESTAMP and TIMESTAMP_LTZ as days and nanoseconds, the last in UTC.
func utcMoment(t types.Type) (read func(d row.Datum) (days, nanos int64), write func(days, nanos int64) (row.Datum, bool)) {
	if t.Kind == types.Date {
		return func(d row.Datum) (int64, int64) { return d.I, 0 },
			func(days, _ int64) (row.Datum, bool) { return row.Int(days), text.DayInRange(days) }
	}
	p := t.Precision
	return func(d row.Datum) (int64, int64) { return text.Split(p, d) },
		func(days, nanos int64) (row.Datum, bool) { return text.Join(p, days, nanos) }
}
