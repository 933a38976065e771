package result

import (
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/sluicesql/sluice/cmd/sluice/internal/display"
	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/changelog"
	"github.com/sluicesql/sluice/engine/keyenc"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/text"
)

// bag is a multiset of rows, kept up to date by changes.
type bag struct {
	cols []spi.Column
	tz   *time.Location
	key  []keyenc.Column // all columns, for the order of rows
	rows map[string]int
	size int
}

func newBag(cols []spi.Column, tz *time.Location) bag {
	b := bag{cols: cols, tz: tz, rows: map[string]int{}}
	for i, c := range cols {
		b.key = append(b.key, keyenc.Column{Index: i, Phys: c.Type.Phys()})
	}
	return b
}

// encoder writes changes as a byte for the weight, the length and the bytes of the row.
func (t *bag) encoder() (encoder, error) {
	return func(buf []byte, b *changelog.Batch) ([]byte, error) {
		for i := range b.Len() {
			weight := byte(1)
			if b.Op(i).Negative() {
				weight = 0
			}
			buf = append(buf, weight)
			buf = binary.AppendUvarint(buf, uint64(len(b.Row(i))))
			buf = append(buf, b.Row(i)...)
		}
		return buf, nil
	}, nil
}

// show applies changes.
func (t *bag) show(_ io.Writer, chunk []byte) error {
	for len(chunk) > 0 {
		add := chunk[0] == 1
		n, w := binary.Uvarint(chunk[1:])
		r := chunk[1+w:][:n]
		chunk = chunk[1+w+int(n):]
		if add {
			t.rows[string(r)]++
			t.size++
			continue
		}
		switch c := t.rows[string(r)]; {
		case c > 1:
			t.rows[string(r)] = c - 1
		case c == 1:
			delete(t.rows, string(r))
		default:
			return fmt.Errorf("the result takes back a row that it never had: %s", t.line(row.Row(r)))
		}
		t.size--
	}
	return nil
}

func (t *bag) line(r row.Row) string {
	v := changelogView{cols: t.cols, tz: t.tz}
	return strings.TrimSuffix(string(v.line(nil, changelog.Delete, r)), "\n")
}

// entry is a row of a bag, with the encoding that orders it.
type entry struct {
	row, key string
	count    int
}

// least are the first n entries of the bag, in the order of their values.
func (t *bag) least(n int) []entry {
	n = min(n, len(t.rows))
	if n <= 0 {
		return nil
	}
	var all []entry
	var key []byte
	limit, limited := "", false // n entries are known to be no greater
	for r, c := range t.rows {
		key = keyenc.Append(key[:0], row.Row(r), t.key)
		if limited && string(key) > limit {
			continue
		}
		if all = append(all, entry{r, string(key), c}); len(all) >= 2*n {
			sortEntries(all)
			all = all[:n]
			limit, limited = all[n-1].key, true
		}
	}
	sortEntries(all)
	return all[:n]
}

func compareEntries(a, b entry) int {
	if c := strings.Compare(a.key, b.key); c != 0 {
		return c
	}
	return strings.Compare(a.row, b.row) // zeros of different sign
}

func sortEntries(e []entry) { slices.SortFunc(e, compareEntries) }

// cell is the text of column i of r.
func (t *bag) cell(r row.Row, i int) string {
	c := t.cols[i]
	d := r.Get(i, c.Type.Phys())
	if d.Null {
		return "<NULL>"
	}
	return display.Clean(string(text.Append(nil, c.Type, d, t.tz)))
}

// layout is how wide the columns of a table are.
type layout struct {
	names  []string
	widths []int
	right  []bool
}

// measure finds the layout for the given rows.
func (t *bag) measure(rows []entry) layout {
	var l layout
	for i, c := range t.cols {
		name := display.Clean(c.Name)
		l.names = append(l.names, name)
		w := display.Width(name)
		for _, e := range rows {
			w = max(w, display.Width(t.cell(row.Row(e.row), i)))
		}
		l.widths = append(l.widths, w)
		l.right = append(l.right, c.Type.IsNumeric())
	}
	return l
}

// cells appends one line of a table.
func (l *layout) cells(buf []byte, cell func(i int) string, right []bool) []byte {
	for i, w := range l.widths {
		buf = append(buf, "| "...)
		buf = display.Pad(buf, cell(i), w, right != nil && right[i])
		buf = append(buf, ' ')
	}
	return append(buf, '|')
}

func (l *layout) header(buf []byte) []byte {
	return l.cells(buf, func(i int) string { return l.names[i] }, l.right)
}

// table prints the rows at the end.
type table struct {
	bag
	max int
}

func newTable(cols []spi.Column, tz *time.Location, maxRows int) *table {
	return &table{newBag(cols, tz), maxRows}
}

func (t *table) epochEnd(io.Writer) error { return nil }

func (t *table) finish(out io.Writer, ok bool) error {
	if !ok {
		return nil // the rows of a part of the input are no answer
	}
	rows := t.least(t.max)
	l := t.measure(rows)
	rule := append(display.Rule(nil, l.widths), '\n')
	buf := append(rule[:len(rule):len(rule)], append(l.header(nil), '\n')...)
	buf = append(buf, rule...)
	shown := 0
	for _, e := range rows {
		line := append(l.cells(nil, func(i int) string { return t.cell(row.Row(e.row), i) }, l.right), '\n')
		for range min(e.count, t.max-shown) {
			shown++
			if buf = append(buf, line...); len(buf) >= 32<<10 {
				if _, err := out.Write(buf); err != nil {
					return err
				}
				buf = buf[:0]
			}
		}
	}
	if shown > 0 {
		buf = append(buf, rule...)
	}
	buf = append(append(buf, rowsInSet(t.size, shown)...), '\n')
	_, err := out.Write(buf)
	return err
}

func rowsInSet(size, shown int) string {
	s := fmt.Sprintf("%s rows in set", display.Count(int64(size)))
	if size == 1 {
		s = "1 row in set"
	}
	if shown < size {
		s += fmt.Sprintf(", the first %s of them shown", display.Count(int64(shown)))
	}
	return s
}
