package conformance

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/changelog"
)

// SinkCase is a sink to be held to the promises.
type SinkCase struct {
	Connector spi.Connector
	Table     *spi.Table
	// Batch holds changes for the table's columns that may be written any number of times.
	Batch *changelog.Batch
	// Written is the number of changes that are out, as seen from the outside; nil where nobody can tell.
	Written func() int
	// Foreign as in SourceCase.
	Foreign bool
}

// Sink runs the suite for sinks.
func Sink(t *testing.T, c SinkCase) {
	t.Run("options", func(t *testing.T) { Options(t, c.Connector) })
	t.Run("traits", func(t *testing.T) {
		if _, err := c.Connector.CheckSink(c.Table); err != nil {
			t.Fatal(err)
		}
	})
	t.Run("epochs", func(t *testing.T) {
		run := func() { c.epochs(t) }
		if c.Foreign {
			run()
		} else {
			NoLeaks(t, run)
		}
	})
	t.Run("many epochs at once", c.overlapping)
	t.Run("close at once", func(t *testing.T) {
		s := c.open(t, 2)
		c.close(t, s)
	})
}

// epochs writes an epoch after another and looks at what is out at each acknowledgement.
func (c SinkCase) epochs(t *testing.T) {
	base := 0
	if c.Written != nil {
		base = c.Written()
	}
	s := c.open(t, 2)
	for epoch := uint64(1); epoch <= 5; epoch++ {
		for _, w := range s.writers {
			if epoch != 3 { // an empty one
				if err := w.Write(t.Context(), c.Batch); err != nil {
					t.Fatal(err)
				}
				base += c.Batch.Len()
			}
			c.await(t, w, epoch)
			if c.Written != nil {
				if n := c.Written(); n < base {
					t.Fatalf("epoch %d is acknowledged with %d changes out of %d", epoch, n, base)
				}
			}
		}
	}
	if st := s.Stats(); st.Rows < int64(8*c.Batch.Len()) {
		t.Errorf("stats %+v after %d changes", st, 8*c.Batch.Len())
	}
	c.close(t, s)
}

// overlapping ends epochs without waiting for the ones before: each is acknowledged, once.
func (c SinkCase) overlapping(t *testing.T) {
	const epochs = 50
	s := c.open(t, 2)
	var acks [2][epochs]atomic.Int32
	var pending sync.WaitGroup
	for i, w := range s.writers {
		for e := range epochs {
			if err := w.Write(t.Context(), c.Batch); err != nil {
				t.Fatal(err)
			}
			pending.Add(1)
			w.Barrier(t.Context(), uint64(e+1), func(err error) {
				if err != nil {
					t.Errorf("epoch %d: %v", e+1, err)
				}
				if acks[i][e].Add(1) == 1 {
					pending.Done()
				}
			})
		}
	}
	done := make(chan struct{})
	go func() { pending.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(patience):
		t.Fatal("not all epochs were acknowledged")
	}
	c.close(t, s)
	for i := range acks {
		for e := range acks[i] {
			if n := acks[i][e].Load(); n != 1 {
				t.Errorf("writer %d: epoch %d was acknowledged %d times", i, e+1, n)
			}
		}
	}
}

// openedSink is a sink with its writers, each asked for once.
type openedSink struct {
	spi.Sink
	writers []spi.Writer
}

func (c SinkCase) open(t *testing.T, writers int) openedSink {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	tr, err := c.Connector.CheckSink(c.Table)
	if err != nil {
		t.Fatal(err)
	}
	spec := spi.SinkSpec{Table: c.Table, Key: c.Table.PrimaryKey, Mode: tr.Accepts, Writers: writers, TimeZone: time.UTC, Warn: func(string) {}}
	for i, col := range c.Table.Columns {
		if !col.Virtual {
			spec.Columns = append(spec.Columns, i)
		}
	}
	s, err := c.Connector.OpenSink(ctx, spec)
	if err != nil {
		t.Fatal(err)
	}
	o := openedSink{Sink: s}
	for i := range writers {
		o.writers = append(o.writers, s.Writer(i))
	}
	return o
}

func (c SinkCase) await(t *testing.T, w spi.Writer, epoch uint64) {
	t.Helper()
	done := make(chan error, 1)
	w.Barrier(t.Context(), epoch, func(err error) { done <- err })
	select {
	case err := <-done:
		if err != nil {
			t.Fatalf("epoch %d: %v", epoch, err)
		}
	case <-time.After(patience):
		t.Fatalf("epoch %d is not acknowledged", epoch)
	}
}

func (c SinkCase) close(t *testing.T, s openedSink) {
	t.Helper()
	done := make(chan error, 1)
	go func() {
		for _, w := range s.writers {
			if err := w.Close(); err != nil {
				done <- err
				return
			}
		}
		done <- s.Close()
	}()
	select {
	case err := <-done:
		if err != nil {
			t.Error("Close:", err)
		}
	case <-time.After(patience):
		t.Fatal("Close does not return")
	}
}
