package expr

import (
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/text"
	"github.com/sluicesql/sluice/engine/types"
)

// moment reads a temporal value as a local date and time of day, in days and nanoseconds; a TIME lies on
// 1970-01-01.
func moment(t types.Type) func(c *Ctx, d row.Datum) (days, nanos int64) {
	switch t.Kind {
	case types.Date:
		return func(_ *Ctx, d row.Datum) (int64, int64) { return d.I, 0 }
	case types.Time:
		return func(_ *Ctx, d row.Datum) (int64, int64) { return 0, d.I }
	case types.Timestamp:
		p := t.Precision
		return func(_ *Ctx, d row.Datum) (int64, int64) { return text.Split(p, d) }
	default:
		p := t.Precision
		return func(c *Ctx, d row.Datum) (int64, int64) {
			days, nanos := text.Split(p, d)
			return text.ToLocal(c.Zone, days, nanos)
		}
	}
}

// fromMoment is the inverse of moment: what the type does not hold is dropped.
func fromMoment(t types.Type) func(c *Ctx, days, nanos int64) (row.Datum, error) {
	p := t.Precision
	switch t.Kind {
	case types.Date:
		return func(_ *Ctx, days, _ int64) (row.Datum, error) {
			if !text.DayInRange(days) {
				return row.Datum{}, text.ErrRange
			}
			return row.Int(days), nil
		}
	case types.Time:
		unit := secondUnit(p)
		return func(_ *Ctx, _, nanos int64) (row.Datum, error) { return row.Int(nanos - nanos%unit), nil }
	default:
		zoned := t.Kind == types.TimestampLTZ
		return func(c *Ctx, days, nanos int64) (row.Datum, error) {
			if zoned {
				days, nanos = text.FromLocal(c.Zone, days, nanos)
			}
			d, ok := text.Join(p, days, nanos)
			if !ok {
				return d, text.ErrRange
			}
			return d, nil
		}
	}
}

// secondUnit is the nanoseconds of one unit of p fractional second digits.
func secondUnit(p int) int64 {
	unit := int64(text.NanosPerSecond)
	for range p {
		unit /= 10
	}
	return unit
}

// castTemporal converts by way of the local date and time; between two instants no time zone is involved.
func castTemporal(from, to types.Type) (kernel, bool) {
	if from.Kind == types.Date && to.Kind == types.Time || from.Kind == types.Time && to.Kind == types.Date {
		return nil, false
	}
	if from.Kind == types.TimestampLTZ && to.Kind == types.TimestampLTZ {
		from.Kind, to.Kind = types.Timestamp, types.Timestamp
	}
	read, write := moment(from), fromMoment(to)
	return func(c *Ctx, d row.Datum) (row.Datum, error) {
		days, nanos := read(c, d)
		return write(c, days, nanos)
	}, true
}
