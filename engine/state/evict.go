package state

import "github.com/sluicesql/sluice/engine/keyenc"

// Eviction is a clock over the segments of the tables' indexes: a group that was loaded since the hand last
// came by gets another round, the others leave, whole. Only groups that equal what Pebble holds may leave;
// what is dirty, frozen or dead waits for a checkpoint, which Pressure asks for.

// clock is where eviction stands in a table's index.
type clock struct {
	at int // in the directory
}

// Maintain evicts down to the budget, and when too much of what is in memory is not durable, writes some of it
// to a run first. Call it between batches: groups leave memory only here, and borrowed
// slices and Refs of this shard end. It returns the fault that has befallen the store, if any.
func (sh *Shard) Maintain() error {
	if sh.share > 0 && sh.store.db != nil {
		if err := sh.spill(); err != nil {
			return sh.store.fail(err)
		}
		sh.evict()
	}
	sh.publish()
	return sh.store.failed()
}

// over reports whether the shard must give memory back: the store uses more than its budget, and the shard
// more than its even share, so that one with much state may use what another leaves. Whole slabs are
// counted, with some room, beside the slots in use: where sizes shift, half-empty slabs of the old sizes
// remain until eviction empties them. Nor may a shard outgrow its 32-bit references. copies are the shard's; asked once
// for each group that leaves, summing them up would cost more than the rest.
func (sh *Shard) over(copies int64) bool {
	s := sh.store
	memory, held := sh.arena.live+copies, sh.arena.held+copies
	return memory > sh.share && s.memory.Load()-sh.told.memory+memory > s.hotBudget ||
		held > loose(sh.share) && s.held.Load()-sh.told.held+held > loose(s.hotBudget) ||
		held > maxArena/16*15
}

// loose is the memory that slabs may take for the given bytes in use.
func loose(bytes int64) int64 { return bytes + bytes/4 + 8<<20 }

func (sh *Shard) evict() {
	if sh.stuck {
		return
	}
	copies := sh.copies()
	if !sh.over(copies) {
		return
	}
	// Two rounds: the first may only find groups that were used.
	left := 0
	for _, t := range sh.order {
		left += 2 * (len(t.ix.dir) + 1)
	}
	for left > 0 && sh.over(copies) {
		sh.hand %= len(sh.order)
		t := sh.order[sh.hand]
		if t.clock.at >= len(t.ix.dir) {
			t.clock.at = 0
			sh.hand++
			left--
			continue
		}
		g := t.ix.dir[t.clock.at]
		span := 1 << (t.ix.depth - g.depth)
		t.clock.at += span
		left -= span
		t.evictSegment(g, copies)
	}
	sh.stuck = sh.over(copies)
}

func (t *Table) evictSegment(g *segment, copies int64) {
	a := &t.sh.arena
	before := g.used
	for i := uint32(0); i <= g.mask && t.sh.over(copies); {
		r := g.slot(i).ref
		if r == 0 {
			i++
			continue
		}
		e := a.at(r)
		if e.flags&flagUsed != 0 {
			e.flags &^= flagUsed
			i++
			continue
		}
		if !t.evictable(r) {
			i++
			continue
		}
		t.evictGroup(r)
		t.ix.removeAt(g, i) // another group may have moved to i
	}
	if g.used < before {
		t.ix.shrink(g)
	}
}

// evictable reports whether all of the group of head is as in Pebble.
func (t *Table) evictable(head Ref) bool {
	a := &t.sh.arena
	for r := head; r != 0; {
		e := a.at(r)
		if e.flags&(flagDirty|flagFlight) != 0 || e.weight == 0 && e.flags&flagGroup == 0 {
			return false
		}
		r = e.next
	}
	return true
}

// evictGroup frees all of the group of head; its index slot is left to the caller.
func (t *Table) evictGroup(head Ref) {
	a := &t.sh.arena
	e := a.at(head)
	group := keyenc.Group(keyenc.Hash(e.key()))
	t.chill(group, group+1)
	if w := &t.sh.warmth; w.left && w.group == group && w.next != nil {
		w.lost = true
	}
	if e.flags&flagGroup != 0 {
		t.bigBytes -= t.bigOf(e).ix.bytes
		t.dropBig(e)
	}
	live := t.live
	for r := head; r != 0; {
		e := a.at(r)
		next := e.next
		t.setWeight(e, 0)
		t.free(r)
		r = next
	}
	t.away += int64(live - t.live)
	t.sh.shown.evicted.Add(int64(live - t.live))
}
