package datagen

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/text"
	"github.com/sluicesql/sluice/engine/types"
)

// field makes up one column.
type field struct {
	col      spi.Column
	seed     uint64
	sequence bool
	start    int64
	end      int64
	scale    int64   // what 1 is as a physical integer: 10^s for DECIMAL(p, s)
	min, max int64   // of integers, and of what is stored as one
	fmin     float64 // of FLOAT and DOUBLE
	fmax     float64
	length   int
}

// bounds are the values that a type can hold, as its physical integer.
func bounds(t types.Type) (lo, hi int64, ok bool) {
	switch t.Kind {
	case types.Boolean:
		return 0, 1, true
	case types.TinyInt, types.SmallInt, types.Int, types.BigInt:
		lo, hi = text.IntRange(t.Kind)
		return lo, hi, true
	case types.Decimal:
		if t.Precision > 18 {
			return 0, 0, false
		}
		hi = 1
		for range t.Precision {
			hi *= 10
		}
		return 1 - hi, hi - 1, true
	case types.Date:
		return 0, 365 * 100, true
	case types.Time:
		return 0, 86_400_000_000_000 - 1, true
	case types.Timestamp, types.TimestampLTZ:
		return 0, 4_102_444_800_000_000, t.Precision <= 6 // 1970 to 2100, in microseconds
	}
	return 0, 0, false
}

func newField(o spi.Options, c spi.Column, index int) (field, error) {
	f := field{col: c, seed: mix(uint64(index)+1, 0x9e3779b97f4a7c15), scale: 1}
	if c.Type.Kind == types.Decimal {
		for range c.Type.Scale {
			f.scale *= 10
		}
	}
	name := func(part string) string { return "fields." + c.Name + "." + part }
	kind, err := o.Enum(name("kind"), "random", "random", "sequence")
	if err != nil {
		return f, err
	}
	f.sequence = kind == "sequence"
	ranged := !f.sequence && c.Type.IsNumeric()
	wrong := map[string]bool{"start": !f.sequence, "end": !f.sequence, "min": !ranged, "max": !ranged, "length": f.sequence || c.Type.Phys() != types.PhysBytes}
	for _, part := range []string{"end", "length", "max", "min", "start"} {
		if _, set := o[name(part)]; set && wrong[part] {
			return f, &spi.OptionError{Name: name(part), Msg: fmt.Sprintf("option %q has no effect on a %s column of type %s", name(part), kind, c.Type)}
		}
	}
	if f.sequence {
		return f, f.readSequence(o, name)
	}
	switch {
	case c.Type.IsString() || c.Type.IsBinary():
		n, err := o.Int(name("length"), 100)
		if c.Type.Precision != types.MaxLength {
			n = min(n, int64(c.Type.Precision))
		}
		if err == nil && (n < 0 || n > 1<<24) {
			err = &spi.OptionError{Name: name("length"), Value: true, Msg: fmt.Sprintf("option %q wants a length up to 16777216, got %d", name("length"), n)}
		}
		f.length = int(n)
		return f, err
	case c.Type.IsApprox():
		f.fmin, f.fmax = 0, 1
		if err := floatOption(o, name("min"), &f.fmin); err != nil {
			return f, err
		}
		if err := floatOption(o, name("max"), &f.fmax); err != nil {
			return f, err
		}
		if f.fmin > f.fmax {
			return f, &spi.OptionError{Name: name("max"), Value: true, Msg: fmt.Sprintf("option %q is smaller than the column's min", name("max"))}
		}
		return f, nil
	}
	lo, hi, ok := bounds(c.Type)
	if !ok {
		return f, &spi.OptionError{Name: "connector", Value: true, Msg: fmt.Sprintf("datagen cannot make up column %q of type %s", c.Name, c.Type)}
	}
	f.min, f.max = lo, hi
	for _, part := range []string{"min", "max"} {
		v, err := o.Int(name(part), 0)
		if err != nil {
			return f, err
		}
		if _, set := o[name(part)]; !set {
			continue
		}
		if v < lo/f.scale || v > hi/f.scale {
			return f, &spi.OptionError{Name: name(part), Value: true, Msg: fmt.Sprintf("option %q: %d is not in the range of %s", name(part), v, c.Type)}
		}
		if part == "min" {
			f.min = v * f.scale
		} else {
			f.max = v * f.scale
		}
	}
	if f.min > f.max {
		return f, &spi.OptionError{Name: name("max"), Value: true, Msg: fmt.Sprintf("option %q is smaller than the column's min", name("max"))}
	}
	return f, nil
}

func (f *field) readSequence(o spi.Options, name func(string) string) (err error) {
	for _, part := range []string{"start", "end"} {
		if _, ok := o[name(part)]; !ok {
			return &spi.OptionError{Name: name("kind"), Msg: fmt.Sprintf("a sequence needs option %q", name(part))}
		}
	}
	if f.start, err = o.Int(name("start"), 0); err != nil {
		return err
	}
	if f.end, err = o.Int(name("end"), 0); err != nil {
		return err
	}
	if f.end < f.start || uint64(f.end)-uint64(f.start) >= math.MaxInt64 {
		return &spi.OptionError{Name: name("end"), Value: true, Msg: fmt.Sprintf("option %q: a sequence runs upwards, and %d lies before its start %d, or too far from it", name("end"), f.end, f.start)}
	}
	if f.col.Type.IsString() || f.col.Type.IsApprox() {
		return nil
	}
	lo, hi, ok := bounds(f.col.Type)
	if !ok {
		return &spi.OptionError{Name: name("kind"), Value: true, Msg: fmt.Sprintf("a column of type %s cannot be a sequence", f.col.Type)}
	}
	if f.start < lo/f.scale || f.end > hi/f.scale {
		return &spi.OptionError{Name: name("end"), Value: true, Msg: fmt.Sprintf("the sequence of column %q leaves the range of %s", f.col.Name, f.col.Type)}
	}
	return nil
}

func floatOption(o spi.Options, name string, v *float64) error {
	s, ok := o[name]
	if !ok {
		return nil
	}
	x, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
		return &spi.OptionError{Name: name, Value: true, Msg: fmt.Sprintf("option %q wants a number, got %q", name, s)}
	}
	*v = x
	return nil
}

// count is the number of rows that a sequence has, −1 for others.
func (f *field) count() int64 {
	if !f.sequence {
		return -1
	}
	return f.end - f.start + 1
}

// set sets column i of row n.
func (f *field) set(b *row.Builder, i int, n int64) {
	t := f.col.Type
	if f.sequence {
		v := f.start + n
		switch {
		case t.IsString():
			b.Append(i, func(buf []byte) []byte { return strconv.AppendInt(buf, v, 10) })
		case t.IsApprox():
			b.Float64(i, float64(v))
		default:
			b.Int64(i, v*f.scale)
		}
		return
	}
	h := mix(uint64(n)+1, f.seed)
	switch {
	case t.Phys() == types.PhysBytes:
		b.Append(i, func(buf []byte) []byte { return appendHex(buf, f.length, h) })
	case t.IsApprox():
		x := f.fmin + (f.fmax-f.fmin)*(float64(h>>11)/(1<<53))
		if t.Kind == types.Float {
			x = float64(float32(x))
		}
		b.Float64(i, x)
	default:
		span := uint64(f.max) - uint64(f.min) + 1 // 0 stands for all 2^64
		if span != 0 {
			h, _ = bits.Mul64(h, span)
		}
		b.Int64(i, f.unit(int64(uint64(f.min)+h)))
	}
}

// unit cuts off what the column's precision does not have.
func (f *field) unit(v int64) int64 {
	digits := 0
	switch f.col.Type.Kind {
	case types.Time:
		digits = 9 - f.col.Type.Precision
	case types.Timestamp, types.TimestampLTZ:
		digits = 6 - f.col.Type.Precision
	}
	for m := int64(1); digits > 0; digits-- {
		m *= 10
		v -= v % m
	}
	return v
}

// appendHex appends n hexadecimal digits that follow from h.
func appendHex(buf []byte, n int, h uint64) []byte {
	for n > 0 {
		for k := 0; k < 16 && n > 0; k++ {
			buf = append(buf, "0123456789abcdef"[h>>(4*k)&15])
			n--
		}
		h = mix(h, 0xbf58476d1ce4e5b9)
	}
	return buf
}

// mix is a fixed function of two numbers that looks random: what a position gives never changes.
func mix(a, b uint64) uint64 {
	x := a*0x9e3779b97f4a7c15 ^ b
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
