package state

import (
	"os"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// stopFS is the file system as Pebble sees it: the store's first failure to write is its last attempt to.
//
// Pebble means its process to end when a write fails that it cannot undo: it calls the logger's Fatalf, or
// panics, on goroutines of its own too. As sluice ends the job in order instead, Pebble's code must run on
// without harm. So the failure is recorded, which is what makes Commit return it, and from then on writes
// are let go by as if done, while nothing is removed, renamed or linked any more: believing its writes,
// Pebble would remove what they were to replace, the manifest or log before, and after a crash neither
// would be there. What was committed stays as it is.
type stopFS struct {
	vfs.FS
	s *Store
}

// sink is a file whose content nobody will see.
func (fs stopFS) sink() (vfs.File, error) {
	return vfs.NewMem().Create("sink", vfs.WriteCategoryUnspecified)
}

func (fs stopFS) file(f vfs.File, err error) (vfs.File, error) {
	if err != nil {
		_ = fs.s.fail(err)
		return fs.sink()
	}
	return stopFile{f, fs.s}, nil
}

func (fs stopFS) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	if fs.s.failed() != nil {
		return fs.sink()
	}
	return fs.file(fs.FS.Create(name, category))
}

func (fs stopFS) ReuseForWrite(oldname, newname string, category vfs.DiskWriteCategory) (vfs.File, error) {
	if fs.s.failed() != nil {
		return fs.sink()
	}
	return fs.file(fs.FS.ReuseForWrite(oldname, newname, category))
}

func (fs stopFS) OpenReadWrite(name string, category vfs.DiskWriteCategory, opts ...vfs.OpenOption) (vfs.File, error) {
	if fs.s.failed() != nil {
		return fs.sink()
	}
	return fs.file(fs.FS.OpenReadWrite(name, category, opts...))
}

func (fs stopFS) OpenDir(name string) (vfs.File, error) {
	f, err := fs.FS.OpenDir(name)
	if err != nil {
		return nil, err
	}
	return stopFile{f, fs.s}, nil
}

func (fs stopFS) Link(oldname, newname string) error {
	if err := fs.s.failed(); err != nil {
		return err
	}
	return fs.FS.Link(oldname, newname)
}

func (fs stopFS) Remove(name string) error {
	if err := fs.s.failed(); err != nil {
		return err
	}
	return fs.FS.Remove(name)
}

func (fs stopFS) RemoveAll(name string) error {
	if err := fs.s.failed(); err != nil {
		return err
	}
	return fs.FS.RemoveAll(name)
}

func (fs stopFS) Rename(oldname, newname string) error {
	if err := fs.s.failed(); err != nil {
		return err
	}
	return fs.FS.Rename(oldname, newname)
}

func (fs stopFS) MkdirAll(dir string, perm os.FileMode) error {
	if err := fs.s.failed(); err != nil {
		return err
	}
	return fs.FS.MkdirAll(dir, perm)
}

// stopFile is a file opened to be written, or a directory to be synced.
type stopFile struct {
	vfs.File
	s *Store
}

// do runs a write unless one has failed before, and records its failure.
func (f stopFile) do(write func() error) {
	if f.s.failed() != nil {
		return
	}
	if err := write(); err != nil {
		_ = f.s.fail(err)
	}
}

func (f stopFile) Write(p []byte) (int, error) {
	n := len(p)
	f.do(func() error {
		_, err := f.File.Write(p)
		return err
	})
	return n, nil
}

func (f stopFile) WriteAt(p []byte, off int64) (int, error) {
	n := len(p)
	f.do(func() error {
		_, err := f.File.WriteAt(p, off)
		return err
	})
	return n, nil
}

func (f stopFile) Preallocate(offset, length int64) error {
	f.do(func() error { return f.File.Preallocate(offset, length) })
	return nil
}

func (f stopFile) Sync() error {
	f.do(f.File.Sync)
	return nil
}

func (f stopFile) SyncData() error {
	f.do(f.File.SyncData)
	return nil
}

func (f stopFile) SyncTo(length int64) (full bool, _ error) {
	f.do(func() (err error) {
		full, err = f.File.SyncTo(length)
		return err
	})
	return full, nil
}

// Close closes the file in any case.
func (f stopFile) Close() error {
	if err := f.File.Close(); err != nil {
		_ = f.s.fail(err)
	}
	return nil
}
