package csv

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/sluicesql/sluice/connectors/format/jsonrow"
	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/changelog"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/types"
	"github.com/sluicesql/sluice/internal/fault"
)

// NewDecoder implements spi.Format.
func (Format) NewDecoder(s spi.DecodeSpec, o spi.Options) (spi.Decoder, error) {
	if s.Mode != spi.AppendOnly {
		return nil, fmt.Errorf("the format csv reads append-only streams, not %s ones", s.Mode)
	}
	d := &decoder{}
	var err error
	if d.record.syntax, err = syntaxOf(o); err != nil {
		return nil, err
	}
	d.values.Rules = jsonrow.Rules{Format: Name, TimeZone: s.TimeZone}
	place := map[string]int{}
	for i, f := range s.Fields {
		place[f.Name] = i
	}
	d.want = len(s.Fields)
	for i, c := range s.Columns {
		if jsonrow.Skipped(s, i) {
			continue
		}
		if err := check(c); err != nil {
			return nil, err
		}
		at, ok := place[c.Name]
		if !ok {
			if s.Fields != nil {
				return nil, fmt.Errorf("the column %q is no field of the record", c.Name)
			}
			at = d.want
			d.want++
		}
		k, err := newColumn(c, at, i)
		if err != nil {
			return nil, err
		}
		d.columns = append(d.columns, k)
	}
	return d, nil
}

// column is a column that is read.
type column struct {
	name string
	typ  types.Type
	phys types.Phys
	at   int // the field
	out  int
	part []*jsonrow.Value // of the type, of an ARRAY's elements, or of a ROW's fields
}

func newColumn(c spi.Column, at, out int) (column, error) {
	k := column{name: c.Name, typ: c.Type, phys: c.Type.Phys(), at: at, out: out}
	for _, t := range parts(c.Type) {
		v, err := jsonrow.NewValue(t)
		if err != nil {
			return k, err
		}
		k.part = append(k.part, v)
	}
	return k, nil
}

type decoder struct {
	record  record
	values  jsonrow.Decoder
	columns []column
	want    int // fields
	stack   []row.Datum
	memory  []byte // of arrays and rows
}

// Decode implements spi.Decoder: a message is one record, a null or empty one none.
func (d *decoder) Decode(m spi.Message, out *spi.Out) error {
	if err := d.record.split(m.Value); err != nil {
		return err
	}
	n := len(d.record.fields)
	if n == 0 {
		return nil
	}
	if n != d.want {
		return &spi.DecodeError{Offset: -1, Code: fault.MessageFields, Msg: fmt.Sprintf("the record has %d fields and the table %d columns", n, d.want),
			Fix: "declare the columns in the order of the fields, " + skipFix}
	}
	d.values.Reset()
	d.memory = d.memory[:0]
	b := out.Begin()
	for i := range d.columns {
		c := &d.columns[i]
		f := d.record.fields[c.at]
		v, err := d.value(c, f)
		if err != nil {
			return placed(err, c, f)
		}
		b.Datum(c.out, c.phys, v)
	}
	out.Commit(changelog.Insert)
	return nil
}

func (d *decoder) value(c *column, f field) (row.Datum, error) {
	emptyArray := c.typ.Kind == types.Array && f.quoted && len(f.text) == 0
	null := !emptyArray && d.record.isNull(f, c.typ.IsString())
	nested := c.typ.Kind == types.Array || c.typ.Kind == types.Row
	switch {
	case !nested:
		return d.values.Text(c.part[0], f.text, null)
	case null && c.typ.NotNull:
		return row.NullDatum, &spi.DecodeError{Code: fault.MessageNull, Msg: fmt.Sprintf("is null, but declared %s", c.typ), Fix: "declare the column without NOT NULL"}
	case null:
		return row.NullDatum, nil
	}
	d.stack = d.stack[:0]
	rest, more := f.text, len(f.text) > 0 || c.typ.Kind == types.Row
	for more {
		var text []byte
		text, rest, more = bytes.Cut(rest, []byte(d.record.element))
		part := c.part[0]
		if c.typ.Kind == types.Row {
			if len(d.stack) == len(c.part) {
				return d.unequal(c)
			}
			part = c.part[len(d.stack)]
		}
		null := d.record.isNull(field{text: text}, part.Type().IsString())
		v, err := d.values.Text(part, text, null)
		if err != nil {
			return v, jsonrow.Within(err, fmt.Sprintf("[%d]", len(d.stack)))
		}
		d.stack = append(d.stack, v)
	}
	from := len(d.memory)
	if c.typ.Kind == types.Array {
		d.memory = row.AppendArray(d.memory, c.part[0].Type().Phys(), d.stack)
		return row.Bytes(d.memory[from:len(d.memory):len(d.memory)]), nil
	}
	if len(d.stack) != len(c.part) {
		return d.unequal(c)
	}
	var b row.Builder
	b.Begin(d.memory, len(c.part))
	for i, v := range d.stack {
		b.Datum(i, c.part[i].Type().Phys(), v)
	}
	d.memory = b.Finish(nil) // columns were set in order
	return row.Bytes(d.memory[from:len(d.memory):len(d.memory)]), nil
}

// unequal is the error of a ROW of another number of fields.
func (d *decoder) unequal(c *column) (row.Datum, error) {
	return row.NullDatum, &spi.DecodeError{Code: fault.MessageType, Msg: fmt.Sprintf("wants %s: %d fields with %q between them", c.typ.Nullable(), len(c.part), d.record.element), Fix: skipFix}
}

// placed gives an error of a value the column's name and the field's place.
func placed(err error, c *column, f field) error {
	var e *spi.DecodeError
	if errors.As(err, &e) {
		e.Offset = f.at
	}
	return jsonrow.Within(err, c.name)
}
