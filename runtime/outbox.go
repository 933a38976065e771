package runtime

import (
	"sync"
	"sync/atomic"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/changelog"
	"github.com/sluicesql/sluice/engine/state"
)

// Bounds on what waits in outboxes.
const (
	// segmentBytes is the size at which a segment ends: what one transaction holds. An outbox that has come to it
	// asks for a checkpoint.
	segmentBytes = 64 << 20
	// maxOutbox is what all outboxes may hold before the sources have to wait for a delivery.
	maxOutbox = 256 << 20
)

func (j *Job) segmentBytes() int64 {
	if h := j.cfg.Hooks; h != nil && h.SegmentBytes > 0 {
		return h.SegmentBytes
	}
	return segmentBytes
}

func (j *Job) maxOutbox() int64 {
	if h := j.cfg.Hooks; h != nil && h.MaxOutbox > 0 {
		return h.MaxOutbox
	}
	return maxOutbox
}

// outbox keeps the output of one transactional sink until the checkpoint that it belongs to is durable, and then
// delivers it; see spi.TransactionalSink.
type outbox struct {
	job   *Job
	name  string // the sink's
	sink  spi.TransactionalSink
	files *state.Outbox

	mu     sync.Mutex
	oldest *round
	held   atomic.Int64 // bytes that are not delivered

	marker spi.Marker // as the sink has it; used by who delivers, one at a time
}

// round is the output between two checkpoints. Writers pass a checkpoint's barrier one after another, so that the
// round after it is being written too while the last of them still writes this one.
type round struct {
	mu    sync.Mutex
	ended []state.SegmentRef
	open  *state.Segment
	next  *round // under outbox.mu
}

// after returns the round that follows r.
func (o *outbox) after(r *round) *round {
	o.mu.Lock()
	defer o.mu.Unlock()
	if r.next == nil {
		r.next = &round{}
	}
	return r.next
}

// seal ends the oldest round, which all writers have left, and returns its segments, durable but for their names.
func (o *outbox) seal() ([]state.SegmentRef, error) {
	r := o.oldest
	next := o.after(r)
	o.oldest = next
	r.mu.Lock()
	defer r.mu.Unlock()
	err := r.end()
	return r.ended, err
}

// end ends the open segment.
func (r *round) end() error {
	if r.open == nil {
		return nil
	}
	ref, err := r.open.Finish()
	r.open = nil
	if err == nil {
		r.ended = append(r.ended, ref)
	}
	return err
}

func (o *outbox) append(r *round, block []byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.open == nil {
		var err error
		if r.open, err = o.files.Create(); err != nil {
			return err
		}
	}
	was := r.open.Size()
	if err := r.open.Append(block); err != nil {
		return err
	}
	size := r.open.Size()
	o.held.Add(size - was)
	if size < o.job.segmentBytes() {
		return nil
	}
	o.job.control.pressed()
	return r.end()
}

// close lets go of what is being written. No writer runs.
func (o *outbox) close() error {
	var err error
	for r := o.oldest; r != nil; r = r.next {
		if r.open != nil {
			if cerr := r.open.Close(); err == nil {
				err = cerr
			}
		}
	}
	return err
}

// boxWriter puts the output of one sink task into the outbox.
type boxWriter struct {
	box    *outbox
	packer spi.Packer
	round  *round
}

func (o *outbox) writer(i int) *boxWriter {
	return &boxWriter{box: o, packer: o.sink.Packer(i), round: o.oldest}
}

func (w *boxWriter) write(b *changelog.Batch) error { return w.packer.Pack(b, w) }

// Append implements spi.Outbox.
func (w *boxWriter) Append(block []byte) error { return w.box.append(w.round, block) }

// checkpoint ends what belongs to the checkpoint whose barrier has come.
func (w *boxWriter) checkpoint() error {
	if err := w.packer.Flush(w); err != nil {
		return err
	}
	w.round = w.box.after(w.round)
	return nil
}
