package state

import (
	"errors"
	"io"
	iofs "io/fs"

	"github.com/cockroachdb/pebble/v2/record"
	"github.com/cockroachdb/pebble/v2/wal"
)

// sealLog cuts off what a crash left behind the last whole record of Pebble's last log: half a record, or, as logs are
// used again, the remains of an earlier one. It was never synced, or not written for this log.
//
// Pebble passes over such an end, but only of the last log. It begins a new one whenever it opens, and may still need
// the one before: of what it replays it does not flush a batch that is large for a memtable and small on disk. A second
// crash then left a torn log that is not the last, which Pebble takes for a damaged one, for ever.
//
// An end that shows later records to have been synced is damage; it stays, for Pebble to refuse.
func (s *Store) sealLog() error {
	fs, dir := s.fs, s.fs.PathJoin(s.opts.Dir, dbDir)
	if _, err := fs.Stat(dir); err != nil {
		if errors.Is(err, iofs.ErrNotExist) {
			return nil
		}
		return err
	}
	logs, err := wal.Scan(wal.Dir{FS: fs, Dirname: dir})
	if err != nil || len(logs) == 0 {
		return err
	}
	last := logs[len(logs)-1]
	whole, torn, err := wholeRecords(last)
	if err != nil || !torn {
		return err
	}
	_, path := last.SegmentLocation(0)
	s.logf("state %s: what a crash left at the end of %s is cut off, from byte %d", s.opts.Dir, fs.PathBase(path), whole)
	f, err := fs.Open(path)
	if err != nil {
		return err
	}
	head := make([]byte, whole)
	_, err = io.ReadFull(f, head)
	if err := errorsFirst(err, f.Close()); err != nil {
		return err
	}
	return writeFileSynced(fs, dir, fs.PathBase(path), head)
}

// wholeRecords returns where the last whole record of a log ends, and whether a torn end follows. Whatever else may be
// wrong with the log, Pebble will find and say.
func wholeRecords(log wal.LogicalLog) (size int64, torn bool, err error) {
	r := log.OpenForRead()
	for {
		if _, at, err := r.NextRecord(); err != nil {
			return at.Physical, errors.Is(err, record.ErrUnexpectedEOF), r.Close()
		}
	}
}
