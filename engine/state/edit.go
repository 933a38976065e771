package state

import (
	"bytes"

	"github.com/cockroachdb/pebble/v2"

	"github.com/sluicesql/sluice/engine/keyenc"
)

// Edit changes a store between two runs of a job, all or nothing.
type Edit struct {
	// Meta are the metadata to set; a nil value removes one.
	Meta map[string][]byte
	// Drop are the tables whose entries go, by their TableID.
	Drop []uint16
	// Cut replaces that of the last Commit; nil leaves it.
	Cut []byte
}

// Edit makes e durable. Tables can be dropped only while the store is undivided.
func (s *Store) Edit(e Edit) error {
	if len(e.Drop) > 0 && s.shards != nil {
		panic("state: a table is dropped from a divided store")
	}
	s.committing.Lock()
	defer s.committing.Unlock()
	if err := s.failed(); err != nil {
		return err
	}
	if s.db == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		for k, v := range e.Meta {
			s.meta[k] = v
		}
		if e.Cut != nil {
			s.cut = e.Cut
		}
		return nil
	}
	b := s.db.NewBatch()
	defer b.Close()
	if err := e.fill(b); err != nil {
		return s.fault(err)
	}
	if err := b.Commit(pebble.Sync); err != nil {
		return s.fail(err)
	}
	if e.Cut != nil {
		s.mu.Lock()
		s.cut = e.Cut
		s.mu.Unlock()
	}
	return s.failed()
}

func (e *Edit) fill(b *pebble.Batch) error {
	for k, v := range e.Meta {
		if v == nil {
			if err := b.Delete(metaKey(k), nil); err != nil {
				return err
			}
		} else if err := b.Set(metaKey(k), v, nil); err != nil {
			return err
		}
	}
	for _, id := range e.Drop {
		for g := range keyenc.KeyGroups {
			if err := b.DeleteRange(tableBounds(g, id)); err != nil {
				return err
			}
		}
		if err := b.Delete(rowCountKey(id), nil); err != nil {
			return err
		}
	}
	if e.Cut != nil {
		return b.Set(cutKey, e.Cut, nil)
	}
	return nil
}

// tableBounds are the bounds of a table's entries in one key group, as DeleteRange takes them.
func tableBounds(group int, id uint16) (from, to []byte, _ *pebble.WriteOptions) {
	from = appendStateKey(nil, group, id, nil, nil)
	if id == 1<<16-1 {
		return from, []byte{byte(group + 1)}, nil
	}
	return from, appendStateKey(nil, group, id+1, nil, nil), nil
}

// StoredEntry is an entry as the last Commit left it; its slices are borrowed.
type StoredEntry struct {
	Table           uint16 // its TableID
	Key, Sub, Value []byte
	Weight          int32
	Bytes           int // what it takes on disk, before compression
}

// Each calls f for every durable entry of the store, by key group, then table, then key and sub. It sees one
// moment's state, and may run beside everything else.
func (s *Store) Each(f func(StoredEntry) error) error {
	return s.fault(s.each(nil, []byte{keyenc.KeyGroups}, f))
}

func (s *Store) each(from, to []byte, f func(StoredEntry) error) error {
	it, err := s.db.NewIter(&pebble.IterOptions{LowerBound: from, UpperBound: to})
	if err != nil {
		return err
	}
	for ok := it.First(); ok; ok = it.Next() {
		v, err := it.ValueAndErr()
		if err != nil {
			return errorsFirst(err, it.Close())
		}
		e, err := decodeStored(it.Key(), v)
		if err == nil {
			err = f(StoredEntry{Table: e.table, Key: e.key, Sub: e.sub, Value: e.value, Weight: e.weight, Bytes: len(it.Key()) + len(v)})
		}
		if err != nil {
			return errorsFirst(err, it.Close())
		}
	}
	return errorsFirst(it.Error(), it.Close())
}

// keysAtOnce is the number of keys that Keys hands over together.
const keysAtOnce = 256

// Keys calls f with all keys of the table that are durable, each once, in batches: f may Load a batch, and read the
// table, but change nothing. Nothing may be waiting to be committed.
func (t *Table) Keys(f func(*KeyBatch) error) error {
	return t.keys(func(k *KeyBatch) error {
		if err := f(k); err != nil {
			return err
		}
		return t.sh.Maintain()
	})
}

// keys calls f with the keys that the table has in Pebble when it gets there, each once.
func (t *Table) keys(f func(*KeyBatch) error) error {
	s := t.sh.store
	lo, hi := t.sh.groups()
	var batch KeyBatch
	hand := func() error {
		if batch.Len() == 0 {
			return nil
		}
		if err := f(&batch); err != nil {
			return err
		}
		batch.Reset()
		return nil
	}
	for g := lo; g < hi; g++ {
		from, to, _ := tableBounds(g, t.id)
		err := s.each(from, to, func(e StoredEntry) error {
			if n := batch.Len(); n > 0 && bytes.Equal(batch.Key(n-1), e.Key) {
				return nil
			}
			if batch.Len() == keysAtOnce {
				if err := hand(); err != nil {
					return err
				}
			}
			batch.Add(e.Key)
			return nil
		})
		if err == nil {
			err = hand()
		}
		if err != nil {
			return s.fault(err)
		}
	}
	return nil
}
