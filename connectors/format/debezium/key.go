package debezium

import (
	"bytes"

	"github.com/sluicesql/sluice/connectors/format/jsonrow"
	"github.com/sluicesql/sluice/connectors/format/jsonscan"
	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/changelog"
	"github.com/sluicesql/sluice/engine/row"
)

// hasKey reports whether before holds the whole key.
func (d *Decoder) hasKey(e *envelope) bool {
	if e.before.Kind != jsonscan.Object {
		return false
	}
	toks := e.beforeFields.Shape().Tokens()
	for i := range toks {
		if toks[i].IsNull() {
			return false
		}
	}
	return true
}

// keyChanged reports whether before has another key than after. A before without the whole key tells
// nothing of it.
func (d *Decoder) keyChanged(e *envelope) (bool, error) {
	if !d.hasKey(e) {
		return false, nil
	}
	for i, j := range d.inAfter {
		a, b := e.beforeFields.Shape().Token(i), e.afterFields.Shape().Token(j)
		if a.Kind == b.Kind && bytes.Equal(d.Bytes(a), d.Bytes(b)) {
			continue
		}
		old, err := d.Value(e.beforeFields, i)
		if err != nil {
			return false, jsonrow.Within(err, "before")
		}
		now, err := d.Value(e.afterFields, j)
		if err != nil {
			return false, jsonrow.Within(err, "after")
		}
		if old.I != now.I || old.Hi != now.Hi || !bytes.Equal(old.B, now.B) {
			return true, nil
		}
	}
	return false, nil
}

// keyShape finds the payload of a message key with an embedded schema, and the key of a document of MongoDB's.
func keyShape() *jsonscan.Shape {
	return jsonscan.NewShape([]jsonscan.Member{{Name: "schema"}, {Name: "payload"}, {Name: documentKey}, {Name: documentID}})
}

// deleteByKey deletes the row that the message key names. Deletes come with before = null from tables with
// REPLICA IDENTITY NOTHING and from converters that leave it out.
func (d *Decoder) deleteByKey(m spi.Message, e *envelope, out *spi.Out) error {
	if len(m.Key) == 0 {
		return d.noBefore(m, e, "a delete")
	}
	b := out.Begin()
	ok, err := d.keyRow(m.Key, b)
	if err != nil {
		return err
	}
	d.Resume(m.Value)
	if !ok {
		return d.noBefore(m, e, "a delete")
	}
	if len(d.meta) > 0 {
		if err := d.setMetadata(e, b); err != nil {
			return err
		}
	}
	out.Commit(changelog.Delete)
	return nil
}

// keyRow sets the key's columns from a message key: an object, one within {schema, payload}, or the value of a
// key of one column. It reports false for a key of another form. The tokens of the message's value stay what
// they are: the key is read with other shapes.
func (d *Decoder) keyRow(key []byte, b *row.Builder) (bool, error) {
	var t jsonscan.Token
	shape := keyShape()
	if err := d.Begin(key, shape, &t); err != nil {
		return false, jsonrow.Within(err, "(message key)")
	}
	var encoding *jsonrow.Encoding
	payload := t
	if t.Kind == jsonscan.Object {
		if s, p := shape.Token(0), shape.Token(1); s.Kind == jsonscan.Object && p.Kind != jsonscan.Absent {
			var err error
			if encoding, err = d.schemas.encoding(s.Bytes(key)); err != nil {
				return false, jsonrow.Within(err, "(message key)")
			}
			payload = *p
		}
	}
	switch {
	case payload.Kind == jsonscan.Object && d.isDocumentKey(key, &payload, shape):
		return true, jsonrow.Within(d.SetExtended(d.plain, shape.Token(2), b, d.key[0].Out), "(message key)")
	case payload.Kind == jsonscan.Object:
		d.fromKey.Encode(encoding)
		if _, err := d.Cold(d.fromKey, payload.Bytes(key), b); err != nil {
			return false, jsonrow.Within(err, "(message key)")
		}
		return true, nil
	case d.plain != nil && !payload.IsNull() && payload.Kind != jsonscan.Array:
		if encoding == nil {
			encoding = &jsonrow.Encoding{}
		}
		d.plain.Encode(encoding)
		return true, jsonrow.Within(d.Set(d.plain, &payload, b, d.key[0].Out), "(message key)")
	}
	return false, nil
}
