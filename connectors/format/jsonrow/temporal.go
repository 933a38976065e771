package jsonrow

import (
	"math/bits"

	"github.com/sluicesql/sluice/connectors/format/jsonscan"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/text"
	"github.com/sluicesql/sluice/engine/types"
)

// pow10 holds the powers of ten up to a second's nanoseconds.
var pow10 = [10]int64{1, 10, 100, 1000, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9}

const nanosPerDay = 24 * 3600 * 1e9

// temporal takes the text of a date, time or timestamp; for Debezium also its integers.
func (d *Decoder) temporal(n *node, t *jsonscan.Token) (row.Datum, error) {
	if d.Debezium && t.Kind == jsonscan.Int {
		return d.adaptive(n, t)
	}
	if !t.IsString() {
		return row.NullDatum, d.mismatch(n, t)
	}
	s, _ := d.scalar(t)
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

// adaptive takes the integers of Debezium's time.precision.mode=adaptive: days for a DATE; for times and
// timestamps milliseconds up to a precision of 3, microseconds up to 6, and nanoseconds beyond.
// (Debezium's documentation, "Temporal types" of its connectors.)
func (d *Decoder) adaptive(n *node, t *jsonscan.Token) (row.Datum, error) {
	v := t.I
	if n.typ.Kind == types.Date {
		if v < n.lo || v > n.hi {
			return row.NullDatum, d.outOfRange(n, t)
		}
		return row.Int(v), nil
	}
	p := n.typ.Precision
	unit := 9 // digits after the second
	switch {
	case p <= 3:
		unit = 3
	case p <= 6:
		unit = 6
	}
	v -= text.FloorMod(v, pow10[max(unit-p, 0)]) // digits below the declared precision
	switch {
	case n.typ.Kind == types.Time:
		if v < 0 || v >= nanosPerDay/pow10[9-unit] {
			return row.NullDatum, d.outOfRange(n, t)
		}
		return row.Int(v * pow10[9-unit]), nil
	case p > 6:
		hi, lo := bits.Mul64(uint64(v), uint64(pow10[9-unit]))
		if v < 0 {
			hi -= uint64(pow10[9-unit])
		}
		return row.Wide(int64(hi), lo), nil
	default:
		f := pow10[6-unit]
		us := v * f
		if us/f != v {
			return row.NullDatum, d.outOfRange(n, t)
		}
		return row.Int(us), nil
	}
}
