package state

import (
	"bytes"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"github.com/sluicesql/sluice/engine/keyenc"
)

// loader is a shard's scratch for reading from Pebble.
type loader struct {
	missing []int32 // positions in the batch
	prefix  []byte
}

// Load makes the groups of all keys resident, reading those that are not in memory in one sorted pass over
// Pebble, and brings them near the processor together, which is much faster than one by one. A group stays
// until the shard's next Maintain. Keys may repeat.
func (t *Table) Load(k *KeyBatch) error {
	if t.ix.used > 0 {
		t.approach(k)
	}
	if t.coldGroups == 0 && t.sh.share == 0 {
		return nil
	}
	a := &t.sh.arena
	missing := t.sh.load.missing[:0]
	for i, h := range k.hashes {
		if r := t.head(h, k.Key(i)); r != 0 {
			if e := a.at(r); e.flags&flagUsed == 0 {
				e.flags |= flagUsed
			}
		} else if t.cold[keyenc.Group(h)] {
			missing = append(missing, int32(i))
		}
	}
	t.sh.load.missing = missing
	if len(missing) == 0 {
		return nil
	}
	return t.read(k, missing)
}

// approach touches the index slots, heads and first members of the batch's groups, in passes over the
// batch: the touches of a pass do not depend on each other, so that the processor has many cache misses
// under way where one key after the other would wait for each.
func (t *Table) approach(k *KeyBatch) {
	sh := t.sh
	a := &sh.arena
	var seen uint64
	for _, h := range k.hashes {
		tag := tagOf(h)
		g := t.ix.segmentOf(tag)
		seen += uint64(g.slot(tag & g.mask).tag)
	}
	refs := sh.refs[:0]
	for _, h := range k.hashes {
		tag := tagOf(h)
		g := t.ix.segmentOf(tag)
		i := tag & g.mask
		s := g.slot(i)
		for s.ref != 0 && s.tag != tag {
			i = (i + 1) & g.mask
			s = g.slot(i)
		}
		if s.ref != 0 {
			refs = append(refs, s.ref)
		}
	}
	sh.refs = refs
	for range approachDepth {
		kept := refs[:0]
		for _, r := range refs {
			e := a.at(r)
			head, kl, sl, vl := e.lens()
			seen += uint64(*e.last(head + kl + sl + vl))
			if e.next != 0 {
				kept = append(kept, e.next)
			}
		}
		refs = kept
	}
	sh.sink = seen // keeps the touches from being optimised away
}

// approachDepth is how many members of a group Load touches.
const approachDepth = 4

// read loads the groups of the batch's keys at the given positions from Pebble. After an error groups may be
// half loaded, so that the store is of no further use.
func (t *Table) read(k *KeyBatch, missing []int32) error {
	s := t.sh.store
	slices.SortFunc(missing, func(x, y int32) int {
		if gx, gy := keyenc.Group(k.hashes[x]), keyenc.Group(k.hashes[y]); gx != gy {
			return gx - gy
		}
		return bytes.Compare(k.Key(int(x)), k.Key(int(y)))
	})
	runs, err := t.sh.runIter()
	if err != nil {
		return s.fail(err)
	}
	it, err := s.db.NewIter(&pebble.IterOptions{UpperBound: []byte{metaSpace}})
	if err != nil {
		return s.fail(err)
	}
	var last []byte
	for n, i := range missing {
		key := k.Key(int(i))
		if n > 0 && bytes.Equal(key, last) {
			continue
		}
		last = key
		if err = t.readGroup(it, runs, k.hashes[i], key); err != nil {
			break
		}
	}
	if err = errorsFirst(err, it.Close()); err != nil {
		return s.fail(err)
	}
	t.sh.stuck = false // what came from Pebble may leave again
	t.sh.shown.loaded.Add(int64(len(missing)))
	return nil
}

// readGroup loads a group from Pebble and the runs (nil when there are none): of equal keys the run's counts, and
// an empty value there says that the entry is deleted.
func (t *Table) readGroup(it, runs *pebble.Iterator, h uint64, key []byte) error {
	prefix := appendStateKey(t.sh.load.prefix[:0], keyenc.Group(h), t.id, key, nil)
	t.sh.load.prefix = prefix
	g := groupBuilder{t: t, h: h}
	older := it.SeekGE(prefix) && bytes.HasPrefix(it.Key(), prefix)
	newer := runs != nil && runs.SeekGE(prefix) && bytes.HasPrefix(runs.Key(), prefix)
	for older || newer {
		from := it
		if newer {
			c := -1
			if older {
				c = bytes.Compare(runs.Key(), it.Key())
			}
			if c == 0 {
				older = it.Next() && bytes.HasPrefix(it.Key(), prefix)
			}
			if c <= 0 {
				from = runs
			}
		}
		if err := g.read(from, len(key)); err != nil {
			if from == runs {
				return runsFault(t.sh.allRuns(), err)
			}
			return err
		}
		more := from.Next() && bytes.HasPrefix(from.Key(), prefix)
		if from == it {
			older = more
		} else {
			newer = more
		}
	}
	if runs != nil && runs.Error() != nil {
		return runsFault(t.sh.allRuns(), runs.Error())
	}
	return it.Error() // the next seek would forget it
}

// read adds the entry at it, unless it is one of a longer key or a deletion.
func (g *groupBuilder) read(it *pebble.Iterator, keyLen int) error {
	v, err := it.ValueAndErr()
	if err != nil || len(v) == 0 {
		return err
	}
	e, err := decodeStored(it.Key(), v)
	if err != nil {
		return err
	}
	g.t.mustBeKind(e.bag)
	if len(e.key) == keyLen {
		g.add(&e)
	}
	return nil
}

func errorsFirst(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

// groupBuilder adds stored entries, all new to memory, to the group of one key.
type groupBuilder struct {
	t    *Table
	h    uint64
	head Ref
	n    int
}

func (g *groupBuilder) add(s *stored) {
	t := g.t
	r := t.newEntry(s.key, s.sub, s.value, 0, flagDurable|flagUsed)
	e := t.sh.arena.at(r)
	if t.life != nil {
		e.putTime(s.time)
	}
	t.setWeight(e, s.weight)
	t.away--
	t.insert(g.h, g.head, r, g.n, 0)
	g.n++
	if g.head == 0 {
		g.head = r
	} else if g.n == bigGroup+1 {
		g.head = t.head(g.h, s.key) // it may be a big group now
	}
}
