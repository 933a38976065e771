package jsonrow

import (
	"github.com/sluicesql/sluice/connectors/format/jsonscan"
	"github.com/sluicesql/sluice/engine/row"
)

// embedded takes an ARRAY, MAP or ROW from the JSON text that a string holds, as Debezium writes columns of
// the types hstore, json and jsonb. What stands in the text is plain JSON, without Debezium's encodings.
func (d *Decoder) embedded(n *node, t *jsonscan.Token) (row.Datum, error) {
	if !d.Debezium || !t.IsString() {
		return row.NullDatum, d.mismatch(n, t)
	}
	s, _ := d.scalar(t)
	in := d.within(false)
	in.msg = s
	var inside jsonscan.Token
	if err := in.Scan(s, n.shape(), &inside); err != nil {
		e := d.mismatch(n, t)
		e.Msg += ", which is not the text of one in JSON"
		return row.NullDatum, e
	}
	v, err := in.value(n, &inside)
	return v, moved(err, t)
}

// within is the decoder of texts within the message. It has a scanner of its own, so that the scan of the
// message can go on afterwards.
func (d *Decoder) within(extended bool) *Decoder {
	if d.inner == nil {
		d.inner = &Decoder{Rules: Rules{Format: d.Format, Layout: d.Layout, TimeZone: d.TimeZone, FailOnMissing: d.FailOnMissing}}
	}
	d.inner.Extended = extended
	return d.inner
}

// Document sets b's columns from the text in extended JSON that a string of the message is, as Debezium
// writes MongoDB's documents. It reports false when the text is no object.
func (d *Decoder) Document(f *Fields, t *jsonscan.Token, b *row.Builder) (bool, error) {
	s, _ := d.scalar(t)
	in := d.within(true)
	in.msg = s
	var doc jsonscan.Token
	if err := in.Scan(s, f.shape, &doc); err != nil {
		return false, d.notExtended(err, t)
	}
	if doc.Kind != jsonscan.Object {
		return false, nil
	}
	return true, moved(in.Row(f, b), t)
}

// SetExtended sets b's column out to the value whose text in extended JSON a string of the message is.
func (d *Decoder) SetExtended(v *Value, t *jsonscan.Token, b *row.Builder, out int) error {
	s, _ := d.scalar(t)
	in := d.within(true)
	in.msg = s
	var x jsonscan.Token
	if err := in.Scan(s, v.shape(), &x); err != nil {
		return d.notExtended(err, t)
	}
	return moved(in.Set(v, &x, b, out), t)
}
