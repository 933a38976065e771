package result

import (
	"io"
	"strings"
	"sync/atomic"
	"time"

	"github.com/sluicesql/sluice/cmd/sluice/internal/display"
	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/changelog"
	"github.com/sluicesql/sluice/engine/types"
)

// stream prints the changes as they come, in columns of which the first is the operation.
type stream struct {
	rows  bag // for its columns; it stays empty
	sheet *display.Sheet
	n     atomic.Int64
	begun bool
}

// opColumn is the name of the first column, as Flink has it.
const opColumn = "op"

func newStream(cols []spi.Column, tz *time.Location, layout display.Layout) *stream {
	v := &stream{rows: newBag(cols, nil, tz)}
	v.sheet = display.NewSheet(layout, append([]display.Column{{Name: opColumn}}, v.rows.columns()...))
	widest := []display.Cell{{Text: changelog.Insert.String()}}
	for _, c := range cols {
		widest = append(widest, display.Cell{Text: strings.Repeat(" ", usualWidth(c.Type))})
	}
	v.sheet.Measure(widest)
	return v
}

// usualWidth is the width of a column whose values are not known yet. A longer value moves the rest of its line;
// none is cut.
func usualWidth(t types.Type) int {
	switch t.Kind {
	case types.Boolean, types.TinyInt, types.SmallInt:
		return 6
	case types.Int, types.Date:
		return 11
	case types.BigInt, types.Float, types.Double, types.Decimal:
		return 20
	case types.Timestamp, types.TimestampLTZ:
		return 26
	}
	return 30
}

func (v *stream) encoder() (encoder, error) {
	var cells []display.Cell
	return func(buf []byte, b *changelog.Batch) ([]byte, error) {
		for i := range b.Len() {
			cells = append(cells[:0], display.Cell{Text: b.Op(i).String()})
			cells = v.rows.cells(cells, b.Row(i))
			buf = v.sheet.Row(buf, int(v.n.Add(1)), cells)
		}
		return buf, nil
	}, nil
}

func (v *stream) begin(out io.Writer) error {
	if v.begun {
		return nil
	}
	v.begun = true
	_, err := out.Write(v.sheet.Begin(nil))
	return err
}

func (v *stream) show(out io.Writer, chunk []byte) error {
	if err := v.begin(out); err != nil {
		return err
	}
	_, err := out.Write(chunk)
	return err
}

func (v *stream) epochEnd(io.Writer) error { return nil }

func (v *stream) finish(out io.Writer, _ bool) error {
	if err := v.begin(out); err != nil {
		return err
	}
	_, err := out.Write(v.sheet.End(nil, int(v.n.Load())))
	return err
}
