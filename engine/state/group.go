package state

import (
	"bytes"
	"encoding/binary"
	"math"

	"github.com/sluicesql/sluice/engine/keyenc"
)

// A group is the entries of one key, doubly linked; the index leads to its head. It is wholly in memory
// or wholly not.
//
// A group that grows past bigGroup entries gets a head that is no entry (flagGroup, weight 0, the group's
// key, and as value the number of a big) and an index by what tells its entries apart, so that finding,
// adding and deleting do not depend on its size. Walks skip the head as they skip tombstones: by weight 0.
//
// Entries of one (key, sub), of which there may be several within an epoch, stand side by side.
const (
	bigGroup   = 64 // entries above which a group gets its own index
	smallGroup = 16 // entries below which it loses it again
)

// big is the index of a big group, over entries including tombstones.
type big struct {
	ix    index
	order *tree // of the live ones, see ordered.go; nil until it is asked for

	// Of a timed table, see lifetime.go: no entry is older than oldest, or, when ages is there, than its first.
	oldest int64
	ages   *tree
}

// head is the head of key's group, 0 when there is none in memory.
func (t *Table) head(h uint64, key []byte) Ref {
	if t.ix.dir == nil {
		return 0
	}
	tag := tagOf(h)
	g := t.ix.segmentOf(tag)
	for i := tag & g.mask; ; i = (i + 1) & g.mask {
		s := g.slot(i)
		if s.ref == 0 {
			return 0
		}
		if s.tag == tag && t.sh.arena.at(s.ref).hasKey(key) {
			return s.ref
		}
	}
}

func (t *Table) bigOf(head *entry) *big {
	return t.bigs[binary.LittleEndian.Uint32(head.value())]
}

// search finds key's group and in it an entry of this identity, live or tombstone; of several with the same
// (key, sub) any. n is the number of entries walked, for insert.
func (t *Table) search(h uint64, key, ident []byte) (head, r Ref, n int) {
	head = t.head(h, key)
	if head == 0 {
		return 0, 0, 0
	}
	a := &t.sh.arena
	e := a.at(head)
	if e.flags&flagGroup == 0 {
		for r = head; r != 0; r = e.next {
			e = a.at(r)
			if bytes.Equal(e.ident(t.bag), ident) {
				return head, r, n
			}
			n++
		}
		return head, 0, n
	}
	tag := tagOf(keyenc.Hash(ident))
	g := t.bigOf(e).ix.segmentOf(tag)
	for i := tag & g.mask; ; i = (i + 1) & g.mask {
		s := g.slot(i)
		if s.ref == 0 {
			return head, 0, 0
		}
		if s.tag == tag && bytes.Equal(a.at(s.ref).ident(t.bag), ident) {
			return head, s.ref, 0
		}
	}
}

// firstTwin is the first of the entries that share r's (key, sub).
func (t *Table) firstTwin(r Ref) Ref {
	if t.twins == 0 {
		return r
	}
	a := &t.sh.arena
	e := a.at(r)
	for e.prev != 0 {
		p := a.at(e.prev)
		if p.flags&flagGroup != 0 || !bytes.Equal(p.sub(), e.sub()) {
			break
		}
		r, e = e.prev, p
	}
	return r
}

// nextTwin is the next entry with r's (key, sub), 0 when there is none.
func (t *Table) nextTwin(r Ref) Ref {
	if t.twins == 0 {
		return 0
	}
	a := &t.sh.arena
	e := a.at(r)
	if e.next != 0 && bytes.Equal(a.at(e.next).sub(), e.sub()) {
		return e.next
	}
	return 0
}

// otherTwin is an entry with r's (key, sub) that is not r, 0 when there is none.
func (t *Table) otherTwin(r Ref) Ref {
	if n := t.nextTwin(r); n != 0 {
		return n
	}
	if f := t.firstTwin(r); f != r {
		return f
	}
	return 0
}

// insert links a new entry into the group of head (0: it founds the group), which has n entries unless it
// is big. twin is an entry with the same (key, sub) to stand beside, or 0.
func (t *Table) insert(h uint64, head, r Ref, n int, twin Ref) {
	a := &t.sh.arena
	if head == 0 {
		t.ix.insert(tagOf(h), r)
		return
	}
	e := a.at(r)
	at := head
	if twin != 0 {
		at = twin
	} else if a.at(head).flags&flagGroup == 0 {
		for x := t.nextTwin(at); x != 0; x = t.nextTwin(at) {
			at = x // the head's twins stay beside it
		}
	}
	p := a.at(at)
	e.prev, e.next = at, p.next
	if p.next != 0 {
		a.at(p.next).prev = r
	}
	p.next = r
	if g := a.at(head); g.flags&flagGroup != 0 {
		e.flags |= flagIndexed
		b := t.bigOf(g)
		t.bigBytes -= b.ix.bytes
		b.ix.insert(tagOf(keyenc.Hash(e.ident(t.bag))), r)
		t.bigBytes += b.ix.bytes
		if b.order != nil && e.weight != 0 {
			b.order.Set(r)
		}
		if t.life != nil {
			b.aged(r, e)
		}
	} else if n >= bigGroup {
		t.enlarge(h, head)
	}
}

// enlarge makes the group of head a big one.
func (t *Table) enlarge(h uint64, head Ref) {
	a := &t.sh.arena
	no := len(t.bigs)
	if k := len(t.freeBigs); k > 0 {
		no = int(t.freeBigs[k-1])
		t.freeBigs = t.freeBigs[:k-1]
	} else {
		t.bigs = append(t.bigs, nil)
	}
	b := &big{ix: index{a: a}, oldest: math.MaxInt64}
	t.bigs[no] = b
	var value [4]byte
	binary.LittleEndian.PutUint32(value[:], uint32(no))
	first := a.at(head)
	d := t.newEntry(first.key(), nil, value[:], 0, flagGroup|first.flags&flagUsed)
	first.prev = d
	a.at(d).next = head
	t.ix.replace(tagOf(h), head, d)
	for r := head; r != 0; {
		e := a.at(r)
		e.flags |= flagIndexed
		b.ix.insert(tagOf(keyenc.Hash(e.ident(t.bag))), r)
		if t.life != nil {
			b.aged(r, e)
		}
		r = e.next
	}
	t.bigBytes += b.ix.bytes
}

// dropBig frees the big of head, which is left to be unlinked.
func (t *Table) dropBig(head *entry) {
	no := binary.LittleEndian.Uint32(head.value())
	b := t.bigs[no]
	b.ix.reset()
	t.bigs[no] = nil
	t.freeBigs = append(t.freeBigs, no)
}

// unlink takes r out of its group. The group ends with its last entry, and is small again below
// smallGroup.
func (t *Table) unlink(r Ref, e *entry) {
	a := &t.sh.arena
	if e.next != 0 {
		a.at(e.next).prev = e.prev
	}
	if e.prev != 0 {
		a.at(e.prev).next = e.next
	}
	if e.flags&flagIndexed == 0 {
		if e.prev == 0 {
			tag := tagOf(keyenc.Hash(e.key()))
			if e.next == 0 {
				t.ix.remove(tag, r)
			} else {
				t.ix.replace(tag, r, e.next)
			}
		}
		e.next, e.prev = 0, 0
		return
	}
	h := keyenc.Hash(e.key())
	head := t.head(h, e.key())
	g := a.at(head)
	b := t.bigOf(g)
	t.bigBytes -= b.ix.bytes
	if b.order != nil {
		b.order.Delete(r)
	}
	if b.ages != nil {
		b.ages.Delete(r)
	}
	b.ix.remove(tagOf(keyenc.Hash(e.ident(t.bag))), r)
	t.bigBytes += b.ix.bytes
	e.next, e.prev = 0, 0
	e.flags &^= flagIndexed
	if b.ix.used >= smallGroup {
		return
	}
	t.bigBytes -= b.ix.bytes
	t.dropBig(g)
	first := g.next
	t.ix.replace(tagOf(h), head, first)
	a.at(first).prev = 0
	for x := first; x != 0; {
		m := a.at(x)
		m.flags &^= flagIndexed
		x = m.next
	}
	t.free(head)
}

// relocate puts n in r's place in its group.
func (t *Table) relocate(h uint64, r Ref, e *entry, n Ref) {
	a := &t.sh.arena
	m := a.at(n)
	m.next, m.prev = e.next, e.prev
	if e.next != 0 {
		a.at(e.next).prev = n
	}
	if e.prev != 0 {
		a.at(e.prev).next = n
	} else {
		t.ix.replace(tagOf(h), r, n)
	}
	if e.flags&flagIndexed != 0 {
		m.flags |= flagIndexed
		b := t.bigOf(a.at(t.head(h, m.key())))
		b.ix.replace(tagOf(keyenc.Hash(m.ident(t.bag))), r, n)
		if b.ages != nil {
			b.ages.Delete(r)
			b.ages.Set(n)
		}
	}
	e.next, e.prev = 0, 0
}
