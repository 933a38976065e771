package debezium

import (
	"errors"
	"fmt"

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
	if form == wrapped {
		return nil, &spi.OptionError{Name: schemaInclude, Value: true,
			Msg: fmt.Sprintf("option %q must be false for a sink: messages are written without a schema", schemaInclude)}
	}
	w, err := jsonrow.NewSpecWriter(Name, s, o)
	if err != nil {
		return nil, err
	}
	return encoder{w}, nil
}

// encoder writes {"before":…,"after":…,"op":"c|u|d"}. Flink writes an update as two messages, d and c; its
// reader takes u as well, and one message instead of two is half the volume and never shows a reader a state
// in which the row is missing.
type encoder struct{ w *jsonrow.Writer }

// Updates implements spi.Encoder.
func (encoder) Updates() bool { return true }

// Encode implements spi.Encoder.
func (e encoder) Encode(buf []byte, before, after row.Row) ([]byte, error) {
	var err error
	op := byte('u')
	switch {
	case before == nil && after == nil:
		return buf, errors.New("a change without a row")
	case before == nil:
		op = 'c'
		buf = append(buf, `{"before":null`...)
	default:
		buf = append(buf, `{"before":`...)
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
	return append(buf, op, '"', '}'), nil
}
