package op

import (
	"bytes"

	"github.com/sluicesql/sluice/engine/changelog"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/state"
)

// touched notes the keys that an epoch's changes concern, each once, with the rows that the operator showed for
// the key before the first of these changes. At the barrier the operator shows the difference to what it would
// show now. In steady state it allocates nothing. The zero value is empty.
type touched struct {
	chunks []state.KeyBatch // of chunkKeys each, so that a barrier can load them one after the other
	n      int              // number of keys
	slots  []int32          // open addressing by hash: index of a key + 1
	mask   uint64
	before changelog.Batch
	starts []int32 // where a key's rows begin in before
}

// chunkKeys is the number of keys that a barrier loads at once: what Load brings near should still be near when it is
// used.
const chunkKeys = 1024

func (t *touched) hash(k int) uint64 { return t.chunks[k/chunkKeys].Hash(k % chunkKeys) }

func (t *touched) key(k int) []byte { return t.chunks[k/chunkKeys].Key(k % chunkKeys) }

// note reports whether the key is new in this epoch. The caller then appends the key's rows to before.
func (t *touched) note(h uint64, key []byte) bool {
	_, fresh := t.place(h, key)
	return fresh
}

// place is note that tells the key's number too.
func (t *touched) place(h uint64, key []byte) (k int, fresh bool) {
	if 2*t.n >= len(t.slots) {
		t.grow()
	}
	i := h & t.mask
	for t.slots[i] != 0 {
		if k := int(t.slots[i] - 1); t.hash(k) == h && bytes.Equal(t.key(k), key) {
			return k, false
		}
		i = (i + 1) & t.mask
	}
	if t.n/chunkKeys == len(t.chunks) {
		t.chunks = append(t.chunks, state.KeyBatch{})
	}
	t.chunks[t.n/chunkKeys].AddHashed(key, h)
	t.n++
	t.slots[i] = int32(t.n)
	t.starts = append(t.starts, int32(t.before.Len()))
	return t.n - 1, true
}

func (t *touched) grow() {
	size := max(2*len(t.slots), 64)
	t.slots, t.mask = make([]int32, size), uint64(size-1)
	for k := range t.n {
		i := t.hash(k) & t.mask
		for t.slots[i] != 0 {
			i = (i + 1) & t.mask
		}
		t.slots[i] = int32(k + 1)
	}
}

// each calls f for each key, after load for the keys of its chunk.
func (t *touched) each(load func(*state.KeyBatch) error, f func(k int, h uint64, key []byte) error) error {
	for k := range t.n {
		if k%chunkKeys == 0 {
			if err := load(&t.chunks[k/chunkKeys]); err != nil {
				return err
			}
		}
		if err := f(k, t.hash(k), t.key(k)); err != nil {
			return err
		}
	}
	return nil
}

// rows are the indexes in before of key k's rows: from (included) to (excluded).
func (t *touched) rows(k int) (from, to int) {
	if k+1 < len(t.starts) {
		return int(t.starts[k]), int(t.starts[k+1])
	}
	return int(t.starts[k]), t.before.Len()
}

// row is the one row shown before for key k; nil when there was none.
func (t *touched) row(k int) row.Row {
	if from, to := t.rows(k); from < to {
		return t.before.Row(from)
	}
	return nil
}

// reset begins the next epoch. What a large epoch took is given back.
func (t *touched) reset() {
	const keep = 1 << 18 // slots: enough for an epoch of the usual size
	if len(t.slots) > keep {
		*t = touched{}
		return
	}
	if t.n > 0 {
		clear(t.slots)
	}
	for i := range t.chunks {
		t.chunks[i].Reset()
	}
	t.n = 0
	t.before.Reset()
	t.starts = t.starts[:0]
}

// replace pushes the difference that showing after in place of before makes: nothing, one row, or an update.
// Nil is no row.
func replace(out *changelog.Batch, before, after row.Row) {
	switch {
	case before == nil && after == nil || before != nil && after != nil && bytes.Equal(before, after):
	case before == nil:
		out.AppendRow(changelog.Insert, after)
	case after == nil:
		out.AppendRow(changelog.Delete, before)
	default:
		out.AppendRow(changelog.UpdateBefore, before)
		out.AppendRow(changelog.UpdateAfter, after)
	}
}
