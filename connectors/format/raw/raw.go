// Package raw is the format raw: a message is one column, as it is. A null message is NULL.
package raw

import (
	"encoding/binary"
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/changelog"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/types"
	"github.com/sluicesql/sluice/internal/fault"
)

// Name is the format's identifier in the 'format' options.
const Name = "raw"

// Register adds the format to r.
func Register(r *spi.Registry) { r.AddFormat(Format{}) }

// Format implements spi.Format.
type Format struct{}

// Name implements spi.Format.
func (Format) Name() string { return Name }

// Help implements spi.Format.
func (Format) Help() string {
	return "a message is one column, as it is: BYTES, STRING, BOOLEAN or a number; append-only"
}

const (
	charset    = "charset"
	endianness = "endianness"
)

// The values of the options.
var (
	charsets = []string{"UTF-8"}
	orders   = []string{"big-endian", "little-endian"}
)

// Options implements spi.Format, with Flink's names and defaults. (Flink's documentation, "Raw Format".)
func (Format) Options() []spi.Option {
	return []spi.Option{
		{Name: charset, Kind: spi.EnumOption, Default: charsets[0], Values: charsets, Help: "how a STRING is encoded"},
		{Name: endianness, Kind: spi.EnumOption, Default: orders[0], Values: orders, Help: "the order of the bytes of a number"},
		spi.ParseErrorsOption(),
	}
}

// orderOf is the order of bytes that o asks for.
func orderOf(o spi.Options) (binary.ByteOrder, error) {
	if _, err := o.Enum(charset, charsets[0], charsets...); err != nil {
		return nil, err
	}
	if _, err := spi.SkipsErrors(o); err != nil {
		return nil, err
	}
	v, err := o.Enum(endianness, orders[0], orders...)
	if v == orders[1] {
		return binary.LittleEndian, err
	}
	return binary.BigEndian, err
}

// Metadata implements spi.Format.
func (Format) Metadata() []spi.Column { return nil }

// Decodes implements spi.Format.
func (Format) Decodes() (native spi.Mode, canUpsert bool) { return spi.AppendOnly, false }

// Encodes implements spi.Format.
func (Format) Encodes() spi.Mode { return spi.AppendOnly }

// NewDecoder implements spi.Format.
func (Format) NewDecoder(s spi.DecodeSpec, o spi.Options) (spi.Decoder, error) {
	if s.Mode != spi.AppendOnly {
		return nil, fmt.Errorf("the format raw reads append-only streams, not %s ones", s.Mode)
	}
	order, err := orderOf(o)
	if err != nil {
		return nil, err
	}
	d := &decoder{column: -1, order: order}
	for i, c := range s.Columns {
		if i < len(s.Skip) && s.Skip[i] {
			continue
		}
		if d.column >= 0 {
			return nil, tooMany(s.Columns[d.column], c)
		}
		if err := check(c); err != nil {
			return nil, err
		}
		d.column, d.name, d.typ = i, c.Name, c.Type
	}
	return d, nil
}

// NewEncoder implements spi.Format.
func (Format) NewEncoder(s spi.EncodeSpec, o spi.Options) (spi.Encoder, error) {
	if s.Mode != spi.AppendOnly {
		return nil, fmt.Errorf("the format raw writes append-only streams, not %s ones", s.Mode)
	}
	if len(s.Columns) > 1 {
		return nil, tooMany(s.Columns[0], s.Columns[1])
	}
	order, err := orderOf(o)
	if err != nil {
		return nil, err
	}
	e := encoder{order: order}
	for _, c := range s.Columns {
		if err := check(c); err != nil {
			return nil, err
		}
		e.typ = c.Type
	}
	return e, nil
}

func tooMany(first, second spi.Column) error {
	return &spi.ColumnError{Column: second.Name, Msg: fmt.Sprintf("the format raw has one column, which is %q already", first.Name)}
}

func check(c spi.Column) error {
	if c.Metadata != "" {
		return &spi.ColumnError{Column: c.Name, Msg: fmt.Sprintf("the format raw has no metadata %q", c.Metadata)}
	}
	if c.Type.Kind != types.Varbinary && c.Type.Kind != types.Varchar && width(c.Type) == 0 {
		return &spi.ColumnError{Column: c.Name, Msg: fmt.Sprintf("the format raw holds BYTES, STRING, BOOLEAN, integers, FLOAT or DOUBLE, not %s; declare it BYTES or STRING and CAST in the query", c.Type)}
	}
	return nil
}

// width is the number of bytes of a value of type t; 0 for those without a fixed one.
func width(t types.Type) int {
	switch t.Kind {
	case types.Boolean, types.TinyInt:
		return 1
	case types.SmallInt:
		return 2
	case types.Int, types.Float:
		return 4
	case types.BigInt, types.Double:
		return 8
	default:
		return 0
	}
}

type decoder struct {
	column int // −1 when the column is not read
	name   string
	typ    types.Type
	order  binary.ByteOrder
}

// Decode implements spi.Decoder.
func (d *decoder) Decode(m spi.Message, out *spi.Out) error {
	if d.column >= 0 {
		if err := d.check(m.Value); err != nil {
			return err
		}
	}
	b := out.Begin()
	if d.column >= 0 && m.Value != nil {
		d.set(b, m.Value)
	}
	out.Commit(changelog.Insert)
	return nil
}

// check finds what is wrong with a message.
func (d *decoder) check(v []byte) error {
	e := &spi.DecodeError{Field: d.name, Offset: -1, Code: fault.MessageType}
	switch w := width(d.typ); {
	case v == nil && d.typ.NotNull:
		e.Code, e.Msg, e.Fix = fault.MessageNull, "the message is null and the column NOT NULL", "declare the column without NOT NULL"
	case v == nil:
		return nil
	case d.typ.IsString() && !utf8.Valid(v):
		e.Code, e.Msg, e.Fix = fault.MessageSyntax, "the message is no UTF-8 text", "declare the column as BYTES"
	case w > 0 && len(v) != w:
		e.Msg = fmt.Sprintf("%s has %d bytes, and the message %d", d.typ.Nullable(), w, len(v))
		e.Fix = "declare the column as BYTES, or where the message is a number in digits as STRING, and CAST in the query"
	case d.typ.Kind == types.Boolean && v[0] > 1:
		e.Msg, e.Fix = fmt.Sprintf("BOOLEAN is a byte of 0 or 1, and the message %d", v[0]), "declare the column as TINYINT"
	default:
		return nil
	}
	return e
}

func (d *decoder) set(b *row.Builder, v []byte) {
	i := d.column
	switch d.typ.Kind {
	case types.Boolean:
		b.Datum(i, d.typ.Phys(), row.Bool(v[0] == 1))
	case types.TinyInt:
		b.Int64(i, int64(int8(v[0])))
	case types.SmallInt:
		b.Int64(i, int64(int16(d.order.Uint16(v))))
	case types.Int:
		b.Int64(i, int64(int32(d.order.Uint32(v))))
	case types.BigInt:
		b.Int64(i, int64(d.order.Uint64(v)))
	case types.Float:
		b.Datum(i, d.typ.Phys(), row.Float(float64(math.Float32frombits(d.order.Uint32(v)))))
	case types.Double:
		b.Datum(i, d.typ.Phys(), row.Float(math.Float64frombits(d.order.Uint64(v))))
	default:
		b.Bytes(i, v)
	}
}

type encoder struct {
	typ   types.Type
	order binary.ByteOrder
}

// Encode implements spi.Encoder.
func (e encoder) Encode(buf []byte, _, after row.Row) ([]byte, error) {
	if after.IsNull(0) {
		return nil, nil
	}
	v := after.Get(0, e.typ.Phys())
	var memory [8]byte
	w := memory[:width(e.typ)]
	switch e.typ.Kind {
	case types.Boolean, types.TinyInt:
		w[0] = byte(v.I)
	case types.SmallInt:
		e.order.PutUint16(w, uint16(v.I))
	case types.Int:
		e.order.PutUint32(w, uint32(v.I))
	case types.BigInt:
		e.order.PutUint64(w, uint64(v.I))
	case types.Float:
		e.order.PutUint32(w, math.Float32bits(float32(v.Float())))
	case types.Double:
		e.order.PutUint64(w, math.Float64bits(v.Float()))
	default:
		w = v.B
	}
	return append(buf, w...), nil
}

// Updates implements spi.Encoder.
func (encoder) Updates() bool { return false }
