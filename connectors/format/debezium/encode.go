package debezium

import (
	"errors"
	"fmt"

	"github.com/goccy/go-json"

	"github.com/sluicesql/sluice/connectors/format/jsonrow"
	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/row"
)

// NewEncoder implements spi.Format.
func (Format) NewEncoder(s spi.EncodeSpec, o spi.Options) (spi.Encoder, error) {
	form, err := parseInclude(o)
	if err != nil {
		return nil, err
	}
	e := encoder{}
	if e.w, err = jsonrow.NewSpecWriter(Name, s, o); err != nil {
		return nil, err
	}
	e.head = `{"before":`
	if form == wrapped {
		schema, err := json.Marshal(envelopeSchema(s.Columns))
		if err != nil {
			return nil, fmt.Errorf("writing a schema: %w", err)
		}
		e.head, e.tail = `{"schema":`+string(schema)+`,"payload":`+e.head, "}"
	}
	return e, nil
}

// encoder writes {"before":…,"after":…,"op":"c|u|d"}. Flink writes an update as two messages, d and c; its
// reader takes u as well, and one message instead of two is half the volume and never shows a reader a state
// in which the row is missing. With schema-include it is the payload beside a schema.
type encoder struct {
	w          *jsonrow.Writer
	head, tail string // what stands before the row before, and after the payload
}

// Updates implements spi.Encoder.
func (encoder) Updates() bool { return true }

// Encode implements spi.Encoder.
func (e encoder) Encode(buf []byte, before, after row.Row) ([]byte, error) {
	var err error
	op := byte('u')
	buf = append(buf, e.head...)
	switch {
	case before == nil && after == nil:
		return buf, errors.New("a change without a row")
	case before == nil:
		op = 'c'
		buf = append(buf, "null"...)
	default:
		if buf, err = e.w.Append(buf, before); err != nil {
			return buf, err
		}
	}
	if after == nil {
		op = 'd'
		buf = append(buf, `,"after":null`...)
	} else {
		buf = append(buf, `,"after":`...)
		if buf, err = e.w.Append(buf, after); err != nil {
			return buf, err
		}
	}
	buf = append(buf, `,"op":"`...)
	return append(append(buf, op, '"', '}'), e.tail...), nil
}
