package state

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/sluicesql/sluice/engine/keyenc"
	"github.com/sluicesql/sluice/internal/fault"
)

// faultRowsOfTable is how many rows faultRun ingests as a table: enough for several blocks, and no more, since it runs some
// hundred times.
const faultRowsOfTable = 5000

// faultRun opens a store, commits three times and closes it: as a batch, as a table that is ingested, and as a table
// merged with runs, while the epoch's output goes through scratch runs. It returns the number of commits that
// returned without error, and the first error.
func faultRun(fs FS) (committed int, err error) {
	s, err := Open(Options{Dir: "d/state", Shards: 2, FS: fs, Budget: 2 << 20})
	if err != nil {
		return 0, err
	}
	defer func() {
		if cerr := s.Close(); err == nil {
			err = cerr
		}
	}()
	s.ingestFrom = faultRowsOfTable
	for n := 1; n <= 3; n++ {
		rows := 50
		if n == 2 {
			rows = faultRowsOfTable
		}
		faultRows(s, n, rows)
		if n == 3 {
			if err := faultRuns(s); err != nil {
				return committed, err
			}
		}
		fs := []*Frozen{s.Shard(0, 0).Freeze(), s.Shard(0, 1).Freeze()}
		if err := s.Commit(fs, fmt.Appendf(nil, "cut %d", n)); err != nil {
			return committed, err
		}
		committed = n
		for i, f := range fs {
			if err := s.Shard(0, i).Durable(f); err != nil {
				return committed, err
			}
		}
		if err := s.SetMeta("job", fmt.Append(nil, n)); err != nil {
			return committed, err
		}
	}
	return committed, nil
}

// faultRuns writes what has changed to runs, and reads it back; then an epoch's output through two scratch runs.
func faultRuns(s *Store) error {
	for i := range 2 {
		sh := s.Shard(0, i)
		sh.nextSpill, sh.dirtyBytes = 0, sh.dirtyBytes+s.hotBudget // as if much had changed
		err := sh.Maintain()
		if sh.dirtyBytes -= s.hotBudget; err != nil {
			return err
		}
		if len(sh.runs) == 0 {
			return errors.New("no run was written")
		}
		t := sh.Table(1, false)
		var kb KeyBatch
		for i := range 50 {
			if key := intKey(nil, uint64(i)); keyenc.Shard(keyenc.Group(keyenc.Hash(key)), 2) == sh.no {
				kb.Add(key)
				h := keyenc.Hash(key)
				if head := t.head(h, key); head != 0 && t.evictable(head) {
					g, at := t.ix.locate(tagOf(h), head)
					t.evictGroup(head)
					t.ix.removeAt(g, at)
				}
			}
		}
		if err := t.Load(&kb); err != nil {
			return err
		}
	}
	c := s.Scratch()
	for range 2 {
		if err := c.WriteRun(3, func(i int) (key, value []byte) { return []byte{byte(i)}, []byte{1} }); err != nil {
			return err
		}
	}
	n := 0
	if err := c.Each(func(_, _ []byte) error { n++; return nil }); err != nil {
		return err
	}
	if n != 3 {
		return fmt.Errorf("%d pairs in the scratch runs", n)
	}
	return c.Clear()
}

// faultRows writes value n under the first keys.
func faultRows(s *Store, n, rows int) {
	for i := range rows {
		key := intKey(nil, uint64(i))
		h := keyenc.Hash(key)
		t := s.Shard(0, keyenc.Shard(keyenc.Group(h), 2)).Table(1, false)
		t.Put(h, key, nil, fmt.Append(nil, n))
	}
}

// checkFaultState sees that the directory holds exactly commit n for some n ≥ committed.
func checkFaultState(t *testing.T, fs FS, committed int) {
	t.Helper()
	s, err := Open(Options{Dir: "d/state", Shards: 3, FS: fs})
	if err != nil {
		t.Fatalf("after %d commits: %v", committed, err)
	}
	must(t, warmAll(s))
	n := 0
	if s.Cut() != nil {
		if _, err := fmt.Sscanf(string(s.Cut()), "cut %d", &n); err != nil {
			t.Fatal(err)
		}
	}
	if n < committed || n > committed+1 {
		t.Fatalf("cut %d after %d commits", n, committed)
	}
	want := map[string]string{}
	for m := 1; m <= n; m++ {
		rows := 50
		if m == 2 {
			rows = faultRowsOfTable
		}
		for i := range rows {
			want[string(intKey(nil, uint64(i)))] = fmt.Sprint(m)
		}
	}
	got := 0
	for i := range 3 {
		s.Shard(0, i).Table(1, false).each(func(r Ref, e *entry) bool {
			got++
			if want[string(e.key())] != string(e.value()) {
				t.Fatalf("commit %d: key %x holds %q, want %q", n, e.key(), e.value(), want[string(e.key())])
			}
			return true
		})
	}
	if got != len(want) {
		t.Fatalf("commit %d: %d rows, want %d", n, got, len(want))
	}
	must(t, s.Close())
}

// Every operation that changes the file system fails in turn, once or from then on; then the machine
// crashes, and what was committed is there, whole.
func TestFailingOperations(t *testing.T) {
	for _, forever := range []bool{false, true} {
		t.Run(fmt.Sprint("forever=", forever), func(t *testing.T) {
			t.Parallel()
			for i := int32(0); ; i++ {
				fs := vfs.NewCrashableMem()
				must(t, makeDir(fs, "d"))
				idx := errorfs.OnIndex(i)
				hit := false
				inj := errorfs.InjectorFunc(func(op errorfs.Op) error {
					if hit && forever {
						return errorfs.ErrInjected
					}
					err := idx.MaybeError(op)
					hit = hit || err != nil
					return err
				})
				committed, err := faultRun(errorfs.Wrap(fs, writes(inj)))
				crashed := fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: int(i) % 2 * 50, RNG: rand.New(rand.NewPCG(uint64(i), 1))})
				checkFaultState(t, crashed, committed)
				if err != nil && !strings.Contains(err.Error(), "d/state") {
					t.Fatalf("error without the directory: %v", err)
				}
				if !hit {
					must(t, err)
					if i < 40 || committed != 3 {
						t.Fatalf("a run with %d operations and %d commits", i, committed)
					}
					t.Logf("%d operations", i)
					return
				}
			}
		})
	}
}

// The machine crashes after each write operation.
func TestCrashAfterEachOperation(t *testing.T) {
	for i := 0; ; i++ {
		fs := vfs.NewCrashableMem()
		must(t, makeDir(fs, "d"))
		var crashed *vfs.MemFS
		n := 0
		inj := errorfs.InjectorFunc(func(op errorfs.Op) error {
			if n == i {
				crashed = fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: i % 3 * 40, RNG: rand.New(rand.NewPCG(uint64(i), 1))})
			}
			n++
			if crashed != nil {
				return errorfs.ErrInjected // ends the run soon
			}
			return nil
		})
		committed, err := faultRun(errorfs.Wrap(fs, writes(inj)))
		if crashed == nil {
			must(t, err)
			return
		}
		checkFaultState(t, crashed, committed)
	}
}

func TestLocked(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(Options{Dir: dir, Shards: 1})
	must(t, err)
	_, err = Open(Options{Dir: dir, Shards: 1})
	if err == nil || !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), "another process uses it") {
		t.Fatalf("second Open: %v", err)
	}
	must(t, s.Close())
	s, err = Open(Options{Dir: dir, Shards: 1})
	must(t, err)
	must(t, s.Close())
}

// unlockable is a file system whose lock files cannot be opened.
type unlockable struct {
	vfs.FS
	why error
}

func (fs unlockable) Lock(name string) (io.Closer, error) {
	return nil, &os.PathError{Op: "open", Path: name, Err: fs.why}
}

// A directory in which this user may not write is not one that another process uses; and one that nobody can write in
// can be looked at.
func TestUnlockable(t *testing.T) {
	fs := vfs.NewMem()
	s, err := Open(Options{Dir: "/var/lock/d", Shards: 1, FS: fs})
	must(t, err)
	must(t, s.Close())
	for _, why := range []error{syscall.EACCES, syscall.EROFS} {
		_, err := Open(Options{Dir: "/var/lock/d", Shards: 1, FS: unlockable{fs, why}})
		if c := fault.Of(err); c != fault.Disk || !strings.Contains(err.Error(), "name a directory that this user may write") {
			t.Errorf("%v: %s %v", why, c, err)
		}
		s, err := Open(Options{Dir: "/var/lock/d", ReadOnly: true, FS: unlockable{fs, why}})
		if (err == nil) != (why == syscall.EROFS) {
			t.Errorf("%v: looked at: %v", why, err)
		}
		if err == nil {
			must(t, s.Close())
		}
	}
}

// A directory that has lost its Pebble store, or what Pebble finds it by, is refused, and not begun anew.
func TestLostStore(t *testing.T) {
	lost := 0
	for _, prefix := range []string{"", "marker.manifest", "marker.format-version", "MANIFEST"} {
		fs := vfs.NewMem()
		s, err := Open(Options{Dir: "d", Shards: 1, FS: fs})
		must(t, err)
		must(t, s.SetMeta("job", []byte("1")))
		must(t, s.Close())
		names, err := fs.List("d/" + dbDir)
		must(t, err)
		for _, name := range names {
			if prefix != "" && strings.HasPrefix(name, prefix) {
				must(t, fs.Remove("d/"+dbDir+"/"+name))
				lost++
			}
		}
		if prefix == "" {
			must(t, fs.RemoveAll("d/"+dbDir))
		}
		if s, err = Open(Options{Dir: "d", Shards: 1, FS: fs}); fault.Of(err) != fault.StateDamaged || !strings.Contains(err.Error(), "state directory d") {
			t.Errorf("without %q: %v", prefix, err)
		}
		if err == nil {
			must(t, s.Close())
		}
	}
	if lost != 3 {
		t.Errorf("%d files were removed, not 3", lost)
	}
}

func TestFormat(t *testing.T) {
	for content, want := range map[string]string{
		"sluice state 1\n": "format version 1, this sluice knows version 2",
		"sluice state 3\n": "format version 3, this sluice knows version 2",
		"hello":            "not a state directory",
		"":                 "not a state directory",
	} {
		fs := vfs.NewMem()
		must(t, makeDir(fs, "d"))
		must(t, writeFileSynced(fs, "d", formatFile, []byte(content)))
		_, err := Open(Options{Dir: "d", Shards: 1, FS: fs})
		if err == nil || !strings.Contains(err.Error(), "state directory d") || !strings.Contains(err.Error(), want) {
			t.Fatalf("%q: %v", content, err)
		}
	}
	fs := vfs.NewMem()
	must(t, makeDir(fs, "d/db"))
	if _, err := Open(Options{Dir: "d", Shards: 1, FS: fs}); err == nil || !strings.Contains(err.Error(), "no file FORMAT") {
		t.Fatal(err)
	}
	for _, n := range []int{-1, 129} {
		if _, err := Open(Options{Shards: n}); err == nil {
			t.Fatalf("%d shards", n)
		}
	}
}

// TestForeignDirectory: a directory with other files in it is refused, and left as it was.
func TestForeignDirectory(t *testing.T) {
	fs := vfs.NewMem()
	must(t, fs.MkdirAll("d/"+ingestDir, 0o755))
	must(t, writeFileSynced(fs, "d", "letter.txt", []byte("dear")))
	if _, err := Open(Options{Dir: "d", Shards: 1, FS: fs}); err == nil || !strings.Contains(err.Error(), "not a state directory") {
		t.Errorf("opened a directory of somebody else's: %v", err)
	}
	if names, err := fs.List("d/" + ingestDir); err != nil || len(names) != 0 {
		t.Errorf("the directory was touched: %v, %v", names, err)
	}
}

func TestMeta(t *testing.T) {
	for _, dir := range []string{"", "d"} {
		fs := vfs.NewCrashableMem()
		s, err := Open(Options{Dir: dir, Shards: 1, FS: fs})
		must(t, err)
		v, err := s.Meta("job")
		if v != nil || err != nil {
			t.Fatal(v, err)
		}
		must(t, s.SetMeta("job", []byte("1")))
		must(t, s.SetMeta("empty", nil))
		if dir != "" {
			must(t, s.Close())
			s, err = Open(Options{Dir: dir, Shards: 1, FS: fs.CrashClone(vfs.CrashCloneCfg{})})
			must(t, err)
		}
		v, err = s.Meta("job")
		if string(v) != "1" || err != nil {
			t.Fatal(v, err)
		}
		if v, err = s.Meta("empty"); v == nil || len(v) != 0 || err != nil {
			t.Fatal(v, err)
		}
		must(t, s.Close())
	}
}

// What breaks the barrier's rules is refused by Commit, and nothing is written.
func TestConflictsAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		bag  bool
		do   func(t *Table, h uint64, key []byte)
		want string
	}{
		"twice":     {false, func(t *Table, h uint64, k []byte) { t.Add(h, k, nil, []byte("a"), 2) }, "more than one row"},
		"two":       {false, func(t *Table, h uint64, k []byte) { t.Add(h, k, nil, []byte("a"), 1); t.Add(h, k, nil, []byte("b"), 1) }, "more than one row"},
		"negative":  {false, func(t *Table, h uint64, k []byte) { t.Add(h, k, nil, []byte("a"), -1) }, "never been given"},
		"twice bag": {true, func(t *Table, h uint64, k []byte) { t.Add(h, k, nil, []byte("a"), 2) }, ""},
	} {
		s, err := Open(Options{Dir: "d", Shards: 1, FS: vfs.NewMem()})
		must(t, err)
		key := intKey(nil, 7)
		tab := s.Shard(0, 0).Table(3, c.bag)
		c.do(tab, keyenc.Hash(key), key)
		err = s.Commit([]*Frozen{s.Shard(0, 0).Freeze()}, nil)
		switch {
		case c.want == "":
			must(t, err)
		case err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), fmt.Sprintf("%x", key)):
			t.Fatalf("%s: %v", name, err)
		case s.countStateKeys(t) != 0 || s.Cut() != nil:
			t.Fatalf("%s: something was written", name)
		}
		must(t, s.Close())
	}
}

// A damaged run is an error that names it, when an entry is read and when the checkpoint merges it; a damaged scratch
// run likewise.
func TestFlippedByteInRun(t *testing.T) {
	fs := vfs.NewMem()
	flip := func(name string) {
		t.Helper()
		names, err := fs.List("d/" + ingestDir)
		must(t, err)
		for _, n := range names {
			if !strings.HasPrefix(n, name) {
				continue
			}
			f, err := fs.OpenReadWrite("d/"+ingestDir+"/"+n, vfs.WriteCategoryUnspecified)
			must(t, err)
			var b [1]byte
			_, err = f.ReadAt(b[:], 100)
			must(t, err)
			b[0] ^= 0x40
			_, err = f.WriteAt(b[:], 100)
			must(t, errors.Join(err, f.Close()))
		}
	}
	for _, where := range []string{"Load", "Commit", "Scratch"} {
		s, err := Open(Options{Dir: "d", Shards: 1, Budget: 1 << 16, FS: fs})
		must(t, err)
		sh := s.Shard(0, 0)
		name := "run-"
		switch where {
		case "Scratch":
			name = "scratch-"
			c := s.Scratch()
			must(t, c.WriteRun(100, func(i int) (key, value []byte) { return []byte{byte(i), 0, 0, 0}, []byte{1} }))
			flip(name)
			err = c.Each(func(_, _ []byte) error { return nil })
		case "Commit":
			longEpoch(t, s, "value", 3000)
			flip(name)
			err = s.Commit([]*Frozen{sh.Freeze()}, nil)
		default:
			longEpoch(t, s, "value", 3000)
			must(t, sh.closeRuns())
			flip(name)
			for i := 0; i < 3000 && err == nil; i++ {
				var kb KeyBatch
				kb.Add(intKey(nil, uint64(i)))
				err = sh.Table(1, false).Load(&kb)
			}
		}
		if err == nil || !strings.Contains(err.Error(), "d/ingest/"+name) || !strings.Contains(err.Error(), "checksum") {
			t.Errorf("%s: %v", where, err)
		}
		if cerr := s.Close(); cerr == nil {
			t.Errorf("%s: Close forgot the failure", where)
		}
	}
}

// A damaged table file is an error that names the directory, at Warm or, of cold state, at Load.
func TestFlippedByte(t *testing.T) {
	fs := vfs.NewMem()
	if _, err := faultRun(fs); err != nil {
		t.Fatal(err)
	}
	s, err := Open(Options{Dir: "d/state", Shards: 1, FS: fs})
	must(t, err)
	must(t, s.Close()) // now all is in tables, and nothing in the log
	names, err := fs.List("d/state/db")
	must(t, err)
	flipped := 0
	for _, name := range names {
		if !strings.HasSuffix(name, ".sst") {
			continue
		}
		path := "d/state/db/" + name
		f, err := fs.OpenReadWrite(path, vfs.WriteCategoryUnspecified)
		must(t, err)
		st, err := f.Stat()
		must(t, err)
		if st.Size() > 50_000 { // the ingested table, in the middle
			var b [1]byte
			_, err = f.ReadAt(b[:], st.Size()/2)
			must(t, err)
			b[0] ^= 0x40
			_, err = f.WriteAt(b[:], st.Size()/2)
			must(t, err)
			flipped++
		}
		must(t, f.Close())
	}
	if flipped != 1 {
		t.Fatalf("%d large tables", flipped)
	}
	s, err = Open(Options{Dir: "d/state", Shards: 1, FS: fs})
	must(t, err)
	err = warmAll(s)
	if cerr := s.Close(); cerr == nil {
		t.Fatal("Close forgot the failure of Warm")
	}
	if err == nil || !strings.Contains(err.Error(), "d/state") || strings.Contains(err.Error(), "\n") {
		t.Fatalf("warm-up of a damaged table: %v", err)
	}
	s, err = Open(Options{Dir: "d/state", Shards: 1, FS: fs, Budget: 1000})
	must(t, err)
	var kb KeyBatch
	for i := range faultRowsOfTable {
		kb.Add(intKey(nil, uint64(i)))
	}
	err = s.Shard(0, 0).Table(1, false).Load(&kb)
	if err == nil || !strings.Contains(err.Error(), "d/state") {
		t.Fatalf("load of a damaged table: %v", err)
	}
	if err := s.Close(); err == nil {
		t.Fatal("Close forgot the failure")
	}
}
