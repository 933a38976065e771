package runtime

import (
	"context"

	"github.com/sluicesql/sluice/engine/changelog"
)

// edgeCredits is the number of batches that may be under way on one edge: what bounds the memory between two
// goroutines, and makes a slow consumer hold back its producers.
const edgeCredits = 4

// maxCuts bounds the barriers under way to a shard.
const maxCuts = 4

// message is what travels an edge: a batch or a barrier.
type message struct {
	edge    *edge
	batch   *changelog.Batch
	barrier *barrier
}

// inbox is the mailbox of one shard instance. It has room for all that its edges' credits allow, so that a
// send never waits: waiting happens where a producer takes a free batch.
type inbox struct {
	c chan message
}

// edge joins one producer instance to one consumer instance. It is the producer's op.Sender.
type edge struct {
	ctx   context.Context
	to    *inbox
	entry int                   // which of the consumer's inputs it feeds
	free  chan *changelog.Batch // batches to fill
	cur   *changelog.Batch

	// The consumer's: whether the barrier of the present epoch has arrived, and what came behind it.
	closed bool
	stash  []message
}

func newEdge(ctx context.Context, to *inbox, entry int) *edge {
	e := &edge{ctx: ctx, to: to, entry: entry, free: make(chan *changelog.Batch, edgeCredits)}
	for range edgeCredits {
		e.free <- new(changelog.Batch)
	}
	return e
}

// Batch implements op.Sender: it waits for a credit.
func (e *edge) Batch() (*changelog.Batch, error) {
	select {
	case e.cur = <-e.free:
		return e.cur, nil
	default:
	}
	select {
	case e.cur = <-e.free:
		return e.cur, nil
	case <-e.ctx.Done():
		return nil, context.Cause(e.ctx)
	}
}

// Send implements op.Sender.
func (e *edge) Send() error {
	b := e.cur
	e.cur = nil
	return e.post(message{edge: e, batch: b})
}

func (e *edge) post(m message) error {
	select {
	case e.to.c <- m:
		return nil
	case <-e.ctx.Done():
		return context.Cause(e.ctx)
	}
}

// done gives a processed batch back to the producer.
func (e *edge) done(b *changelog.Batch) {
	b.Reset()
	e.free <- b
}
