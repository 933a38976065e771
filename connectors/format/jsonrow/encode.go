package jsonrow

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/sluicesql/sluice/engine/decimal"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/text"
	"github.com/sluicesql/sluice/engine/types"
	"github.com/sluicesql/sluice/internal/fault"
)

// NullKeys says what becomes of a NULL key of a MAP, which JSON cannot express.
type NullKeys uint8

// The choices of the option map-null-key.mode.
const (
	FailNullKeys NullKeys = iota
	DropNullKeys
	NameNullKeys
)

// Style says how rows are written.
type Style struct {
	// Format is the format's name, for the remedies in errors.
	Format string
	// ISO separates the date and time of timestamps by a T, rather than a blank.
	ISO bool
	// PlainDecimals never writes a DECIMAL with an exponent.
	PlainDecimals bool
	// OmitNulls leaves out members that are NULL.
	OmitNulls bool
	NullKeys  NullKeys
	// NullKey is the name that NameNullKeys writes.
	NullKey string
}

// Writer writes rows of one schema as objects. It holds no state between rows.
type Writer struct {
	style  Style
	fields []fieldWriter
}

type fieldWriter struct {
	label string // {"a": or ,"b":
	at    int
	typ   types.Type
	phys  types.Phys
	quick quick
	row   *Writer // of a ROW, or of the ROW within an ARRAY or a MAP
}

// NewWriter returns a writer of rows in which the fields stand at their Out. Names are distinct.
func NewWriter(fields []Field, style Style) (*Writer, error) {
	w := &Writer{style: style, fields: make([]fieldWriter, len(fields))}
	for i, c := range fields {
		f := &w.fields[i]
		label := []byte{','}
		if i == 0 {
			label[0] = '{'
		}
		f.label = string(append(text.AppendJSONString(label, []byte(c.Name)), ':'))
		f.at, f.typ, f.phys = c.Out, c.Type, c.Type.Phys()
		switch {
		case c.Type.IsInteger():
			f.quick = quickInt
		case c.Type.IsString():
			f.quick = quickString
		}
		var err error
		if f.row, err = writerOf(c.Type, style); err != nil {
			return nil, fmt.Errorf("%s: %w", c.Name, err)
		}
	}
	return w, nil
}

// writerOf is the writer of the ROW within t, if there is one.
func writerOf(t types.Type, style Style) (*Writer, error) {
	switch t.Kind {
	case types.Array:
		return writerOf(*t.Elem, style)
	case types.Map:
		if !t.Key.IsString() {
			return nil, fmt.Errorf("JSON has no %s as the key of a map, only strings", t.Key)
		}
		return writerOf(*t.Elem, style)
	case types.Row:
		inner := make([]Field, len(t.Fields))
		for i, f := range t.Fields {
			inner[i] = Field{Name: f.Name, Type: f.Type, Out: i}
		}
		return NewWriter(inner, style)
	case types.Invalid, types.Null, types.IntervalYM, types.IntervalDT:
		return nil, fmt.Errorf("JSON has no form for the type %s", t)
	default:
		return nil, nil
	}
}

// Append appends r as an object.
func (w *Writer) Append(buf []byte, r row.Row) ([]byte, error) {
	from := len(buf)
	for i := range w.fields {
		f := &w.fields[i]
		if r.IsNull(f.at) {
			if !w.style.OmitNulls {
				buf = append(append(buf, f.label...), "null"...)
			}
			continue
		}
		buf = append(buf, f.label...)
		switch f.quick {
		case quickInt:
			buf = strconv.AppendInt(buf, r.Int64(f.at), 10)
		case quickString:
			buf = text.AppendJSONString(buf, r.Bytes(f.at))
		default:
			var err error
			if buf, err = w.value(buf, &f.typ, f.row, r.Get(f.at, f.phys)); err != nil {
				return buf, err
			}
		}
	}
	if len(buf) == from {
		return append(buf, "{}"...), nil
	}
	buf[from] = '{' // the first member may have been left out
	return append(buf, '}'), nil
}

func (w *Writer) value(buf []byte, t *types.Type, inner *Writer, v row.Datum) ([]byte, error) {
	if v.Null {
		return append(buf, "null"...), nil
	}
	switch t.Kind {
	case types.Boolean:
		return strconv.AppendBool(buf, v.I != 0), nil
	case types.TinyInt, types.SmallInt, types.Int, types.BigInt:
		return strconv.AppendInt(buf, v.I, 10), nil
	case types.Float, types.Double:
		return appendFloat(buf, t, v.Float()), nil
	case types.Decimal:
		d := decimal.Load(t.Precision, v)
		if w.style.PlainDecimals {
			return decimal.Append(buf, d, t.Scale), nil
		}
		return appendDecimal(buf, d, t.Scale), nil
	case types.Char, types.Varchar:
		return text.AppendJSONString(buf, v.B), nil
	case types.Binary, types.Varbinary:
		buf = base64.StdEncoding.AppendEncode(append(buf, '"'), v.B)
		return append(buf, '"'), nil
	case types.Array:
		return w.array(buf, t, inner, v.B)
	case types.Map:
		return w.mapping(buf, t, inner, v.B)
	case types.Row:
		return inner.Append(buf, row.Row(v.B))
	default:
		buf = append(buf, '"')
		from := len(buf)
		buf = text.Append(buf, *t, v, time.UTC)
		if w.style.ISO {
			if i := bytes.IndexByte(buf[from:], ' '); i >= 0 {
				buf[from+i] = 'T'
			}
		}
		if t.Kind == types.TimestampLTZ {
			buf = append(buf, 'Z')
		}
		return append(buf, '"'), nil
	}
}

func (w *Writer) array(buf []byte, t *types.Type, inner *Writer, b []byte) ([]byte, error) {
	buf = append(buf, '[')
	r, phys := row.ArrayRow(b), t.Elem.Phys()
	for i := range row.ArrayLen(b) {
		if i > 0 {
			buf = append(buf, ',')
		}
		var err error
		if buf, err = w.value(buf, t.Elem, inner, r.Get(i, phys)); err != nil {
			return buf, err
		}
	}
	return append(buf, ']'), nil
}

func (w *Writer) mapping(buf []byte, t *types.Type, inner *Writer, b []byte) ([]byte, error) {
	keys, values := row.MapArrays(b)
	kr, vr, phys := row.ArrayRow(keys), row.ArrayRow(values), t.Elem.Phys()
	from := len(buf)
	for i := range row.ArrayLen(keys) {
		k := kr.Bytes(i)
		if kr.IsNull(i) {
			switch w.style.NullKeys {
			case DropNullKeys:
				continue
			case NameNullKeys:
				k = []byte(w.style.NullKey)
			default:
				return buf, fault.Errorf(fault.RowFormat, "a MAP has a NULL key, which JSON cannot express").
					Fix("set '%s.map-null-key.mode' = 'DROP' or 'LITERAL'", w.style.Format)
			}
		}
		buf = append(text.AppendJSONString(append(buf, ','), k), ':')
		var err error
		if buf, err = w.value(buf, t.Elem, inner, vr.Get(i, phys)); err != nil {
			return buf, err
		}
	}
	if len(buf) == from {
		return append(buf, "{}"...), nil
	}
	buf[from] = '{'
	return append(buf, '}'), nil
}

// appendFloat writes what JSON has no number for as a string, which readers of doubles take.
func appendFloat(buf []byte, t *types.Type, f float64) []byte {
	bits := 64
	if t.Kind == types.Float {
		bits = 32
	}
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return append(text.AppendFloat(append(buf, '"'), f, bits), '"')
	}
	return text.AppendFloat(buf, f, bits)
}

// appendDecimal writes a DECIMAL as Java's BigDecimal.toString: with an exponent when there would be six
// zeros or more after the point (1E-7).
func appendDecimal(buf []byte, d decimal.Int128, scale int) []byte {
	digits := d.Digits()
	exponent := max(digits, 1) - 1 - scale
	if scale == 0 || exponent >= -6 {
		return decimal.Append(buf, d, scale)
	}
	from := len(buf)
	buf = decimal.Append(buf, d, 0)
	if d.Sign() < 0 {
		from++
	}
	if len(buf)-from > 1 {
		buf = append(buf, 0)
		copy(buf[from+2:], buf[from+1:])
		buf[from+1] = '.'
	}
	return strconv.AppendInt(append(buf, 'E'), int64(exponent), 10)
}
