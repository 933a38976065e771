package sqltest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sluicesql/sluice/cmd/sluice/internal/display"
	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/changelog"
	"github.com/sluicesql/sluice/engine/keyenc"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/text"
)

// capture is what a table, view or result has been given: its present rows, and how they differ from those of the
// last look.
type capture struct {
	mu      sync.Mutex
	rows    map[string]*captured // by text
	keyed   map[string]string    // of upserts: the present row's text by the key's
	changes int64
	shown   map[string]uint64 // the last epoch taken, by sink and writer
}

// captured is a row, how often it is there, and how often it was there at the last look.
type captured struct {
	text, order string
	pair        string // the text of a unique key; empty when none is known
	now, was    int
}

func newCapture() *capture {
	return &capture{rows: map[string]*captured{}, keyed: map[string]string{}, shown: map[string]uint64{}}
}

// change is a change of a row as a writer was given it.
type change struct {
	op  changelog.Op
	row captured
	key string // of an upsert
}

// format makes texts of the rows of a sink.
type format struct {
	cols   []spi.Column
	order  []keyenc.Column
	key    []int // of upserts; nil otherwise
	pair   []int // a unique key; nil when none is known
	zone   *time.Location
	upsert bool
}

func newFormat(spec spi.SinkSpec, pair []int) *format {
	f := &format{zone: spec.TimeZone, upsert: spec.Mode == spi.Upsert, key: spec.Key, pair: pair}
	if len(spec.Key) > 0 {
		f.pair = spec.Key
	}
	for i, c := range spec.Columns {
		col := spec.Table.Columns[c]
		f.cols = append(f.cols, col)
		f.order = append(f.order, keyenc.Column{Index: i, Phys: col.Type.Phys()})
	}
	return f
}

func (f *format) cells(r row.Row, columns []int) string {
	var parts []string
	for _, i := range columns {
		c := f.cols[i]
		parts = append(parts, display.Clean(string(text.Append(nil, c.Type, r.Get(i, c.Type.Phys()), f.zone))))
	}
	return strings.Join(parts, ", ")
}

func (f *format) change(op changelog.Op, r row.Row) change {
	all := make([]int, len(f.cols))
	for i := range all {
		all[i] = i
	}
	c := change{op: op, row: captured{text: "[" + f.cells(r, all) + "]", order: string(keyenc.Append(nil, r, f.order))}}
	if f.pair != nil {
		c.row.pair = "[" + f.cells(r, f.pair) + "]"
	}
	if f.upsert {
		c.key = f.cells(r, f.key)
	}
	return c
}

// take takes the changes that a writer was given in an epoch, once: after a crash they come again.
func (c *capture) take(writer string, epoch uint64, changes []change, upsert bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if last, ok := c.shown[writer]; ok && epoch <= last {
		return
	}
	c.shown[writer] = epoch
	c.changes += int64(len(changes))
	for _, ch := range changes {
		if !upsert {
			weight := 1
			if ch.op.Negative() {
				weight = -1
			}
			c.add(ch.row, weight)
			continue
		}
		if old, ok := c.keyed[ch.key]; ok {
			c.add(captured{text: old}, -1)
			delete(c.keyed, ch.key)
		}
		if !ch.op.Negative() {
			c.keyed[ch.key] = ch.row.text
			c.add(ch.row, 1)
		}
	}
}

func (c *capture) add(r captured, weight int) {
	e := c.rows[r.text]
	if e == nil {
		e = &captured{text: r.text, order: r.order, pair: r.pair}
		c.rows[r.text] = e
	}
	e.now += weight
}

// sorted are the rows in the order of their values.
func (c *capture) sorted() []*captured {
	out := make([]*captured, 0, len(c.rows))
	for _, e := range c.rows {
		out = append(out, e)
	}
	slices.SortFunc(out, func(a, b *captured) int {
		return cmp.Or(strings.Compare(a.order, b.order), strings.Compare(a.text, b.text))
	})
	return out
}

// table are the present rows, as lines. A row that was taken back and was never there has a minus in front.
func (c *capture) table() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var lines []string
	for _, e := range c.sorted() {
		for range e.now {
			lines = append(lines, e.text)
		}
		for range -e.now {
			lines = append(lines, "-"+e.text)
		}
	}
	if lines == nil {
		return []string{"no rows"}
	}
	return lines
}

// look are the changes since the last look, as lines: what an update leaves of a row directly after the row before it.
func (c *capture) look() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var lines []string
	rows := c.sorted()
	gone := map[string][]*captured{} // by key, the rows with one copy less
	came := map[string]int{}
	for _, e := range rows {
		switch d := e.now - e.was; {
		case e.pair != "" && d == -1:
			gone[e.pair] = append(gone[e.pair], e)
		case e.pair != "" && d == 1:
			came[e.pair]++
		}
	}
	updated := func(e *captured) bool { return e.pair != "" && came[e.pair] == 1 && len(gone[e.pair]) == 1 }
	for _, e := range rows {
		d := e.now - e.was
		if e.pair != "" && (d == 1 || d == -1) && updated(e) {
			if d == 1 {
				lines = append(lines, "-U"+gone[e.pair][0].text, "+U"+e.text)
			}
			continue
		}
		for range d {
			lines = append(lines, "+I"+e.text)
		}
		for range -d {
			lines = append(lines, "-D"+e.text)
		}
	}
	for text, e := range c.rows {
		if e.was = e.now; e.now == 0 {
			delete(c.rows, text)
		}
	}
	if lines == nil {
		return []string{"no changes"}
	}
	return lines
}

// count is the number of changes taken.
func (c *capture) count() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.changes
}

// sink notes what it is given, and passes it on.
type sink struct {
	spi.Sink // nil for the result of a SELECT
	capture  *capture
	format   *format
	name     string
}

// pinnedSink is a sink whose inner one is pinned.
type pinnedSink struct {
	*sink
	spi.PinnedSink
}

func (p pinnedSink) Writer(i int) spi.Writer { return p.sink.Writer(i) }
func (p pinnedSink) Stats() spi.SinkStats    { return p.sink.Stats() }
func (p pinnedSink) Close() error            { return p.sink.Close() }

// wrap captures what the inner sink of a table is given.
func wrap(inner spi.Sink, c *capture, f *format, name string) spi.Sink {
	s := &sink{inner, c, f, name}
	if p, ok := inner.(spi.PinnedSink); ok {
		return pinnedSink{s, p}
	}
	return s
}

// Writer implements spi.Sink.
func (s *sink) Writer(i int) spi.Writer {
	w := &writer{sink: s, id: fmt.Sprintf("%s/%d", s.name, i)}
	if s.Sink != nil {
		w.inner = s.Sink.Writer(i)
	}
	return w
}

// Stats implements spi.Sink.
func (s *sink) Stats() spi.SinkStats {
	if s.Sink == nil {
		return spi.SinkStats{Rows: s.capture.count()}
	}
	return s.Sink.Stats()
}

// Close implements spi.Sink.
func (s *sink) Close() error {
	if s.Sink == nil {
		return nil
	}
	return s.Sink.Close()
}

type writer struct {
	sink    *sink
	id      string
	inner   spi.Writer
	changes []change
}

// Write implements spi.Writer.
func (w *writer) Write(ctx context.Context, b *changelog.Batch) error {
	for i := range b.Len() {
		w.changes = append(w.changes, w.sink.format.change(b.Op(i), b.Row(i)))
	}
	if w.inner == nil {
		return nil
	}
	return w.inner.Write(ctx, b)
}

// Barrier implements spi.Writer. The capture has the epoch before it is acknowledged.
func (w *writer) Barrier(ctx context.Context, epoch uint64, ack func(error)) {
	w.sink.capture.take(w.id, epoch, w.changes, w.sink.format.upsert)
	w.changes = nil
	if w.inner == nil {
		ack(nil)
		return
	}
	w.inner.Barrier(ctx, epoch, ack)
}

// Close implements spi.Writer.
func (w *writer) Close() error {
	if w.inner == nil {
		return nil
	}
	return w.inner.Close()
}
