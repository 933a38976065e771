package result

import (
	jsonformat "github.com/sluicesql/sluice/connectors/format/json"
	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/changelog"
	"github.com/sluicesql/sluice/engine/row"
	"time"

	"github.com/sluicesql/sluice/internal/fault"
)

// jsonView prints one JSON object a change. Rows are written by the json format, with every DECIMAL as a
// plain number.
type jsonView struct {
	lines
	cols []spi.Column
	tz   *time.Location
}

func (v *jsonView) encoder() (encoder, error) {
	enc, err := rowEncoder(v.cols, v.tz)
	if err != nil {
		return nil, err
	}
	return func(buf []byte, b *changelog.Batch) ([]byte, error) {
		var err error
		for i := range b.Len() {
			buf = append(append(append(buf, `{"op":"`...), b.Op(i).String()...), `","row":`...)
			if buf, err = enc(buf, b.Row(i)); err != nil {
				return nil, err
			}
			buf = append(buf, "}\n"...)
		}
		return buf, nil
	}, nil
}

// rowEncoder returns what appends a row as a JSON object.
func rowEncoder(cols []spi.Column, tz *time.Location) (func(buf []byte, r row.Row) ([]byte, error), error) {
	enc, err := jsonformat.Format{}.NewEncoder(
		spi.EncodeSpec{Columns: cols, Mode: spi.AppendOnly, TimeZone: tz},
		spi.Options{"encode.decimal-as-plain-number": "true"})
	if err != nil {
		return nil, fault.Errorf(fault.RowFormat, "the result cannot be shown as JSON: %w", err)
	}
	return func(buf []byte, r row.Row) ([]byte, error) {
		// Each row is shown by itself, as one of its own key.
		buf, err := enc.Encode(buf, nil, r)
		if err != nil {
			return nil, fault.Errorf(fault.RowFormat, "show the result as JSON: %w", err)
		}
		return buf, nil
	}, nil
}
