package state

import (
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// fullFS is a file system with so many bytes to write. What does not fit is written in part, as a disk does that fills
// up, and nothing comes back but by setting it.
type fullFS struct {
	vfs.FS
	mu      *sync.Mutex
	free    *int64
	refused *bool
}

func newFullFS(fs vfs.FS, free int64) fullFS {
	return fullFS{fs, &sync.Mutex{}, &free, new(bool)}
}

// take returns how many of n bytes fit.
func (fs fullFS) take(n int) (int, error) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fits := min(int64(n), *fs.free)
	*fs.free -= fits
	if int(fits) < n {
		*fs.refused = true
		return int(fits), syscall.ENOSPC
	}
	return n, nil
}

func (fs fullFS) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	return fs.file(fs.FS.Create(name, c))
}

func (fs fullFS) ReuseForWrite(oldname, newname string, c vfs.DiskWriteCategory) (vfs.File, error) {
	return fs.file(fs.FS.ReuseForWrite(oldname, newname, c))
}

func (fs fullFS) OpenReadWrite(name string, c vfs.DiskWriteCategory, opts ...vfs.OpenOption) (vfs.File, error) {
	return fs.file(fs.FS.OpenReadWrite(name, c, opts...))
}

func (fs fullFS) MkdirAll(dir string, perm os.FileMode) error {
	if _, err := fs.take(1); err != nil {
		return &os.PathError{Op: "mkdir", Path: dir, Err: err}
	}
	return fs.FS.MkdirAll(dir, perm)
}

func (fs fullFS) file(f vfs.File, err error) (vfs.File, error) {
	if err != nil {
		return nil, err
	}
	return fullFile{f, fs}, nil
}

type fullFile struct {
	vfs.File
	fs fullFS
}

func (f fullFile) Write(p []byte) (int, error) {
	fits, full := f.fs.take(len(p))
	n, err := f.File.Write(p[:fits])
	return n, errorsFirst(err, full)
}

func (f fullFile) WriteAt(p []byte, off int64) (int, error) {
	fits, full := f.fs.take(len(p))
	n, err := f.File.WriteAt(p[:fits], off)
	return n, errorsFirst(err, full)
}

// A disk fills up at any byte of a run. The error says so and names the directory; starts while it is full do no harm;
// and when space is back, the process having ended or the machine crashed, what was committed is there, and the run
// can be done.
func TestFullDisk(t *testing.T) {
	all := newFullFS(vfs.NewMem(), 1<<40)
	must(t, makeDir(all, "d"))
	if _, err := faultRun(all); err != nil {
		t.Fatal(err)
	}
	needs := 1<<40 - *all.free
	steps, refused := int64(36), int64(0)
	if underRace {
		steps = 12
	}
	rng := rand.New(rand.NewPCG(5, 0))
	for i := range steps {
		space := rng.Int64N(needs)
		if i%2 == 0 {
			space = rng.Int64N(4 << 10) // among the small files of the start
		}
		mem := vfs.NewCrashableMem()
		must(t, makeDir(mem, "d"))
		fs := newFullFS(mem, space)
		committed, err := faultRun(fs)
		if *fs.refused && err == nil {
			t.Fatalf("%d bytes of space: no error, %d commits", space, committed)
		}
		if *fs.refused {
			refused++
		}
		sayFull(t, space, err)
		for range 2 {
			if s, err := Open(Options{Dir: "d/state", Shards: 1, FS: fs}); err == nil {
				sayFull(t, space, s.Close())
			} else {
				sayFull(t, space, err)
			}
		}
		var after vfs.FS = mem
		if i%3 == 0 {
			after = mem.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: int(i) % 2 * 50, RNG: rng})
		}
		checkFaultState(t, after, committed)
		if committed, err = faultRun(after); committed != 3 || err != nil {
			t.Fatalf("%d bytes of space, then enough: %d commits, %v", space, committed, err)
		}
		checkFaultState(t, after, 3)
	}
	if refused < steps*3/4 {
		t.Errorf("the disk was full in %d runs of %d", refused, steps)
	}
}

// sayFull sees that an error is about a full disk, and where.
func sayFull(t *testing.T, space int64, err error) {
	t.Helper()
	if err != nil && (!strings.Contains(err.Error(), "no space left") || !strings.Contains(err.Error(), "d/state")) {
		t.Fatalf("%d bytes of space: %v", space, err)
	}
}
