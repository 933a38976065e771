package state

import (
	"bytes"
	"encoding/binary"

	"github.com/tidwall/btree"

	"github.com/sluicesql/sluice/engine/keyenc"
)

// lifetime is what a timed table has: the entries of such a table carry, behind their value, the time at which the last
// epoch that changed them ended, so that those that nothing changed for long can be forgotten.
//
// What counts is what an epoch changed on the whole. A row that is taken away and given back within one was not
// changed, in whatever order and batches that came; so the first change of an entry in an epoch notes what it was, and
// Settle gives those that are the same again their time back. Until then what was written in the epoch has the time of
// its beginning, which nothing else has: that tells what is noted already.
type lifetime struct {
	ttl int64 // milliseconds; 0 forgets nothing
	now int64 // the epoch's time, in milliseconds since 1970

	noted  []noted
	buf    []byte // their bytes
	writes int    // of the epoch
	keys   KeyBatch
	due    []Ref // scratch of Expire
	round  round
}

// noted is an entry as it was before the epoch; key, sub and value lie in buf, one behind the other.
type noted struct {
	from, sub, value, to int
	weight               int32
	time                 int64
}

// entryTimeBytes is what a timed table's entry has behind its value.
const entryTimeBytes = 8

func (e *entry) time() int64 { return int64(binary.LittleEndian.Uint64(e.timeSlot())) }

func (e *entry) putTime(t int64) { binary.LittleEndian.PutUint64(e.timeSlot(), uint64(t)) }

func (e *entry) timeSlot() []byte {
	head, k, s, v := e.lens()
	return e.bytesAt(head+k+s+v, entryTimeBytes)
}

// MakeTimed makes the entries of a table that is empty yet carry the time of their last change. What was written ttl
// milliseconds ago, or before, goes with Expire; 0 is never. A table that is timed stays so, for any ttl: it is on-disk
// format.
func (t *Table) MakeTimed(ttl int64) {
	if t.life == nil {
		if t.ix.used > 0 {
			panic("state: a table that holds entries becomes timed")
		}
		t.life, t.timeBytes = &lifetime{}, entryTimeBytes
	}
	t.life.ttl = ttl
}

// SetTime begins an epoch of a timed table, at the time at which the one before ended. Time does not go back.
func (t *Table) SetTime(millis int64) { t.life.now = millis }

// Refresh has r, of a timed table, count as changed.
func (t *Table) Refresh(r Ref) {
	e := t.sh.arena.at(r)
	t.renew(r, e)
	t.touch(r, e)
}

// renew notes e as written in this epoch, whatever it was before.
func (t *Table) renew(r Ref, e *entry) {
	if l := t.life; e.time() != l.now {
		l.note(e, 0, 0)
		t.setTime(r, e, l.now)
	}
}

// date is called before an entry changes, which may be a tombstone. It costs a table that is not timed nothing but
// the question.
func (t *Table) date(r Ref, e *entry) {
	if t.life == nil {
		return
	}
	l := t.life
	l.writes++
	if time := e.time(); time != l.now {
		l.note(e, e.weight, time)
		t.setTime(r, e, l.now)
	}
}

// note notes an entry that had this weight and time; a weight of 0 says that it is new, or has to count as such.
func (l *lifetime) note(e *entry, weight int32, time int64) {
	n := noted{from: len(l.buf), weight: weight, time: time}
	l.buf = append(l.buf, e.key()...)
	n.sub = len(l.buf)
	l.buf = append(l.buf, e.sub()...)
	n.value = len(l.buf)
	l.buf = append(l.buf, e.value()...)
	n.to = len(l.buf)
	l.noted = append(l.noted, n)
}

// setTime changes an entry's time, and its place among the ages of a big group.
func (t *Table) setTime(r Ref, e *entry, time int64) {
	if e.flags&flagIndexed == 0 {
		e.putTime(time)
		return
	}
	key := e.key()
	b := t.bigOf(t.sh.arena.at(t.head(keyenc.Hash(key), key)))
	if b.ages != nil {
		b.ages.Delete(r)
	}
	e.putTime(time)
	b.aged(r, e)
}

// aged notes an entry's time.
func (b *big) aged(r Ref, e *entry) {
	if b.ages != nil {
		b.ages.Set(r)
		return
	}
	b.oldest = min(b.oldest, e.time())
}

// settleAtOnce is how many entries Settle loads together, and notedKept the bytes that it keeps for the next epoch.
const (
	settleAtOnce = 1024
	notedKept    = 4 << 20
)

// Restore gives the entries of a timed table that are what they were before the epoch their time back.
func (t *Table) Restore() error {
	l := t.life
	return t.eachNoted(func(n *noted, twin Ref, e *entry) {
		if n.weight != 0 && e.weight == n.weight && (t.bag || bytes.Equal(e.value(), l.buf[n.value:n.to])) {
			t.setTime(twin, e, n.time)
			t.touch(twin, e)
		}
	})
}

// Settle ends an epoch of a timed table, at time end: what it changed has this time from now on.
func (t *Table) Settle(end int64) error {
	if err := t.Restore(); err != nil {
		return err
	}
	l := t.life
	err := t.eachNoted(func(_ *noted, r Ref, e *entry) {
		t.setTime(r, e, end-1) // and not the time with which the next epoch may begin
		t.touch(r, e)
	})
	l.noted, l.buf = l.noted[:0], l.buf[:0]
	if cap(l.buf) > notedKept {
		l.noted, l.buf = nil, nil
	}
	return err
}

// eachNoted calls f for the entries, tombstones too, of which something is noted, and those beside them with the same
// sub key, that still have the time of an entry that was written in the epoch. f may change their time alone.
func (t *Table) eachNoted(f func(*noted, Ref, *entry)) error {
	l := t.life
	for from := 0; from < len(l.noted); from += settleAtOnce {
		part := l.noted[from:min(from+settleAtOnce, len(l.noted))]
		l.keys.Reset()
		for i := range part {
			l.keys.Add(l.buf[part[i].from:part[i].sub])
		}
		if err := t.Load(&l.keys); err != nil {
			return err
		}
		for i := range part {
			n := &part[i]
			ident := l.buf[n.sub:n.value]
			if t.bag {
				ident = l.buf[n.value:n.to]
			}
			_, r, _ := t.search(l.keys.Hash(i), l.keys.Key(i), ident)
			if r == 0 {
				continue
			}
			for r = t.firstTwin(r); r != 0; r = t.nextTwin(r) {
				if e := t.sh.arena.at(r); e.time() == l.now {
					f(n, r, e)
				}
			}
		}
	}
	return nil
}

// overdue is the time up to which entries have outlived the table's ttl; ok is false when nothing ever does.
func (l *lifetime) overdue() (time int64, ok bool) { return l.now - l.ttl - 1, l.ttl > 0 }

// Expire removes what has outlived the timed table's ttl of the groups of the keys, which must be loaded, after f,
// unless it is nil, has seen each: i is the key's place in k. f must leave this table as it is. Called for all keys
// before an epoch first looks at them, it makes what is too old not be there. Its cost does not depend on the size of
// a big group.
func (t *Table) Expire(k *KeyBatch, f func(i int, r Ref)) {
	cut, ok := t.life.overdue()
	if !ok || t.live == 0 {
		return
	}
	for i, h := range k.hashes {
		if head := t.head(h, k.Key(i)); head != 0 {
			t.expireGroup(head, cut, i, f)
		}
	}
}

func (t *Table) expireGroup(head Ref, cut int64, i int, f func(i int, r Ref)) {
	l, a := t.life, &t.sh.arena
	l.due = l.due[:0]
	if g := a.at(head); g.flags&flagGroup != 0 {
		b := t.bigOf(g)
		if b.ages == nil && b.oldest > cut {
			return
		}
		t.ageOrder(b, g).Scan(func(r Ref) bool {
			e := a.at(r)
			if e.time() > cut {
				return false
			}
			if e.weight != 0 {
				l.due = append(l.due, r)
			}
			return true
		})
	} else {
		for r := head; r != 0; {
			e := a.at(r)
			if e.weight != 0 && e.time() <= cut {
				l.due = append(l.due, r)
			}
			r = e.next
		}
	}
	for _, r := range l.due {
		if f != nil {
			f(i, r)
		}
		t.renew(r, a.at(r)) // what comes in its place is new
		t.remove(r)
	}
}

// ageOrder is the order of a big group by time, made when an entry of it may first have become too old.
func (t *Table) ageOrder(b *big, head *entry) *tree {
	if b.ages != nil {
		return b.ages
	}
	a := &t.sh.arena
	less := func(x, y Ref) bool {
		if tx, ty := a.at(x).time(), a.at(y).time(); tx != ty {
			return tx < ty
		}
		return x < y
	}
	b.ages = btree.NewBTreeGOptions(less, btree.Options{NoLocks: true})
	for r := head.next; r != 0; {
		b.ages.Set(r)
		r = a.at(r).next
	}
	return b.ages
}

// DeleteGroup removes all entries of a loaded group.
func (t *Table) DeleteGroup(h uint64, key []byte) {
	for r := t.First(h, key); r != 0; {
		next := t.Next(r) // and not the first, which is behind all that are gone but durable
		t.remove(r)
		r = next
	}
}

// DeleteNegatives removes the entries of a loaded group with negative weights, after f, unless it is nil, has seen each. f
// must leave this table as it is.
func (t *Table) DeleteNegatives(h uint64, key []byte, f func(value []byte, weight int32)) {
	for r := t.First(h, key); r != 0; {
		next := t.Next(r)
		if w := t.Weight(r); w < 0 {
			if f != nil {
				f(t.Value(r), w)
			}
			t.remove(r)
		}
		r = next
	}
}

// Timed reports whether the table is timed.
func (t *Table) Timed() bool { return t.life != nil }

// Newest reports whether r is, of the rows of its (key, sub) in a timed table, the one that is there and was changed
// last; of those changed together it is the one with the greatest value by bytes.
func (t *Table) Newest(r Ref) bool {
	a := &t.sh.arena
	e := a.at(r)
	for x := t.firstTwin(r); x != 0; x = t.nextTwin(x) {
		m := a.at(x)
		if x == r || m.weight <= 0 {
			continue
		}
		if later := m.time() - e.time(); later > 0 || later == 0 && bytes.Compare(m.value(), e.value()) > 0 {
			return false
		}
	}
	return e.weight > 0
}
