package state

import (
	"bytes"

	"github.com/sluicesql/sluice/engine/keyenc"
)

// Ref names an entry of a table, until the shard's next Maintain, Freeze or Durable or the entry's removal.
// 0 is none.
type Ref uint32

// Table maps a key to its group of entries. Every key must have been part of a Load since the last
// Maintain before any other method is given it; h is always keyenc.Hash(key). Slices given are copied.
type Table struct {
	sh  *Shard
	id  uint16
	bag bool

	ix       index // hash of key → head of its group
	bigs     []*big
	freeBigs []uint32

	live      int   // entries with a weight
	away      int64 // rows that left memory, less those that came in from disk
	negatives int
	heavy     int // not bag: entries with a weight above 1
	twins     int // not bag: entries beyond the first of their (key, sub)

	bytes    int64 // of entries
	bigBytes int64 // of the indexes of big groups

	dirty  []Ref // changed since the last Freeze, dead ones too
	frozen []Ref // of the Frozen in flight
	buried []Ref // of the Frozen in flight, those written as deletions

	cold       [keyenc.KeyGroups]bool // key groups of which Pebble may hold what memory does not
	coldGroups int                    // how many

	clock clock

	life      *lifetime // nil unless the table is timed
	timeBytes int       // what each entry has for its time, 0 unless the table is timed
}

// First returns the first live entry (weight other than 0) of key's group, 0 when there is none. The order
// within a group depends on nothing but the operations before.
func (t *Table) First(h uint64, key []byte) Ref {
	r := t.head(h, key)
	if r == 0 || t.sh.arena.at(r).weight != 0 {
		return r
	}
	return t.Next(r)
}

// Next returns the live entry after r in its group, 0 at the end. To delete while walking, ask for the
// next entry first; entries added while walking may or may not be met.
func (t *Table) Next(r Ref) Ref {
	a := &t.sh.arena
	e := a.at(r)
	for e.next != 0 {
		r = e.next
		if e = a.at(r); e.weight != 0 {
			return r
		}
	}
	return 0
}

// Find returns the live entry (key, sub), 0 when there is none. Within an epoch there may be several, of
// which it returns one. Not for a bag.
func (t *Table) Find(h uint64, key, sub []byte) Ref {
	t.mustNotBeBag("Find")
	_, r, _ := t.search(h, key, sub)
	if r == 0 || t.sh.arena.at(r).weight == 0 {
		return 0
	}
	return r
}

// Weigh returns the weight of the entry (key, sub, value), 0 when it is not there. The sub of a bag's entries is
// empty.
func (t *Table) Weigh(h uint64, key, sub, value []byte) int32 {
	if r := t.entryOf(h, key, sub, value); r != 0 {
		return t.sh.arena.at(r).weight
	}
	return 0
}

// entryOf is the entry (key, sub, value), live or a tombstone; 0 when it is not there.
func (t *Table) entryOf(h uint64, key, sub, value []byte) Ref {
	if t.bag {
		_, r, _ := t.search(h, key, value)
		return r
	}
	_, r, _ := t.search(h, key, sub)
	if r == 0 {
		return 0
	}
	for r = t.firstTwin(r); r != 0; r = t.nextTwin(r) {
		if bytes.Equal(t.sh.arena.at(r).value(), value) {
			return r
		}
	}
	return 0
}

// Key returns r's key, borrowed until the table's next mutation.
func (t *Table) Key(r Ref) []byte { return t.sh.arena.at(r).key() }

// Sub returns r's sub key, borrowed until the table's next mutation.
func (t *Table) Sub(r Ref) []byte { return t.sh.arena.at(r).sub() }

// Value returns r's value, borrowed until the table's next mutation.
func (t *Table) Value(r Ref) []byte { return t.sh.arena.at(r).value() }

// Weight returns r's weight, never 0.
func (t *Table) Weight(r Ref) int32 { return t.sh.arena.at(r).weight }

// Put makes (key, sub) hold value with weight 1, whatever it held. Not for a bag.
func (t *Table) Put(h uint64, key, sub, value []byte) {
	t.mustNotBeBag("Put")
	head, r, n := t.search(h, key, sub)
	if r == 0 {
		t.addNew(h, head, n, 0, key, sub, value, 1)
		return
	}
	for x := t.otherTwin(r); x != 0; x = t.otherTwin(r) {
		t.remove(x)
	}
	e := t.sh.arena.at(r)
	if e.weight == 1 && bytes.Equal(e.value(), value) {
		return // the same again costs no write
	}
	t.setValue(h, r, e, value, 1)
}

// Update returns r's value to be changed in place, at once and in the same length; the next Freeze writes it. Not
// for a bag.
func (t *Table) Update(r Ref) []byte {
	t.mustNotBeBag("Update")
	e := t.sh.arena.at(r)
	t.date(r, e)
	t.touch(r, e)
	return e.value()
}

// Delete removes entry r, whatever its weight.
func (t *Table) Delete(r Ref) { t.remove(r) }

// Add adds delta to the weight of the entry (key, sub, value), which appears when it was not there and goes
// when its weight becomes 0, and returns the new weight. Within an epoch a (key, sub) may hold several
// values and weights may be negative; for what must hold at a barrier see Negatives and Conflicts. The sub
// of a bag's entries is empty.
func (t *Table) Add(h uint64, key, sub, value []byte, delta int32) int32 {
	ident := sub
	if t.bag {
		ident = value
		if len(sub) > 0 {
			panic("state: entries of a bag have no sub key")
		}
	}
	if delta == 0 {
		return 0
	}
	head, twin, n := t.search(h, key, ident)
	if twin == 0 {
		t.addNew(h, head, n, 0, key, sub, value, delta)
		return delta
	}
	a := &t.sh.arena
	r := twin
	e := a.at(r)
	if !t.bag {
		for r = t.firstTwin(r); r != 0; r = t.nextTwin(r) {
			if e = a.at(r); bytes.Equal(e.value(), value) {
				break
			}
		}
	}
	if r != 0 {
		w := e.weight + delta
		if w == 0 {
			t.remove(r)
			return 0
		}
		t.date(r, e)
		if e.weight == 0 {
			t.reorder(r, e, true)
		}
		t.setWeight(e, w)
		t.touch(r, e)
		return w
	}
	if e = a.at(twin); e.weight == 0 { // a tombstone, which stands alone: its place is free
		t.setValue(h, twin, e, value, delta)
		return delta
	}
	t.addNew(h, head, n, twin, key, sub, value, delta)
	return delta
}

// addNew makes an entry that was not there, beside twin when there is one.
func (t *Table) addNew(h uint64, head Ref, n int, twin Ref, key, sub, value []byte, weight int32) {
	r := t.newEntry(key, sub, value, 0, 0)
	e := t.sh.arena.at(r)
	t.setWeight(e, weight)
	if l := t.life; l != nil {
		l.writes++
		l.note(e, 0, 0)
	}
	t.insert(h, head, r, n, twin)
	if twin != 0 {
		t.twins++
	}
	t.touch(r, e)
}

// setValue gives r, live or a tombstone, another value and weight; r may be replaced.
func (t *Table) setValue(h uint64, r Ref, e *entry, value []byte, weight int32) {
	a := &t.sh.arena
	t.date(r, e)
	if a.setValueInPlace(r, e, value, t.timeBytes) {
		if t.life != nil {
			e.putTime(t.life.now)
		}
		t.setWeight(e, weight)
		t.touch(r, e)
		return
	}
	n := t.newEntry(e.key(), e.sub(), value, e.weight, e.flags&(flagDurable|flagUsed))
	m := a.at(n)
	t.relocate(h, r, e, n)
	t.setWeight(m, weight)
	t.touch(n, m)
	t.retire(r, e)
}

// remove takes away the live entry r. What Pebble holds, or will when the Frozen in flight is committed,
// leaves a tombstone, so that the next Freeze writes its deletion and a Load cannot bring it back before.
func (t *Table) remove(r Ref) {
	a := &t.sh.arena
	e := a.at(r)
	t.date(r, e)
	twin := Ref(0)
	if !t.bag {
		twin = t.otherTwin(r)
	}
	t.setWeight(e, 0)
	if e.flags&flagDurable != 0 {
		if twin == 0 {
			t.reorder(r, e, false)
			t.touch(r, e)
			return
		}
		// Their Pebble key is the same: the twin takes it over.
		m := a.at(twin)
		m.flags |= flagDurable
		t.touch(twin, m)
	}
	if twin != 0 {
		t.twins--
	}
	t.unlink(r, e)
	t.retire(r, e)
}

// setWeight changes e's weight and what is counted of it.
func (t *Table) setWeight(e *entry, w int32) {
	old := e.weight
	e.weight = w
	t.live += btoi(w != 0) - btoi(old != 0)
	t.negatives += btoi(w < 0) - btoi(old < 0)
	if !t.bag {
		t.heavy += btoi(w > 1) - btoi(old > 1)
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// touch notes that r must be written at the next Freeze.
func (t *Table) touch(r Ref, e *entry) {
	if e.flags&flagDirty != 0 || t.sh.store.db == nil {
		return
	}
	e.flags |= flagDirty
	t.dirty = append(t.dirty, r)
	t.sh.dirtyBytes += int64(t.sh.arena.size(r))
}

func (t *Table) mustNotBeBag(op string) {
	if t.bag {
		panic("state: " + op + " on a bag")
	}
}

// Negatives is the number of entries in memory with a negative weight: 0 at every barrier, unless the input
// took back what it never gave.
func (t *Table) Negatives() int { return t.negatives }

// Conflicts is not 0 when some (key, sub) holds several rows: 0 at every barrier, unless the input gave
// a key twice. Always 0 for a bag.
func (t *Table) Conflicts() int { return t.heavy + t.twins }

// Offenders returns up to limit entries with a negative weight or, unless the table is a bag, with a weight
// above 1 or another entry beside it of the same (key, sub): what to name in an error when Negatives or
// Conflicts is not 0 at a barrier. It walks the table.
func (t *Table) Offenders(limit int) []Ref {
	var out []Ref
	t.each(func(r Ref, e *entry) bool {
		if t.offends(r, e) {
			out = append(out, r)
		}
		return len(out) < limit
	})
	return out
}

func (t *Table) offends(r Ref, e *entry) bool {
	return e.weight < 0 || !t.bag && e.weight != 0 && (e.weight > 1 || t.otherTwin(r) != 0)
}

// each calls f for all entries, tombstones too, until it returns false.
func (t *Table) each(f func(Ref, *entry) bool) {
	a := &t.sh.arena
	for i := 0; i < len(t.ix.dir); {
		g := t.ix.dir[i]
		i += 1 << (t.ix.depth - g.depth)
		for j := uint32(0); j <= g.mask; j++ {
			for r := g.slot(j).ref; r != 0; {
				e := a.at(r)
				if e.flags&flagGroup == 0 && !f(r, e) {
					return
				}
				r = e.next
			}
		}
	}
}

// Len is the number of live entries in memory: all of the table's, when nothing was evicted.
func (t *Table) Len() int { return t.live }

// Rows is the number of the table's live rows, in memory and on disk, less those that were on disk at Open and
// have not been in memory since; see Store.Restored.
func (t *Table) Rows() int64 { return int64(t.live) + t.away }

// Bytes is the memory of the table's entries and indexes; 0 when it holds nothing.
func (t *Table) Bytes() int64 { return t.bytes + t.ix.bytes + t.bigBytes }
