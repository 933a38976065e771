package result

import (
	"fmt"
	"time"

	jsonformat "github.com/sluicesql/sluice/connectors/format/json"
	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/changelog"
)

// jsonView prints one JSON object a change. Rows are written by the json format, with every DECIMAL as a
// plain number.
type jsonView struct {
	lines
	cols []spi.Column
	tz   *time.Location
}

func (v *jsonView) encoder() (encoder, error) {
	enc, err := jsonformat.Format{}.NewEncoder(
		spi.EncodeSpec{Columns: v.cols, Mode: spi.AppendOnly, TimeZone: v.tz},
		spi.Options{"encode.decimal-as-plain-number": "true"})
	if err != nil {
		return nil, fmt.Errorf("the result cannot be shown as JSON: %w", err)
	}
	return func(buf []byte, b *changelog.Batch) ([]byte, error) {
		var err error
		for i := range b.Len() {
			buf = append(append(append(buf, `{"op":"`...), b.Op(i).String()...), `","row":`...)
			// Each change is shown by itself, as a row of its own.
			if buf, err = enc.Encode(buf, nil, b.Row(i)); err != nil {
				return nil, fmt.Errorf("show the result as JSON: %w", err)
			}
			buf = append(buf, "}\n"...)
		}
		return buf, nil
	}, nil
}
