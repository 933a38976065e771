package expr

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/sluicesql/sluice/engine/decimal"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/text"
	"github.com/sluicesql/sluice/engine/types"
)

const defaultPattern = "yyyy-MM-dd HH:mm:ss"

func temporalTextFunctions() []*Function {
	dated := param{"a DATE, TIMESTAMP or character string", func(t types.Type) bool { return hasDate(t) || t.IsString() }, types.Type{}}
	parse := func(name, signature, help string, t types.Type, s sig, b builder, examples ...Example) *Function {
		s.ret, s.mayNull = returns(t), true
		return &Function{Name: name, Category: Temporal, Signature: signature, Help: help, Examples: examples, bind: s.bind, build: b}
	}
	texts := sig{params: []param{aString, aString}, min: 1}
	unixOfText := &Function{Name: "UNIX_TIMESTAMP", bind: sig{params: []param{aString, aString}, min: 1, ret: returnsBigInt, mayNull: true}.bind, build: buildUnixTimestamp}
	return []*Function{
		{
			Name: "DATE_FORMAT", Category: Temporal, Signature: "DATE_FORMAT(timestamp, pattern)",
			Help:     "The date or timestamp (or its string form) written by a pattern of Java's DateTimeFormatter.",
			Examples: []Example{ex("29.02.24 12:34", timestamp("2024-02-29 12:34:56"), "dd.MM.yy HH:mm"), ex("Thu 29 Feb 2024, 05 PM", timestamp("2024-02-29 17:00:00"), "EEE d MMM yyyy, hh a"), ex("20240229", "2024-02-29 00:00:00", "yyyyMMdd"), ex("12h34 007", timestamp("1969-12-31 12:34:00.007"), "HH'h'mm SSS")},
			bind:     sig{params: []param{dated, aString}, ret: returnsString, mayNull: true}.bind, build: buildDateFormat,
		},
		parse("TO_DATE", "TO_DATE(string [, pattern])", "The date that the string writes, by default as yyyy-MM-dd; NULL if it is none.",
			types.Of(types.Date), texts, buildReadMoment(types.Of(types.Date)), ex("2024-02-29", "2024-02-29"), ex("2024-02-29", "29/02/2024", "dd/MM/yyyy"), ex("NULL", "2023-02-29")),
		parse("TO_TIMESTAMP", "TO_TIMESTAMP(string [, pattern])", "The TIMESTAMP(3) that the string writes, by default as yyyy-MM-dd HH:mm:ss; NULL if it is none.",
			types.TimestampOf(3), texts, buildReadMoment(types.TimestampOf(3)), ex("2024-02-29 12:34:56.789", "2024-02-29 12:34:56.789"), ex("2024-02-29 05:06:00.000", "20240229 0506", "yyyyMMdd HHmm"), ex("NULL", "soon")),
		{
			Name: "TO_TIMESTAMP_LTZ", Category: Temporal, Signature: "TO_TIMESTAMP_LTZ(numeric [, precision]), TO_TIMESTAMP_LTZ(string [, pattern [, zone]])",
			Help:     "The instant so many seconds (precision 0), milliseconds (3, the default), microseconds (6) or nanoseconds (9) after 1970-01-01 UTC, or that a string writes in a zone (UTC).",
			Examples: []Example{ex("1970-01-01 00:01:40.000", 100, 0), ex("1970-01-01 00:00:01.500", 1500, 3), ex("1969-12-31 23:59:59.999", -1), ex("2024-02-29 10:00:00.000", "2024-02-29 12:00", "yyyy-MM-dd HH:mm", "Africa/Cairo")},
			bind:     bindInstant, build: buildInstant,
		},
		{
			Name: "FROM_UNIXTIME", Category: Temporal, Signature: "FROM_UNIXTIME(seconds [, pattern])",
			Help:     "The seconds since 1970-01-01 UTC, written in the session's time zone, by default as yyyy-MM-dd HH:mm:ss.",
			Examples: []Example{ex("1970-01-01 00:00:44", 44), ex("1969", -1, "yyyy")},
			bind:     sig{params: []param{anInt, aString}, min: 1, ret: returnsString}.bind, build: buildFromUnixtime,
		},
		{
			Name: "UNIX_TIMESTAMP", Category: Temporal, Signature: "UNIX_TIMESTAMP([string [, pattern]])",
			Help:     "The seconds since 1970-01-01 UTC of the string's time in the session's time zone, NULL if it is none; without arguments of the epoch's time.",
			Examples: []Example{ex("25", "1970-01-01 00:00:25"), ex("-86400", "31.12.1969", "dd.MM.yyyy"), ex("NULL", "x")},
			rewrite:  unixTimestamp(unixOfText),
		},
		{
			Name: "CONVERT_TZ", Category: Temporal, Signature: "CONVERT_TZ(string, zone1, zone2)",
			Help:     "A time written as yyyy-MM-dd HH:mm:ss in one time zone, written in another; NULL if it is none.",
			Examples: []Example{ex("1969-12-31 16:00:00", "1970-01-01 00:00:00", "UTC", "America/Los_Angeles"), ex("NULL", "x", "UTC", "UTC")},
			bind:     bindConvertTZ, build: buildConvertTZ,
		},
	}
}

// patternArg compiles the pattern of argument i, of which a call may have none; known says whether it is
// constant.
func patternArg(call *Call, i int) (p datePattern, known bool, err error) {
	if i >= len(call.Args) {
		p, err = compileDatePattern([]byte(defaultPattern))
		return p, true, err
	}
	if !isConst(call.Args[i]) {
		return nil, false, nil
	}
	p, err = compileDatePattern(call.Args[i].(*Const).Value.B)
	return p, true, err
}

// datePattern compiles a pattern that is not constant, once for each of its values.
func (c *Ctx) datePattern(source []byte) (datePattern, error) {
	if p, ok := c.dates[string(source)]; ok {
		return p, nil
	}
	p, err := compileDatePattern(source)
	if err != nil {
		return nil, err
	}
	if c.dates == nil || len(c.dates) >= maxCached {
		c.dates = map[string]datePattern{}
	}
	c.dates[string(source)] = p
	return p, nil
}

// withPattern is evalN with the pattern of argument i compiled.
func withPattern(call *Call, args []Fn, i int, f func(c *Ctx, p datePattern, args []row.Datum) row.Datum) (Fn, error) {
	p, known, err := patternArg(call, i)
	if err != nil {
		return nil, err
	}
	return evalNOf(args, func(c *Ctx, args []row.Datum) row.Datum {
		p := p
		if !known {
			var err error
			if p, err = c.datePattern(args[i].B); err != nil {
				return c.fail(fmt.Errorf("%s: %w", call.Fn.Name, err))
			}
		}
		return f(c, p, args)
	}), nil
}

func buildDateFormat(call *Call, args []Fn) (Fn, error) {
	t := call.Args[0].Type()
	if p, known, err := patternArg(call, 1); err == nil && known && p.zoned() && t.Kind != types.TimestampLTZ {
		return nil, errNoOffset
	}
	if t.IsString() {
		return withPattern(call, args, 1, func(c *Ctx, p datePattern, args []row.Datum) row.Datum {
			d, err := text.ParseTimestamp(args[0].B, 9, text.AnyLayout)
			if err != nil {
				return row.NullDatum
			}
			days, nanos := text.Split(9, d)
			return c.format(p, days, nanos, noOffset)
		})
	}
	read := moment(t)
	return withPattern(call, args, 1, func(c *Ctx, p datePattern, args []row.Datum) row.Datum {
		days, nanos := read(c, args[0])
		offset := int64(noOffset)
		if t.Kind == types.TimestampLTZ {
			utcDays, utcNanos := text.Split(t.Precision, args[0])
			offset = (days-utcDays)*86400 + (nanos-utcNanos)/text.NanosPerSecond
		}
		return c.format(p, days, nanos, offset)
	})
}

// noOffset marks a time of which the offset from UTC is not known.
const noOffset = math.MaxInt64

// format writes a local time by a pattern, which must not ask for an offset that is not known.
func (c *Ctx) format(p datePattern, days, nanos, offset int64) row.Datum {
	if offset == noOffset && p.zoned() {
		return c.fail(errNoOffset)
	}
	at := len(c.scratch)
	return c.done(p.format(c.scratch, days, nanos, offset), at)
}

var errNoOffset = errors.New("DATE_FORMAT: a time without a zone has no offset that X, x or Z could write; CAST it to TIMESTAMP_LTZ(3)")

// buildReadMoment reads text by the pattern of argument 1, or in the type's own form; NULL where it fails.
func buildReadMoment(t types.Type) builder {
	return func(call *Call, args []Fn) (Fn, error) {
		if len(args) == 1 {
			return strict1(args[0], func(c *Ctx, s row.Datum) row.Datum {
				d, err := text.Parse(t, s.B, c.Zone)
				if err != nil {
					return row.NullDatum
				}
				return d
			}), nil
		}
		write := fromMoment(t)
		return withPattern(call, args, 1, func(c *Ctx, p datePattern, args []row.Datum) row.Datum {
			days, nanos, _, ok := p.parse(args[0].B)
			if !ok {
				return row.NullDatum
			}
			d, err := write(c, days, nanos)
			if err != nil {
				return row.NullDatum
			}
			return d
		})
	}
}

func bindInstant(args []Expr) ([]Expr, types.Type, error) {
	t := types.TimestampLTZOf(3)
	if len(args) > 0 && args[0].Type().IsString() {
		args, t, err := sig{params: []param{aString, aString, aString}, min: 1, ret: returns(t), mayNull: true}.bind(args)
		if err == nil && len(args) == 3 {
			_, err = zoneArg(args[2], 2)
		}
		return args, t, err
	}
	args, t, err := sig{params: []param{aNumber, anInt}, min: 1, ret: returns(t)}.bind(args)
	if err != nil {
		return nil, t, err
	}
	if len(args) == 1 {
		args = append(args, IntConst(3))
	}
	if p, ok := constant(args[1]); !ok || p.Null || p.I != 0 && p.I != 3 && p.I != 6 && p.I != 9 {
		return nil, t, argErrorf(1, "the precision must be 0, 3, 6 or 9, not %s", args[1])
	}
	return args, t, nil
}

// zoneArg is the time zone that a constant argument names.
func zoneArg(e Expr, i int) (*time.Location, error) {
	name, ok := constString(e)
	if !ok || name == "" {
		return nil, argErrorf(i, "the time zone must be a constant such as 'Europe/Berlin', not %s", e)
	}
	tz, err := LoadZone(name)
	if err != nil {
		return nil, argErrorf(i, "%v", err)
	}
	return tz, nil
}

// LoadZone finds a time zone by its name in the IANA database, or as UTC±hh:mm, GMT±hh:mm or ±hh:mm.
func LoadZone(name string) (*time.Location, error) {
	rest := name
	if len(rest) > 3 && (rest[:3] == "UTC" || rest[:3] == "GMT") {
		rest = rest[3:]
	}
	if rest != "" && (rest[0] == '+' || rest[0] == '-') {
		// An instant at the epoch, read with that offset, tells it.
		d, err := text.ParseTimestampLTZ([]byte("1970-01-02 00:00:00"+rest), 0, text.AnyLayout, nil)
		if err != nil {
			return nil, fmt.Errorf("unknown time zone %q", name)
		}
		return time.FixedZone(name, int(86400-d.I/text.MicrosPerSecond)), nil
	}
	tz, err := time.LoadLocation(name)
	if err != nil || name == "" || name == "Local" {
		return nil, fmt.Errorf("unknown time zone %q; take a name such as Europe/Berlin or an offset such as +02:00", name)
	}
	return tz, nil
}

func buildInstant(call *Call, args []Fn) (Fn, error) {
	from := call.Args[0].Type()
	if !from.IsString() {
		return instantOfNumber(call, args[0], from)
	}
	zone := time.UTC
	if len(call.Args) == 3 {
		var err error
		if zone, err = zoneArg(call.Args[2], 2); err != nil {
			return nil, err
		}
	}
	if len(args) == 1 {
		return strict1(args[0], func(_ *Ctx, s row.Datum) row.Datum {
			d, err := text.ParseTimestampLTZ(s.B, 3, text.AnyLayout, zone)
			if err != nil {
				return row.NullDatum
			}
			return d
		}), nil
	}
	return withPattern(call, args, 1, func(_ *Ctx, p datePattern, args []row.Datum) row.Datum {
		days, nanos, ok := p.instant(args[0].B, zone)
		if !ok {
			return row.NullDatum
		}
		if d, ok := text.Join(3, days, nanos); ok {
			return d
		}
		return row.NullDatum
	})
}

func instantOfNumber(call *Call, a Fn, from types.Type) (Fn, error) {
	p, _ := constant(call.Args[1])
	exact := types.DecimalOf(decimal.MaxPrecision, 9)
	k, ok := castKernel(from, exact)
	if !ok {
		return nil, fmt.Errorf("no cast from %s to %s", from, exact)
	}
	return strict1(a, func(c *Ctx, d row.Datum) row.Datum {
		n, err := k(c, d)
		if err != nil {
			return c.fail(castError(c, from, exact, d, err))
		}
		// A value of scale 9 in units of 10^-p seconds is one of nanoseconds with scale p.
		v := decimal.Floor(decimal.Load(exact.Precision, n), int(p.I))
		days, nanos := text.SplitNanos(v.Hi, v.Lo)
		if limit := decimal.Pow10(27); v.Abs().Cmp(limit) < 0 {
			if out, ok := text.Join(3, days, nanos); ok {
				return out
			}
		}
		return c.fail(fmt.Errorf("TO_TIMESTAMP_LTZ: %s is out of range", text.Append(nil, from, d, nil)))
	}), nil
}

func buildFromUnixtime(call *Call, args []Fn) (Fn, error) {
	return withPattern(call, args, 1, func(c *Ctx, p datePattern, args []row.Datum) row.Datum {
		days := text.FloorDiv(args[0].I, 86400)
		if !text.DayInRange(days) {
			return c.fail(fmt.Errorf("FROM_UNIXTIME: %d is out of range", args[0].I))
		}
		days, nanos := text.ToLocal(c.Zone, days, text.FloorMod(args[0].I, 86400)*text.NanosPerSecond)
		offset := (days-text.FloorDiv(args[0].I, 86400))*86400 + nanos/text.NanosPerSecond - text.FloorMod(args[0].I, 86400)
		return c.format(p, days, nanos, offset)
	})
}

// unixTimestamp is the function of a text, which follows from its arguments, or the time that the epoch began.
func unixTimestamp(ofText *Function) func(args []Expr) (Expr, error) {
	return func(args []Expr) (Expr, error) {
		if len(args) == 0 {
			return Resolve("EXTRACT", []Expr{StringConst(string(unitEpoch)), must(Resolve("CURRENT_TIMESTAMP", nil))})
		}
		return ofText.call(args)
	}
}

// buildUnixTimestamp reads a text as an instant, in the session's time zone where it names no other.
func buildUnixTimestamp(call *Call, args []Fn) (Fn, error) {
	if len(args) == 1 {
		return strict1(args[0], func(c *Ctx, s row.Datum) row.Datum {
			d, err := text.ParseTimestamp(s.B, 3, text.AnyLayout)
			if err != nil {
				return row.NullDatum
			}
			days, nanos := text.Split(3, d)
			days, nanos = text.FromLocal(c.Zone, days, nanos)
			return row.Int(unitEpoch.part(days, nanos))
		}), nil
	}
	return withPattern(call, args, 1, func(c *Ctx, p datePattern, args []row.Datum) row.Datum {
		days, nanos, ok := p.instant(args[0].B, c.Zone)
		if !ok {
			return row.NullDatum
		}
		return row.Int(unitEpoch.part(days, nanos))
	})
}

func bindConvertTZ(args []Expr) ([]Expr, types.Type, error) {
	args, t, err := sig{params: []param{aString, aString, aString}, ret: returnsString, mayNull: true}.bind(args)
	for i := 1; err == nil && i < 3; i++ {
		_, err = zoneArg(args[i], i)
	}
	return args, t, err
}

func buildConvertTZ(call *Call, args []Fn) (Fn, error) {
	from, err := zoneArg(call.Args[1], 1)
	if err != nil {
		return nil, err
	}
	to, err := zoneArg(call.Args[2], 2)
	if err != nil {
		return nil, err
	}
	return strict1(args[0], func(c *Ctx, s row.Datum) row.Datum {
		d, err := text.ParseTimestampLTZ(s.B, 0, text.AnyLayout, from)
		if err != nil {
			return row.NullDatum
		}
		at := len(c.scratch)
		return c.done(text.Append(c.scratch, types.TimestampLTZOf(0), d, to), at)
	}), nil
}
