package debezium

import (
	"fmt"

	"github.com/sluicesql/sluice/connectors/format/jsonrow"
	"github.com/sluicesql/sluice/connectors/format/jsonscan"
	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/changelog"
	"github.com/sluicesql/sluice/internal/fault"
)

// Decoder decodes the messages of one topic. It implements spi.Decoder.
type Decoder struct {
	jsonrow.Decoder
	msg            *message
	meta           []metaColumn
	form           include
	upsert         bool
	key            []jsonrow.Field // in mode Upsert
	inAfter        []int           // positions of the key's columns among those of after
	fromKey        *jsonrow.Fields // the key's columns in a message key
	plain          *jsonrow.Value  // the key's column when it is the message key; nil with several
	counts         Counts
	drift          *drift
	schemas        schemas
	ignoreTruncate bool
	clear          bool // a TRUNCATE empties the table
	// rows says that there were rows without an envelope, events that there were events, and untold that a warning was
	// given of a tombstone before either.
	rows, events, untold bool
	// deleted is the message key of the last delete.
	deleted []byte
	version int64 // of the schema that the wrapped envelope reads by; 0 is none
}

// Counts are messages that carry no change, by kind.
type Counts struct {
	Tombstones, Heartbeats, Transactions, SchemaChanges, LogicalMessages, Truncates int64
}

// Counts are the messages so far that carried no change.
func (d *Decoder) Counts() Counts { return d.counts }

// NoChange implements spi.KindCounter.
func (d *Decoder) NoChange(f func(kind string, n int64)) {
	c := &d.counts
	f("tombstone", c.Tombstones)
	f("heartbeat", c.Heartbeats)
	f("transaction", c.Transactions)
	f("schema change", c.SchemaChanges)
	f("logical message", c.LogicalMessages)
	f("truncate", c.Truncates)
}

func newDecoder(s spi.DecodeSpec, rules jsonrow.Rules, form include) (*Decoder, error) {
	d := &Decoder{form: form, upsert: s.Mode == spi.Upsert, schemas: schemas{}}
	d.Rules = rules
	after, err := jsonrow.Physical(s)
	if err != nil {
		return nil, err
	}
	d.drift = newDrift(s, after)
	if d.meta, err = metaColumns(s); err != nil {
		return nil, err
	}
	before := after
	if d.upsert {
		if err := d.initKey(s, after); err != nil {
			return nil, err
		}
		before = d.key
	}
	if d.msg, err = newMessage(form, before, after, d.meta); err != nil || !d.upsert {
		return d, err
	}
	for _, e := range []*envelope{d.msg.bare, d.msg.wrapped} {
		if e != nil {
			if e.row, err = newUnwrapped(after, d.key, d.meta); err != nil {
				return nil, err
			}
		}
	}
	return d, nil
}

// initKey finds the key's columns among those of after.
func (d *Decoder) initKey(s spi.DecodeSpec, after []jsonrow.Field) (err error) {
	if len(s.Key) == 0 {
		return fmt.Errorf("the format %s cannot deliver upserts without a primary key", Name)
	}
	for _, k := range s.Key {
		found := false
		for i, f := range after {
			if f.Out == k {
				found = true
				f.Type = f.Type.Required()
				after[i] = f
				d.key = append(d.key, f)
				d.inAfter = append(d.inAfter, i)
			}
		}
		if !found {
			return &spi.OptionError{Name: "value.fields-include", Value: true, Msg: fmt.Sprintf("the primary key's column %q is no field of the rows in %s messages; leave out 'value.fields-include' = 'EXCEPT_KEY': Debezium writes the key's columns into the rows too", s.Columns[k].Name, Name)}
		}
	}
	if len(d.key) == 1 {
		if d.plain, err = jsonrow.NewValue(d.key[0].Type); err != nil {
			return err
		}
	}
	d.fromKey, err = jsonrow.NewFields(d.key)
	return err
}

// Decode implements spi.Decoder.
func (d *Decoder) Decode(m spi.Message, out *spi.Out) error {
	if len(m.Value) == 0 {
		return d.tombstone(m, out)
	}
	var t jsonscan.Token
	if err := d.Begin(m.Value, d.msg.shape, &t); err != nil {
		return err
	}
	e, err := d.envelope(&t)
	if err != nil {
		return err
	}
	if e == nil {
		return d.tombstone(m, out)
	}
	if e == d.msg.wrapped {
		if err := d.learn(); err != nil {
			return err
		}
	}
	if e.row != nil && e.after.Kind != jsonscan.Object && e.before.Kind != jsonscan.Object {
		if is, err := d.row(m, e.row, d.object(e, &t), out); is || err != nil {
			return err
		}
	}
	if e.op.Kind != jsonscan.String || e.op.End-e.op.Start != 1 {
		return d.noOp(m, e, &t)
	}
	rows := out.Batch.Len()
	d.events = true
	d.deleted = d.deleted[:0]
	switch op := m.Value[e.op.Start]; op {
	case 'c', 'r':
		err = d.insert(e, out)
	case 'u':
		err = d.update(m, e, out)
	case 'd':
		err = d.delete(m, e, out)
		d.deleted = append(d.deleted, m.Key...)
	case 'm':
		d.counts.LogicalMessages++
		return nil
	case 't':
		if d.ignoreTruncate {
			d.counts.Truncates++
			return nil
		}
		if d.clear {
			out.Begin()
			out.Commit(changelog.Clear)
			return nil
		}
		return d.unknownOp(e)
	default:
		return d.unknownOp(e)
	}
	if err != nil {
		out.Batch.Truncate(rows)
		return err
	}
	if e.after.Kind == jsonscan.Object {
		return d.drift.look(d, m.Value, e.after, e.afterFields, noExtra)
	}
	return nil
}

func noExtra(string) bool { return false }

// object is the object that e was read from: the message t, or its payload.
func (d *Decoder) object(e *envelope, t *jsonscan.Token) *jsonscan.Token {
	if e == d.msg.wrapped {
		return d.msg.payload
	}
	return t
}

// envelope is the envelope of the message that was scanned as t. nil without an error says that the
// message is a null.
func (d *Decoder) envelope(t *jsonscan.Token) (*envelope, error) {
	switch t.Kind {
	case jsonscan.Object:
	case jsonscan.Null:
		return nil, nil
	default:
		return nil, d.NoObject(t)
	}
	b, p := d.msg.bare, d.msg.payload
	if b != nil && (p == nil || p.Kind == jsonscan.Absent || b.op.Kind != jsonscan.Absent) {
		return b, nil
	}
	switch p.Kind {
	case jsonscan.Object:
		return d.msg.wrapped, nil
	case jsonscan.Null:
		return nil, nil
	case jsonscan.Absent:
		return nil, &spi.DecodeError{Field: "payload", Offset: -1, Code: fault.MessageSchema, Msg: "the message has no payload, and thus no embedded schema",
			Fix: fmt.Sprintf("leave out the option '%s.%s', so that both forms are read", Name, schemaInclude)}
	default:
		return nil, jsonrow.Within(d.NoObject(p), "payload")
	}
}

// insert is op c and r.
func (d *Decoder) insert(e *envelope, out *spi.Out) error {
	if !hasRow(e.after) {
		return d.noRow(e.after, "after", "an insert")
	}
	if d.upsert {
		return d.emit(e, e.afterFields, "after", changelog.UpdateAfter, out)
	}
	return d.emit(e, e.afterFields, "after", changelog.Insert, out)
}

// update is op u.
func (d *Decoder) update(m spi.Message, e *envelope, out *spi.Out) error {
	if !hasRow(e.after) {
		return d.noAfter(m, e)
	}
	switch {
	case !d.upsert:
		if !hasRow(e.before) {
			return d.noBefore(m, e, "an update")
		}
		if err := d.emit(e, e.beforeFields, "before", changelog.UpdateBefore, out); err != nil {
			return err
		}
	case e.after.IsString(): // the key of a document never changes
	case e.before.Kind == jsonscan.Object:
		moved, err := d.keyChanged(e)
		if err != nil {
			return err
		}
		if moved {
			if err := d.emit(e, e.beforeFields, "before", changelog.Delete, out); err != nil {
				return err
			}
		}
	case !e.before.IsNull():
		return d.noRow(e.before, "before", "an update")
	}
	return d.emit(e, e.afterFields, "after", changelog.UpdateAfter, out)
}

// delete is op d.
func (d *Decoder) delete(m spi.Message, e *envelope, out *spi.Out) error {
	if !hasRow(e.before) {
		switch {
		case !e.before.IsNull():
			return d.noRow(e.before, "before", "a delete")
		case !d.upsert:
			return d.noBefore(m, e, "a delete")
		}
	}
	if d.upsert && !d.hasKey(e) {
		return d.deleteByKey(m, e, out)
	}
	return d.emit(e, e.beforeFields, "before", changelog.Delete, out)
}

// emit appends the row of before or after.
func (d *Decoder) emit(e *envelope, f *jsonrow.Fields, name string, op changelog.Op, out *spi.Out) error {
	b := out.Begin()
	var err error
	if t := e.image(name); t.Kind == jsonscan.Object {
		if err = d.Row(f, b); err != nil {
			err = d.Near(err, f, t)
		}
	} else {
		err = d.document(f, t, b)
	}
	if err != nil {
		return jsonrow.Within(err, name)
	}
	if len(d.meta) > 0 {
		if err := d.setMetadata(e, b); err != nil {
			return err
		}
	}
	out.Commit(op)
	return nil
}
