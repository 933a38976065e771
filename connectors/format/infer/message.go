package infer

import (
	"fmt"
	"slices"

	"github.com/sluicesql/sluice/connectors/format/connect"
	"github.com/sluicesql/sluice/connectors/spi"
)

// form is what a message is.
type form uint8

const (
	formTombstone form = iota
	formEvent          // Debezium's envelope of a change
	formTruncate
	formOther  // a heartbeat, transaction, schema change or logical message
	formRow    // an object that is a row itself
	formBroken // no object in JSON
)

// sampled is a message as it was recognised.
type sampled struct {
	form    form
	wrapped bool            // in {schema, payload}
	rows    []value         // the rows in it: before and after, or the row itself
	now     *value          // the row after the change; nil for none
	key     *value          // the message key's payload; nil for a null
	schema  *connect.Schema // of the rows; nil without one
	keyed   *connect.Schema // of the key
	source  *value          // of an event
	err     error           // of formBroken
}

func recognise(m spi.Message) (s sampled) {
	if len(m.Key) > 0 {
		if k, err := parse(m.Key); err == nil && k.kind != null {
			s.key = &k
			if sc, payload := k.get("schema"), k.get("payload"); sc.is(object) && payload != nil && len(k.members) == 2 {
				s.key, s.keyed = payload, schemaOf(sc)
			}
			if s.key.kind == null {
				s.key = nil
			}
		}
	}
	if len(m.Value) == 0 {
		return s
	}
	v, err := parse(m.Value)
	switch {
	case err != nil:
		s.form, s.err = formBroken, err
		return s
	case v.kind == null:
		return s
	case v.kind != object:
		s.form, s.err = formBroken, fmt.Errorf("the value is no object, but %.40q", m.Value)
		return s
	}
	var whole *connect.Schema
	if payload := v.get("payload"); payload != nil && v.get("schema") != nil && len(v.members) == 2 && (payload.kind == object || payload.kind == null) {
		s.wrapped = true
		if sc := v.get("schema"); sc.kind == object {
			whole = schemaOf(sc)
		}
		if payload.kind == null {
			return s
		}
		v = *payload
	}
	s.recogniseObject(&v, whole)
	return s
}

// recogniseObject tells an envelope from a row.
func (s *sampled) recogniseObject(v *value, whole *connect.Schema) {
	op, before, after := v.get("op"), v.get("before"), v.get("after")
	source := v.get("source")
	switch {
	case op.is(str) && len(op.text) == 1 && (before != nil || after != nil):
		s.form, s.source = formEvent, source
		s.schema = whole.Lookup("after")
		for _, image := range []*value{before, after} {
			// A delete's row before may be invented but for its key: it says nothing of types.
			if image.is(object) && (image == after || op.text != "d") {
				s.rows = append(s.rows, *image)
			}
		}
		if after.is(object) {
			s.now = after
		}
		if op.text == "t" {
			s.form = formTruncate
		}
		if after.is(str) { // MongoDB's connector: extended JSON in a string
			if doc, err := parse([]byte(after.text)); err == nil && doc.kind == object {
				s.form = formBroken
				s.err = fmt.Errorf("the events are those of Debezium's connector for MongoDB, whose rows are JSON in strings: declare the columns by hand")
			}
		}
	case op.is(str) && op.text == "m" && v.get("message") != nil,
		v.get("ddl") != nil && source.is(object),
		v.get("tableChanges") != nil,
		v.get("status") != nil && v.get("event_count") != nil && v.get("data_collections") != nil,
		len(v.members) == 1 && v.members[0].name == "ts_ms":
		s.form = formOther
	default:
		s.form, s.schema = formRow, whole
		s.rows, s.now = []value{*v}, v
	}
}

// isAdded reports whether a field of a row is one that ExtractNewRecordState adds.
func isAdded(name string) bool { return slices.Contains(addedNames, name) }

var addedNames = []string{"__deleted", "__op", "__table", "__db", "__schema", "__lsn", "__ts_ms", "__source_ts_ms", "__source_db", "__source_schema", "__source_table",
	"__source_lsn", "__source_txId", "__source_file", "__source_pos", "__source_connector", "__source_name", "__transaction_id", "__name", "__connector", "__file", "__pos", "__txId"}
