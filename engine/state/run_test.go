package state

import (
	"fmt"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// numbered makes kb the keys of rows from up to to.
func numbered(kb *KeyBatch, from, to int) {
	kb.Reset()
	for i := from; i < to; i++ {
		kb.Add(intKey(nil, uint64(i)))
	}
}

// longEpoch writes rows values of one epoch into table 1 of a store with one shard, in batches, and deletes every
// third of them again in a second pass.
func longEpoch(t testing.TB, s *Store, value string, rows int) {
	t.Helper()
	sh := s.Shard(0, 0)
	tab := sh.Table(1, false)
	var kb KeyBatch
	for _, deleting := range []bool{false, true} {
		for at := 0; at < rows; at += 64 {
			numbered(&kb, at, min(at+64, rows))
			must(t, tab.Load(&kb))
			for i := range kb.Len() {
				h, k := kb.Hash(i), kb.Key(i)
				switch r := tab.Find(h, k, nil); {
				case !deleting:
					tab.Put(h, k, nil, []byte(value))
				case r == 0 || string(tab.Value(r)) != value:
					t.Fatalf("row %d is not there", at+i)
				case (at+i)%3 == 0:
					tab.Delete(r)
				}
			}
			must(t, sh.Maintain())
		}
	}
}

// checkLongEpoch sees that table 1 holds what longEpoch left.
func checkLongEpoch(t testing.TB, s *Store, value string, rows int) {
	t.Helper()
	sh := s.Shard(0, 0)
	tab := sh.Table(1, false)
	var kb KeyBatch
	for at := 0; at < rows; at += 64 {
		numbered(&kb, at, min(at+64, rows))
		must(t, tab.Load(&kb))
		for i := range kb.Len() {
			r := tab.Find(kb.Hash(i), kb.Key(i), nil)
			if (r == 0) != ((at+i)%3 == 0) || r != 0 && string(tab.Value(r)) != value {
				t.Fatalf("row %d: %v", at+i, r)
			}
		}
		must(t, sh.Maintain())
	}
	if n, want := tab.Rows()+s.Restored(), int64(rows-(rows+2)/3); n != want {
		t.Fatalf("%d rows, want %d", n, want)
	}
}

// An epoch of many times the budget goes through runs, which are merged when they become many, and memory stays
// within bounds. Nothing of it is in Pebble before the checkpoint, nothing of it is in a run after it, and an
// epoch that no checkpoint followed is gone after a restart.
func TestRuns(t *testing.T) {
	rows := 12000
	if underRace {
		rows = 3000
	}
	fs := vfs.NewCrashableMem()
	open := func() *Store {
		s, err := Open(Options{Dir: "d", Shards: 1, Budget: 1 << 16, FS: fs})
		must(t, err)
		return s
	}
	runFiles := func() (n int) {
		names, err := fs.List("d/" + ingestDir)
		must(t, err)
		return len(names)
	}
	s := open()
	for epoch := range 3 {
		value := fmt.Sprint("value ", epoch)
		longEpoch(t, s, value, rows)
		sh := s.Shard(0, 0)
		if sh.runSeq <= (epoch+1)*maxRuns || len(sh.runs) == 0 || len(sh.runs) > maxRuns || runFiles() != len(sh.runs) {
			t.Fatalf("%d runs were written, %d are left, in %d files", sh.runSeq, len(sh.runs), runFiles())
		}
		if sh.arena.live > 4*sh.share {
			t.Fatalf("%d bytes in memory, the share is %d", sh.arena.live, sh.share)
		}
		checkLongEpoch(t, s, value, rows)
		if epoch == 0 && s.countStateKeys(t) != 0 {
			t.Fatal("uncommitted entries are in Pebble")
		}
		f := sh.Freeze()
		checkLongEpoch(t, s, value, rows)
		must(t, s.Commit([]*Frozen{f}, []byte(value)))
		checkLongEpoch(t, s, value, rows)
		must(t, sh.Durable(f))
		checkLongEpoch(t, s, value, rows)
		if n := s.countStateKeys(t); n != rows-rows/3 || runFiles() != 0 {
			t.Fatalf("%d rows in Pebble, %d runs left", n, runFiles())
		}
	}
	longEpoch(t, s, "lost", rows)
	must(t, s.Close())
	fs = fs.CrashClone(vfs.CrashCloneCfg{})
	s = open()
	if string(s.Cut()) != "value 2" || runFiles() != 0 {
		t.Fatalf("cut %q, %d runs left", s.Cut(), runFiles())
	}
	checkLongEpoch(t, s, "value 2", rows)
	must(t, s.Close())
}
