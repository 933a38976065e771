package state

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	iofs "io/fs"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/sluicesql/sluice/internal/fault"
)

// Log is the epoch log: the cuts of epochs whose output may have left while no checkpoint covers them yet.
// A restart replays them, so that the same epochs give the same output. One goroutine uses it.
//
// The file is a header, records, and zeros, in little-endian order:
//
//	header   "sluice epochs 1\n"
//	record   length of the entry (4) | CRC-32C of what follows (4) | epoch (8) | through (8) | entry
//
// The zeros are room for records to come: overwriting blocks that are there syncs in a fifth of the time
// that appending takes, where the file system must also commit the file's new length.
//
// Through says which epochs were truncated when the record was written. Every record is synced before the
// next is written, so that at most the last one can be torn. A record of epoch 0 has no entry.
type Log struct {
	fs      FS
	dir     string
	file    vfs.File
	live    []logEntry // not truncated
	size    int64      // of header and records
	room    int64      // of the file
	through uint64     // truncated so far
	noted   bool       // the file says so
	buf     []byte
	err     error // the failure after which the file's end is unknown
}

type logEntry struct {
	seq  uint64
	data []byte
}

const (
	logHeader     = "sluice epochs 1\n"
	logRecordHead = 24
	// logRewrite is the size from which truncation rewrites the file without what was truncated.
	logRewrite = 1 << 20
	// logAhead is how many zeros are written at a time.
	logAhead = 256 << 10
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// OpenLog opens or creates the epoch log in the state directory dir, whose Store must be open (it holds the
// lock), and returns the entries that are not truncated, in the order of Append. A record that a crash cut
// short at the end is dropped: its Append never returned. Damage elsewhere is an error that names the file.
// Entries that a checkpoint covers may come back when the crash came between the commit and the first
// Append after TruncateThrough: tell them by what they say.
func OpenLog(fs FS, dir string) (*Log, [][]byte, error) {
	l := &Log{fs: fs, dir: dir}
	torn, err := l.readAll()
	if err != nil {
		return nil, nil, err
	}
	path := l.path()
	if torn {
		err = l.rewrite()
	} else {
		l.file, err = fs.OpenReadWrite(path, vfs.WriteCategoryUnspecified)
		if err != nil {
			err = l.fault(err)
		}
	}
	if err != nil {
		return nil, nil, err
	}
	entries := make([][]byte, len(l.live))
	for i, e := range l.live {
		entries[i] = e.data
	}
	return l, entries, nil
}

// ReadLog returns the entries of the epoch log in dir without changing it; none where there is no log.
func ReadLog(fs FS, dir string) ([][]byte, error) {
	l := &Log{fs: fs, dir: dir}
	if _, err := l.readAll(); err != nil {
		return nil, err
	}
	var entries [][]byte
	for _, e := range l.live {
		entries = append(entries, e.data)
	}
	return entries, nil
}

func (l *Log) path() string { return l.fs.PathJoin(l.dir, logFile) }

func (l *Log) fault(err error) error { return placed("epoch log "+l.path(), err) }

// readAll reads the file into live. Torn says that it ends within a record, or is not there at all.
func (l *Log) readAll() (torn bool, err error) {
	f, err := l.fs.Open(l.path())
	if errors.Is(err, iofs.ErrNotExist) {
		return true, nil
	}
	if err != nil {
		return false, l.fault(err)
	}
	b, err := io.ReadAll(f)
	if err := errorsFirst(err, f.Close()); err != nil {
		return false, l.fault(err)
	}
	if len(b) < len(logHeader) || string(b[:len(logHeader)]) != logHeader {
		return false, l.fault(fault.Errorf(fault.StateDamaged, "it does not start with %q: damaged, or of an unknown version", logHeader))
	}
	at := len(logHeader)
	end := len(bytes.TrimRight(b, "\x00"))
	for at < end {
		n := validRecord(b[at:])
		if n == 0 {
			// Torn, unless a whole record follows: then this one was synced once.
			for i := at + 1; i < len(b); i++ {
				if validRecord(b[i:]) > 0 {
					return false, l.fault(fault.Errorf(fault.StateDamaged, "damaged at offset %d", at))
				}
			}
			return true, nil
		}
		l.replay(b[at : at+n])
		at += n
	}
	l.size, l.room = int64(at), int64(len(b))
	return false, nil
}

// validRecord is the length of the record at the front of b, 0 when there is none.
func validRecord(b []byte) int {
	if len(b) < logRecordHead {
		return 0
	}
	n := uint64(binary.LittleEndian.Uint32(b)) + logRecordHead
	if n > uint64(len(b)) || crc32.Checksum(b[8:n], castagnoli) != binary.LittleEndian.Uint32(b[4:]) {
		return 0
	}
	return int(n)
}

func (l *Log) replay(rec []byte) {
	seq, through := binary.LittleEndian.Uint64(rec[8:]), binary.LittleEndian.Uint64(rec[16:])
	l.drop(through)
	l.noted = true
	if seq > 0 {
		l.live = append(l.live, logEntry{seq, rec[logRecordHead:]})
	}
}

// drop forgets the entries through seq.
func (l *Log) drop(seq uint64) {
	l.through = max(l.through, seq)
	n := 0
	for n < len(l.live) && l.live[n].seq <= l.through {
		n++
	}
	clear(l.live[:n])
	l.live = l.live[n:]
}

func appendLogRecord(buf []byte, seq, through uint64, entry []byte) []byte {
	start := len(buf)
	buf = binary.LittleEndian.AppendUint32(buf, uint32(len(entry)))
	buf = binary.LittleEndian.AppendUint32(buf, 0)
	buf = binary.LittleEndian.AppendUint64(buf, seq)
	buf = binary.LittleEndian.AppendUint64(buf, through)
	buf = append(buf, entry...)
	binary.LittleEndian.PutUint32(buf[start+4:], crc32.Checksum(buf[start+8:], castagnoli))
	return buf
}

// Through is the epoch up to which entries were dropped: those appended come after it. 0 for none.
func (l *Log) Through() uint64 { return l.through }

// Append adds the entry of epoch seq, durable when it returns. Epochs rise from 1. After an error the log is
// of no further use.
func (l *Log) Append(seq uint64, entry []byte) error {
	if l.err != nil {
		return l.err
	}
	if seq <= l.through || len(l.live) > 0 && seq <= l.live[len(l.live)-1].seq {
		panic(fmt.Sprintf("state: epoch %d appended to the log out of order", seq))
	}
	if err := l.write(seq, entry); err != nil {
		return err
	}
	l.live = append(l.live, logEntry{seq, append([]byte{}, entry...)})
	return nil
}

func (l *Log) write(seq uint64, entry []byte) error {
	l.buf = appendLogRecord(l.buf[:0], seq, l.through, entry)
	err := l.reserve(l.size + int64(len(l.buf)))
	if err == nil {
		_, err = l.file.WriteAt(l.buf, l.size)
	}
	if err == nil {
		err = l.file.SyncData()
	}
	if err != nil {
		// What of the record is in the file is unknown: another one behind it would make it damage.
		l.err = l.fault(err)
		return l.err
	}
	l.size += int64(len(l.buf))
	l.noted = true
	return nil
}

// reserve makes the file at least n bytes long.
func (l *Log) reserve(n int64) error {
	if n <= l.room {
		return nil
	}
	zeros := make([]byte, n-l.room+logAhead)
	if _, err := l.file.WriteAt(zeros, l.room); err != nil {
		return err
	}
	l.room += int64(len(zeros))
	return l.file.Sync()
}

// TruncateThrough drops the entries up to and including seq. The file learns of it with the next Append or
// at Close, and is rewritten when it has grown.
func (l *Log) TruncateThrough(seq uint64) error {
	if l.err != nil {
		return l.err
	}
	if seq <= l.through {
		return nil
	}
	l.drop(seq)
	l.noted = false
	if l.size < logRewrite {
		return nil
	}
	return l.rewrite()
}

// Forget is TruncateThrough, durable when it returns.
func (l *Log) Forget(seq uint64) error {
	if l.err != nil {
		return l.err
	}
	l.drop(seq)
	return l.rewrite()
}

// rewrite replaces the file by one with the live entries only.
func (l *Log) rewrite() error {
	if l.file != nil {
		if err := l.file.Close(); err != nil {
			l.err = l.fault(err)
			return l.err
		}
		l.file = nil
	}
	b := []byte(logHeader)
	if l.through > 0 {
		b = appendLogRecord(b, 0, l.through, nil)
	}
	for _, e := range l.live {
		b = appendLogRecord(b, e.seq, l.through, e.data)
	}
	size := int64(len(b))
	b = append(b, make([]byte, logAhead)...)
	room := int64(len(b))
	err := writeFileSynced(l.fs, l.dir, logFile, b)
	if err == nil {
		l.file, err = l.fs.OpenReadWrite(l.path(), vfs.WriteCategoryUnspecified)
	}
	if err != nil {
		l.err = l.fault(err)
		return l.err
	}
	l.size, l.room = size, room
	l.noted = true
	return nil
}

// Close notes what was truncated and closes the file.
func (l *Log) Close() error {
	err := l.err
	if err == nil && !l.noted && l.through > 0 {
		err = l.write(0, nil)
	}
	if l.file != nil {
		if cerr := l.file.Close(); err == nil && cerr != nil {
			err = l.fault(cerr)
		}
		l.file = nil
	}
	l.err = l.fault(errLogClosed)
	return err
}

var errLogClosed = errors.New("closed")
