package expr

import (
	"math"

	"github.com/sluicesql/sluice/engine/decimal"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/text"
	"github.com/sluicesql/sluice/engine/types"
)

func toBoolean(from types.Type) kernel {
	if from.Kind == types.Decimal {
		load := loadDecimal(from)
		return func(_ *Ctx, d row.Datum) (row.Datum, error) { return row.Bool(load(d).Sign() != 0), nil }
	}
	if from.IsApprox() {
		return func(_ *Ctx, d row.Datum) (row.Datum, error) { return row.Bool(d.Float() != 0), nil }
	}
	return func(_ *Ctx, d row.Datum) (row.Datum, error) { return row.Bool(d.I != 0), nil }
}

// castNumber converts between numbers: to an integer by cutting the fraction, to a DECIMAL by rounding HALF_UP.
// A value beyond the range is an error; Flink wraps, saturates or gives NULL there.
func castNumber(from, to types.Type) kernel {
	switch {
	case to.IsApprox():
		return castToFloat(from, to)
	case to.Kind == types.Decimal:
		return castToDecimal(from, to)
	}
	lo, hi := text.IntRange(to.Kind)
	within := func(v int64) (row.Datum, error) {
		if v < lo || v > hi {
			return row.Datum{}, text.ErrRange
		}
		return row.Int(v), nil
	}
	switch {
	case from.IsInteger():
		return func(_ *Ctx, d row.Datum) (row.Datum, error) { return within(d.I) }
	case from.IsApprox():
		return func(_ *Ctx, d row.Datum) (row.Datum, error) {
			f := math.Trunc(d.Float())
			if !(f >= -1<<63 && f < 1<<63) { // false for NaN too
				return d, text.ErrRange
			}
			return within(int64(f))
		}
	}
	load := loadDecimal(from)
	return func(_ *Ctx, d row.Datum) (row.Datum, error) {
		v, ok := decimal.Truncate(load(d), from.Scale, 0).Int64()
		if !ok {
			return d, text.ErrRange
		}
		return within(v)
	}
}

func castToFloat(from, to types.Type) kernel {
	f := asFloat(from)
	if to.Kind == types.Double {
		return func(_ *Ctx, d row.Datum) (row.Datum, error) { return row.Float(f(d)), nil }
	}
	return func(_ *Ctx, d row.Datum) (row.Datum, error) {
		v := f(d)
		w := float64(float32(v))
		if math.IsInf(w, 0) && !math.IsInf(v, 0) {
			return d, text.ErrRange
		}
		return row.Float(w), nil
	}
}

func castToDecimal(from, to types.Type) kernel {
	p, s := to.Precision, to.Scale
	if from.IsApprox() {
		return func(_ *Ctx, d row.Datum) (row.Datum, error) {
			v, err := decimal.FromFloat(d.Float(), p, s)
			if err != nil {
				return d, text.ErrRange
			}
			return v.Datum(p), nil
		}
	}
	load := loadDecimal(from)
	_, fs := digits(from)
	return func(_ *Ctx, d row.Datum) (row.Datum, error) {
		v, ok := decimal.Rescale(load(d), fs, s, p)
		if !ok {
			return d, text.ErrRange
		}
		return v.Datum(p), nil
	}
}
