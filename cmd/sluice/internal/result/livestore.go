package result

import (
	"io"
	"slices"
	"sync"

	"github.com/sluicesql/sluice/cmd/sluice/internal/display"
	"github.com/sluicesql/sluice/engine/changelog"
	"github.com/sluicesql/sluice/engine/keyenc"
	"github.com/sluicesql/sluice/engine/row"
)

// Live is a result that somebody looks at while it changes: its rows, and its last changes. Its methods may be called
// from any goroutine.
type Live struct {
	mu      sync.Mutex // guards all below
	bag     bag
	changes []liveChange // a ring of the last ones
	total   int64        // changes there were
	version uint64       // counts the batches of changes
}

type liveChange struct {
	op  changelog.Op
	row string
}

// keptChanges is how many changes are kept to be looked at.
const keptChanges = 10_000

// NewLive returns a result that is not open yet: Open is given it in its options.
func NewLive() *Live { return &Live{} }

func (l *Live) open(b bag) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.bag = b
}

// encoder writes the operation in front of what a bag wants to know of a change.
func (l *Live) encoder() (encoder, error) {
	return func(buf []byte, b *changelog.Batch) ([]byte, error) {
		for i := range b.Len() {
			buf = appendChange(append(buf, byte(b.Op(i))), !b.Op(i).Negative(), b.Row(i))
		}
		return buf, nil
	}, nil
}

func (l *Live) show(_ io.Writer, chunk []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.version++
	for len(chunk) > 0 {
		op := changelog.Op(chunk[0])
		add, r, rest := cutChange(chunk[1:])
		chunk = rest
		if err := l.bag.apply(add, r); err != nil {
			return err
		}
		c := liveChange{op, string(r)}
		if len(l.changes) < keptChanges {
			l.changes = append(l.changes, c)
		} else {
			l.changes[l.total%keptChanges] = c
		}
		l.total++
	}
	return nil
}

func (l *Live) epochEnd(io.Writer) error     { return nil }
func (l *Live) finish(io.Writer, bool) error { return nil }

// Version changes whenever the result does.
func (l *Live) Version() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.version
}

// Size is the number of rows in words, and that of the changes there were.
func (l *Live) Size() (rows string, changes int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return rowsInSet(l.bag.size, l.bag.size), l.total
}

// Columns are the columns of the result.
func (l *Live) Columns() []display.Column {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.bag.columns()
}

// Snapshot is what a result was at one moment: its rows, in an order, and its last changes. It is for one goroutine.
type Snapshot struct {
	bag     *bag // without rows
	entries []entry
	starts  []int // the number of the first row of each entry
	rows    int
	changes []liveChange // the oldest first
}

// Snapshot returns what the result is now, its rows sorted as by Sort.
func (l *Live) Snapshot(column int, descending bool) *Snapshot {
	l.mu.Lock()
	s := &Snapshot{bag: &bag{cols: l.bag.cols, tz: l.bag.tz, order: l.bag.order}, rows: l.bag.size}
	for r, c := range l.bag.rows {
		s.entries = append(s.entries, entry{row: r, count: c})
	}
	oldest := 0
	if len(l.changes) == keptChanges {
		oldest = int(l.total % keptChanges)
	}
	s.changes = slices.Concat(l.changes[oldest:], l.changes[:oldest])
	l.mu.Unlock()
	s.Sort(column, descending)
	return s
}

// Sort puts the rows into the order of a column's values, then into that of the query; a negative column keeps the
// latter alone.
func (s *Snapshot) Sort(column int, descending bool) {
	order := s.bag.order
	if column >= 0 {
		order = append([]keyenc.OrderColumn{s.bag.byColumn(column)}, order...)
	}
	var buf []byte
	for i := range s.entries {
		buf = keyenc.AppendOrder(buf[:0], row.Row(s.entries[i].row), order)
		s.entries[i].key = string(buf)
	}
	sortEntries(s.entries)
	if descending {
		slices.Reverse(s.entries)
	}
	n := 0
	s.starts = s.starts[:0]
	for _, e := range s.entries {
		s.starts = append(s.starts, n)
		n += e.count
	}
}

// Len is the number of rows.
func (s *Snapshot) Len() int { return s.rows }

// Cells are the texts of up to n rows, the first being number from.
func (s *Snapshot) Cells(from, n int) [][]display.Cell {
	var out [][]display.Cell
	i, found := slices.BinarySearch(s.starts, from)
	if !found {
		i--
	}
	for at := from; len(out) < n && i >= 0 && i < len(s.entries); i++ {
		e := s.entries[i]
		for ; at < s.starts[i]+e.count && len(out) < n; at++ {
			out = append(out, s.bag.cells(nil, row.Row(e.row)))
		}
	}
	return out
}

// Export writes all rows in a layout.
func (s *Snapshot) Export(out io.Writer, layout display.Layout) error {
	return s.bag.write(out, s.entries, layout, s.rows)
}

// Kept is the number of changes, of which a result keeps the last.
func (s *Snapshot) Kept() int { return len(s.changes) }

// Changes are up to n changes, the first being number from of those that are kept; the first cell of each is the
// operation.
func (s *Snapshot) Changes(from, n int) [][]display.Cell {
	var out [][]display.Cell
	for _, c := range s.changes[min(from, len(s.changes)):min(from+n, len(s.changes))] {
		out = append(out, s.bag.cells([]display.Cell{{Text: c.op.String()}}, row.Row(c.row)))
	}
	return out
}
