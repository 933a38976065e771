package state

import (
	"bytes"

	"github.com/cockroachdb/pebble/v2"

	"github.com/sluicesql/sluice/engine/keyenc"
)

// round is how far a timed table has got with looking for entries that nobody asked for again: first in the index,
// then, where some of the table is on disk alone, in Pebble. A round begins a quarter of the ttl after the one before
// began, so that an entry is looked at a few times in its life and no more: rounds cost in proportion to what is
// written, and not to what is kept.
type round struct {
	begun   int64 // its time
	running bool
	disk    bool   // the index is through
	tag     uint64 // where to go on in the index
	group   int    // where to go on in Pebble: the key group, and the key within it, nil for its first
	next    []byte
	keys    KeyBatch
}

// roundLeast is how many entries a Sweep looks at, beside two for each that the epoch changed.
const roundLeast = 1024

// Sweep goes on looking for entries that have outlived the timed table's ttl, and calls f with batches of their keys,
// which f loads and expires. Call it at the end of an epoch, before Settle, which finds in memory what is expired here;
// an epoch later it would look for it on disk, behind all else that is deleted there. It looks at a few entries for
// each that the epoch changed.
func (t *Table) Sweep(f func(*KeyBatch) error) error {
	l := t.life
	o := &l.round
	n := roundLeast + 2*l.writes
	l.writes = 0
	cut, ok := l.overdue()
	if !ok {
		return nil
	}
	if !o.running {
		if l.now-o.begun < l.ttl/4 {
			return nil
		}
		lo, _ := t.sh.groups()
		*o = round{begun: l.now, running: true, group: lo, keys: o.keys}
	}
	for n > 0 && o.running {
		o.keys.Reset()
		var seen int
		if o.disk {
			var err error
			if seen, err = t.sweepDisk(o, cut, n); err != nil {
				return t.sh.store.fail(err)
			}
		} else {
			seen = t.sweepIndex(o, cut)
		}
		n -= seen + 1
		if o.keys.Len() == 0 {
			continue
		}
		if err := f(&o.keys); err != nil {
			return err
		}
	}
	return nil
}

// sweepIndex looks at one segment of the index. The position is one among the tags, so that it stays true when the
// index grows.
func (t *Table) sweepIndex(o *round, cut int64) (seen int) {
	if t.ix.dir == nil || o.tag >= 1<<32 {
		o.disk, o.running = true, t.coldGroups > 0
		return 0
	}
	g := t.ix.segmentOf(uint32(o.tag))
	for i := uint32(0); i <= g.mask; i++ {
		if r := g.slot(i).ref; r != 0 {
			seen += t.sweepGroup(o, r, cut)
		}
	}
	size := uint64(1) << (32 - g.depth)
	o.tag = (o.tag/size + 1) * size
	return seen
}

// sweepGroup notes the key of a group that has an entry which is too old.
func (t *Table) sweepGroup(o *round, head Ref, cut int64) (seen int) {
	a := &t.sh.arena
	e := a.at(head)
	old := false
	if e.flags&flagGroup != 0 {
		b := t.bigOf(e)
		seen, old = 1, b.oldest <= cut
		if b.ages != nil {
			r, ok := b.ages.Min()
			old = ok && a.at(r).time() <= cut
		}
	} else {
		for r := head; r != 0; seen++ {
			m := a.at(r)
			old = old || m.weight != 0 && m.time() <= cut
			r = m.next
		}
	}
	if old {
		o.keys.Add(e.key())
	}
	return seen
}

// sweepDisk looks at up to n entries of a key group in Pebble.
func (t *Table) sweepDisk(o *round, cut int64, n int) (seen int, err error) {
	_, hi := t.sh.groups()
	for o.group < hi && !t.cold[o.group] {
		o.group, o.next = o.group+1, nil
	}
	if o.group >= hi {
		o.running = false
		return 0, nil
	}
	from, to, _ := tableBounds(o.group, t.id)
	if o.next != nil {
		from = o.next
	}
	it, err := t.sh.store.db.NewIter(&pebble.IterOptions{LowerBound: from, UpperBound: to})
	if err != nil {
		return 0, err
	}
	o.next = nil
	ok := it.First()
	for ; ok; ok = it.Next() {
		if seen >= n {
			o.next = append([]byte{}, it.Key()...)
			break
		}
		seen++
		v, err := it.ValueAndErr()
		if err != nil {
			return seen, errorsFirst(err, it.Close())
		}
		e, err := decodeStored(it.Key(), v)
		if err != nil {
			return seen, errorsFirst(err, it.Close())
		}
		if k := o.keys.Len(); e.time <= cut && (k == 0 || !bytes.Equal(o.keys.Key(k-1), e.key)) {
			o.keys.AddHashed(e.key, keyenc.Hash(e.key))
		}
	}
	if o.next == nil {
		o.group++
	}
	return seen, errorsFirst(it.Error(), it.Close())
}
