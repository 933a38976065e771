// Package csv is the format csv: a message is one record, whose fields are the columns in the order of the
// table. It reads and writes append-only streams.
package csv

import (
	"fmt"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/types"
)

// Name is the format's identifier in the 'format' options.
const Name = "csv"

// Register adds the format to r.
func Register(r *spi.Registry) { r.AddFormat(Format{}) }

// Format implements spi.Format.
type Format struct{}

// Name implements spi.Format.
func (Format) Name() string { return Name }

// Help implements spi.Format.
func (Format) Help() string { return "one record of separated values per row, append-only" }

// Metadata implements spi.Format: a record has none.
func (Format) Metadata() []spi.Column { return nil }

// Decodes implements spi.Format.
func (Format) Decodes() (native spi.Mode, canUpsert bool) { return spi.AppendOnly, false }

// Encodes implements spi.Format.
func (Format) Encodes() spi.Mode { return spi.AppendOnly }

// check refuses columns that a field cannot hold.
func check(c spi.Column) error {
	if c.Metadata != "" {
		return &spi.ColumnError{Column: c.Name, Msg: fmt.Sprintf("the format csv has no metadata %q", c.Metadata)}
	}
	for _, t := range parts(c.Type) {
		switch t.Kind {
		case types.Array, types.Map, types.Row, types.IntervalYM, types.IntervalDT:
			return &spi.ColumnError{Column: c.Name, Msg: fmt.Sprintf("the format csv has no form for the type %s; declare it STRING and CAST in the query", c.Type)}
		}
	}
	return nil
}

// parts are the types of the elements of an ARRAY or the fields of a ROW, which are written with a delimiter of
// their own, or else t itself.
func parts(t types.Type) []types.Type {
	switch t.Kind {
	case types.Array:
		return []types.Type{*t.Elem}
	case types.Row:
		all := make([]types.Type, len(t.Fields))
		for i, f := range t.Fields {
			all[i] = f.Type
		}
		return all
	default:
		return []types.Type{t}
	}
}
