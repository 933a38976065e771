package state

import (
	"errors"
	iofs "io/fs"
	"strings"
	"syscall"

	"github.com/cockroachdb/pebble/v2"

	"github.com/sluicesql/sluice/internal/fault"
)

// placed gives an error its place, before its first line: Pebble's go on with details for its makers. What has no code is
// a fault of the disk, or of what lies there.
func placed(place string, err error) error {
	if err == nil {
		return nil
	}
	err = firstLine{place + ": ", err}
	switch c := fault.Of(err); {
	case c == fault.StateDamaged, pebble.IsCorruptionError(err):
		return Damaged("%w", err)
	case c != "":
		return err
	}
	e := fault.Errorf(fault.Disk, "%w", err)
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return e.Fix("make room and start again: the job goes on from its last checkpoint")
	case errors.Is(err, iofs.ErrPermission), errors.Is(err, syscall.EROFS):
		return e.Fix("name a directory that this user may write")
	}
	return e.Fix("see to the disk, or name another directory")
}

// Damaged makes an error of something in a state directory that cannot be what was written, as fmt.Errorf does.
func Damaged(format string, args ...any) error {
	return fault.Errorf(fault.StateDamaged, format, args...).Fix("restore a savepoint, or start with another state directory, which reads the inputs again")
}

type firstLine struct {
	place string
	err   error
}

func (f firstLine) Error() string {
	line, _, _ := strings.Cut(f.err.Error(), "\n")
	return f.place + line
}

func (f firstLine) Unwrap() error { return f.err }
