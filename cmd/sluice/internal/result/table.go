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
	"github.com/sluicesql/sluice/internal/fault"
)

// bag is a multiset of rows, kept up to date by changes.
type bag struct {
	cols  []spi.Column
	tz    *time.Location
	order []keyenc.OrderColumn // of the rows: that of the query, then all columns
	rows  map[string]int
	size  int
}

func newBag(cols []spi.Column, order []keyenc.OrderColumn, tz *time.Location) bag {
	b := bag{cols: cols, tz: tz, order: slices.Clone(order), rows: map[string]int{}}
	for i := range cols {
		b.order = append(b.order, b.byColumn(i))
	}
	return b
}

// byColumn is the order of a column's values.
func (t *bag) byColumn(i int) keyenc.OrderColumn {
	return keyenc.OrderColumn{Column: keyenc.Column{Index: i, Phys: t.cols[i].Type.Phys()}}
}

// encoder writes changes as a byte for the weight, the length and the bytes of the row.
func (t *bag) encoder() (encoder, error) {
	return func(buf []byte, b *changelog.Batch) ([]byte, error) {
		for i := range b.Len() {
			buf = appendChange(buf, !b.Op(i).Negative(), b.Row(i))
		}
		return buf, nil
	}, nil
}

// appendChange writes a row that is added or taken back.
func appendChange(buf []byte, add bool, r row.Row) []byte {
	weight := byte(0)
	if add {
		weight = 1
	}
	buf = append(buf, weight)
	buf = binary.AppendUvarint(buf, uint64(len(r)))
	return append(buf, r...)
}

// cutChange takes the first change off chunk.
func cutChange(chunk []byte) (add bool, r row.Row, rest []byte) {
	n, w := binary.Uvarint(chunk[1:])
	end := 1 + w + int(n)
	return chunk[0] == 1, row.Row(chunk[1+w : end]), chunk[end:]
}

// show applies changes.
func (t *bag) show(_ io.Writer, chunk []byte) error {
	for len(chunk) > 0 {
		var add bool
		var r row.Row
		add, r, chunk = cutChange(chunk)
		if err := t.apply(add, r); err != nil {
			return err
		}
	}
	return nil
}

// apply adds a row, or takes it back.
func (t *bag) apply(add bool, r row.Row) error {
	if add {
		t.rows[string(r)]++
		t.size++
		return nil
	}
	switch c := t.rows[string(r)]; {
	case c > 1:
		t.rows[string(r)] = c - 1
	case c == 1:
		delete(t.rows, string(r))
	default:
		return fault.Errorf(fault.Internal, "the result takes back a row that it never had: %s", t.line(r))
	}
	t.size--
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

// least are the first n entries of the bag, in its order.
func (t *bag) least(n int) []entry {
	n = min(n, len(t.rows))
	if n <= 0 {
		return nil
	}
	var all []entry
	var key []byte
	limit, limited := "", false // n entries are known to be no greater
	for r, c := range t.rows {
		key = keyenc.AppendOrder(key[:0], row.Row(r), t.order)
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

// cells appends the texts of r's columns.
func (t *bag) cells(dst []display.Cell, r row.Row) []display.Cell {
	for i, c := range t.cols {
		d := r.Get(i, c.Type.Phys())
		if d.Null {
			dst = append(dst, display.Cell{Null: true})
			continue
		}
		dst = append(dst, display.Cell{Text: string(text.Append(nil, c.Type, d, t.tz))})
	}
	return dst
}

// columns are the bag's columns as people see them.
func (t *bag) columns() []display.Column {
	var cols []display.Column
	for _, c := range t.cols {
		cols = append(cols, display.Column{Name: c.Name, Right: c.Type.IsNumeric()})
	}
	return cols
}

// measured is an aligned sheet that is wide enough for the rows.
func (t *bag) measured(rows []entry) *display.Sheet {
	s := display.NewSheet(display.Aligned, t.columns())
	var cells []display.Cell
	for _, e := range rows {
		cells = t.cells(cells[:0], row.Row(e.row))
		s.Measure(cells)
	}
	return s
}

// table prints the rows at the end.
type table struct {
	bag
	max    int
	layout display.Layout
}

func newTable(b bag, o Options) *table {
	return &table{b, o.MaxRows, o.Layout}
}

func (t *table) epochEnd(io.Writer) error { return nil }

func (t *table) finish(out io.Writer, ok bool) error {
	if !ok {
		return nil // the rows of a part of the input are no answer
	}
	rows := t.least(t.max)
	if err := t.write(out, rows, t.layout, t.max); err != nil {
		return err
	}
	switch shown := min(t.size, t.max); {
	case t.layout == display.Aligned || t.layout == display.Expanded:
		_, err := io.WriteString(out, rowsInSet(t.size, shown)+"\n")
		return err
	case shown < t.size:
		// In a form that programs read nothing may be missing in silence, and there is no place to say so.
		return fault.Errorf(fault.JobLimit, "the result has %s rows, of which no more than %s are shown", display.Count(int64(t.size)), display.Count(int64(t.max))).
			Fix("raise 'sql-client.execution.max-table-result.rows'")
	}
	return nil
}

// write writes rows in a layout, no more than the given number.
func (t *bag) write(out io.Writer, rows []entry, layout display.Layout, most int) error {
	sheet := display.NewSheet(layout, t.columns())
	if layout == display.Aligned {
		sheet = t.measured(rows)
	}
	line := func(buf []byte, n int, r row.Row) ([]byte, error) { return sheet.Row(buf, n, t.cells(nil, r)), nil }
	if layout == display.JSON {
		enc, err := rowEncoder(t.cols, t.tz)
		if err != nil {
			return err
		}
		line = func(buf []byte, _ int, r row.Row) ([]byte, error) {
			buf, err := enc(buf, r)
			return append(buf, '\n'), err
		}
	}
	buf := sheet.Begin(nil)
	shown := 0
	for _, e := range rows {
		for range min(e.count, most-shown) {
			shown++
			var err error
			if buf, err = line(buf, shown, row.Row(e.row)); err != nil {
				return err
			}
			if len(buf) >= 32<<10 {
				if _, err := out.Write(buf); err != nil {
					return err
				}
				buf = buf[:0]
			}
		}
	}
	_, err := out.Write(sheet.End(buf, shown))
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
