package kafka

import (
	"encoding/binary"
	"iter"
	"sync"
	"sync/atomic"
)

const (
	// takeSize is the size from which a batch that still grows may be sent. Smaller ones wait for the end
	// of their epoch: a broker's work is more by the batch than by the byte.
	takeSize = 256 << 10
	// spareBatches bounds the batches kept for reuse, beside their bytes: no more than may wait to be acknowledged.
	spareBatches = 32
)

// outPartition collects the records for one partition and knows how far they are acknowledged. Writers
// append, the sender of its leader takes.
type outPartition struct {
	id     int32
	sender atomic.Pointer[sender] // nil while the leader is being found

	mu       sync.Mutex
	open     *outBatch   // grows; nil when empty
	sealed   []*outBatch // full, in order
	appended int64       // records since the start
	acked    int64
	flushTo  int64 // records up to this one do not wait for more
	waiters  []waiter
	// sending is taken and not yet acknowledged, kept by the sender until it is.
	sending *outBatch
	next    int32 // sequence of the next batch
	nextFor int   // the identity that next counts for
}

// waiter waits until target records are acknowledged.
type waiter struct {
	target int64
	epoch  *epochWait
}

// epochWait is the end of an epoch that waits for its partitions.
type epochWait struct {
	left  atomic.Int64
	ended atomic.Bool
	ack   func(error)
}

// done takes one partition off, or ends the epoch with an error.
func (e *epochWait) done(err error) {
	if e.left.Add(-1) == 0 || err != nil {
		if e.ended.CompareAndSwap(false, true) {
			e.ack(err)
		}
	}
}

// staged holds records of one writer for one partition: the length of the body in four bytes, the body.
// Records go to the partition in lots, so that its lock is not taken for each.
type staged struct {
	buf   []byte
	times []int64 // of each record, when the table writes timestamps
	now   int64   // of all, otherwise
	n     int
}

// records gives the bodies and timestamps of the staged records.
func (s *staged) records() iter.Seq2[[]byte, int64] {
	return func(yield func([]byte, int64) bool) {
		rest := s.buf
		for i := 0; len(rest) > 0; i++ {
			size := int(binary.LittleEndian.Uint32(rest))
			body := rest[4 : 4+size]
			rest = rest[4+size:]
			at := s.now
			if s.times != nil {
				at = s.times[i]
			}
			if !yield(body, at) {
				return
			}
		}
	}
}

// clear forgets the staged records and keeps their memory.
func (s *staged) clear() {
	s.buf, s.n = s.buf[:0], 0
	if s.times != nil {
		s.times = s.times[:0]
	}
}

// append moves the staged records into batches. It returns the bytes that the batches grew by.
func (q *outPartition) append(s *staged, p *producer) (grown int) {
	q.mu.Lock()
	for body, at := range s.records() {
		if q.open != nil && q.open.size(body, at) > p.batchSize {
			q.sealed = append(q.sealed, q.open)
			q.open = nil
		}
		if q.open == nil {
			q.open = p.newBatch()
		}
		before := len(q.open.buf)
		q.open.add(body, at)
		grown += len(q.open.buf) - before
	}
	q.appended += int64(s.n)
	idle := q.sending == nil && (len(q.sealed) > 0 || q.open != nil && len(q.open.buf) >= takeSize)
	q.mu.Unlock()
	s.clear()
	if idle {
		q.wake()
	}
	return grown
}

// put appends a batch that is whole.
func (q *outPartition) put(b *outBatch) {
	q.mu.Lock()
	q.sealed = append(q.sealed, b)
	q.appended += int64(b.n)
	idle := q.sending == nil
	q.mu.Unlock()
	if idle {
		q.wake()
	}
}

func (q *outPartition) wake() {
	if s := q.sender.Load(); s != nil {
		s.signal()
	}
}

// flush lets everything appended go without waiting for more.
func (q *outPartition) flush() {
	q.mu.Lock()
	q.flushTo = q.appended
	pending := q.sending == nil && q.acked < q.appended
	q.mu.Unlock()
	if pending {
		q.wake()
	}
}

// await makes e wait until target records are acknowledged, and lets them go.
func (q *outPartition) await(target int64, e *epochWait) {
	q.mu.Lock()
	if q.acked >= target {
		q.mu.Unlock()
		return
	}
	e.left.Add(1)
	q.waiters = append(q.waiters, waiter{target, e})
	q.flushTo = max(q.flushTo, target)
	idle := q.sending == nil
	q.mu.Unlock()
	if idle {
		q.wake()
	}
}

// take returns the batch to send, or nil. One that could not be sent comes again.
func (q *outPartition) take() *outBatch {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.sending != nil:
	case len(q.sealed) > 0:
		q.sending = q.sealed[0]
		n := copy(q.sealed, q.sealed[1:])
		q.sealed[n] = nil
		q.sealed = q.sealed[:n]
	case q.open != nil && (len(q.open.buf) >= takeSize || q.flushTo > q.appended-int64(q.open.n)):
		q.sending, q.open = q.open, nil
	}
	return q.sending
}

// acknowledge counts the batch being sent as out, and tells those who wait for it.
func (q *outPartition) acknowledge() *outBatch {
	q.mu.Lock()
	b := q.sending
	q.sending = nil
	q.acked += int64(b.n)
	var ready []*epochWait
	rest := q.waiters[:0]
	for _, w := range q.waiters {
		if w.target <= q.acked {
			ready = append(ready, w.epoch)
		} else {
			rest = append(rest, w)
		}
	}
	clear(q.waiters[len(rest):])
	q.waiters = rest
	q.mu.Unlock()
	for _, e := range ready {
		e.done(nil)
	}
	return b
}

// fail tells all who wait that their records will not be acknowledged.
func (q *outPartition) fail(err error) {
	q.mu.Lock()
	waiters := q.waiters
	q.waiters = nil
	q.mu.Unlock()
	for _, w := range waiters {
		w.epoch.done(err)
	}
}
