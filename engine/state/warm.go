package state

import (
	"bytes"

	"github.com/cockroachdb/pebble/v2"

	"github.com/sluicesql/sluice/engine/keyenc"
)

// warmth is how far a shard has got with reading its durable entries into memory. All that is on disk at the
// start is cold: Load reads what it needs, and beside it Warm reads everything, in the order of Pebble's keys. It
// runs on the shard's goroutine, so that what it reads is as true as what Load would: a group that is in memory
// already is left as it is. A key group that has been read, and of which nothing was evicted meanwhile, is no
// longer cold.
type warmth struct {
	left  bool   // there is more to read
	group int    // the key group that is being read
	next  []byte // Pebble's key to go on at, within it; nil for its first
	lost  bool   // something of group was evicted since a part of it was read
}

// warmRows is how many entries Warm reads before it lets the shard go on, about a millisecond.
const warmRows = 2048

// beginWarm marks what is on disk as cold, and has the shards read it into memory when it fits into half of the
// budget.
func (s *Store) beginWarm() error {
	it, err := s.db.NewIter(&pebble.IterOptions{UpperBound: []byte{metaSpace}})
	if err != nil {
		return err
	}
	some := it.First()
	if err := errorsFirst(it.Error(), it.Close()); err != nil || !some {
		return err
	}
	onDisk, err := s.db.EstimateDiskUsage([]byte{0}, []byte{metaSpace})
	if err != nil {
		return err
	}
	fits := s.opts.Budget == 0 || int64(onDisk) <= s.opts.Budget/2
	for _, sh := range s.shards {
		lo, hi := sh.groups()
		sh.coldFrom, sh.coldTo = lo, hi
		for _, t := range sh.order {
			t.chill(lo, hi)
		}
		sh.warmth = warmth{left: fits && lo < hi, group: lo}
	}
	return nil
}

// Warm reads some more of what was on disk at the start into memory, and reports whether there is more to read.
// Call it between batches, when there is nothing better to do, until it says no: from then on misses are final,
// unless the budget is too small for all.
func (sh *Shard) Warm() (more bool, err error) {
	w := &sh.warmth
	if !w.left {
		return false, nil
	}
	s := sh.store
	// What is on disk may be more than was estimated; and when there are runs, Pebble alone is not what is true.
	if s.hotBudget > 0 && s.memory.Load() > s.hotBudget/4*3 || sh.runSeq > 0 {
		w.left = false
		return false, nil
	}
	if err := sh.warm(); err != nil {
		return false, s.fail(err)
	}
	sh.publish()
	return w.left, nil
}

func (sh *Shard) warm() error {
	w := &sh.warmth
	from := w.next
	if from == nil {
		from = []byte{byte(w.group), byte(sh.stage)}
	}
	it, err := sh.store.db.NewIter(&pebble.IterOptions{LowerBound: from, UpperBound: stageEnd(w.group, sh.stage)})
	if err != nil {
		return err
	}
	if err := errorsFirst(sh.warmGroups(it), it.Close()); err != nil {
		return err
	}
	if w.next != nil {
		return nil
	}
	if !w.lost {
		for _, t := range sh.order {
			t.warmed(w.group)
		}
	}
	w.group++
	w.lost, w.left = false, w.group < sh.coldTo
	sh.coldFrom = w.group // tables that are not there yet have nothing on disk below
	return nil
}

// stageEnd is the first key after those of a stage in a key group.
func stageEnd(group, stage int) []byte {
	if stage == maxStages-1 {
		return []byte{byte(group + 1)}
	}
	return []byte{byte(group), byte(stage + 1)}
}

// warmGroups reads warmRows entries, whole groups, and notes in next where to go on.
func (sh *Shard) warmGroups(it *pebble.Iterator) error {
	w := &sh.warmth
	w.next = nil
	var (
		b    groupBuilder
		key  []byte // of the group being read, with its key group and table
		skip bool   // it is in memory already
		rows int
	)
	for ok := it.First(); ok; ok = it.Next() {
		v, err := it.ValueAndErr()
		if err != nil {
			return err
		}
		e, err := decodeStored(it.Key(), v)
		if err != nil {
			return err
		}
		if full := it.Key()[:groupTableBytes+len(e.key)]; !bytes.Equal(full, key) {
			if rows >= warmRows {
				w.next = append([]byte{}, it.Key()...)
				break
			}
			key = append(key[:0], full...)
			b = groupBuilder{t: sh.Table(e.table, e.bag), h: keyenc.Hash(e.key)}
			skip = b.t.head(b.h, e.key) != 0
		}
		rows++
		if !skip {
			b.add(&e)
		}
	}
	return it.Error()
}
