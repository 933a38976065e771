// Package progress tells people at a terminal how a job is doing, and at its end what it did.
package progress

import (
	"io"
	"sync"

	"github.com/sluicesql/sluice/cmd/sluice/internal/display"
)

// Console is a terminal that shows a line of status below whatever else is written to it. All that goes to
// the terminal passes through writers made by Wrap, which take the line away before they write.
type Console struct {
	mu sync.Mutex
	// out is where the status line goes.
	out   io.Writer
	width func() int
	shown bool
	// open says that the last output did not end its line, so that there is no place for the status.
	open bool
}

// NewConsole returns a console on a terminal of the given width.
func NewConsole(out io.Writer, width func() int) *Console {
	return &Console{out: out, width: width}
}

const eraseLine = "\r\x1b[K"

// Show puts s on the status line; an empty one takes the line away. What the terminal refuses is nobody's
// loss.
func (c *Console) Show(s string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open {
		return
	}
	c.clear()
	if s != "" {
		// One cell stays free: many terminals wrap when the last one is written.
		_, _ = io.WriteString(c.out, display.Cut(display.Clean(s), c.width()-1))
		c.shown = true
	}
}

func (c *Console) clear() {
	if c.shown {
		_, _ = io.WriteString(c.out, eraseLine)
		c.shown = false
	}
}

// Wrap returns a writer to w, which appears on the same terminal.
func (c *Console) Wrap(w io.Writer) io.Writer { return &consoleWriter{c, w} }

type consoleWriter struct {
	c *Console
	w io.Writer
}

func (w *consoleWriter) Write(p []byte) (int, error) {
	w.c.mu.Lock()
	defer w.c.mu.Unlock()
	w.c.clear()
	if len(p) > 0 {
		w.c.open = p[len(p)-1] != '\n'
	}
	return w.w.Write(p)
}
