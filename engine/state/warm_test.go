package state

import (
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/sluicesql/sluice/engine/keyenc"
)

// warmAll warms all shards up.
func warmAll(s *Store) error {
	for _, sh := range s.shards {
		for {
			more, err := sh.Warm()
			if err != nil {
				return err
			}
			if !more {
				break
			}
		}
	}
	return nil
}

// Warm never brings back what has changed or gone since the start, whether that is durable meanwhile or not, and what
// was loaded before it came by stays as it is.
func TestWarmBesideChanges(t *testing.T) {
	const rows = 10 * warmRows
	fs := vfs.NewMem()
	open := func() (*Store, *Shard, *Table) {
		s, err := Open(Options{Dir: "d", Shards: 1, FS: fs})
		must(t, err)
		sh := s.Shard(0, 0)
		return s, sh, sh.Table(1, false)
	}
	checkpoint := func(s *Store, sh *Shard) {
		f := sh.Freeze()
		must(t, s.Commit([]*Frozen{f}, nil))
		must(t, sh.Durable(f))
	}
	change := func(tab *Table, i int, value string) {
		var kb KeyBatch
		kb.Add(intKey(nil, uint64(i)))
		must(t, tab.Load(&kb))
		if value == "" {
			tab.Delete(tab.Find(kb.Hash(0), kb.Key(0), nil))
		} else {
			tab.Put(kb.Hash(0), kb.Key(0), nil, []byte(value))
		}
	}
	s, sh, tab := open()
	for i := range rows {
		key := intKey(nil, uint64(i))
		tab.Put(keyenc.Hash(key), key, nil, []byte("old"))
	}
	checkpoint(s, sh)
	must(t, s.Close())

	s, sh, tab = open()
	if tab.Len() != 0 || !sh.Cold() || s.Stats().Rows != rows {
		t.Fatalf("%d rows in memory after the start, cold %v, %d rows", tab.Len(), sh.Cold(), s.Stats().Rows)
	}
	for step := 0; ; step++ {
		for i := step; i < rows; i += 97 {
			switch want := [...]string{"", "new"}[i%2]; {
			case step%97 == i%97 && step < 97:
				change(tab, i, want)
			}
		}
		if step%3 == 0 {
			checkpoint(s, sh)
		}
		more, err := sh.Warm()
		must(t, err)
		if !more && step >= 97 {
			break
		}
	}
	if sh.Cold() {
		t.Fatal("cold after Warm")
	}
	loaded := s.Stats().Loaded
	for i := range rows {
		key := intKey(nil, uint64(i))
		r := tab.Find(keyenc.Hash(key), key, nil)
		if (r == 0) != (i%2 == 0) || r != 0 && string(tab.Value(r)) != "new" {
			t.Fatalf("row %d after the warm-up: %v", i, r)
		}
	}
	if n := s.Stats(); n.Loaded != loaded || n.Rows != rows/2 {
		t.Fatalf("%+v", n)
	}
	must(t, s.Close())
}

// With a budget that has no room for the state nothing is read at the start; where the state turns out larger
// than it seemed, Warm stops and what is left stays cold.
func TestWarmWithinBudget(t *testing.T) {
	const rows = 20_000
	fs := vfs.NewMem()
	s, err := Open(Options{Dir: "d", Shards: 1, FS: fs})
	must(t, err)
	fill := func(tab *Table, value []byte) {
		for i := range rows {
			key := intKey(nil, uint64(i))
			tab.Put(keyenc.Hash(key), key, nil, value)
		}
	}
	fill(s.Shard(0, 0).Table(1, false), nil)
	must(t, s.Commit([]*Frozen{s.Shard(0, 0).Freeze()}, nil))
	onDisk := s.Stats().Disk
	must(t, s.Close())
	for _, budget := range []int64{onDisk, onDisk * 9 / 4} {
		s, err := Open(Options{Dir: "d", Shards: 1, FS: fs, Budget: budget})
		must(t, err)
		must(t, warmAll(s))
		sh := s.Shard(0, 0)
		tab := sh.Table(1, false)
		n := tab.Len()
		if !sh.Cold() || (n > 0) != (budget > onDisk) || n == rows {
			t.Fatalf("budget %d for %d bytes: %d rows warmed up, cold %v", budget, onDisk, n, sh.Cold())
		}
		var kb KeyBatch
		for i := range rows {
			kb.Add(intKey(nil, uint64(i)))
		}
		must(t, tab.Load(&kb))
		if tab.Len() != rows || tab.Rows()+s.Restored() != rows {
			t.Fatalf("%d rows, %d counted", tab.Len(), tab.Rows()+s.Restored())
		}
		must(t, s.Close())
	}
}
