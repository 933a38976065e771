package kafka

import (
	"context"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/changelog"
)

// stageSize is how much a writer collects for a partition before it takes the partition's lock.
const stageSize = 32 << 10

// writer implements spi.Writer.
type writer struct {
	encoder
	p       *producer
	none    bool    // delivery guarantee none
	targets []int64 // records appended to each partition when this writer last did
	grown   int     // bytes handed over since the bound was last looked at
}

func newWriter(s *sink, spec spi.SinkSpec, index int) (*writer, error) {
	e, err := newEncoder(&s.outTopic, spec, index)
	if err != nil {
		return nil, err
	}
	w := &writer{encoder: e, p: s.p, none: s.cfg.guarantee == guaranteeNone, targets: make([]int64, s.use)}
	w.stage = stageSize
	w.full = func(ctx context.Context, partition int) error {
		w.handOver(partition)
		n := w.grown
		w.grown = 0
		return w.p.grow(ctx, n)
	}
	return w, nil
}

// Write implements spi.Writer.
func (w *writer) Write(ctx context.Context, b *changelog.Batch) error {
	select {
	case <-w.p.failed:
		return w.p.failure()
	default:
	}
	return w.encode(ctx, b)
}

// handOver moves what is staged for a partition into its batches.
func (w *writer) handOver(at int) {
	q := w.p.parts[at]
	w.grown += q.append(&w.staged[at], w.p)
	q.mu.Lock()
	w.targets[at] = q.appended
	q.mu.Unlock()
}

// Barrier implements spi.Writer.
func (w *writer) Barrier(_ context.Context, _ uint64, ack func(error)) {
	p := w.p
	for i := range w.staged {
		if w.staged[i].n > 0 {
			w.handOver(i)
		}
	}
	p.buffered.Add(int64(w.grown)) // the next Write waits if this was too much
	w.grown = 0
	w.epochEnds()
	if w.none {
		for i := range p.parts {
			p.parts[i].flush()
		}
		ack(nil)
		return
	}
	e := &epochWait{ack: ack}
	e.left.Store(1)
	for i, q := range p.parts {
		q.await(w.targets[i], e)
	}
	e.done(p.broken()) // it may have failed before a waiter was added
}

// Close implements spi.Writer.
func (w *writer) Close() error { return nil }
