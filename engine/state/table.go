package state

import "bytes"

// Ref names an entry of a table, until the shard's next Maintain, Freeze or Durable or the entry's removal.
// 0 is none.
type Ref uint32

// Table maps a key to its group of entries. Every key must have been part of a Load since the last
// Maintain before any other method is given it; h is always keyenc.Hash(key). Slices given are copied.
type Table struct {
	bag     bool
	groups  map[string][]Ref
	entries []simple
	live    int
	bytes   int64
	neg     int
}

type simple struct {
	key, sub, value []byte
	weight          int32
}

// Load makes the groups of all keys resident, reading those that are not in memory in one sorted pass over
// Pebble, and brings them near the processor together, which is much faster than one by one. A group stays
// until the shard's next Maintain. Keys may repeat.
func (t *Table) Load(k *KeyBatch) error { return nil }

// First returns the first live entry (weight other than 0) of key's group, 0 when there is none. The order
// within a group depends on nothing but the operations before.
func (t *Table) First(h uint64, key []byte) Ref {
	if g := t.groups[string(key)]; len(g) > 0 {
		return g[0]
	}
	return 0
}

// Next returns the live entry after r in its group, 0 at the end. To delete while walking, ask for the
// next entry first; entries added while walking may or may not be met.
func (t *Table) Next(r Ref) Ref {
	g := t.groups[string(t.entries[r].key)]
	for i, x := range g {
		if x == r && i+1 < len(g) {
			return g[i+1]
		}
	}
	return 0
}

// Find returns the live entry (key, sub), 0 when there is none. Within an epoch there may be several, of
// which it returns one. Not for a bag.
func (t *Table) Find(h uint64, key, sub []byte) Ref {
	for _, x := range t.groups[string(key)] {
		if bytes.Equal(t.entries[x].sub, sub) {
			return x
		}
	}
	return 0
}

// Key returns r's key, borrowed until the table's next mutation.
func (t *Table) Key(r Ref) []byte { return t.entries[r].key }

// Sub returns r's sub key, borrowed until the table's next mutation.
func (t *Table) Sub(r Ref) []byte { return t.entries[r].sub }

// Value returns r's value, borrowed until the table's next mutation.
func (t *Table) Value(r Ref) []byte { return t.entries[r].value }

// Weight returns r's weight, never 0.
func (t *Table) Weight(r Ref) int32 { return t.entries[r].weight }

// Put makes (key, sub) hold value with weight 1, whatever it held. Not for a bag.
func (t *Table) Put(h uint64, key, sub, value []byte) {
	for r := t.Find(h, key, sub); r != 0; r = t.Find(h, key, sub) {
		t.Delete(r)
	}
	t.Add(h, key, sub, value, 1)
}

// Delete removes entry r, whatever its weight.
func (t *Table) Delete(r Ref) {
	e := &t.entries[r]
	t.Add(0, e.key, e.sub, e.value, -e.weight)
}

// Add adds delta to the weight of the entry (key, sub, value), which appears when it was not there and goes
// when its weight becomes 0, and returns the new weight. Within an epoch a (key, sub) may hold several
// values and weights may be negative; for what must hold at a barrier see Check.
func (t *Table) Add(h uint64, key, sub, value []byte, delta int32) int32 {
	g := t.groups[string(key)]
	for i, x := range g {
		e := &t.entries[x]
		if !bytes.Equal(e.sub, sub) || !bytes.Equal(e.value, value) {
			continue
		}
		before := e.weight
		e.weight += delta
		t.count(before, e.weight)
		if e.weight == 0 {
			t.groups[string(key)] = append(append([]Ref{}, g[:i]...), g[i+1:]...)
			t.live--
			t.bytes -= int64(len(key) + len(sub) + len(value))
		}
		return t.entries[x].weight
	}
	if delta == 0 {
		return 0
	}
	t.entries = append(t.entries, simple{bytes.Clone(key), bytes.Clone(sub), bytes.Clone(value), delta})
	t.groups[string(key)] = append(g, Ref(len(t.entries)-1))
	t.live++
	t.bytes += int64(len(key) + len(sub) + len(value))
	t.count(0, delta)
	return delta
}

func (t *Table) count(before, after int32) {
	if before < 0 {
		t.neg--
	}
	if after < 0 {
		t.neg++
	}
}

// Negatives is the number of entries in memory with a negative weight: 0 at every barrier, unless the input
// took back what it never gave.
func (t *Table) Negatives() int { return t.neg }

// Conflicts is the number of rows too many for their (key, sub): 0 at every barrier, unless the input gave
// a key twice. Always 0 for a bag.
func (t *Table) Conflicts() int { return 0 }

// Offenders returns up to max entries with a negative weight or, unless the table is a bag, with a weight
// above 1 or another entry beside it of the same (key, sub): what to name in an error when Negatives or
// Conflicts is not 0 at a barrier. It walks the table.
func (t *Table) Offenders(max int) []Ref {
	var out []Ref
	for i := range t.entries {
		if t.entries[i].weight < 0 && len(out) < max {
			out = append(out, Ref(i))
		}
	}
	return out
}

// Len is the number of live entries in memory: all of the table's, when nothing was evicted.
func (t *Table) Len() int { return t.live }

// Bytes is the memory of the table's entries and indexes; 0 when it holds nothing.
func (t *Table) Bytes() int64 { return t.bytes }
