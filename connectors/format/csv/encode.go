package csv

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"strconv"
	"time"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/decimal"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/text"
	"github.com/sluicesql/sluice/engine/types"
	"github.com/sluicesql/sluice/internal/fault"
)

// NewEncoder implements spi.Format.
func (Format) NewEncoder(s spi.EncodeSpec, o spi.Options) (spi.Encoder, error) {
	if s.Mode != spi.AppendOnly {
		return nil, fmt.Errorf("the format csv writes append-only streams, not %s ones", s.Mode)
	}
	e := &encoder{columns: s.Columns}
	var err error
	if e.syntax, err = syntaxOf(o); err != nil {
		return nil, err
	}
	for _, c := range s.Columns {
		if err := check(c); err != nil {
			return nil, err
		}
	}
	return e, nil
}

type encoder struct {
	syntax
	columns []spi.Column
	value   []byte // of one field
}

// Updates implements spi.Encoder.
func (*encoder) Updates() bool { return false }

// Encode implements spi.Encoder.
func (e *encoder) Encode(buf []byte, before, after row.Row) ([]byte, error) {
	if after == nil {
		return buf, fmt.Errorf("an append-only stream cannot take the row %x away", before)
	}
	from := len(buf)
	for i, c := range e.columns {
		if i > 0 {
			buf = append(buf, e.field)
		}
		v := after.Get(i, c.Type.Phys())
		if v.Null {
			buf = append(buf, e.null...)
			continue
		}
		var err error
		if e.value, err = e.nested(e.value[:0], c.Type, v); err == nil {
			buf, err = e.quoteField(buf, e.value, i == 0, c.Type.Kind == types.Array)
		}
		if err != nil {
			return buf, fmt.Errorf("column %q: %w", c.Name, err)
		}
	}
	if len(buf) > from {
		return buf, nil
	}
	// A reader sees no record in a message without a text, so that the only column goes into quotes, unless it says
	// something else in them.
	c := e.columns[0]
	if e.quote == 0 || after.IsNull(0) && (e.hasNull || c.Type.Kind == types.Array) {
		return buf, fault.Errorf(fault.RowFormat, "column %q: a record without a text is read as none", c.Name).
			Fix("set 'csv.null-literal' to a text that is not empty, or write another form of the column")
	}
	return append(buf, e.quote, e.quote), nil
}

// nested appends a value, the elements of an ARRAY and the fields of a ROW with the delimiter between them.
func (e *encoder) nested(buf []byte, t types.Type, v row.Datum) ([]byte, error) {
	switch t.Kind {
	case types.Array:
		r := row.ArrayRow(v.B)
		n := row.ArrayLen(v.B)
		return e.elements(buf, r, n, func(int) types.Type { return *t.Elem })
	case types.Row:
		return e.elements(buf, row.Row(v.B), len(t.Fields), func(i int) types.Type { return t.Fields[i].Type })
	default:
		return e.scalar(buf, t, v), nil
	}
}

func (e *encoder) elements(buf []byte, r row.Row, n int, typ func(i int) types.Type) ([]byte, error) {
	begin := len(buf)
	for i := range n {
		if i > 0 {
			buf = append(buf, e.element...)
		}
		t := typ(i)
		v := r.Get(i, t.Phys())
		if v.Null {
			buf = append(buf, e.null...)
			continue
		}
		from := len(buf)
		buf = e.scalar(buf, t, v)
		if s := buf[from:]; bytes.Contains(s, []byte(e.element)) {
			return buf, fault.Errorf(fault.RowFormat, "the element %q holds the delimiter %q", s, e.element).
				Fix("set 'csv.array-element-delimiter' to another")
		} else if e.hasNull && string(s) == e.null {
			return buf, fault.Errorf(fault.RowFormat, "the element %q is the text of NULL", s).
				Fix("set 'csv.null-literal' to another")
		}
	}
	if n == 1 && len(buf) == begin {
		return buf, fault.Errorf(fault.RowFormat, "a single element without a text is read as none").
			Fix("write another form of it, or set 'csv.null-literal' where it is NULL")
	}
	return buf, nil
}

func (e *encoder) scalar(buf []byte, t types.Type, v row.Datum) []byte {
	switch t.Kind {
	case types.Boolean:
		return strconv.AppendBool(buf, v.I != 0)
	case types.Binary, types.Varbinary:
		return base64.StdEncoding.AppendEncode(buf, v.B)
	case types.Decimal:
		if e.scientific {
			return appendStripped(buf, decimal.Load(t.Precision, v), t.Scale)
		}
		return text.Append(buf, t, v, time.UTC)
	case types.TimestampLTZ:
		return append(text.Append(buf, t, v, time.UTC), 'Z')
	default:
		return text.Append(buf, t, v, time.UTC)
	}
}

// quoteField appends a field, in quotes where it could be read as something else. first says that it begins
// the record, array that it is an ARRAY: an empty one is in quotes where NULL is an empty field too.
func (e *encoder) quoteField(buf, s []byte, first, array bool) ([]byte, error) {
	special := array && len(s) == 0 && !e.hasNull || e.hasNull && string(s) == e.null || first && e.comments && len(s) > 0 && s[0] == '#'
	for i, c := range s {
		special = special || c == e.field || c == '\n' || c == '\r' || c == e.escape && c != 0 || i == 0 && c == e.quote && c != 0
	}
	if !special {
		return append(buf, s...), nil
	}
	if e.quote == 0 && array && len(s) == 0 {
		return buf, fault.Errorf(fault.RowFormat, "an empty ARRAY is read as NULL without quotes").
			Fix("leave out 'csv.disable-quote-character', or set 'csv.null-literal' to a text that is not empty")
	}
	if e.quote == 0 && e.escape == 0 {
		return buf, fault.Errorf(fault.RowFormat, "the value %q cannot be written without quotes", s).
			Fix("leave out 'csv.disable-quote-character', or set 'csv.escape-character'")
	}
	if e.quote == 0 {
		return e.escapeField(buf, s)
	}
	buf = append(buf, e.quote)
	for _, c := range s {
		switch c {
		case e.quote:
			buf = append(buf, c)
		case e.escape:
			if c != 0 {
				buf = append(buf, c)
			}
		}
		buf = append(buf, c)
	}
	return append(buf, e.quote), nil
}

// escapeField appends a field with the escape character alone.
func (e *encoder) escapeField(buf, s []byte) ([]byte, error) {
	if e.hasNull && string(s) == e.null {
		return buf, fault.Errorf(fault.RowFormat, "the value %q is the text of NULL", s).
			Fix("leave out 'csv.disable-quote-character', or set 'csv.null-literal' to another")
	}
	for i, c := range s {
		switch {
		case c == '\n':
			buf = append(buf, e.escape, 'n')
		case c == '\r':
			buf = append(buf, e.escape, 'r')
		case c == e.field, c == e.escape, i == 0 && c == '#':
			buf = append(buf, e.escape, c)
		default:
			buf = append(buf, c)
		}
	}
	return buf, nil
}

// appendStripped writes a DECIMAL as Java's BigDecimal.stripTrailingZeros().toString(): 1.5, 1E+5, 1E-7.
func appendStripped(buf []byte, d decimal.Int128, scale int) []byte {
	var memory [64]byte
	digits := decimal.Append(memory[:0], d, 0)
	if digits[0] == '-' {
		buf, digits = append(buf, '-'), digits[1:]
	}
	for len(digits) > 1 && digits[len(digits)-1] == '0' {
		digits = digits[:len(digits)-1]
		scale--
	}
	exponent := len(digits) - 1 - scale
	switch {
	case digits[0] == '0':
		return append(buf, '0')
	case scale == 0:
		return append(buf, digits...)
	case scale > 0 && exponent >= -6:
		point := len(digits) - scale
		if point <= 0 {
			buf = append(append(buf, '0', '.'), bytes.Repeat([]byte{'0'}, -point)...)
			return append(buf, digits...)
		}
		return append(append(append(buf, digits[:point]...), '.'), digits[point:]...)
	}
	buf = append(buf, digits[0])
	if len(digits) > 1 {
		buf = append(append(buf, '.'), digits[1:]...)
	}
	buf = append(buf, 'E')
	if exponent > 0 {
		buf = append(buf, '+')
	}
	return strconv.AppendInt(buf, int64(exponent), 10)
}
