package state

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// segmentOf writes blocks of the given sizes and returns copies of them.
func segmentOf(t testing.TB, o *Outbox, sizes ...int) (SegmentRef, [][]byte) {
	t.Helper()
	s, err := o.Create()
	must(t, err)
	var want [][]byte
	for i, n := range sizes {
		b := bytes.Repeat([]byte{byte(i + 1)}, n)
		want = append(want, slices.Clone(b))
		must(t, s.Append(b))
	}
	size := s.Size()
	ref, err := s.Finish()
	must(t, err)
	if ref.Length != size {
		t.Errorf("the segment has %d bytes and says %d", ref.Length, size)
	}
	return ref, want
}

func readBlocks(o *Outbox, r SegmentRef) (got [][]byte, err error) {
	for b, err := range o.Blocks(r) {
		if err != nil {
			return got, err
		}
		got = append(got, slices.Clone(b))
	}
	return got, nil
}

// What was appended comes back, as often as it is read, after a crash too; segments that nobody names go, and their
// numbers are not given again while they are named.
func TestOutbox(t *testing.T) {
	fs := vfs.NewCrashableMem()
	must(t, makeDir(fs, "d"))
	o, err := OpenOutbox(fs, "d", nil)
	must(t, err)
	refs := map[SegmentRef][][]byte{}
	for _, sizes := range [][]int{{}, {0}, {1, 0, 5}, {segmentBuffer - 20, 30, segmentBuffer, segmentBuffer + 1, 7}} {
		ref, want := segmentOf(t, o, sizes...)
		refs[ref] = want
	}
	last, _ := segmentOf(t, o, 3) // nobody will name it
	must(t, o.Sync())
	var named []SegmentRef
	for r := range refs {
		named = append(named, r)
	}
	crashed := fs.CrashClone(vfs.CrashCloneCfg{})
	if o, err = OpenOutbox(crashed, "d", named); err != nil {
		t.Fatal(err)
	}
	if there, err := o.Has(last); err != nil || there {
		t.Errorf("a segment that nobody names is there: %v, %v", there, err)
	}
	for r, want := range refs {
		for range 2 {
			got, err := readBlocks(o, r)
			if err != nil || !slices.EqualFunc(got, want, bytes.Equal) {
				t.Errorf("segment %d: %d blocks, %v", r.Number, len(got), err)
			}
		}
		n := 0
		for _, err := range o.Blocks(r) {
			must(t, err)
			if n++; n == 1 {
				break // a reader may stop
			}
		}
	}
	if next, _ := segmentOf(t, o, 1); refs[next] != nil || next.Number <= 4 {
		t.Errorf("number %d was given again", next.Number)
	}
	for r := range refs {
		must(t, o.Remove(r))
		must(t, o.Remove(r))
	}
}

// Any damage is found, and the error names the file.
func TestOutboxDamage(t *testing.T) {
	fs := vfs.NewMem()
	must(t, makeDir(fs, "d"))
	o, err := OpenOutbox(fs, "d", nil)
	must(t, err)
	ref, _ := segmentOf(t, o, 10, 300, 1)
	path := fs.PathJoin("d", "outbox", segmentName(ref.Number))
	whole, err := readFile(fs, path)
	must(t, err)
	put := func(b []byte) {
		f, err := fs.Create(path, vfs.WriteCategoryUnspecified)
		must(t, err)
		_, err = f.Write(slices.Clone(b))
		must(t, err)
		must(t, f.Close())
	}
	check := func(what string) {
		_, err := readBlocks(o, ref)
		if err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for i := range whole {
		b := slices.Clone(whole)
		b[i] ^= 0x80
		put(b)
		check(fmt.Sprintf("byte %d flipped", i))
		put(whole[:i])
		check(fmt.Sprintf("cut at %d", i))
	}
	must(t, fs.Remove(path))
	check("gone")
	foreign, err := fs.Create("d/outbox/notes.txt", vfs.WriteCategoryUnspecified)
	must(t, err)
	must(t, foreign.Close())
	if _, err := OpenOutbox(fs, "d", nil); err == nil || !strings.Contains(err.Error(), "notes.txt") {
		t.Errorf("a foreign file: %v", err)
	}
}

func BenchmarkOutbox(b *testing.B) {
	dir := b.TempDir()
	o, err := OpenOutbox(DefaultFS, dir, nil)
	if err != nil {
		b.Fatal(err)
	}
	block := make([]byte, 64<<10)
	const blocks = 100
	b.SetBytes(blocks * int64(len(block)))
	for range b.N {
		s, err := o.Create()
		for range blocks {
			if err == nil {
				err = s.Append(block)
			}
		}
		var ref SegmentRef
		if err == nil {
			ref, err = s.Finish()
		}
		if err == nil {
			_, err = readBlocks(o, ref)
		}
		if err == nil {
			err = o.Remove(ref)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}
