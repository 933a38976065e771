package result

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/sluicesql/sluice/cmd/sluice/internal/display"
	"github.com/sluicesql/sluice/engine/row"
)

// liveTable keeps a table on the terminal up to date. A goroutine paints, so that a change appears also
// when no further one follows, and so that the time between paints bounds their cost.
type liveTable struct {
	screen *Screen
	out    io.Writer

	mu      sync.Mutex // guards the fields below
	bag     bag
	changed bool
	err     error // the first error of the terminal

	painter painter
	stop    chan struct{}
	stopped chan struct{}
}

func newLiveTable(b bag, o Options) *liveTable {
	v := &liveTable{
		screen: o.Screen, out: o.Out, bag: b, changed: true,
		stop: make(chan struct{}), stopped: make(chan struct{}),
	}
	go v.run()
	return v
}

func (v *liveTable) encoder() (encoder, error) { return v.bag.encoder() }

func (v *liveTable) show(_ io.Writer, chunk []byte) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.changed = true
	if err := v.bag.show(nil, chunk); err != nil {
		return err
	}
	return v.err
}

func (v *liveTable) epochEnd(io.Writer) error { return nil }

// finish paints the last state and ends the goroutine. The table stays on the terminal.
func (v *liveTable) finish(io.Writer, bool) error {
	close(v.stop)
	<-v.stopped
	v.paint()
	return v.err
}

func (v *liveTable) run() {
	defer close(v.stopped)
	wait := v.screen.Interval
	for {
		select {
		case <-v.stop:
			return
		case <-time.After(wait):
		}
		start := time.Now()
		v.paint()
		// A result of millions of rows takes long to look through: paint for a tenth of the time at most.
		wait = max(v.screen.Interval, 9*time.Since(start))
	}
}

func (v *liveTable) paint() {
	// Before the lock: the status may ask the job for its counters, which asks the sink, whose writers wait
	// for the lock while they show changes.
	status := v.screen.Status()
	width, height := v.screen.Size()
	v.mu.Lock()
	defer v.mu.Unlock()
	if p := &v.painter; !v.changed && status == p.status && width == p.width && height == p.height {
		return
	}
	v.changed = false
	if _, err := v.out.Write(v.painter.frame(&v.bag, status, width, height)); err != nil && v.err == nil {
		v.err = err
	}
}

// painter makes the bytes that turn what the terminal shows into the next frame.
type painter struct {
	lines         int // on the terminal, above the cursor
	width, height int
	status        string
}

// Escape sequences. Wrapping is off while painting: a line that is too long is cut, where a wrapped one
// would put all that follows a line lower.
const (
	noWrap      = "\x1b[?7l"
	wrap        = "\x1b[?7h"
	clearRest   = "\x1b[J" // from the cursor to the end of the screen
	clearLine   = "\x1b[K" // from the cursor to the end of the line
	clearScreen = "\x1b[2J\x1b[H"
	upLines     = "\x1b[%dA\r"
)

// frameLines is the number of lines of a frame that are not rows: three rules, the header, the number of
// rows, the status, and the line of the cursor.
const frameLines = 7

func (p *painter) frame(b *bag, status string, width, height int) []byte {
	buf := []byte(noWrap)
	switch {
	case p.lines > 0 && (width != p.width || height != p.height):
		buf = append(buf, clearScreen...) // the terminal has moved the lines, none knows where
	case p.lines > 0:
		buf = fmt.Appendf(buf, upLines, p.lines)
	}
	p.lines, p.width, p.height, p.status = 0, width, height, status

	rows := b.least(max(height-frameLines, 1))
	sheet := b.measured(rows)
	line := func(text []byte) {
		buf = append(append(append(buf, display.Cut(string(text), width)...), clearLine...), '\n')
		p.lines++
	}
	rule := sheet.Rule(nil)
	line(rule)
	line(sheet.Header(nil))
	line(rule)
	shown := 0
	for _, e := range rows {
		text := sheet.Line(nil, b.cells(nil, row.Row(e.row)))
		for range min(e.count, max(height-frameLines, 1)-shown) {
			line(text)
			shown++
		}
	}
	line(rule)
	line([]byte(rowsInSet(b.size, shown)))
	line([]byte(status))
	return append(append(buf, clearRest...), wrap...)
}
