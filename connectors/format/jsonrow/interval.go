package jsonrow

import (
	"bytes"
	"math"

	"github.com/sluicesql/sluice/connectors/format/jsonscan"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/text"
	"github.com/sluicesql/sluice/engine/types"
)

// interval takes the text of an interval, that of SQL or an ISO 8601 duration, and an integer: for Debezium a
// duration, in microseconds unless the encoding tells, else as in Flink milliseconds, or months.
func (d *Decoder) interval(n *node, t *jsonscan.Token) (row.Datum, error) {
	months := n.typ.Kind == types.IntervalYM
	switch {
	case t.Kind == jsonscan.Int && months:
		if d.Debezium {
			e := d.mismatch(n, t)
			e.Fix = "declare INTERVAL DAY TO SECOND or BIGINT, or set interval.handling.mode=string in Debezium's connector"
			return row.NullDatum, e
		}
		if t.I < math.MinInt32 || t.I > math.MaxInt32 {
			return row.NullDatum, d.outOfRange(n, t)
		}
		return row.Int(t.I), nil
	case t.Kind == jsonscan.Int:
		return d.duration(n, t)
	case !t.IsString():
		return row.NullDatum, d.mismatch(n, t)
	}
	s, _ := d.scalar(t)
	v, err := text.Parse(n.typ, s, nil)
	if bytes.HasPrefix(s, []byte{'P'}) {
		v, err = parseDuration(s, months)
	}
	return v, d.explain(err, n, t)
}

// duration is an integer as an INTERVAL DAY TO SECOND, which has microseconds.
func (d *Decoder) duration(n *node, t *jsonscan.Token) (row.Datum, error) {
	unit := n.enc.Digits
	switch n.enc.Kind {
	case EncodingUnknown:
		unit = 3
		if d.Debezium {
			unit = 6
		}
	case DurationEncoding, TimeEncoding: // MySQL's TIME is a duration too
	default:
		return row.NullDatum, d.unfit(n, t, "a number without a unit")
	}
	if unit > 6 {
		return row.Int(text.FloorDiv(t.I, pow10[unit-6])), nil
	}
	us := t.I * pow10[6-unit]
	if us/pow10[6-unit] != t.I {
		return row.NullDatum, d.outOfRange(n, t)
	}
	return row.Int(us), nil
}

// part is a part of a duration, and what one of it is in months or microseconds.
type part struct {
	letter byte
	months int64
	micros int64
}

// The parts of a duration in their order, before and after the T.
var (
	dateParts  = []part{{'Y', 12, 0}, {'M', 1, 0}, {'W', 0, 7 * nanosPerDay / 1000}, {'D', 0, nanosPerDay / 1000}}
	clockParts = []part{{'H', 0, 3600e6}, {'M', 0, 60e6}, {'S', 0, 1e6}}
)

// parseDuration reads an ISO 8601 duration as PostgreSQL and Debezium write them, each part with a sign of its
// own: P1Y2M3DT4H5M6.789012S, P0Y0M-1DT0H0M-0.000001S. It is one of months, or one of microseconds: what it
// has of the other kind does not fit, as a month is no number of days.
func parseDuration(s []byte, months bool) (row.Datum, error) {
	var total int64
	parts, clock, some, other := dateParts, false, false, false // other: something of the other kind
	s = s[1:]
	for len(s) > 0 {
		if s[0] == 'T' && !clock && len(s) > 1 {
			parts, clock, s = clockParts, true, s[1:]
			continue
		}
		whole, micros, rest, err := parsePart(s)
		if err != nil {
			return row.NullDatum, err
		}
		at := 0
		for at < len(parts) && len(rest) > 0 && parts[at].letter != rest[0] {
			at++
		}
		if len(rest) == 0 || at == len(parts) || micros != 0 && rest[0] != 'S' {
			return row.NullDatum, text.ErrSyntax
		}
		p := parts[at]
		parts, s, some = parts[at+1:], rest[1:], true
		unit, wrong := p.micros, p.months
		if months {
			unit, wrong = wrong, unit
		}
		if wrong != 0 {
			other = other || whole != 0 || micros != 0
			continue
		}
		v := whole * unit
		if v/unit != whole || whole > 0 && micros > math.MaxInt64-v || whole < 0 && micros < math.MinInt64-v {
			return row.NullDatum, text.ErrRange
		}
		v += micros
		if v > 0 && total > math.MaxInt64-v || v < 0 && total < math.MinInt64-v {
			return row.NullDatum, text.ErrRange
		}
		total += v
	}
	switch {
	case !some:
		return row.NullDatum, text.ErrSyntax
	case other, months && (total < math.MinInt32 || total > math.MaxInt32):
		return row.NullDatum, text.ErrRange
	}
	return row.Int(total), nil
}

// parsePart reads [±]digits[.digits] and returns the whole number, the fraction in millionths without what is
// below, and what follows.
func parsePart(s []byte) (whole, micros int64, rest []byte, err error) {
	negative := s[0] == '-'
	if negative || s[0] == '+' {
		s = s[1:]
	}
	i := 0
	for ; i < len(s) && s[i]-'0' <= 9; i++ {
		if whole > (math.MaxInt64-9)/10 {
			return 0, 0, nil, text.ErrRange
		}
		whole = whole*10 + int64(s[i]-'0')
	}
	if i == 0 {
		return 0, 0, nil, text.ErrSyntax
	}
	if i < len(s) && s[i] == '.' {
		i++
		unit := int64(1e5)
		from := i
		for ; i < len(s) && s[i]-'0' <= 9; i++ {
			micros += int64(s[i]-'0') * unit
			unit /= 10
		}
		if i == from {
			return 0, 0, nil, text.ErrSyntax
		}
	}
	if negative {
		whole, micros = -whole, -micros
	}
	return whole, micros, s[i:], nil
}
