package result

import (
	"bufio"
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/changelog"
)

// view is a way to show a result. The sink sees to the order of epochs.
type view interface {
	// encoder returns an encoder for one writer's goroutine.
	encoder() (encoder, error)
	// show takes what encoders made of an epoch's changes, or of a part of them, in whole changes. It
	// borrows chunk.
	show(out io.Writer, chunk []byte) error
	// epochEnd is called after the last chunk of an epoch.
	epochEnd(out io.Writer) error
	// finish is called once, after the last epoch. ok says that the job did not fail.
	finish(out io.Writer, ok bool) error
}

// encoder appends what a view wants to know of the changes in b to buf.
type encoder func(buf []byte, b *changelog.Batch) ([]byte, error)

// largeChunk is the size from which a writer doesn't wait for its epoch's end.
const largeChunk = 1 << 20

// Sink shows the changes of a job, epoch by epoch: those of an epoch appear together, when all writers
// have ended it, so that who reads the output sees the writers in step. Only an epoch whose output is
// large appears in parts, and then no part of it before the end of the epoch before.
type Sink struct {
	writers []*writer

	mu   sync.Mutex // guards all below, and the writers' ended and spare
	view view
	out  *bufio.Writer
	err  error // the first error of the view or of the output; it ends all

	// rows and bytes are what was shown. They are read without the lock: a view may want them while it shows.
	rows, bytes atomic.Int64
}

func newSink(v view, out io.Writer, writers int) (*Sink, error) {
	s := &Sink{view: v}
	s.out = bufio.NewWriterSize(&counter{out, &s.bytes}, 64<<10)
	for range writers {
		enc, err := v.encoder()
		if err != nil {
			return nil, err
		}
		s.writers = append(s.writers, &writer{sink: s, encode: enc})
	}
	return s, nil
}

// counter counts the bytes that pass.
type counter struct {
	w io.Writer
	n *atomic.Int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n.Add(int64(n))
	return n, err
}

// Writer implements spi.Sink.
func (s *Sink) Writer(i int) spi.Writer { return s.writers[i] }

// Stats implements spi.Sink.
func (s *Sink) Stats() spi.SinkStats {
	return spi.SinkStats{Rows: s.rows.Load(), Bytes: s.bytes.Load()}
}

// Close implements spi.Sink.
func (s *Sink) Close() error { return nil }

// Finish ends the view after its job: when that did not fail (ok), a table prints its rows. It returns errors
// that no writer has returned before.
func (s *Sink) Finish(ok bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.view.finish(s.out, ok && s.err == nil)
	if s.err != nil {
		return nil
	}
	return errors.Join(err, s.out.Flush())
}

// writer is the part of a sink that one shard writes to.
type writer struct {
	sink   *Sink
	encode encoder
	buf    []byte // of the present epoch, not yet shown
	rows   int64

	ended []endedEpoch // epochs that other writers have not ended yet
	spare [][]byte
}

// endedEpoch is what a writer holds of an epoch that it has ended.
type endedEpoch struct {
	epoch uint64
	buf   []byte
	rows  int64
	ack   func(error)
}

// Write implements spi.Writer.
func (w *writer) Write(_ context.Context, b *changelog.Batch) error {
	buf, err := w.encode(w.buf, b)
	if err != nil {
		return err
	}
	w.buf = buf
	w.rows += int64(b.Len())
	if len(w.buf) < largeChunk {
		return nil
	}
	s := w.sink
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil && len(w.ended) == 0 {
		// No epoch before this one is unfinished, or this writer would hold its part of it.
		s.fail(s.view.show(s.out, w.buf))
		w.buf = w.buf[:0]
	}
	return s.err
}

// Barrier implements spi.Writer.
func (w *writer) Barrier(_ context.Context, epoch uint64, ack func(error)) {
	s := w.sink
	s.mu.Lock()
	w.ended = append(w.ended, endedEpoch{epoch, w.buf, w.rows, ack})
	w.rows = 0
	w.buf = nil
	if n := len(w.spare); n > 0 {
		w.buf, w.spare = w.spare[n-1], w.spare[:n-1]
	}
	var acks []func(error)
	for s.allEnded() {
		acks = s.showEpoch(acks)
	}
	err := s.err
	s.mu.Unlock()
	// Outside the lock: an acknowledgement may make the runtime call back.
	for _, ack := range acks {
		ack(err)
	}
}

// Close implements spi.Writer.
func (w *writer) Close() error { return nil }

func (s *Sink) allEnded() bool {
	for _, w := range s.writers {
		if len(w.ended) == 0 {
			return false
		}
	}
	return true
}

// showEpoch shows the oldest epoch, which all writers have ended, and adds its acknowledgements to acks.
func (s *Sink) showEpoch(acks []func(error)) []func(error) {
	epoch := s.writers[0].ended[0].epoch
	for _, w := range s.writers {
		e := w.ended[0]
		if e.epoch != epoch {
			panic("result: writers end different epochs")
		}
		w.ended = append(w.ended[:0], w.ended[1:]...)
		if s.err == nil && len(e.buf) > 0 {
			s.fail(s.view.show(s.out, e.buf))
		}
		s.rows.Add(e.rows)
		if cap(e.buf) <= 4*largeChunk && len(w.spare) < 4 {
			w.spare = append(w.spare, e.buf[:0])
		}
		acks = append(acks, e.ack)
	}
	if s.err == nil {
		s.fail(s.view.epochEnd(s.out))
	}
	if s.err == nil {
		s.fail(s.out.Flush())
	}
	return acks
}

func (s *Sink) fail(err error) {
	if s.err == nil {
		s.err = err
	}
}
