package debezium

import (
	"errors"
	"strings"
	"testing"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/changelog"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/text"
	"github.com/sluicesql/sluice/engine/types"
)

// stream is a decoder with what it needs to be fed.
type stream struct {
	*Decoder
	cols []spi.Column
	out  *spi.Out
}

func open(t testing.TB, s spi.DecodeSpec, o spi.Options) *stream {
	t.Helper()
	d, err := Format{}.NewDecoder(s, o)
	if err != nil {
		t.Fatal(err)
	}
	out := spi.NewOut(s.Columns)
	out.Batch = &changelog.Batch{}
	return &stream{Decoder: d.(*Decoder), cols: s.Columns, out: out}
}

// feed decodes one message and returns its changes, such as "+I(1, a) -D(2, b)".
func (s *stream) feed(key, value string) (string, error) {
	m := spi.Message{Key: []byte(key), Value: []byte(value)}
	if key == "" {
		m.Key = nil
	}
	s.out.Batch.Reset()
	err := s.Decode(m, s.out)
	return changes(s.out.Batch, s.cols), err
}

func changes(b *changelog.Batch, cols []spi.Column) string {
	var all []string
	for i := range b.Len() {
		all = append(all, b.Op(i).String()+show(b.Row(i), cols))
	}
	return strings.Join(all, " ")
}

func show(r row.Row, cols []spi.Column) string {
	buf := []byte{'('}
	for i, c := range cols {
		if i > 0 {
			buf = append(buf, ", "...)
		}
		buf = text.Append(buf, c.Type, r.Get(i, c.Type.Phys()), nil)
	}
	return string(append(buf, ')'))
}

func decodeError(t *testing.T, err error) *spi.DecodeError {
	t.Helper()
	var e *spi.DecodeError
	if !errors.As(err, &e) {
		t.Fatalf("%v is no *spi.DecodeError", err)
	}
	return e
}

// col declares a column; a name such as "x FROM source.table" a metadata column.
func col(name string, t types.Type) spi.Column {
	if n, m, ok := strings.Cut(name, " FROM "); ok {
		return spi.Column{Name: n, Type: t, Metadata: m, Virtual: true}
	}
	return spi.Column{Name: name, Type: t}
}
