package expr

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/text"
	"github.com/sluicesql/sluice/engine/types"
	"github.com/sluicesql/sluice/internal/fault"
)

var aTemporal = param{"a DATE, TIME or TIMESTAMP", types.Type.IsTemporal, types.Type{}}

var aMoment = param{"a DATE, TIME, TIMESTAMP or INTERVAL", func(t types.Type) bool { return t.IsTemporal() || t.IsInterval() }, types.Type{}}

func hasDate(t types.Type) bool { return t.IsTemporal() && t.Kind != types.Time }

func temporalFunctions() []*Function {
	fs := []*Function{
		{
			Name: "EXTRACT", Category: Temporal, Signature: "EXTRACT(unit FROM temporal)",
			Help:     "A part of a date, time or interval as BIGINT; of a TIMESTAMP_LTZ in the session's time zone.",
			Examples: []Example{ex("29", "DAY", date("2024-02-29")), ex("1969", "YEAR", timestamp("1969-12-31 23:59:59")), ex("53", "WEEK", date("2021-01-01")), ex("2020", "ISOYEAR", date("2021-01-01")), ex("-1", "EPOCH", timestamp("1969-12-31 23:59:59")), ex("5", "DOW", date("2024-02-29")), ex("789", "MILLISECOND", timestamp("2024-02-29 12:34:56.789")), ex("20", "CENTURY", date("2000-12-31"))},
			bind:     bindExtract, ints: extractInt, build: buildExtract,
			show: func(c *Call) string {
				u, _ := constString(c.Args[0])
				return "EXTRACT(" + u + " FROM " + c.Args[1].String() + ")"
			},
		},
		{
			Name: "TIMESTAMPADD", Category: Temporal, Signature: "TIMESTAMPADD(unit, integer, temporal)",
			Help:     "The date or time so many units later.",
			Examples: []Example{ex("2024-02-29", "MONTH", 1, date("2024-01-31")), ex("2024-03-01 00:00:00.000", "SECOND", 1, timestamp("2024-02-29 23:59:59")), ex("2023-12-31 23:00:00", "HOUR", -1, date("2024-01-01"))},
			bind:     bindTimestampAdd, build: buildTimestampAdd, show: showUnitFirst,
		},
		{
			Name: "TIMESTAMPDIFF", Category: Temporal, Signature: "TIMESTAMPDIFF(unit, temporal1, temporal2)",
			Help:     "The whole units from temporal1 to temporal2, as INT.",
			Examples: []Example{ex("1", "MONTH", date("2024-01-31"), date("2024-02-29")), ex("-1", "DAY", timestamp("2024-02-29 12:00:00"), timestamp("2024-02-28 12:00:00")), ex("0", "YEAR", date("2024-02-29"), date("2025-02-27")), ex("3600", "SECOND", timestamp("1969-12-31 23:30:00"), timestamp("1970-01-01 00:30:00"))},
			bind:     bindTimestampDiff, build: buildTimestampDiff, show: showUnitFirst,
		},
	}
	for _, p := range []struct {
		name string
		u    unit
		want string
	}{
		{"YEAR", unitYear, "2024"}, {"QUARTER", unitQuarter, "1"}, {"MONTH", unitMonth, "2"}, {"WEEK", unitWeek, "9"},
		{"DAYOFYEAR", unitDOY, "60"}, {"DAYOFMONTH", unitDay, "29"}, {"DAYOFWEEK", unitDOW, "5"}, {"HOUR", unitHour, "12"},
		{"MINUTE", unitMinute, "34"}, {"SECOND", unitSecond, "56"},
	} {
		fs = append(fs, &Function{
			Name: p.name, Category: Temporal, Signature: p.name + "(temporal)", Help: "The same as EXTRACT(" + string(p.u) + " FROM temporal).",
			Examples: []Example{ex(p.want, timestamp("2024-02-29 12:34:56"))},
			rewrite: func(args []Expr) (Expr, error) {
				if len(args) != 1 {
					return nil, argErrorf(-1, "%s: takes 1 argument, not %d", p.name, len(args))
				}
				e, err := Resolve("EXTRACT", []Expr{StringConst(string(p.u)), args[0]})
				return e, blame(err, 0, 0)
			},
		})
	}
	return fs
}

func showUnitFirst(c *Call) string {
	u, _ := constString(c.Args[0])
	return c.Fn.Name + "(" + u + ", " + list(c.Args[1:]) + ")"
}

var allUnits = []unit{
	unitMillennium, unitCentury, unitDecade, unitYear, unitISOYear, unitQuarter, unitMonth, unitWeek, unitDay, unitDOW, unitISODOW,
	unitDOY, unitHour, unitMinute, unitSecond, unitMillisecond, unitMicrosecond, unitNanosecond, unitEpoch,
}

func bindExtract(args []Expr) ([]Expr, types.Type, error) {
	args, t, err := sig{params: []param{aString, aMoment}, ret: returnsBigInt}.bind(args)
	if err != nil {
		return nil, t, err
	}
	u, err := unitArg(args[0], 0, allUnits...)
	if err != nil {
		return nil, t, err
	}
	of := args[1].Type()
	bad := of.Kind == types.Time && u.isDateUnit() ||
		of.Kind == types.IntervalYM && u.months() == 0 ||
		of.Kind == types.IntervalDT && (u.nanos() == 0 || u == unitWeek)
	if bad {
		return nil, t, argErrorf(1, "%s has no %s", of.Nullable(), u)
	}
	return []Expr{StringConst(string(u)), args[1]}, t, nil
}

// extractInt builds EXTRACT from DATE and from TIMESTAMP of microseconds.
func extractInt(call *Call) (intFn, error) {
	s, _ := constString(call.Args[0])
	of := call.Args[1].Type()
	stamp := of.Kind == types.Timestamp && of.Phys() == types.PhysInt
	if !stamp && of.Kind != types.Date {
		return nil, nil
	}
	part := unit(s).partOf()
	a, err := compileInt(call.Args[1])
	return func(c *Ctx, r row.Row) (int64, bool) {
		days, null := a(c, r)
		nanos := int64(0)
		if null {
			return 0, true
		}
		if stamp {
			days, nanos = text.SplitMicros(days)
		}
		return part(days, nanos), false
	}, err
}

func buildExtract(call *Call, args []Fn) (Fn, error) {
	s, _ := constString(call.Args[0])
	u, of := unit(s), call.Args[1].Type()
	switch {
	case of.Kind == types.IntervalYM:
		return strict1(args[1], func(_ *Ctx, d row.Datum) row.Datum {
			v := d.I / u.months()
			switch u {
			case unitMonth:
				v %= 12
			case unitQuarter:
				v = v%4 + 1
			}
			return row.Int(v)
		}), nil
	case of.Kind == types.IntervalDT:
		return strict1(args[1], func(_ *Ctx, d row.Datum) row.Datum {
			if u == unitDay {
				return row.Int(d.I / text.MicrosPerDay)
			}
			// Truncated, so that the parts of a negative interval are all negative.
			return row.Int(u.part(0, d.I%text.MicrosPerDay*1000))
		}), nil
	case u == unitEpoch && of.Kind == types.TimestampLTZ:
		return strict1(args[1], func(_ *Ctx, d row.Datum) row.Datum {
			days, nanos := text.Split(of.Precision, d)
			return row.Int(u.part(days, nanos))
		}), nil
	}
	read, part := moment(of), u.partOf()
	return strict1(args[1], func(c *Ctx, d row.Datum) row.Datum {
		days, nanos := read(c, d)
		return row.Int(part(days, nanos))
	}), nil
}

// bindRoundTime types FLOOR and CEIL of a temporal value TO a unit.
func bindRoundTime(args []Expr) ([]Expr, types.Type, error) {
	args, t, err := sig{params: []param{aTemporal, aString}, ret: returnsArg(0)}.bind(args)
	if err != nil {
		return nil, t, err
	}
	u, err := unitArg(args[1], 1, unitMillennium, unitCentury, unitDecade, unitYear, unitQuarter, unitMonth, unitWeek, unitDay,
		unitHour, unitMinute, unitSecond, unitMillisecond, unitMicrosecond)
	if err == nil && t.Kind == types.Time && u.isDateUnit() {
		err = argErrorf(1, "%s has no %s", t.Nullable(), u)
	}
	return []Expr{args[0], StringConst(string(u))}, t, err
}

func buildRoundTime(call *Call, args []Fn, up bool) (Fn, error) {
	s, _ := constString(call.Args[1])
	u, t := unit(s), call.T
	read, write := moment(t), fromMoment(t)
	return strict1(args[0], func(c *Ctx, d row.Datum) row.Datum {
		days, nanos := read(c, d)
		fd, fn := u.floor(days, nanos)
		if up && (fd != days || fn != nanos) {
			fd, fn = u.next(fd, fn)
		}
		out, err := write(c, fd, fn)
		if err != nil {
			return c.fail(fmt.Errorf("%s: %w", call, err))
		}
		return out
	}), nil
}

var shiftUnits = []unit{
	unitMillennium, unitCentury, unitDecade, unitYear, unitQuarter, unitMonth, unitWeek, unitDay, unitHour, unitMinute, unitSecond,
	unitMillisecond, unitMicrosecond,
}

// bindTimestampAdd: a DATE with a unit below the day becomes a TIMESTAMP.
func bindTimestampAdd(args []Expr) ([]Expr, types.Type, error) {
	args, t, err := sig{params: []param{aString, anInt, aTemporal}, ret: returnsArg(2)}.bind(args)
	if err != nil {
		return nil, t, err
	}
	u, err := unitArg(args[0], 0, shiftUnits...)
	if err != nil {
		return nil, t, err
	}
	at := args[2]
	switch {
	case t.Kind == types.Time && u.isDateUnit():
		return nil, t, argErrorf(0, "%s has no %s", t.Nullable(), u)
	case t.Kind == types.Date && !u.isDateUnit():
		p := 0
		switch u {
		case unitMillisecond:
			p = 3
		case unitMicrosecond:
			p = 6
		}
		at = coerce(at, types.TimestampOf(p))
		t = nullable(at.Type(), args)
	}
	return []Expr{StringConst(string(u)), args[1], at}, t, nil
}

func buildTimestampAdd(call *Call, args []Fn) (Fn, error) {
	s, _ := constString(call.Args[0])
	u, t := unit(s), call.T
	kind, step := types.IntervalYM, u.months()
	if step == 0 {
		kind, step = types.IntervalDT, u.nanos()/1000
	}
	shift := addTo(t, kind)
	return strict2(args[1], args[2], func(c *Ctx, n, d row.Datum) row.Datum {
		by, ok := mulInt(n.I, step)
		out, fits := shift(d, by, 1)
		if !ok || !fits {
			return c.fail(fmt.Errorf("%s out of range: %s plus %d %s", t.Nullable(), text.Append(nil, t, d, c.Zone), n.I, u))
		}
		return out
	}), nil
}

func bindTimestampDiff(args []Expr) ([]Expr, types.Type, error) {
	args, t, err := sig{params: []param{aString, aTemporal, aTemporal}, ret: returnsInt}.bind(args)
	if err != nil {
		return nil, t, err
	}
	u, err := unitArg(args[0], 0, shiftUnits...)
	if err != nil {
		return nil, t, err
	}
	a, b := args[1].Type(), args[2].Type()
	switch {
	case (a.Kind == types.Time) != (b.Kind == types.Time), a.Kind == types.TimestampLTZ && b.Kind == types.Timestamp,
		a.Kind == types.Timestamp && b.Kind == types.TimestampLTZ:
		return nil, t, argErrorf(2, "cannot take the difference of %s and %s; write a CAST", a.Nullable(), b.Nullable())
	case a.Kind == types.Time && u.isDateUnit():
		return nil, t, argErrorf(0, "%s has no %s", a.Nullable(), u)
	}
	return []Expr{StringConst(string(u)), args[1], args[2]}, t, nil
}

func buildTimestampDiff(call *Call, args []Fn) (Fn, error) {
	s, _ := constString(call.Args[0])
	u := unit(s)
	a, b := call.Args[1].Type(), call.Args[2].Type()
	from, to := moment(a), moment(b)
	if a.Kind == types.TimestampLTZ && b.Kind == types.TimestampLTZ && u.months() == 0 {
		// A duration between instants: the clock's changes in the time zone do not count.
		a.Kind, b.Kind = types.Timestamp, types.Timestamp
		from, to = moment(a), moment(b)
	}
	return strict2(args[1], args[2], func(c *Ctx, x, y row.Datum) row.Datum {
		d0, n0 := from(c, x)
		d1, n1 := to(c, y)
		v, ok := u.between(d0, n0, d1, n1)
		if !ok || v < math.MinInt32 || v > math.MaxInt32 {
			return c.fail(fault.Errorf(fault.RowValue, "INT overflow: the difference in %s is too large", u).
				Fix("take a coarser unit"))
		}
		return row.Int(v)
	}), nil
}

// between is the number of whole units from one moment to another, negative when the second is earlier; false
// when it leaves 64 bits.
func (u unit) between(d0, n0, d1, n1 int64) (int64, bool) {
	if d1 < d0 || d1 == d0 && n1 < n0 {
		v, ok := u.between(d1, n1, d0, n0)
		return -v, ok
	}
	if m := u.months(); m > 0 {
		y0, m0, _ := text.Civil(d0)
		y1, m1, _ := text.Civil(d1)
		n := int64(y1-y0)*12 + int64(m1-m0)
		// The last month counts once the day, clamped to that month's end, and the time are reached.
		if at := text.AddMonths(d0, n); at > d1 || at == d1 && n0 > n1 {
			n--
		}
		return n / m, true
	}
	days, nanos := d1-d0, n1-n0
	if nanos < 0 {
		days--
		nanos += text.NanosPerDay
	}
	hi, lo := bits.Mul64(uint64(days), text.NanosPerDay)
	lo, carry := bits.Add64(lo, uint64(nanos), 0)
	if hi+carry >= uint64(u.nanos()) {
		return 0, false
	}
	q, _ := bits.Div64(hi+carry, lo, uint64(u.nanos()))
	return int64(q), q <= math.MaxInt64
}
