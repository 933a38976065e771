package jsonrow

import (
	"fmt"
	"slices"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/row"
)

// Skipped reports whether the decoder leaves column i to the connector.
func Skipped(s spi.DecodeSpec, i int) bool { return i < len(s.Skip) && s.Skip[i] }

// Physical are the columns that a decoder reads from the members of an object: all that are neither the
// connector's nor metadata.
func Physical(s spi.DecodeSpec) ([]Field, error) {
	var fields []Field
	seen := map[string]bool{}
	for i, c := range s.Columns {
		if c.Metadata != "" || Skipped(s, i) {
			continue
		}
		if seen[c.Name] {
			return nil, fmt.Errorf("two columns have the name %q", c.Name)
		}
		seen[c.Name] = true
		fields = append(fields, Field{Name: c.Name, Type: c.Type, Out: i, Partial: slices.Contains(s.Partial, i)})
	}
	return fields, nil
}

// NewSpecWriter returns a writer of the columns of s.
func NewSpecWriter(format string, s spi.EncodeSpec, o spi.Options) (*Writer, error) {
	style, err := StyleOf(format, o)
	if err != nil {
		return nil, err
	}
	fields := make([]Field, len(s.Columns))
	for i, c := range s.Columns {
		if c.Metadata != "" {
			return nil, fmt.Errorf("the format %s writes no metadata such as %q", format, c.Metadata)
		}
		fields[i] = Field{Name: c.Name, Type: c.Type, Out: i}
	}
	return NewWriter(fields, style)
}

// rowEncoder writes a row as an object.
type rowEncoder struct{ w *Writer }

// NewRowEncoder returns the encoder of an append-only stream: the row after as an object.
func NewRowEncoder(format string, s spi.EncodeSpec, o spi.Options) (spi.Encoder, error) {
	w, err := NewSpecWriter(format, s, o)
	if err != nil {
		return nil, err
	}
	return rowEncoder{w}, nil
}

// Updates implements spi.Encoder.
func (rowEncoder) Updates() bool { return false }

// Encode implements spi.Encoder.
func (e rowEncoder) Encode(buf []byte, before, after row.Row) ([]byte, error) {
	if after == nil {
		return buf, fmt.Errorf("an append-only stream cannot take the row %x away", before)
	}
	return e.w.Append(buf, after)
}
