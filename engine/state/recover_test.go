package state

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/cockroachdb/pebble/v2/wal"

	"github.com/sluicesql/sluice/engine/keyenc"
)

// commitRows commits value n under the first rows of keys.
func commitRows(t *testing.T, s *Store, n, rows int) {
	t.Helper()
	for i := range rows {
		key := intKey(nil, uint64(i))
		s.Shard(0, 0).Table(1, false).Put(keyenc.Hash(key), key, nil, fmt.Append(nil, n))
	}
	f := s.Shard(0, 0).Freeze()
	must(t, s.Commit([]*Frozen{f}, fmt.Appendf(nil, "cut %d", n)))
	must(t, s.Shard(0, 0).Durable(f))
}

// Pebble takes a log whose end is torn only for the last one it wrote, and begins a new one when it opens. Here it
// still needs the torn one after that: its flushes are held up at the first of several memtables, the last of which,
// a batch of middling size, it lets lie when it opens. So a second crash met a torn log that was not the last.
func TestCrashesInARow(t *testing.T) {
	fs := vfs.NewCrashableMem()
	must(t, makeDir(fs, "d"))
	var flushes sync.RWMutex // held: no memtable becomes a table
	inj := errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind == errorfs.OpCreate && strings.HasSuffix(op.Path, ".sst") && strings.Contains(op.Path, "/"+dbDir+"/") {
			flushes.RLock()
			defer flushes.RUnlock()
		}
		return nil
	})
	s, err := Open(Options{Dir: "d/state", Shards: 1, FS: errorfs.Wrap(fs, inj), Budget: 1 << 20})
	must(t, err)
	n := 0
	commit := func(rows int) {
		n++
		commitRows(t, s, n, rows)
	}
	var crashed *vfs.MemFS
	for range 3 { // later logs are earlier ones used again
		flushes.Lock()
		commit(1000)
		commit(ingestRows)
		commit(2500)
		crashed = fs.CrashClone(vfs.CrashCloneCfg{})
		flushes.Unlock()
		must(t, s.db.Flush())
	}
	must(t, s.Close())
	for range 4 {
		o, err := Open(Options{Dir: "d/state", Shards: 1, FS: crashed, Budget: 1 << 20})
		must(t, err)
		if want := fmt.Sprintf("cut %d", n); string(o.Cut()) != want {
			t.Fatalf("%s, want %s", o.Cut(), want)
		}
		crashed = crashed.CrashClone(vfs.CrashCloneCfg{})
		must(t, o.Close())
	}
}

// A log that ends within a record, wherever, counts up to the record before, and does so at every start from then on.
func TestTornLog(t *testing.T) {
	fs := vfs.NewMem()
	must(t, makeDir(fs, "d"))
	s, err := Open(Options{Dir: "d/state", Shards: 1, FS: fs})
	must(t, err)
	names, err := fs.List("d/state/" + dbDir)
	must(t, err)
	i := slices.IndexFunc(names, func(name string) bool { return strings.HasSuffix(name, ".log") })
	log := "d/state/" + dbDir + "/" + names[i]
	var content []byte
	var ends []int // of the log after each write
	for i := range 4 {
		must(t, s.SetMeta("job", fmt.Append(nil, i)))
		f, err := fs.Open(log)
		must(t, err)
		content, err = io.ReadAll(f)
		must(t, errors.Join(err, f.Close()))
		ends = append(ends, len(content))
	}
	for cut := range len(content) + 1 {
		want := ""
		for i, end := range ends {
			if cut >= end {
				want = fmt.Sprint(i)
			}
		}
		for _, tail := range []string{"", strings.Repeat("the remains of an earlier log ", 3)} {
			torn := cloneMem(t, fs)
			f, err := torn.Create(log, vfs.WriteCategoryUnspecified)
			must(t, err)
			_, err = f.Write(append(slices.Clone(content[:cut]), tail...))
			must(t, errors.Join(err, f.Close()))
			for range 2 {
				s, err := Open(Options{Dir: "d/state", Shards: 1, FS: torn})
				must(t, err)
				if got, err := s.Meta("job"); string(got) != want || err != nil {
					t.Fatalf("cut at %d with %q: %q, %v; want %q", cut, tail, got, err, want)
				}
				killed := cloneMem(t, torn)
				must(t, s.Close())
				torn = killed
			}
		}
	}
	must(t, s.Close())
}

// cloneMem copies all that is in a directory d now.
func cloneMem(t *testing.T, fs FS) *vfs.MemFS {
	t.Helper()
	clone := vfs.NewMem()
	_, err := vfs.Clone(fs, clone, "d", "d")
	must(t, err)
	return clone
}

// A flipped byte in the log is an error that names the directory, and is left alone. In the last block of 32 KB and the
// last two commits, behind which nothing tells how far the log was synced, Pebble takes it for a torn end: the state is
// that of an earlier commit.
func TestFlippedByteInLog(t *testing.T) {
	const block = 32 << 10
	fs := vfs.NewCrashableMem()
	must(t, makeDir(fs, "d"))
	s, err := Open(Options{Dir: "d/state", Shards: 1, FS: fs, Budget: 64 << 20})
	must(t, err)
	path := ""
	var cuts []string // that lie in the last log
	var ends []int64  // where
	for n := 0; len(ends) == 0 || ends[len(ends)-1] < 3*block; n++ {
		commitRows(t, s, n, 700)
		logs, err := wal.Scan(wal.Dir{FS: fs, Dirname: "d/state/" + dbDir})
		must(t, err)
		_, now := logs[len(logs)-1].SegmentLocation(0)
		if now != path {
			path, cuts, ends = now, nil, nil
		}
		end, _, err := wholeRecords(logs[len(logs)-1])
		must(t, err)
		cuts, ends = append(cuts, fmt.Sprintf("cut %d", n)), append(ends, end)
	}
	last := len(ends) - 1
	refused := 0
	for at := int64(0); at < ends[last]; at += 1499 {
		crashed := fs.CrashClone(vfs.CrashCloneCfg{})
		f, err := crashed.OpenReadWrite(path, vfs.WriteCategoryUnspecified)
		must(t, err)
		var b [1]byte
		_, err = f.ReadAt(b[:], at)
		must(t, err)
		b[0] ^= 0x10
		_, err = f.WriteAt(b[:], at)
		must(t, err)
		must(t, f.Close())
		o, err := Open(Options{Dir: "d/state", Shards: 1, FS: crashed})
		if err != nil {
			if refused++; !strings.Contains(err.Error(), "d/state") {
				t.Fatalf("byte %d: %v", at, err)
			}
			continue
		}
		cut := string(o.Cut())
		must(t, o.Close())
		before := slices.IndexFunc(ends, func(end int64) bool { return end > at }) - 1
		if cut != cuts[last] && (at/block != ends[last]/block && at < ends[last-2] || before < 0 || cut != cuts[before]) {
			t.Fatalf("byte %d of %v: opened with %s", at, ends, cut)
		}
	}
	if refused == 0 {
		t.Error("nothing was refused")
	}
	must(t, s.Close())
}
