// Package jsonformat is the format json: each message is an object whose members are the columns. It reads
// and writes append-only streams.
package jsonformat

import (
	"fmt"

	"github.com/sluicesql/sluice/connectors/format/jsonrow"
	"github.com/sluicesql/sluice/connectors/format/jsonscan"
	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/changelog"
)

// Name is the format's identifier in the 'format' options.
const Name = "json"

// Register adds the format to r.
func Register(r *spi.Registry) { r.AddFormat(Format{}) }

// Format implements spi.Format.
type Format struct{}

// Name implements spi.Format.
func (Format) Name() string { return Name }

// Help implements spi.Format.
func (Format) Help() string { return "one JSON object per row, append-only" }

// Options implements spi.Format.
func (Format) Options() []spi.Option { return jsonrow.Options() }

// Metadata implements spi.Format: plain JSON has none.
func (Format) Metadata() []spi.Column { return nil }

// Decodes implements spi.Format.
func (Format) Decodes() (native spi.Mode, canUpsert bool) { return spi.AppendOnly, false }

// Encodes implements spi.Format.
func (Format) Encodes() spi.Mode { return spi.AppendOnly }

// NewDecoder implements spi.Format.
func (Format) NewDecoder(s spi.DecodeSpec, o spi.Options) (spi.Decoder, error) {
	if s.Mode != spi.AppendOnly {
		return nil, fmt.Errorf("the format json reads append-only streams, not %s ones", s.Mode)
	}
	rules, err := jsonrow.RulesOf(Name, o)
	if err != nil {
		return nil, err
	}
	rules.TimeZone = s.TimeZone
	fields, err := jsonrow.Physical(s)
	if err != nil {
		return nil, err
	}
	for i, c := range s.Columns {
		if c.Metadata != "" && !jsonrow.Skipped(s, i) {
			return nil, fmt.Errorf("the format json has no metadata %q", c.Metadata)
		}
	}
	d := &decoder{}
	d.Rules = rules
	d.fields, err = jsonrow.NewFields(fields)
	return d, err
}

// NewEncoder implements spi.Format.
func (Format) NewEncoder(s spi.EncodeSpec, o spi.Options) (spi.Encoder, error) {
	if s.Mode != spi.AppendOnly {
		return nil, fmt.Errorf("the format json writes append-only streams, not %s ones", s.Mode)
	}
	return jsonrow.NewRowEncoder(Name, s, o)
}

type decoder struct {
	jsonrow.Decoder
	fields *jsonrow.Fields
}

// Decode implements spi.Decoder: an object is one row, a null message none.
func (d *decoder) Decode(m spi.Message, out *spi.Out) error {
	if m.Value == nil {
		return nil
	}
	var t jsonscan.Token
	if err := d.Begin(m.Value, d.fields.Shape(), &t); err != nil {
		return err
	}
	switch t.Kind {
	case jsonscan.Object:
	case jsonscan.Null:
		return nil
	default:
		return d.NoObject(&t)
	}
	if err := d.Row(d.fields, out.Begin()); err != nil {
		return d.Near(err, d.fields, &t)
	}
	out.Commit(changelog.Insert)
	return nil
}
