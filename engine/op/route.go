package op

import (
	"bytes"

	"github.com/sluicesql/sluice/engine/changelog"
	"github.com/sluicesql/sluice/engine/keyenc"
	"github.com/sluicesql/sluice/engine/row"
)

// Sender takes the batches that a Router fills for one consumer.
type Sender interface {
	// Batch returns the batch to append to. It may wait for one to come free, and returns an error when the
	// job ends meanwhile.
	Batch() (*changelog.Batch, error)
	// Send hands the batch over; the next one comes from Batch.
	Send() error
}

// RouteBy says how a Router finds the consumer of a row.
type RouteBy uint8

const (
	// RouteByKey takes the hash of the key columns. With no key columns all rows go to one consumer, the one that
	// owns the empty key's group.
	RouteByKey RouteBy = iota
	// RouteByRow takes the hash of the whole row.
	RouteByRow
	// RouteFixed sends all rows to one consumer.
	RouteFixed
)

// Router divides changes among consumers: the sending half of an exchange. It is also where updates are
// split: an update whose halves have different keys becomes a delete and an insert, the delete first, each
// sent by its own key.
type Router struct {
	by      RouteBy
	key     []keyenc.Column
	nulls   Nulls
	scatter []keyenc.Column
	fixed   int
	to      []Sender
	cur     []*changelog.Batch // the batch being filled for each consumer; nil for none
	enc     [2][]byte
	maxRows int
}

// NewRouter returns a router to the given consumers. fixed is the consumer of RouteFixed; maxRows is the largest
// batch.
func NewRouter(by RouteBy, key []keyenc.Column, fixed int, to []Sender, maxRows int) *Router {
	return &Router{by: by, key: key, fixed: fixed, to: to, cur: make([]*changelog.Batch, len(to)), maxRows: maxRows}
}

// SetNulls says what becomes of rows with a NULL in their key, which have no match in a join: NullsDropped drops
// them; NullsKept divides them by the key and the columns of scatter, so that they do not all meet on one shard.
func (x *Router) SetNulls(n Nulls, scatter []keyenc.Column) { x.nulls, x.scatter = n, scatter }

// Push implements Output.
func (x *Router) Push(b *changelog.Batch) error {
	n := b.Len()
	for i := 0; i < n; i++ {
		op, r := b.Op(i), b.Row(i)
		if op == changelog.UpdateBefore && i+1 < n && b.Op(i+1) == changelog.UpdateAfter {
			i++
			if err := x.update(r, b.Row(i)); err != nil {
				return err
			}
			continue
		}
		if op == changelog.Clear { // of what came before on every edge
			for t := range x.to {
				if err := x.send(t, op, r); err != nil {
					return err
				}
			}
			continue
		}
		k, ok := x.encode(0, r)
		if !ok {
			continue
		}
		if err := x.send(x.target(k), op, r); err != nil {
			return err
		}
	}
	return nil
}

// update sends both halves of an update: together when they have one key, split otherwise.
func (x *Router) update(before, after row.Row) error {
	k0, ok0 := x.encode(0, before)
	k1, ok1 := x.encode(1, after)
	opBefore, opAfter := changelog.UpdateBefore, changelog.UpdateAfter
	if ok0 != ok1 || !bytes.Equal(k0, k1) {
		opBefore, opAfter = changelog.Delete, changelog.Insert
	}
	if ok0 {
		t := x.target(k0)
		if err := x.room(t, 2); err != nil { // both halves in one batch: they stay neighbours
			return err
		}
		if err := x.send(t, opBefore, before); err != nil {
			return err
		}
	}
	if ok1 {
		return x.send(x.target(k1), opAfter, after)
	}
	return nil
}

// encode returns the bytes that decide where r goes, and whether it goes anywhere. which is the scratch
// buffer to use.
func (x *Router) encode(which int, r row.Row) ([]byte, bool) {
	switch x.by {
	case RouteByRow:
		return r, true
	case RouteFixed:
		return nil, true
	}
	null := x.nulls != NullsNone && keyenc.HasNull(r, x.key)
	if null && x.nulls == NullsDropped {
		return nil, false
	}
	x.enc[which] = keyenc.Append(x.enc[which][:0], r, x.key)
	if null {
		x.enc[which] = keyenc.Append(x.enc[which], r, x.scatter)
	}
	return x.enc[which], true
}

func (x *Router) target(k []byte) int {
	switch {
	case x.by == RouteFixed:
		return x.fixed
	case len(x.to) == 1:
		return 0
	}
	return keyenc.Shard(keyenc.Group(keyenc.Hash(k)), len(x.to))
}

func (x *Router) send(t int, op changelog.Op, r row.Row) error {
	if x.cur[t] == nil {
		b, err := x.to[t].Batch()
		if err != nil {
			return err
		}
		x.cur[t] = b
	}
	x.cur[t].AppendRow(op, r)
	// A batch does not end between the halves of an update.
	if x.cur[t].Len() >= x.maxRows && op != changelog.UpdateBefore || x.cur[t].Size() >= flushBytes && op != changelog.UpdateBefore {
		return x.flush(t)
	}
	return nil
}

// room makes sure that n more rows fit into t's batch.
func (x *Router) room(t, n int) error {
	if b := x.cur[t]; b != nil && b.Len() > 0 && b.Len()+n > x.maxRows {
		return x.flush(t)
	}
	return nil
}

func (x *Router) flush(t int) error {
	x.cur[t] = nil
	return x.to[t].Send()
}

// Flush sends what is held back.
func (x *Router) Flush() error {
	for t, b := range x.cur {
		if b != nil && b.Len() > 0 {
			if err := x.flush(t); err != nil {
				return err
			}
		}
	}
	return nil
}

// Barrier implements Operator.
func (x *Router) Barrier() error { return x.Flush() }
