package state

import (
	"bytes"

	"github.com/sluicesql/sluice/engine/keyenc"
)

// Walk calls f with all keys of the table, in batches: a key may come more than once, and one that has no rows any more
// may too. A batch is loaded when f is called, which may change the rows of its keys. What else was loaded before may be
// gone when Walk returns.
//
// Keys is for a table that was just committed; Walk sees what has changed since as well.
func (t *Table) Walk(f func(*KeyBatch) error) error {
	hand := func(k *KeyBatch) error {
		if err := t.Load(k); err != nil {
			return err
		}
		if err := f(k); err != nil {
			return err
		}
		return t.sh.Maintain()
	}
	// First what is in memory and in the runs, noted before anything leaves the one or the other, and then Pebble: a key
	// that comes to lie there meanwhile was noted.
	var noted keyList
	t.each(func(_ Ref, e *entry) bool {
		noted.add(e.key())
		return true
	})
	disk := t.coldGroups > 0
	if disk {
		if err := t.runKeys(&noted); err != nil {
			return t.sh.store.fail(err)
		}
	}
	for i := range noted.batches {
		if err := hand(&noted.batches[i]); err != nil {
			return err
		}
	}
	if !disk {
		return nil
	}
	return t.keys(hand)
}

// runKeys notes the table's keys in the shard's runs.
func (t *Table) runKeys(to *keyList) error {
	it, err := t.sh.runIter()
	if it == nil || err != nil {
		return err
	}
	lo, hi := t.sh.groups()
	for g := lo; g < hi; g++ {
		from, end, _ := tableBounds(g, t.id)
		for ok := it.SeekGE(from); ok && bytes.Compare(it.Key(), end) < 0; ok = it.Next() {
			v, err := it.ValueAndErr()
			if err != nil {
				return err
			}
			if len(v) == 0 {
				continue // deleted
			}
			e, err := decodeStored(it.Key(), v)
			if err != nil {
				return err
			}
			to.add(e.key)
		}
		if err := it.Error(); err != nil {
			return err
		}
	}
	return nil
}

// keyList is a list of keys, in batches.
type keyList struct{ batches []KeyBatch }

func (l *keyList) add(key []byte) {
	n := len(l.batches)
	if n == 0 || l.batches[n-1].Len() == keysAtOnce {
		l.batches = append(l.batches, KeyBatch{})
		n++
	}
	l.batches[n-1].AddHashed(key, keyenc.Hash(key))
}
