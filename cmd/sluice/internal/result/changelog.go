package result

import (
	"io"
	"time"

	"github.com/sluicesql/sluice/cmd/sluice/internal/display"
	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/changelog"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/text"
)

// changelogView prints one line a change, in the form of Flink's print connector.
type changelogView struct {
	lines
	cols  []spi.Column
	tz    *time.Location
	plain bool
}

func (v *changelogView) encoder() (encoder, error) {
	return func(buf []byte, b *changelog.Batch) ([]byte, error) {
		for i := range b.Len() {
			buf = v.line(buf, b.Op(i), b.Row(i))
		}
		return buf, nil
	}, nil
}

func (v *changelogView) line(buf []byte, op changelog.Op, r row.Row) []byte {
	at := len(buf)
	buf = append(append(buf, op.String()...), '[')
	for i, c := range v.cols {
		if i > 0 {
			buf = append(buf, ", "...)
		}
		buf = text.Append(buf, c.Type, r.Get(i, c.Type.Phys()), v.tz)
	}
	buf = append(buf, ']')
	if !v.plain && !printable(buf[at:]) {
		buf = append(buf[:at], display.Clean(string(buf[at:]))...)
	}
	return append(buf, '\n')
}

// printable reports whether b is plain ASCII, the common case, which needs no closer look.
func printable(b []byte) bool {
	for _, c := range b {
		if c < ' ' || c >= 0x7F {
			return false
		}
	}
	return true
}

// lines is the part of a view that prints what its encoders made, as it is.
type lines struct{}

func (lines) show(out io.Writer, chunk []byte) error {
	_, err := out.Write(chunk)
	return err
}

func (lines) epochEnd(io.Writer) error     { return nil }
func (lines) finish(io.Writer, bool) error { return nil }
