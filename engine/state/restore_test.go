package state_test

import (
	"testing"

	"github.com/sluicesql/sluice/engine/keyenc"
	"github.com/sluicesql/sluice/engine/state"
	"github.com/sluicesql/sluice/engine/state/statetest"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A restore that a crash cuts short, at any of its writes, begins anew when it is asked for again.
func TestRestoreCutShort(t *testing.T) {
	keep := func(b []byte) ([]byte, error) { return b, nil }
	points := 0
	for i := 0; ; i++ {
		disk := statetest.NewDisk()
		s, err := state.Open(state.Options{Dir: "state", FS: disk.FS(), Shards: 1, Stages: 1})
		must(t, err)
		key := []byte("key")
		s.Shard(0, 0).Table(state.TableID(0, 0), false).Put(keyenc.Hash(key), key, []byte("sub"), []byte("a"))
		must(t, s.Commit([]*state.Frozen{s.Shard(0, 0).Freeze()}, []byte("cut")))
		must(t, s.Savepoint("save", []byte("note"), false))
		must(t, s.Close())
		disk.BreakAt(i, i%3*50, uint64(i), func() {})
		err = state.Restore(disk.FS(), "save", "restored", keep)
		if !disk.Broke() {
			must(t, err)
			break
		}
		points++
		fs := disk.AfterCrash().FS()
		note, _, err := state.ReadNote(fs, "restored")
		must(t, err)
		if note == nil {
			if err := state.Restore(fs, "save", "restored", keep); err != nil {
				t.Fatalf("after a crash at write %d: %v", i, err)
			}
		}
		r, err := state.Open(state.Options{Dir: "restored", FS: fs})
		if err != nil {
			t.Fatalf("after a crash at write %d: %v", i, err)
		}
		rows := 0
		must(t, r.Each(func(state.StoredEntry) error { rows++; return nil }))
		if string(r.Cut()) != "cut" || rows != 1 {
			t.Errorf("after a crash at write %d: %d rows, cut %q", i, rows, r.Cut())
		}
		must(t, r.Close())
	}
	if points < 10 {
		t.Errorf("%d writes only", points)
	}
}
