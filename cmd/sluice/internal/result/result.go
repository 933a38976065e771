// Package result shows the result of a top-level SELECT: as changes, as JSON, or as a table. It is the
// sink that the runtime hands such a result to.
package result

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/sluicesql/sluice/cmd/sluice/internal/display"
	"github.com/sluicesql/sluice/connectors/spi"
)

// Mode is a way to show a result.
type Mode uint8

const (
	// Changelog prints one line a change, in Flink's form: +I[1, Egor, Myasnik, Approval].
	Changelog Mode = iota
	// JSON prints one object a change: {"op":"+I","row":{"id":1}}.
	JSON
	// Table prints the rows when the job has ended, or keeps a table on the terminal up to date.
	Table
	// Tableau prints the changes in columns, the operation first, as they come.
	Tableau
)

// Modes are the modes' names, in order.
var Modes = []string{"changelog", "json", "table", "tableau"}

// String is the mode's name.
func (m Mode) String() string { return Modes[m] }

// ModeNamed is the mode of a name in any case, which must be one of Modes.
func ModeNamed(name string) Mode { return Mode(slices.Index(Modes, strings.ToLower(name))) }

// DefaultMaxRows is the number of rows that a table shows at most.
const DefaultMaxRows = 1_000_000

// Options say how and where a result is shown.
type Options struct {
	Mode Mode
	// Out takes the output. It is written to in whole lines, by one goroutine at a time.
	Out io.Writer
	// Screen is the terminal for a table that updates in place; nil prints the table at the end.
	Screen *Screen
	// Plain shows control characters as they are, as suits a file; otherwise as pictures.
	Plain bool
	// Live, in mode Table, takes the result for somebody to look at while it changes.
	Live *Live
	// Layout is how a table that is printed at the end, or a tableau, is written.
	Layout display.Layout
	// MaxRows is the number of rows that a table shows; 0 is DefaultMaxRows.
	MaxRows int
}

// Screen is a terminal that a table is painted on.
type Screen struct {
	// Size is the terminal's present width and height.
	Size func() (width, height int)
	// Status is a line to stand below the table.
	Status func() string
	// Interval is the time between two paints.
	Interval time.Duration
}

// Open returns the sink for one result. The spec tells its columns and how many writers there will be.
func Open(spec spi.SinkSpec, o Options) (*Sink, error) {
	if o.MaxRows <= 0 {
		o.MaxRows = DefaultMaxRows
	}
	cols := make([]spi.Column, len(spec.Columns))
	for i, c := range spec.Columns {
		cols[i] = spec.Table.Columns[c]
	}
	var v view
	switch {
	case o.Mode == JSON, o.Mode == Tableau && o.Layout == display.JSON:
		v = &jsonView{cols: cols, tz: spec.TimeZone}
	case o.Mode == Changelog:
		v = &changelogView{cols: cols, tz: spec.TimeZone, plain: o.Plain}
	case o.Mode == Tableau:
		v = newStream(cols, spec.TimeZone, o.Layout)
	case spec.Mode == spi.Upsert:
		// Upserts leave out the row before, which a bag of rows needs.
		return nil, fmt.Errorf("a table cannot be shown of a result of mode %s", spec.Mode)
	case o.Live != nil:
		o.Live.open(newBag(cols, spec.Order, spec.TimeZone))
		v = o.Live
	case o.Screen != nil:
		v = newLiveTable(newBag(cols, spec.Order, spec.TimeZone), o)
	default:
		v = newTable(newBag(cols, spec.Order, spec.TimeZone), o)
	}
	if o.Out == nil {
		o.Out = io.Discard // of a live result, which writes nothing by itself
	}
	return newSink(v, o.Out, max(spec.Writers, 1))
}
