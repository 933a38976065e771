package debezium

import (
	"fmt"

	"github.com/sluicesql/sluice/connectors/format/jsonrow"
	"github.com/sluicesql/sluice/connectors/format/jsonscan"
	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/types"
)

// metadata are the keys of Flink's debezium-json format with their types, and where they come from: a
// member of the message, the envelope or its source. (Flink's documentation, "Debezium Format", "Available
// Metadata".)
var metadata = []struct {
	key    string
	typ    types.Type
	holder holder
	member string
}{
	{"schema", types.String(), inMessage, "schema"},
	{"ingestion-timestamp", types.TimestampLTZOf(3), inEnvelope, "ts_ms"},
	{"source.timestamp", types.TimestampLTZOf(3), inSource, "ts_ms"},
	{"source.database", types.String(), inSource, "db"},
	{"source.schema", types.String(), inSource, "schema"},
	{"source.table", types.String(), inSource, "table"},
	{"source.properties", types.MapOf(types.String(), types.String()), inEnvelope, "source"},
}

// holder is the object that a metadata column is a member of.
type holder uint8

const (
	inMessage holder = iota // beside the payload
	inEnvelope
	inSource
	holders
)

// metaColumn is a metadata column wanted.
type metaColumn struct {
	key    string
	out    int
	holder holder
	member string
	value  *jsonrow.Value
}

// metaColumns are the metadata columns of s.
func metaColumns(s spi.DecodeSpec) ([]metaColumn, error) {
	var cols []metaColumn
	for i, c := range s.Columns {
		if c.Metadata == "" || jsonrow.Skipped(s, i) {
			continue
		}
		m, err := metaColumnOf(c)
		if err != nil {
			return nil, err
		}
		m.out = i
		cols = append(cols, m)
	}
	return cols, nil
}

func metaColumnOf(c spi.Column) (metaColumn, error) {
	for _, m := range metadata {
		if m.key != c.Metadata {
			continue
		}
		t := c.Type
		var ok bool
		switch m.typ.Kind {
		case types.TimestampLTZ:
			ok = t.Kind == types.TimestampLTZ && t.Precision <= 6
		case types.Map:
			ok = t.Kind == types.Map && t.Key.IsString() && t.Elem.IsString()
		default:
			ok = t.IsString()
		}
		if !ok {
			return metaColumn{}, fmt.Errorf("metadata %q of the format %s has the type %s; it cannot be declared %s", m.key, Name, m.typ, c.Type)
		}
		v, err := jsonrow.NewValue(t)
		if err == nil && m.typ.Kind == types.TimestampLTZ {
			v.Encode(&jsonrow.Encoding{Kind: jsonrow.TimestampEncoding, Digits: 3})
		}
		return metaColumn{key: m.key, holder: m.holder, member: m.member, value: v}, err
	}
	return metaColumn{}, fmt.Errorf("the format %s has no metadata %q", Name, c.Metadata)
}

// setMetadata sets the metadata columns of a row.
func (d *Decoder) setMetadata(e *envelope, b *row.Builder) error {
	for i := range d.meta {
		m := &d.meta[i]
		t := e.meta[i]
		if m.holder == inSource && e.source.Kind != jsonscan.Object {
			t = &absent
		}
		if err := d.Set(m.value, t, b, m.out); err != nil {
			return jsonrow.Within(err, m.key)
		}
	}
	return nil
}

// absent is the token of a member that an object cannot have.
var absent jsonscan.Token
