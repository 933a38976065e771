package state

import (
	"bytes"
	"slices"

	"github.com/tidwall/btree"

	"github.com/sluicesql/sluice/engine/keyenc"
)

// A bag's group can be walked in the order of its values' bytes. A small group is sorted when it is asked for; a
// big one gets a tree of its live entries with the first question, which is kept up to date from then on, so that
// a change of such a group and its least value cost the logarithm of its size.
type tree = btree.BTreeG[Ref]

// Least returns the live entry of key's group with the least value by bytes, 0 when there is none. For a bag.
func (t *Table) Least(h uint64, key []byte) Ref { return t.extreme(h, key, -1) }

// Greatest is Least for the greatest value.
func (t *Table) Greatest(h uint64, key []byte) Ref { return t.extreme(h, key, 1) }

// extreme is the entry whose value compares to all others as sign says.
func (t *Table) extreme(h uint64, key []byte, sign int) Ref {
	head := t.head(h, key)
	if head == 0 {
		return 0
	}
	if b := t.ordered(head); b != nil {
		r, ok := b.order.Min()
		if sign > 0 {
			r, ok = b.order.Max()
		}
		if !ok {
			return 0
		}
		return r
	}
	a := &t.sh.arena
	best := Ref(0)
	var value []byte
	for r := t.First(h, key); r != 0; r = t.Next(r) {
		if v := a.at(r).value(); best == 0 || bytes.Compare(v, value) == sign {
			best, value = r, v
		}
	}
	return best
}

// Ascend calls f for the live entries of key's group in the order of their values' bytes, until f returns false. f
// must not change the table. For a bag.
func (t *Table) Ascend(h uint64, key []byte, f func(Ref) bool) {
	head := t.head(h, key)
	if head == 0 {
		return
	}
	if b := t.ordered(head); b != nil {
		b.order.Scan(f)
		return
	}
	var few [bigGroup + 1]Ref
	refs := few[:0]
	for r := t.First(h, key); r != 0; r = t.Next(r) {
		refs = append(refs, r)
	}
	a := &t.sh.arena
	slices.SortFunc(refs, func(x, y Ref) int { return bytes.Compare(a.at(x).value(), a.at(y).value()) })
	for _, r := range refs {
		if !f(r) {
			return
		}
	}
}

// ordered is the index of a big group with its tree; nil for a small one.
func (t *Table) ordered(head Ref) *big {
	if !t.bag {
		panic("state: the order of a group that is no bag")
	}
	a := &t.sh.arena
	g := a.at(head)
	if g.flags&flagGroup == 0 {
		return nil
	}
	b := t.bigOf(g)
	if b.order == nil {
		less := func(x, y Ref) bool { return bytes.Compare(a.at(x).value(), a.at(y).value()) < 0 }
		b.order = btree.NewBTreeGOptions(less, btree.Options{NoLocks: true})
		for r := g.next; r != 0; {
			e := a.at(r)
			if e.weight != 0 {
				b.order.Set(r)
			}
			r = e.next
		}
	}
	return b
}

// reorder notes that r, in a group's index, has come to life, or is about to be no more.
func (t *Table) reorder(r Ref, e *entry, live bool) {
	if !t.bag || e.flags&flagIndexed == 0 {
		return
	}
	key := e.key()
	b := t.bigOf(t.sh.arena.at(t.head(keyenc.Hash(key), key)))
	switch {
	case b.order == nil:
	case live:
		b.order.Set(r)
	default:
		b.order.Delete(r)
	}
}
