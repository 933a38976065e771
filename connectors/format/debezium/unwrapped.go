package debezium

import (
	"bytes"
	"slices"
	"strings"

	"github.com/sluicesql/sluice/connectors/format/jsonrow"
	"github.com/sluicesql/sluice/connectors/format/jsonscan"
	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/changelog"
	"github.com/sluicesql/sluice/internal/fault"
)

// unwrapped reads rows without an envelope, as Debezium's transform ExtractNewRecordState leaves them: the row
// after a change, with further fields whose names begin with two underscores. Such a stream says what the row
// of a key is now, and nothing of the one before.
type unwrapped struct {
	fields *jsonrow.Fields
	key    *jsonrow.Fields
	// deleted is "true" in a row that is gone (delete.tombstone.handling.mode=rewrite), and op its "d", where
	// add.fields asks for it.
	deleted, op *jsonscan.Token
	// source is an object in every envelope, also of the kinds that carry no change.
	source *jsonscan.Token
	// transaction are members that all events of transactions have.
	transaction []*jsonscan.Token
	// meta are those of the metadata columns that add.fields put into the row; of several names for one the
	// first there counts.
	meta [][]*jsonscan.Token
}

// addedFields are the names that ExtractNewRecordState's option add.fields gives to metadata.
var addedFields = map[string][]string{
	"ingestion-timestamp": {"__ts_ms"},
	"source.timestamp":    {"__source_ts_ms"},
	"source.database":     {"__source_db", "__db"},
	"source.schema":       {"__source_schema", "__schema"},
	"source.table":        {"__source_table", "__table"},
}

// newUnwrapped reads the given columns. Members that are among them are never taken for something else.
func newUnwrapped(columns, key []jsonrow.Field, meta []metaColumn) (u *unwrapped, err error) {
	u = &unwrapped{}
	names := []string{"__deleted", "__op", "source", "status", "event_count", "data_collections"}
	added := len(names)
	for i := range meta {
		for _, name := range addedFields[meta[i].key] {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	var extra []jsonscan.Member
	at := make([]int, len(names)) // 0 for a column's
	for i, name := range names {
		column := false
		for _, c := range columns {
			column = column || c.Name == name
		}
		if !column {
			at[i] = len(columns) + len(extra)
			extra = append(extra, jsonscan.Member{Name: name})
		}
	}
	if u.fields, err = jsonrow.NewFields(columns, extra...); err != nil {
		return nil, err
	}
	if u.key, err = jsonrow.NewFields(key); err != nil {
		return nil, err
	}
	token := func(i int) *jsonscan.Token {
		if at[i] == 0 {
			return &absent
		}
		return u.fields.Shape().Token(at[i])
	}
	u.deleted, u.op, u.source = token(0), token(1), token(2)
	for i := 3; i < added; i++ {
		u.transaction = append(u.transaction, token(i))
	}
	u.meta = make([][]*jsonscan.Token, len(meta))
	for i := range meta {
		for _, name := range addedFields[meta[i].key] {
			u.meta[i] = append(u.meta[i], token(slices.Index(names, name)))
		}
	}
	return u, nil
}

// encode tells how the rows are encoded; nil forgets it.
func (u *unwrapped) encode(e *jsonrow.Encoding) {
	u.fields.Encode(e)
	u.key.Encode(e)
}

// isRow reports whether the object scanned last is a row: it has the primary key, and nothing that tells of an
// envelope.
func (d *Decoder) isRow(u *unwrapped) bool {
	if u.source.Kind == jsonscan.Object {
		return false
	}
	toks := u.fields.Shape().Tokens()
	for _, i := range d.inAfter {
		if toks[i].IsNull() {
			return false
		}
	}
	for _, t := range u.transaction {
		if t.Kind == jsonscan.Absent {
			return true
		}
	}
	return false
}

// row emits the row that the object t of the message is, and reports whether it is one.
func (d *Decoder) row(m spi.Message, u *unwrapped, t *jsonscan.Token, out *spi.Out) (bool, error) {
	d.Object(m.Value, t, u.fields.Shape())
	if !d.isRow(u) {
		return false, nil
	}
	d.rows = true
	d.deleted = d.deleted[:0]
	fields, op := u.fields, changelog.UpdateAfter
	if u.deleted.Kind == jsonscan.True || u.deleted.IsString() && string(d.Bytes(u.deleted)) == "true" ||
		u.op.IsString() && string(d.Bytes(u.op)) == "d" {
		fields, op = u.key, changelog.Delete // the other columns are missing or invented
		d.Object(m.Value, t, u.key.Shape())
		d.deleted = append(d.deleted, m.Key...)
	}
	b := out.Begin()
	if err := d.Row(fields, b); err != nil {
		return true, d.Near(err, fields, t)
	}
	for i := range d.meta {
		for _, t := range u.meta[i] {
			if t.IsNull() {
				continue
			}
			if err := d.Set(d.meta[i].value, t, b, d.meta[i].out); err != nil {
				return true, jsonrow.Within(err, d.meta[i].key)
			}
			break
		}
	}
	out.Commit(op)
	if op == changelog.Delete {
		return true, nil
	}
	return true, d.drift.look(d, m.Value, t, fields, isAdded)
}

// isAdded reports whether a field of a row without an envelope is one that the transform adds.
func isAdded(name string) bool { return strings.HasPrefix(name, "__") }

// tombstone is a message whose value is null. After the event of a delete it adds nothing; alone it is the
// delete, in streams of rows (delete.tombstone.handling.mode=tombstone) and where compaction has taken the
// event. A second delete does no harm.
func (d *Decoder) tombstone(m spi.Message, out *spi.Out) error {
	if d.upsert && len(m.Key) > 0 && !bytes.Equal(m.Key, d.deleted) {
		b := out.Begin()
		ok, err := d.keyRow(m.Key, b)
		switch {
		case ok && err == nil:
			out.Commit(changelog.Delete)
			return nil
		case d.rows:
			return d.noKey(err)
		case !d.events && !d.untold: // after a restart, a topic of rows may go on with one
			d.untold = true
			d.drift.warn("a tombstone does not hold the primary key in its message key, and no message before it, since the start, tells whether a change event " +
				"had deleted the row: in a topic of rows without an envelope (ExtractNewRecordState) the row stays; sluice sweep finds such rows")
		}
	}
	d.counts.Tombstones++
	// Otherwise the key is not made for being read, as that of a topic of change events need not be.
	return nil
}

// noKey is the error of a delete whose message key does not hold the primary key.
func (d *Decoder) noKey(err error) error {
	if err != nil {
		return err
	}
	return &spi.DecodeError{Field: "(message key)", Offset: -1, Code: fault.MessageKey, Msg: "does not hold the primary key, so that the row that goes is unknown",
		Fix: "declare the columns of the message key as the PRIMARY KEY, or set delete.tombstone.handling.mode=rewrite in ExtractNewRecordState"}
}
