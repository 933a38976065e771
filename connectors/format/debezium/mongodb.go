package debezium

import (
	"fmt"

	"github.com/sluicesql/sluice/connectors/format/jsonrow"
	"github.com/sluicesql/sluice/connectors/format/jsonscan"
	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/internal/fault"
)

// documentID is the name of the key of MongoDB's documents, and documentKey that of the field in message keys
// that holds its value, as text in extended JSON.
const (
	documentID  = "_id"
	documentKey = "id"
)

// hasRow reports whether an image of a row is there: an object, or for MongoDB the text of one.
func hasRow(t *jsonscan.Token) bool { return t.Kind == jsonscan.Object || t.IsString() }

// image is the image of a row of the given name.
func (e *envelope) image(name string) *jsonscan.Token {
	if name == "before" {
		return e.before
	}
	return e.after
}

// document sets the columns from a document of MongoDB's. Its key never changes, so that a table whose key is
// another cannot be kept by events that have no row before.
func (d *Decoder) document(f *jsonrow.Fields, t *jsonscan.Token, b *row.Builder) error {
	if d.upsert && !d.keyIsID() {
		return &spi.DecodeError{Offset: t.Offset(), Code: fault.MessageKey, Msg: "is a document of MongoDB, whose key is " + documentID,
			Fix: fmt.Sprintf("declare PRIMARY KEY (%s) NOT ENFORCED", documentID)}
	}
	ok, err := d.Document(f, t, b)
	if err == nil && !ok {
		return d.NoObject(t)
	}
	return err
}

// keyIsID reports whether the primary key is that of MongoDB's documents.
func (d *Decoder) keyIsID() bool { return len(d.key) == 1 && d.key[0].Name == documentID }

// isDocumentKey reports whether the object payload of a message key is that of a document: {"id": "…"}, the
// text being the value of _id. The text's token is then the third of shape, one of keyShape's.
func (d *Decoder) isDocumentKey(key []byte, payload *jsonscan.Token, shape *jsonscan.Shape) bool {
	if !d.keyIsID() {
		return false
	}
	d.Object(key, payload, shape)
	return shape.Token(2).IsString() && shape.Token(3).Kind == jsonscan.Absent
}

// noAfter is the error of an update without its row after.
func (d *Decoder) noAfter(m spi.Message, e *envelope) error {
	if !e.after.IsNull() {
		return d.noRow(e.after, "after", "an update")
	}
	err := d.missing(e.after, "after", "an update")
	if connector, _ := d.origin(m, e); connector == "mongodb" {
		err.Fix = "set capture.mode=change_streams_update_full in Debezium's connector (and capture.mode.full.update.type=post_image, or documents that were deleted meanwhile come without), " + skipFix
	}
	return err
}
