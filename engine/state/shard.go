package state

import (
	"fmt"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"

	"github.com/sluicesql/sluice/engine/keyenc"
)

// Shard is the part of a store that one goroutine owns.
type Shard struct {
	store  *Store
	stage  int
	no     int
	arena  arena
	tables map[uint16]*Table
	order  []*Table // by creation

	share      int64 // of the store's budget for hot, dirty and frozen memory, see evict.go; 0 is unlimited
	dirtyBytes int64
	frozen     *Frozen // the one in flight
	spare      *Frozen // the one before, for its memory
	runs       []run   // what left memory since the last Freeze, oldest first, see run.go
	runsIter   *pebble.Iterator
	runSeq     int   // number of the next run
	nextSpill  int64 // dirtyBytes from which the next run is written
	hand       int   // the table at which eviction goes on
	stuck      bool  // nothing could be evicted; holds until something becomes durable
	warmth     warmth
	// Pebble may hold entries from before Open in key groups coldFrom up to coldTo, of tables that are not made yet
	// too.
	coldFrom, coldTo int

	sorter sorter // of spill
	load   loader
	refs   []Ref // scratch of Load
	sink   uint64

	shown shown
	told  used // what of this shard is in the store's sums
}

// used is what counts against the budget.
type used struct{ memory, held, waiting, dirty int64 }

// shown is what Stats shows of a shard; the shard's goroutine publishes it.
type shown struct {
	rows, live, held, dirty, frozen, loaded, evicted atomic.Int64
}

func newShard(s *Store, stage, no int, share int64) *Shard {
	return &Shard{store: s, stage: stage, no: no, tables: map[uint16]*Table{}, share: min(share, maxArena)}
}

// groups is the range of key groups [lo, hi) that the shard owns.
func (sh *Shard) groups() (lo, hi int) {
	n := sh.store.opts.Shards
	for lo < keyenc.KeyGroups && keyenc.Shard(lo, n) < sh.no {
		lo++
	}
	for hi = lo; hi < keyenc.KeyGroups && keyenc.Shard(hi, n) == sh.no; {
		hi++
	}
	return lo, hi
}

// Table returns the table with this id (TableID of the shard's stage), creating it. A table of kind bag holds
// equal rows as often as they were added: an entry is told from others by (key, value). Otherwise (key, sub)
// tells entries apart, at barriers at least. The id and the kind are on-disk format; a table asked for in
// another kind than the one it was stored in panics.
func (sh *Shard) Table(id uint16, bag bool) *Table {
	if int(id>>8) != sh.stage {
		panic(fmt.Sprintf("state: table %d is not of stage %d", id, sh.stage))
	}
	t := sh.tables[id]
	if t == nil {
		t = &Table{sh: sh, id: id, bag: bag, ix: index{a: &sh.arena}}
		t.chill(sh.coldFrom, sh.coldTo)
		sh.tables[id] = t
		sh.order = append(sh.order, t)
	}
	t.mustBeKind(bag)
	return t
}

func (t *Table) mustBeKind(bag bool) {
	if t.bag != bag {
		panic(fmt.Sprintf("state: table %d is stored as both a bag and not: the directory is of another job", t.id))
	}
}

// chill marks key groups of which Pebble may hold what memory does not.
func (t *Table) chill(from, to int) {
	for g := from; g < to; g++ {
		if !t.cold[g] {
			t.cold[g] = true
			t.coldGroups++
			t.sh.store.cold.Add(1)
		}
	}
}

// warmed marks a key group of which memory holds all that Pebble does.
func (t *Table) warmed(group int) {
	if t.cold[group] {
		t.cold[group] = false
		t.coldGroups--
		t.sh.store.cold.Add(-1)
	}
}

// Cold reports whether some of the shard's state is on disk alone, so that a Load may have to read.
func (sh *Shard) Cold() bool {
	for _, t := range sh.order {
		if t.coldGroups > 0 {
			return true
		}
	}
	return false
}

// unlimitedPressure is the dirty and frozen memory that calls for a checkpoint when there is no budget: a
// checkpoint copies it.
const unlimitedPressure = 512 << 20

// Pressure reports whether so much of the store waits to be written, a quarter of the budget, that a
// checkpoint should be taken early.
func (sh *Shard) Pressure() bool {
	limit := sh.store.hotBudget / 4
	if limit == 0 {
		limit = unlimitedPressure
	}
	return sh.store.waiting.Load()-sh.told.waiting+sh.dirtyBytes+sh.frozenBytes() > limit
}

// Crowded reports whether what waits to be written fills half of the budget: more input should wait until a
// checkpoint is through. Any goroutine may call it.
func (s *Store) Crowded() bool { return s.hotBudget > 0 && s.waiting.Load() > s.hotBudget/2 }

func (sh *Shard) frozenBytes() int64 {
	if sh.frozen == nil {
		return 0
	}
	return sh.frozen.bytes
}

// copies is the memory of the checkpoint in flight, or kept for the next.
func (sh *Shard) copies() int64 {
	var n int64
	for _, f := range []*Frozen{sh.frozen, sh.spare} {
		if f != nil {
			n += f.capacity()
		}
	}
	return n
}

// publish makes the shard's numbers known to Stats and to the other shards.
func (sh *Shard) publish() {
	var rows int64
	for _, t := range sh.order {
		rows += t.Rows()
	}
	s, frozen, copies := sh.store, sh.frozenBytes(), sh.copies()
	sh.shown.rows.Store(rows)
	sh.shown.dirty.Store(sh.dirtyBytes)
	sh.shown.frozen.Store(frozen)
	sh.shown.live.Store(sh.arena.live)
	sh.shown.held.Store(sh.arena.held)
	now := used{memory: sh.arena.live + copies, held: sh.arena.held + copies, waiting: sh.dirtyBytes + frozen, dirty: sh.dirtyBytes}
	s.memory.Add(now.memory - sh.told.memory)
	s.held.Add(now.held - sh.told.held)
	s.waiting.Add(now.waiting - sh.told.waiting)
	s.dirty.Add(now.dirty - sh.told.dirty)
	sh.told = now
}

// close gives the memory back.
func (sh *Shard) close() error {
	err := errorsFirst(sh.closeRuns(), sh.arena.close())
	for _, f := range []*Frozen{sh.frozen, sh.spare} {
		if f != nil {
			f.dropBlocks()
		}
	}
	sh.frozen, sh.spare, sh.tables, sh.order = nil, nil, nil, nil
	return err
}
