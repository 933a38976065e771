package jsonrow

import (
	"bytes"
	"math"
	"math/bits"

	"github.com/sluicesql/sluice/connectors/format/jsonscan"
	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/text"
	"github.com/sluicesql/sluice/engine/types"
)

// pow10 holds the powers of ten up to a second's nanoseconds.
var pow10 = [10]int64{1, 10, 100, 1000, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9}

const nanosPerDay = 24 * 3600 * 1e9

// PostgreSQL's infinite timestamps, as Debezium writes those that have no time zone: in microseconds.
const (
	infinity         = 9223372036825200000
	negativeInfinity = -9223372036832400000
)

// temporal takes the text of a date, time or timestamp; for Debezium also its integers.
func (d *Decoder) temporal(n *node, t *jsonscan.Token) (row.Datum, error) {
	if d.Debezium && t.Kind == jsonscan.Int {
		return d.instant(n, t)
	}
	if !t.IsString() {
		return row.NullDatum, d.mismatch(n, t)
	}
	s, _ := d.scalar(t)
	if d.Debezium {
		switch {
		case n.typ.Kind == types.TimestampLTZ && string(s) == "infinity":
			return d.since1970(n, t, infinity, 6)
		case n.typ.Kind == types.TimestampLTZ && string(s) == "-infinity":
			return d.since1970(n, t, negativeInfinity, 6)
		case n.typ.Kind != types.TimestampLTZ:
			s = bytes.TrimSuffix(s, []byte{'Z'}) // as time.precision.mode=isostring writes what has no zone
		}
	}
	var v row.Datum
	var err error
	switch n.typ.Kind {
	case types.Timestamp:
		v, err = text.ParseTimestamp(s, n.typ.Precision, d.Layout)
	case types.TimestampLTZ:
		v, err = text.ParseTimestampLTZ(s, n.typ.Precision, d.Layout, d.TimeZone)
	default:
		v, err = text.Parse(n.typ, s, d.TimeZone)
	}
	return v, d.explain(err, n, t)
}

// instant takes an integer of Debezium's or of Kafka Connect's: days for a DATE, and for times and timestamps
// a number of units that the encoding tells, or else the rules. (Debezium's documentation, "Temporal types" of
// its connectors.)
func (d *Decoder) instant(n *node, t *jsonscan.Token) (row.Datum, error) {
	unit := n.enc.Digits // digits after the second
	switch n.enc.Kind {
	case EncodingUnknown:
		if unit = d.unit(n.typ); unit < 0 {
			e := d.mismatch(n, t)
			e.Fix = d.setOption(timeMode, timeModes)
			return row.NullDatum, e
		}
	case DaysEncoding:
		if n.typ.Kind == types.Time {
			return row.NullDatum, d.mismatch(n, t)
		}
		if n.typ.Kind != types.Date {
			return d.midnight(n, t)
		}
	case TimeEncoding:
		if n.typ.Kind != types.Time {
			return row.NullDatum, d.unfit(n, t, "a time of the day")
		}
	case TimestampEncoding:
		if n.typ.Kind != types.Timestamp && n.typ.Kind != types.TimestampLTZ {
			return row.NullDatum, d.unfit(n, t, "a timestamp")
		}
	default:
		return row.NullDatum, d.unfit(n, t, "a number without a unit")
	}
	switch n.typ.Kind {
	case types.Date:
		if !text.DayInRange(t.I) { // as PostgreSQL's infinite dates come out, whose days overflow
			return row.NullDatum, d.outOfRange(n, t)
		}
		return row.Int(t.I), nil
	case types.Time:
		v := t.I - text.FloorMod(t.I, pow10[max(unit-n.typ.Precision, 0)]) // without digits below the precision
		if v < 0 || v >= nanosPerDay/pow10[9-unit] {
			return row.NullDatum, d.outOfRange(n, t)
		}
		return row.Int(v * pow10[9-unit]), nil
	default:
		return d.since1970(n, t, t.I, unit)
	}
}

// unit is the number of digits after the second that an integer of type t has, where no schema tells; -1 when
// there are no integers.
func (d *Decoder) unit(t types.Type) int {
	switch {
	case t.Kind == types.Date:
		return 0
	case d.Times == MilliTimes:
		return 3
	case d.Times == MicroTimes, d.Times == AdaptiveMicroTimes && t.Kind == types.Time:
		return 6
	case d.Times == NanoTimes:
		return 9
	case d.Times == TextTimes:
		return -1
	case t.Precision <= 3:
		return 3
	case t.Precision <= 6:
		return 6
	default:
		return 9
	}
}

// since1970 is the timestamp v, with unit digits after the second, without those below the type's precision.
func (d *Decoder) since1970(n *node, t *jsonscan.Token, v int64, unit int) (row.Datum, error) {
	p := n.typ.Precision
	below := text.FloorMod(v, pow10[max(unit-p, 0)])
	if v < math.MinInt64+below {
		return row.NullDatum, d.outOfRange(n, t)
	}
	v -= below
	switch {
	case p > 6:
		f := uint64(pow10[9-unit])
		hi, lo := bits.Mul64(uint64(v), f)
		if v < 0 {
			hi -= f
		}
		return row.Wide(int64(hi), lo), nil
	case unit > 6:
		return row.Int(text.FloorDiv(v, pow10[unit-6])), nil
	default:
		f := pow10[6-unit]
		us := v * f
		if us/f != v {
			return row.NullDatum, d.outOfRange(n, t)
		}
		return row.Int(us), nil
	}
}

// midnight is the beginning of a day as a timestamp.
func (d *Decoder) midnight(n *node, t *jsonscan.Token) (row.Datum, error) {
	v, ok := text.Join(n.typ.Precision, t.I, 0)
	if !ok {
		return v, d.outOfRange(n, t)
	}
	return v, nil
}

// unfit is the error of a value that the message's schema says to be something else than declared.
func (d *Decoder) unfit(n *node, t *jsonscan.Token, what string) *spi.DecodeError {
	e := d.mismatch(n, t)
	e.Msg += ", which the message's schema says to be " + what
	return e
}
