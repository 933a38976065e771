package state

import (
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"slices"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/sluicesql/sluice/internal/fault"
)

// Savepoint copies what the last Commit made durable, with the metadata, into a new or empty directory, by hard
// links where the file system can. Note is kept in it, see ReadNote. With pending, the epoch log and the outbox
// come too: what a job that did not end in order leaves to its next start. A savepoint that was not completed is no
// state directory.
func (s *Store) Savepoint(dir string, note []byte, pending bool) error {
	if err := s.failed(); err != nil {
		return err
	}
	return placed("savepoint "+dir, s.savepoint(dir, note, pending))
}

func (s *Store) savepoint(dir string, note []byte, pending bool) error {
	fs := s.fs
	if err := makeEmpty(fs, dir); err != nil {
		return err
	}
	for _, name := range []string{logFile, outboxDir} {
		from := fs.PathJoin(s.opts.Dir, name)
		if _, err := fs.Stat(from); errors.Is(err, iofs.ErrNotExist) || !pending {
			continue
		}
		if err := copyTree(fs, from, fs.PathJoin(dir, name)); err != nil {
			return err
		}
	}
	if err := s.db.Checkpoint(fs.PathJoin(dir, dbDir)); err != nil {
		return err
	}
	if err := writeFileSynced(fs, dir, savepointFile, note); err != nil {
		return err
	}
	// The format last: without it the directory is none of ours.
	return writeFileSynced(fs, dir, formatFile, formatLine())
}

// Restore makes a state directory of a savepoint, in a new or empty directory, or in one in which a restore was cut
// short, which begins anew. The savepoint stays as it is. The savepoint's note, with
// what addNote makes of it, is then found by ReadNote.
func Restore(fs FS, savepoint, dir string, addNote func([]byte) ([]byte, error)) error {
	return placed(fmt.Sprintf("restore savepoint %s into %s", savepoint, dir), restore(fs, savepoint, dir, addNote))
}

func restore(fs FS, savepoint, dir string, addNote func([]byte) ([]byte, error)) error {
	note, err := readFile(fs, fs.PathJoin(savepoint, savepointFile))
	if errors.Is(err, iofs.ErrNotExist) {
		return fault.Errorf(fault.Savepoint, "it holds no file %s: not a savepoint, or one that was not completed", savepointFile).Fix("name a directory that sluice savepoint or stop --savepoint has written")
	}
	if err != nil {
		return err
	}
	if note, err = addNote(note); err != nil {
		return err
	}
	if err := makeDir(fs, dir); err != nil {
		return err
	}
	lock, err := lockDir(fs, dir)
	if err != nil {
		return err
	}
	return errorsFirst(restoreLocked(fs, savepoint, dir, note), lock.Close())
}

func restoreLocked(fs FS, savepoint, dir string, note []byte) error {
	if err := clearCutShort(fs, dir); err != nil {
		return err
	}
	if err := makeEmpty(fs, dir, lockFile, restoringFile+".tmp"); err != nil {
		return err
	}
	if err := writeFileSynced(fs, dir, restoringFile, nil); err != nil {
		return err
	}
	names, err := fs.List(savepoint)
	if err != nil {
		return err
	}
	for _, name := range names {
		switch name {
		case formatFile, savepointFile, lockFile, runningFile:
			continue
		}
		if err := copyTree(fs, fs.PathJoin(savepoint, name), fs.PathJoin(dir, name)); err != nil {
			return err
		}
	}
	if err := writeFileSynced(fs, dir, restoredFile, note); err != nil {
		return err
	}
	format, err := readFile(fs, fs.PathJoin(savepoint, formatFile)) // whatever its version: Open tells of it
	if err != nil {
		return err
	}
	if err := writeFileSynced(fs, dir, formatFile, format); err != nil {
		return err
	}
	return fs.Remove(fs.PathJoin(dir, restoringFile)) // which means nothing any more
}

// cutShort reports whether a restore into dir has begun and not come to its end.
func cutShort(fs FS, dir string) (bool, error) {
	for _, c := range []struct {
		name  string
		there bool
	}{{restoringFile, true}, {formatFile, false}} {
		_, err := fs.Stat(fs.PathJoin(dir, c.name))
		if err != nil && !errors.Is(err, iofs.ErrNotExist) {
			return false, err
		}
		if (err == nil) != c.there {
			return false, nil
		}
	}
	return true, nil
}

// clearCutShort removes what a restore that was cut short left. Until all else is gone, it is still one.
func clearCutShort(fs FS, dir string) error {
	if short, err := cutShort(fs, dir); err != nil || !short {
		return err
	}
	names, err := fs.List(dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		if name == lockFile || name == restoringFile || name == "lost+found" {
			continue
		}
		if err := fs.RemoveAll(fs.PathJoin(dir, name)); err != nil {
			return err
		}
	}
	if err := syncDir(fs, dir); err != nil {
		return err
	}
	if err := fs.Remove(fs.PathJoin(dir, restoringFile)); err != nil {
		return err
	}
	return syncDir(fs, dir)
}

// ReadNote returns the note of a savepoint, or of the savepoint that a state directory was restored from;
// nil when there is none, or when the restore was cut short.
func ReadNote(fs FS, dir string) (note []byte, savepoint bool, err error) {
	if short, err := cutShort(fs, dir); err != nil || short {
		return nil, false, err
	}
	for _, name := range []string{savepointFile, restoredFile} {
		b, err := readFile(fs, fs.PathJoin(dir, name))
		if err == nil {
			return b, name == savepointFile, nil
		}
		if !errors.Is(err, iofs.ErrNotExist) {
			return nil, false, err
		}
	}
	return nil, false, nil
}

// makeEmpty creates a directory, and refuses one that holds anything but what is named.
func makeEmpty(fs FS, dir string, but ...string) error {
	if err := makeDir(fs, dir); err != nil {
		return err
	}
	names, err := fs.List(dir)
	if err != nil {
		return err
	}
	slices.Sort(names) // for the same words each time
	for _, name := range names {
		if name != "lost+found" && !slices.Contains(but, name) {
			return fault.Errorf(fault.Savepoint, "the directory holds %s", name).
				Fix("name a new or empty one")
		}
	}
	return nil
}

// copyTree copies a file, or a directory with its files.
func copyTree(fs FS, from, to string) error {
	info, err := fs.Stat(from)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return copyFile(fs, from, to)
	}
	if err := fs.MkdirAll(to, 0o755); err != nil {
		return err
	}
	names, err := fs.List(from)
	if err != nil {
		return err
	}
	for _, name := range names {
		if name == lockFile {
			continue
		}
		if err := copyTree(fs, fs.PathJoin(from, name), fs.PathJoin(to, name)); err != nil {
			return err
		}
	}
	return syncDir(fs, to)
}

// copyFile copies a file durably. Pebble's tables, which nothing ever writes again, become links where that is
// possible.
func copyFile(fs FS, from, to string) error {
	if strings.HasSuffix(from, ".sst") {
		return vfs.LinkOrCopy(fs, from, to)
	}
	return vfs.Copy(fs, from, to)
}

func readFile(fs FS, path string) ([]byte, error) {
	f, err := fs.Open(path)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(f)
	return b, errorsFirst(err, f.Close())
}
