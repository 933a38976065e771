package debezium

import (
	"strconv"

	"github.com/goccy/go-json"

	"github.com/sluicesql/sluice/connectors/format/connect"
	"github.com/sluicesql/sluice/connectors/format/jsonrow"
	"github.com/sluicesql/sluice/connectors/format/jsonscan"
	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/internal/fault"
)

// maxSchemas bounds the schemas remembered. A topic has one at a time, unless several tables share it.
const maxSchemas = 64

// schemas are the encodings that schemas embedded in messages tell, by the schemas' text.
type schemas map[string]*jsonrow.Encoding

// encoding is that of the payload beside the given schema.
func (s schemas) encoding(schema []byte) (*jsonrow.Encoding, error) {
	if e := s[string(schema)]; e != nil {
		return e, nil
	}
	c := &connect.Schema{}
	if err := json.Unmarshal(schema, c); err != nil {
		return nil, &spi.DecodeError{Field: "schema", Offset: -1, Code: fault.MessageSchema,
			Msg: "is no schema of Kafka Connect: " + err.Error(), Fix: "correct the producer, " + skipFix}
	}
	e := encodingOf(c)
	if len(s) >= maxSchemas {
		clear(s)
	}
	s[string(schema)] = e
	return e, nil
}

// encodingOf is that of the values that c describes. A name that is none of Debezium's or Kafka Connect's own
// adds nothing to the type.
func encodingOf(c *connect.Schema) *jsonrow.Encoding {
	e := &jsonrow.Encoding{Kind: jsonrow.PlainEncoding}
	if named, ok := namedEncodings[c.Name]; ok {
		*e = named
		for _, p := range []string{"scale", "length"} {
			if n, err := strconv.Atoi(c.Parameters[p]); err == nil {
				e.Digits = n
			}
		}
		return e
	}
	switch c.Type {
	case "string":
		e.Kind = jsonrow.TextEncoding
	case "bytes":
		e.Kind = jsonrow.BytesEncoding
	case "array":
		if c.Items != nil {
			e.Elem = encodingOf(c.Items)
		}
	case "map":
		if c.Values != nil {
			e.Elem = encodingOf(c.Values)
		}
	case "struct":
		e.Fields = make(map[string]*jsonrow.Encoding, len(c.Fields))
		for i := range c.Fields {
			e.Fields[c.Fields[i].Field] = encodingOf(&c.Fields[i])
		}
	}
	return e
}

// namedEncodings are the encodings of schemas by their names. (Debezium's documentation, "Temporal types" and
// "Decimal types" of its connectors; Kafka Connect's logical types.)
var namedEncodings = map[string]jsonrow.Encoding{
	"io.debezium.data.Bits":                   {Kind: jsonrow.BitsEncoding},
	"io.debezium.data.VariableScaleDecimal":   {Kind: jsonrow.VariableDecimalEncoding},
	"io.debezium.time.Date":                   {Kind: jsonrow.DaysEncoding},
	"io.debezium.time.Time":                   {Kind: jsonrow.TimeEncoding, Digits: 3},
	"io.debezium.time.MicroTime":              {Kind: jsonrow.TimeEncoding, Digits: 6},
	"io.debezium.time.NanoTime":               {Kind: jsonrow.TimeEncoding, Digits: 9},
	"io.debezium.time.Timestamp":              {Kind: jsonrow.TimestampEncoding, Digits: 3},
	"io.debezium.time.MicroTimestamp":         {Kind: jsonrow.TimestampEncoding, Digits: 6},
	"io.debezium.time.NanoTimestamp":          {Kind: jsonrow.TimestampEncoding, Digits: 9},
	"io.debezium.time.MicroDuration":          {Kind: jsonrow.DurationEncoding, Digits: 6},
	"io.debezium.time.NanoDuration":           {Kind: jsonrow.DurationEncoding, Digits: 9},
	connect.DecimalName:                       {Kind: jsonrow.DecimalEncoding},
	"org.apache.kafka.connect.data.Date":      {Kind: jsonrow.DaysEncoding},
	"org.apache.kafka.connect.data.Time":      {Kind: jsonrow.TimeEncoding, Digits: 3},
	"org.apache.kafka.connect.data.Timestamp": {Kind: jsonrow.TimestampEncoding, Digits: 3},
}

// learn takes up the schema of the message scanned last, which is a wrapped one.
func (d *Decoder) learn() error {
	t := d.msg.schema
	if t.Kind != jsonscan.Object {
		if d.version != 0 {
			d.version = 0
			d.msg.wrapped.encode(nil)
		}
		return nil
	}
	if t.I == d.version {
		return nil
	}
	e, err := d.schemas.encoding(d.Bytes(t))
	if err != nil {
		return err
	}
	d.version = t.I
	d.msg.wrapped.encode(e)
	return nil
}

// encode tells how the rows of an envelope are encoded; nil forgets it.
func (e *envelope) encode(s *jsonrow.Encoding) {
	if s == nil {
		s = &jsonrow.Encoding{}
	}
	e.beforeFields.Encode(s.Fields["before"])
	e.afterFields.Encode(s.Fields["after"])
	if e.row != nil {
		e.row.encode(s)
	}
}
