// Package print holds the connector print, which shows changes on the console as Flink does:
//
//	PREFIX> +I[1, Egor, Myasnik, Approval]
package print

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/changelog"
	"github.com/sluicesql/sluice/engine/text"
	"github.com/sluicesql/sluice/engine/types"
	"github.com/sluicesql/sluice/internal/fault"
)

// Register adds the connector. Nil writers stand for the process's own standard output and error.
func Register(r *spi.Registry, stdout, stderr io.Writer) {
	if stdout == nil {
		stdout = os.Stdout
	}
	if stderr == nil {
		stderr = os.Stderr
	}
	r.AddConnector(&connector{out: &console{w: stdout}, err: &console{w: stderr}})
}

// console keeps the lines of several writers apart.
type console struct {
	mu sync.Mutex
	w  io.Writer
}

func (c *console) write(b []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err := c.w.Write(b)
	return err
}

type connector struct{ out, err *console }

func (*connector) Name() string           { return "print" }
func (*connector) Help() string           { return "Prints every change, a line each" }
func (*connector) Metadata() []spi.Column { return nil }

func (*connector) Options() []spi.Option {
	return []spi.Option{
		{Name: "print-identifier", Help: "Text before every line, to tell several outputs apart"},
		{Name: "standard-error", Kind: spi.BoolOption, Default: "false", Help: "Print to standard error instead of standard output"},
		{Name: "sink.parallelism", Kind: spi.IntOption, Help: "Number of writers"},
	}
}

func (*connector) CheckSource(*spi.Table) (spi.SourceTraits, error) {
	return spi.SourceTraits{}, fmt.Errorf("connector print: %w", spi.ErrNotSource)
}

func (*connector) OpenSource(context.Context, spi.Scan) (spi.Source, error) {
	return nil, fmt.Errorf("connector print: %w", spi.ErrNotSource)
}

func (*connector) CheckSink(t *spi.Table) (spi.SinkTraits, error) {
	if _, err := t.Options.Bool("standard-error", false); err != nil {
		return spi.SinkTraits{}, err
	}
	n, err := spi.Parallelism(t.Options, "sink.parallelism")
	return spi.SinkTraits{Accepts: spi.Retract, Parallelism: n}, err
}

func (c *connector) OpenSink(_ context.Context, spec spi.SinkSpec) (spi.Sink, error) {
	toErr, err := spec.Table.Options.Bool("standard-error", false)
	if err != nil {
		return nil, err
	}
	s := &sink{to: c.out, zone: spec.TimeZone, prefix: spec.Table.Options.Get("print-identifier", "")}
	if toErr {
		s.to = c.err
	}
	for _, i := range spec.Columns {
		s.types = append(s.types, spec.Table.Columns[i].Type)
	}
	return s, nil
}

type sink struct {
	to          *console
	types       []types.Type
	zone        *time.Location
	prefix      string
	rows, bytes atomic.Int64
}

// Writer implements spi.Sink. Unlike Flink's the line does not name the writer: what is printed does not
// depend on how many there are.
func (s *sink) Writer(int) spi.Writer {
	if s.prefix == "" {
		return &writer{s: s}
	}
	return &writer{s: s, head: s.prefix + "> "}
}

func (s *sink) Stats() spi.SinkStats {
	return spi.SinkStats{Rows: s.rows.Load(), Bytes: s.bytes.Load()}
}

func (s *sink) Close() error { return nil }

// bufferSize is how much a writer collects before it writes within an epoch.
const bufferSize = 64 << 10

type writer struct {
	s    *sink
	head string
	buf  []byte
}

func (w *writer) Write(_ context.Context, b *changelog.Batch) error {
	for i := range b.Len() {
		w.buf = append(w.buf, w.head...)
		w.buf = append(w.buf, b.Op(i).String()...)
		w.buf = append(w.buf, '[')
		r := b.Row(i)
		for c, t := range w.s.types {
			if c > 0 {
				w.buf = append(w.buf, ", "...)
			}
			w.buf = text.Append(w.buf, t, r.Get(c, t.Phys()), w.s.zone)
		}
		w.buf = append(w.buf, "]\n"...)
		if len(w.buf) >= bufferSize {
			if err := w.flush(); err != nil {
				return err
			}
		}
	}
	w.s.rows.Add(int64(b.Len()))
	return nil
}

// flush writes whole lines.
func (w *writer) flush() error {
	if len(w.buf) == 0 {
		return nil
	}
	err := w.s.to.write(w.buf)
	w.s.bytes.Add(int64(len(w.buf)))
	w.buf = w.buf[:0]
	if err != nil {
		return fault.Errorf(fault.Disk, "print: %w", err).Fix("see to where the output goes, and start again")
	}
	return nil
}

func (w *writer) Barrier(_ context.Context, _ uint64, ack func(error)) { ack(w.flush()) }

func (w *writer) Close() error { return nil }
