package spi

import (
	"context"
	"fmt"
	"iter"

	"github.com/sluicesql/sluice/engine/changelog"
)

// TransactionalSink is a sink that shows each change once, whatever fails: it takes what was written between two
// checkpoints as a whole, in transactions, and stores with each how far it has got.
//
// The runtime keeps the output in an outbox beside the state until the checkpoint that it belongs to is
// durable, and only then delivers it. After a crash the sink's marker says whether that had been done.
//
// The order of calls: Packer for each writer; Marker; Fence; Marker; then Deliver, one at a time, from any goroutine.
// Writer is never called.
type TransactionalSink interface {
	Sink
	// Packer returns packer i of SinkSpec.Writers. Called once for each i.
	Packer(i int) Packer
	// Marker reads what the last transaction stored; found is false when there is nothing. Before Fence it
	// disturbs nobody: who finds another job's marker leaves that job alone. After Fence it is final.
	Marker(ctx context.Context) (m Marker, found bool, err error)
	// Fence ends what other processes have under way in the sink's name, one way or the other, and keeps them
	// from delivering any more: their next Deliver fails.
	Fence(ctx context.Context) error
	// Deliver writes the blocks and the marker in one transaction. It may read the blocks several times. When it
	// returns nil all is visible; after an error either all or nothing is, as Marker tells after the next
	// Fence. Without blocks it stores the marker alone.
	Deliver(ctx context.Context, m Marker, blocks Blocks) error
}

// Blocks are the blocks of one transaction in the order of Append, from the first one at each call. A block is valid
// until the next. On an error, which comes last, nothing of the transaction may become visible.
type Blocks = iter.Seq2[[]byte, error]

// Packer encodes the changes of one shard for a TransactionalSink. One goroutine uses it.
type Packer interface {
	// Pack borrows b, as Writer.Write does, and appends the blocks that became full to out.
	Pack(b *changelog.Batch, out Outbox) error
	// Flush appends what is left, at the end of a checkpoint.
	Flush(out Outbox) error
}

// Outbox keeps what a Packer makes until it is delivered.
type Outbox interface {
	// Append takes a block: a piece of output that is complete in itself, of at most a few megabytes. Its memory is
	// the caller's again afterwards, and holds anything.
	Append(block []byte) error
}

// Marker says how far a transactional sink has got.
type Marker struct {
	// Job is the random id of the job whose output the sink holds.
	Job string
	// Generation rises when the job is restored from a savepoint.
	Generation uint64
	// Checkpoint is the last one of which something was delivered, and Chunk the number of its transactions
	// that were. Checkpoints before it are complete.
	Checkpoint uint64
	Chunk      int
}

// Before reports whether m is further back than o, which is of the same job.
func (m Marker) Before(o Marker) bool {
	switch {
	case m.Generation != o.Generation:
		return m.Generation < o.Generation
	case m.Checkpoint != o.Checkpoint:
		return m.Checkpoint < o.Checkpoint
	}
	return m.Chunk < o.Chunk
}

const markerFormat = "sluice 1 job=%s generation=%d checkpoint=%d chunk=%d"

// String is the marker as one line of text, for sinks to store and people to read.
func (m Marker) String() string {
	return fmt.Sprintf(markerFormat, m.Job, m.Generation, m.Checkpoint, m.Chunk)
}

// ParseMarker reads what String gave.
func ParseMarker(s string) (Marker, error) {
	var m Marker
	if n, err := fmt.Sscanf(s, markerFormat, &m.Job, &m.Generation, &m.Checkpoint, &m.Chunk); n != 4 || err != nil || m.String() != s {
		return Marker{}, fmt.Errorf("%q is not a marker of this version", s)
	}
	return m, nil
}
