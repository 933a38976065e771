package state

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"reflect"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// The file RUNNING tells a directory that a process uses, or used when it died, from one that was left in
// order. It holds the number that the file system gave to this very file: a file RUNNING with another number is
// a copy, taken while a process was writing. Such a copy may hold a file from before a commit beside one
// from after it, and nothing in it says so.

// mark writes RUNNING.
func (s *Store) mark() error {
	path := s.fs.PathJoin(s.opts.Dir, runningFile)
	f, err := s.fs.Create(path, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	no, err := fileNumber(f)
	if err == nil {
		_, err = f.Write([]byte(no + "\n"))
	}
	if err == nil {
		err = f.Sync()
	}
	if err := errorsFirst(err, f.Close()); err != nil {
		return err
	}
	s.marked = true
	return syncDir(s.fs, s.opts.Dir)
}

// unmark removes RUNNING: the directory is left in order.
func (s *Store) unmark() error {
	if !s.marked {
		return nil
	}
	s.marked = false
	err := s.fs.Remove(s.fs.PathJoin(s.opts.Dir, runningFile))
	if errors.Is(err, iofs.ErrNotExist) {
		return nil
	}
	return err
}

// checkCopy refuses a copy that was taken while a process used the directory.
func checkCopy(fs FS, dir string) error {
	path := fs.PathJoin(dir, runningFile)
	f, err := fs.Open(path)
	if errors.Is(err, iofs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	no, err := fileNumber(f)
	if err != nil {
		return errorsFirst(err, f.Close())
	}
	b, err := io.ReadAll(io.LimitReader(f, 64))
	if err := errorsFirst(err, f.Close()); err != nil {
		return err
	}
	was := strings.TrimSpace(string(b))
	if was == "" || was == no { // empty: a crash while it was written, before any other file was
		return nil
	}
	return fmt.Errorf("it is a copy of a state directory that was taken while a job was using it, so its files may not fit together; "+
		"use sluice savepoint to copy a running job's state. If the job had ended before the copy was made, remove the file %s", path)
}

// fileNumber identifies a file within its file system, by the inode's number; empty where there is none.
func fileNumber(f vfs.File) (string, error) {
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	v := reflect.Indirect(reflect.ValueOf(info.Sys()))
	if v.Kind() != reflect.Struct {
		return "", nil
	}
	ino := v.FieldByName("Ino") // of syscall.Stat_t, which not every system has
	if !ino.IsValid() || !ino.CanUint() {
		return "", nil
	}
	return hex.EncodeToString(binary.BigEndian.AppendUint64(nil, ino.Uint())), nil
}
