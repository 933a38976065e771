// Package raw is the format raw: a message is one column, as it is. A null message is NULL.
package raw

import (
	"fmt"
	"unicode/utf8"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/changelog"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/types"
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
func (Format) Help() string { return "a message is one column, BYTES or STRING, as it is; append-only" }

// Options implements spi.Format.
func (Format) Options() []spi.Option { return nil }

// Metadata implements spi.Format.
func (Format) Metadata() []spi.Column { return nil }

// Decodes implements spi.Format.
func (Format) Decodes() (native spi.Mode, canUpsert bool) { return spi.AppendOnly, false }

// Encodes implements spi.Format.
func (Format) Encodes() spi.Mode { return spi.AppendOnly }

// NewDecoder implements spi.Format.
func (Format) NewDecoder(s spi.DecodeSpec, _ spi.Options) (spi.Decoder, error) {
	if s.Mode != spi.AppendOnly {
		return nil, fmt.Errorf("the format raw reads append-only streams, not %s ones", s.Mode)
	}
	d := &decoder{column: -1}
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
		d.column, d.text, d.notNull = i, c.Type.IsString(), c.Type.NotNull
		d.name = c.Name
	}
	return d, nil
}

// NewEncoder implements spi.Format.
func (Format) NewEncoder(s spi.EncodeSpec, _ spi.Options) (spi.Encoder, error) {
	if s.Mode != spi.AppendOnly {
		return nil, fmt.Errorf("the format raw writes append-only streams, not %s ones", s.Mode)
	}
	if len(s.Columns) > 1 {
		return nil, tooMany(s.Columns[0], s.Columns[1])
	}
	for _, c := range s.Columns {
		if err := check(c); err != nil {
			return nil, err
		}
	}
	return encoder{}, nil
}

func tooMany(first, second spi.Column) error {
	return &spi.ColumnError{Column: second.Name, Msg: fmt.Sprintf("the format raw has one column, which is %q already", first.Name)}
}

func check(c spi.Column) error {
	if c.Metadata != "" {
		return &spi.ColumnError{Column: c.Name, Msg: fmt.Sprintf("the format raw has no metadata %q", c.Metadata)}
	}
	if k := c.Type.Kind; k != types.Varbinary && k != types.Varchar {
		return &spi.ColumnError{Column: c.Name, Msg: fmt.Sprintf("the format raw holds BYTES or STRING, not %s; declare it so and CAST in the query", c.Type)}
	}
	return nil
}

type decoder struct {
	column  int // −1 when the column is not read
	name    string
	text    bool
	notNull bool
}

// Decode implements spi.Decoder.
func (d *decoder) Decode(m spi.Message, out *spi.Out) error {
	if d.column >= 0 {
		switch {
		case m.Value == nil && d.notNull:
			return &spi.DecodeError{Field: d.name, Offset: -1, Reason: "null", Msg: "the message is null and the column NOT NULL", Fix: "declare the column without NOT NULL"}
		case d.text && !utf8.Valid(m.Value):
			return &spi.DecodeError{Field: d.name, Offset: -1, Reason: "syntax", Msg: "the message is no UTF-8 text", Fix: "declare the column as BYTES"}
		}
	}
	b := out.Begin()
	if d.column >= 0 && m.Value != nil {
		b.Bytes(d.column, m.Value)
	}
	out.Commit(changelog.Insert)
	return nil
}

type encoder struct{}

// Encode implements spi.Encoder.
func (encoder) Encode(buf []byte, _, after row.Row) ([]byte, error) {
	if after.IsNull(0) {
		return nil, nil
	}
	return append(buf, after.Bytes(0)...), nil
}

// Updates implements spi.Encoder.
func (encoder) Updates() bool { return false }
