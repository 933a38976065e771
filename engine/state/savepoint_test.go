package state

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/sluicesql/sluice/engine/keyenc"
)

// filled is a store with one committed row in each of two tables and one that is not committed.
func filled(t *testing.T, dir string) *Store {
	t.Helper()
	s, err := Open(Options{Dir: dir, Shards: 1, Stages: 2})
	must(t, err)
	key := []byte("key")
	h := keyenc.Hash(key)
	a, b := s.Shard(0, 0).Table(TableID(0, 0), false), s.Shard(1, 0).Table(TableID(1, 3), true)
	a.Put(h, key, []byte("sub"), []byte("a"))
	b.Add(h, key, nil, []byte("b"), 2)
	must(t, s.Commit([]*Frozen{s.Shard(0, 0).Freeze(), s.Shard(1, 0).Freeze()}, []byte("cut")))
	must(t, s.SetMeta("name", []byte("meta")))
	a.Put(h, key, []byte("later"), []byte("c"))
	return s
}

func durable(t *testing.T, s *Store) string {
	t.Helper()
	var b strings.Builder
	must(t, s.Each(func(e StoredEntry) error {
		fmt.Fprintf(&b, "%d %s %s %s %d\n", e.Table, e.Key, e.Sub, e.Value, e.Weight)
		return nil
	}))
	return b.String()
}

const filledEntries = "0 key sub a 1\n259 key  b 2\n"

func TestSavepoint(t *testing.T) {
	root := t.TempDir()
	dir, save, other := filepath.Join(root, "state"), filepath.Join(root, "deep", "save"), filepath.Join(root, "other")
	s := filled(t, dir)
	must(t, s.Savepoint(save, []byte("note"), false))
	if err := s.Savepoint(save, nil, false); err == nil || !strings.Contains(err.Error(), "new or empty") {
		t.Errorf("a savepoint over another: %v", err)
	}
	must(t, s.Close())

	if _, err := Open(Options{Dir: save}); err == nil || !strings.Contains(err.Error(), "--from-savepoint") {
		t.Errorf("a savepoint used as a state directory: %v", err)
	}
	r, err := Open(Options{Dir: save, ReadOnly: true})
	must(t, err)
	if got := durable(t, r); got != filledEntries || string(r.Cut()) != "cut" {
		t.Errorf("the savepoint holds\n%scut %s", got, r.Cut())
	}
	must(t, r.Close())

	add := func(b []byte) ([]byte, error) { return append(b, " kept"...), nil }
	must(t, Restore(DefaultFS, save, other, add))
	if err := Restore(DefaultFS, save, other, add); err == nil || !strings.Contains(err.Error(), "new or empty") {
		t.Errorf("restored over another: %v", err)
	}
	if err := Restore(DefaultFS, dir, filepath.Join(root, "x"), add); err == nil || !strings.Contains(err.Error(), "not a savepoint") {
		t.Errorf("restored from a state directory: %v", err)
	}
	note, savepoint, err := ReadNote(DefaultFS, other)
	if err != nil || savepoint || string(note) != "note kept" {
		t.Errorf("note %q %v %v", note, savepoint, err)
	}
	o, err := Open(Options{Dir: other, Shards: 3, Stages: 2})
	must(t, err)
	if m, err := o.Meta("name"); err != nil || string(m) != "meta" {
		t.Errorf("meta %q %v", m, err)
	}
	if got := durable(t, o); got != filledEntries || string(o.Cut()) != "cut" {
		t.Errorf("restored\n%scut %s", got, o.Cut())
	}
	must(t, o.Close())
}

// A savepoint that a crash cut short is refused, whatever of it is there.
func TestSavepointCutShort(t *testing.T) {
	root := t.TempDir()
	s := filled(t, filepath.Join(root, "state"))
	save := filepath.Join(root, "save")
	must(t, s.Savepoint(save, []byte("note"), false))
	must(t, s.Close())
	must(t, os.Remove(filepath.Join(save, formatFile)))
	if _, err := Open(Options{Dir: save, ReadOnly: true}); err == nil || !strings.Contains(err.Error(), "no file FORMAT") {
		t.Error(err)
	}
	if err := Restore(DefaultFS, save, filepath.Join(root, "r"), func(b []byte) ([]byte, error) { return b, nil }); err == nil {
		t.Error("restored")
	}
}

func TestEdit(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	must(t, filled(t, dir).Close())
	s, err := Open(Options{Dir: dir})
	must(t, err)
	must(t, s.Edit(Edit{Drop: []uint16{TableID(1, 3)}, Cut: []byte("cut 2"), Meta: map[string][]byte{"name": nil, "new": []byte("v")}}))
	must(t, s.Divide(2, 2))
	must(t, warmAll(s))
	if n := s.Shard(0, keyenc.Shard(keyenc.Group(keyenc.Hash([]byte("key"))), 2)).Table(TableID(0, 0), false).Len(); n != 1 {
		t.Errorf("%d rows warmed up", n)
	}
	must(t, s.Close())
	s, err = Open(Options{Dir: dir})
	must(t, err)
	if got := durable(t, s); got != "0 key sub a 1\n" || string(s.Cut()) != "cut 2" {
		t.Errorf("left:\n%scut %s", got, s.Cut())
	}
	for name, want := range map[string]string{"name": "", "new": "v"} {
		if m, err := s.Meta(name); err != nil || string(m) != want {
			t.Errorf("meta %s: %q %v", name, m, err)
		}
	}
	must(t, s.Close())
}

// A copy of a directory that a process uses, or used when it died, is refused; one of a closed directory is not, and
// the directory itself opens again after a crash.
func TestCopyWhileRunning(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "state")
	s := filled(t, dir)
	cp := func(to string) string {
		t.Helper()
		to = filepath.Join(root, to)
		if out, err := exec.Command("cp", "-a", dir, to).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return to
	}
	hot := cp("hot")
	if _, err := Open(Options{Dir: hot, Shards: 1}); err == nil || !strings.Contains(err.Error(), "sluice savepoint") || !strings.Contains(err.Error(), hot) {
		t.Errorf("a copy taken while running: %v", err)
	}
	must(t, os.Rename(filepath.Join(hot, runningFile), filepath.Join(root, runningFile)))
	must(t, s.Close())
	c, err := Open(Options{Dir: cp("cold"), Shards: 1, Stages: 2})
	must(t, err)
	must(t, c.Close())
	// As a crash leaves it: the file is there, and is its own.
	must(t, os.WriteFile(filepath.Join(dir, runningFile), nil, 0o600))
	f, err := DefaultFS.OpenReadWrite(filepath.Join(dir, runningFile), vfs.WriteCategoryUnspecified)
	must(t, err)
	no, err := fileNumber(f)
	must(t, err)
	_, err = f.Write([]byte(no))
	must(t, err)
	must(t, f.Close())
	s, err = Open(Options{Dir: dir, Shards: 1, Stages: 2})
	must(t, err)
	must(t, s.Close())
}
