package state

import (
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"slices"
	"strings"
	"syscall"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/sluicesql/sluice/internal/fault"
)

// openDir creates what is missing of the state directory, locks it and checks its format.
func (s *Store) openDir() error {
	fs, dir := s.fs, s.opts.Dir
	if s.opts.ReadOnly || s.opts.MustExist {
		if _, err := fs.Stat(fs.PathJoin(dir, formatFile)); err != nil {
			if errors.Is(err, iofs.ErrNotExist) {
				return fault.Errorf(fault.StateDirectory, "it holds no file %s: there is no state", formatFile).Fix("name the directory that the job was given by --state-dir")
			}
			return err
		}
	} else if err := makeDir(fs, dir); err != nil {
		return err
	}
	lock, err := lockDir(fs, dir)
	if err != nil {
		return err
	}
	s.lock = lock
	if err := s.checkFormat(); err != nil {
		return err
	}
	// Of a directory that was in use, a missing Pebble store is a loss, which a new one would hide.
	if _, err := fs.Stat(fs.PathJoin(dir, newFile)); errors.Is(err, iofs.ErrNotExist) {
		s.pebbleOpts.ErrorIfNotExists = true
	} else if err != nil {
		return err
	}
	if err := checkCopy(fs, dir); err != nil {
		return err
	}
	if s.opts.ReadOnly {
		return nil
	}
	if _, err := fs.Stat(fs.PathJoin(dir, savepointFile)); err == nil {
		return fault.Errorf(fault.StateDirectory, "it is a savepoint, which stays as it is").
			Fix("start from it with --from-savepoint, and give another state directory")
	}
	// Tables that a crash left on their way into Pebble belong to no commit.
	ingest := fs.PathJoin(dir, ingestDir)
	if err := fs.RemoveAll(ingest); err != nil {
		return err
	}
	if err := fs.MkdirAll(ingest, 0o755); err != nil {
		return err
	}
	if err := s.clearNew(); err != nil {
		return err
	}
	return s.mark()
}

// LockedError says that another process uses a state directory.
type LockedError struct {
	Dir   string
	cause error
}

const lockedHint = "stop that process (sluice jobs lists those that run), or give this job a state directory of its own"

func (e *LockedError) Error() string {
	return fmt.Sprintf("another process uses it (%v); %s", e.cause, lockedHint)
}

// Fault implements fault.Coded.
func (e *LockedError) Fault() (fault.Code, string) { return fault.StateLocked, lockedHint }

func (e *LockedError) Unwrap() error { return e.cause }

// InUse reports whether a process uses the state directory dir. It holds the directory's lock for a moment.
func InUse(fs FS, dir string) (bool, error) {
	lock, err := fs.Lock(fs.PathJoin(dir, lockFile))
	switch {
	case err == nil:
		return false, lock.Close()
	case lockHeld(err):
		return true, nil
	}
	return false, err
}

// lockDir locks a state directory, or says by a LockedError that somebody else has it.
func lockDir(fs FS, dir string) (io.Closer, error) {
	lock, err := fs.Lock(fs.PathJoin(dir, lockFile))
	if err != nil && lockHeld(err) {
		return nil, &LockedError{Dir: dir, cause: err}
	}
	return lock, err
}

// lockHeld tells a lock that somebody holds from a directory that cannot be locked, as one in which this user may not
// write. Within one process, the file system's table of locks has its own words for it.
func lockHeld(err error) bool {
	if _, opening := errors.AsType[*iofs.PathError](err); opening {
		return false
	}
	return errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.EACCES) || strings.Contains(err.Error(), "lock")
}

// lockless is a file system on which nobody can lock a file, nor write one, when it is mounted to be read only, as
// backups are.
type lockless struct{ FS }

func (fs lockless) Lock(name string) (io.Closer, error) {
	lock, err := fs.FS.Lock(name)
	if errors.Is(err, syscall.EROFS) {
		return io.NopCloser(nil), nil
	}
	return lock, err
}

// checkFormat reads the format's version, and writes it into a new directory before anything else is in it.
func (s *Store) checkFormat() error {
	fs, dir := s.fs, s.opts.Dir
	path := fs.PathJoin(dir, formatFile)
	f, err := fs.Open(path)
	if err == nil {
		b, err := io.ReadAll(io.LimitReader(f, 64))
		if err := errorsFirst(err, f.Close()); err != nil {
			return err
		}
		var got int
		if n, err := fmt.Sscanf(string(b), "sluice state %d", &got); n != 1 || err != nil {
			return fault.Errorf(fault.StateDirectory, "%s is not a state directory's: %q", formatFile, b).Fix("name another directory: what lies in this one is not ours")
		}
		if string(b) != string(formatLine()) {
			return fault.Errorf(fault.StateVersion, "it has format version %d, this sluice knows version %d", got, FormatVersion).
				Fix("go on with the version that wrote it, or use another state directory, which reads the inputs again")
		}
		return nil
	}
	if !errors.Is(err, iofs.ErrNotExist) {
		return err
	}
	if err := s.checkNew(); err != nil {
		return err
	}
	// A run before may have created the directory and ended before it was synced into its parent.
	if err := syncDir(fs, fs.PathDir(dir)); err != nil {
		return err
	}
	if err := writeFileSynced(fs, dir, newFile, nil); err != nil {
		return err
	}
	return writeFileSynced(fs, dir, formatFile, formatLine())
}

// clearNew removes what a crash left of a Pebble store that was being made: it may have a marker that names a
// manifest which the crash lost. Nothing was ever committed to it.
func (s *Store) clearNew() error {
	fs, dir := s.fs, s.opts.Dir
	if _, err := fs.Stat(fs.PathJoin(dir, newFile)); err != nil {
		if errors.Is(err, iofs.ErrNotExist) {
			return nil
		}
		return err
	}
	if err := fs.RemoveAll(fs.PathJoin(dir, dbDir)); err != nil {
		return err
	}
	return syncDir(fs, dir)
}

// made notes that the Pebble store is there, whole.
func (s *Store) made() error {
	fs, dir := s.fs, s.opts.Dir
	if err := fs.Remove(fs.PathJoin(dir, newFile)); err != nil {
		if errors.Is(err, iofs.ErrNotExist) {
			return nil
		}
		return err
	}
	return syncDir(fs, dir)
}

func formatLine() []byte { return fmt.Appendf(nil, "sluice state %d\n", FormatVersion) }

// checkNew refuses a directory that holds somebody else's files, before anything is written or removed there.
func (s *Store) checkNew() error {
	names, err := s.fs.List(s.opts.Dir)
	if err != nil {
		return err
	}
	slices.Sort(names) // for the same words each time
	for _, name := range names {
		switch name {
		case lockFile, formatFile + ".tmp", newFile, newFile + ".tmp": // of a first start that was cut short
		case "lost+found": // of a file system of its own
		default:
			return fault.Errorf(fault.StateDirectory, "it holds %s but no file %s: not a state directory, or a damaged one", name, formatFile).
				Fix("name a new or empty directory")
		}
	}
	return nil
}

// writeFileSynced creates or replaces a file so that a crash leaves the old one, or the new one whole.
func writeFileSynced(fs FS, dir, name string, data []byte) error {
	tmp := fs.PathJoin(dir, name+".tmp")
	f, err := fs.Create(tmp, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if err := errorsFirst(err, f.Close()); err != nil {
		return err
	}
	if err := fs.Rename(tmp, fs.PathJoin(dir, name)); err != nil {
		return err
	}
	return syncDir(fs, dir)
}

// makeDir creates dir and its parents; a crash after it returned does not take them away.
func makeDir(fs FS, dir string) error {
	if _, err := fs.Stat(dir); err == nil {
		return nil
	}
	parent := fs.PathDir(dir)
	if parent != dir {
		if err := makeDir(fs, parent); err != nil {
			return err
		}
	}
	if err := fs.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return syncDir(fs, parent)
}

func syncDir(fs FS, dir string) error {
	d, err := fs.OpenDir(dir)
	if err != nil {
		return err
	}
	return errorsFirst(d.Sync(), d.Close())
}
