package state

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	iofs "io/fs"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/sluicesql/sluice/internal/fault"
)

// Outbox is the folder of a state directory that keeps the output for transactional sinks until it is delivered:
// segments, which are files that are written once, from front to end, and named by the commit that they belong to.
// What no commit names is left over from a crash and belongs to nobody. Its methods may be called from any
// goroutine.
//
// A segment is a header and blocks, in little-endian order:
//
//	header   "sluice outbox 1\n"
//	block    length (4) | bytes
type Outbox struct {
	fs   FS
	dir  string
	last atomic.Uint64 // the highest number given
}

// SegmentRef is how a commit names a segment: with what the file must hold.
type SegmentRef struct {
	Number uint64 `json:"number"`
	// Length of the file in bytes, and the CRC-32C of all of them.
	Length   int64  `json:"length"`
	Checksum uint32 `json:"checksum"`
}

const (
	segmentHeader = "sluice outbox 1\n"
	segmentSuffix = ".seg"
	// maxBlock bounds what a damaged length can make a reader allocate.
	maxBlock = 1 << 30
	// segmentBuffer is what is gathered before it is written.
	segmentBuffer = 128 << 10
)

// OpenOutbox opens or creates the outbox of the state directory dir, whose Store must be open (it holds the lock),
// and removes the segments that are not among named. The numbers of those are never given again.
func OpenOutbox(fs FS, dir string, named []SegmentRef) (*Outbox, error) {
	o := &Outbox{fs: fs, dir: fs.PathJoin(dir, outboxDir)}
	if err := makeDir(fs, o.dir); err != nil {
		return nil, o.fault(err)
	}
	keep := map[uint64]bool{}
	for _, r := range named {
		keep[r.Number] = true
		o.last.Store(max(o.last.Load(), r.Number))
	}
	names, err := fs.List(o.dir)
	if err != nil {
		return nil, o.fault(err)
	}
	for _, name := range names {
		n, err := strconv.ParseUint(strings.TrimSuffix(name, segmentSuffix), 10, 64)
		if err != nil || name != segmentName(n) {
			return nil, o.fault(fault.Errorf(fault.StateDirectory, "it holds %s, which sluice did not write", name).
				Fix("move it away"))
		}
		if keep[n] {
			continue
		}
		if err := fs.Remove(fs.PathJoin(o.dir, name)); err != nil {
			return nil, o.fault(err)
		}
	}
	return o, nil
}

func segmentName(n uint64) string { return fmt.Sprintf("%012d%s", n, segmentSuffix) }

func (o *Outbox) path(n uint64) string { return o.fs.PathJoin(o.dir, segmentName(n)) }

func (o *Outbox) fault(err error) error { return placed("outbox "+o.dir, err) }

func (o *Outbox) segmentFault(n uint64, err error) error {
	return placed("outbox segment "+o.path(n), err)
}

// Segment is a segment being written. One goroutine uses it at a time.
type Segment struct {
	o    *Outbox
	ref  SegmentRef
	file vfs.File
	buf  []byte
}

// Create begins a segment.
func (o *Outbox) Create() (*Segment, error) {
	s := &Segment{o: o, ref: SegmentRef{Number: o.last.Add(1)}}
	f, err := o.fs.Create(o.path(s.ref.Number), vfs.WriteCategoryUnspecified)
	if err != nil {
		return nil, o.segmentFault(s.ref.Number, err)
	}
	s.file = f
	s.buf = append(make([]byte, 0, segmentBuffer), segmentHeader...)
	return s, nil
}

// Append adds a block, whose memory is anything afterwards. After an error the segment is of no further use.
func (s *Segment) Append(block []byte) error {
	if len(block) > maxBlock {
		return s.o.segmentFault(s.ref.Number, fault.Errorf(fault.JobLimit, "a block of %d bytes is too large", len(block)))
	}
	s.buf = binary.LittleEndian.AppendUint32(s.buf, uint32(len(block)))
	if len(s.buf)+len(block) > segmentBuffer {
		if err := s.write(s.buf); err != nil {
			return err
		}
		s.buf = s.buf[:0]
	}
	if len(block) >= segmentBuffer {
		return s.write(block)
	}
	s.buf = append(s.buf, block...)
	return nil
}

func (s *Segment) write(b []byte) error {
	s.ref.Length += int64(len(b))
	s.ref.Checksum = crc32.Update(s.ref.Checksum, castagnoli, b) // before Write, which may change b
	if _, err := s.file.Write(b); err != nil {
		return s.o.segmentFault(s.ref.Number, err)
	}
	return nil
}

// Size is the number of bytes appended.
func (s *Segment) Size() int64 { return s.ref.Length + int64(len(s.buf)) }

// Finish ends the segment, durable but for its name (see Sync), and says how to name it.
func (s *Segment) Finish() (SegmentRef, error) {
	err := s.write(s.buf)
	if err == nil {
		if err = s.file.Sync(); err != nil {
			err = s.o.segmentFault(s.ref.Number, err)
		}
	}
	return s.ref, errorsFirst(err, s.Close())
}

// Close lets go of a segment that is not finished. It is left over then.
func (s *Segment) Close() error {
	if s.file == nil {
		return nil
	}
	f := s.file
	s.file = nil
	if err := f.Close(); err != nil {
		return s.o.segmentFault(s.ref.Number, err)
	}
	return nil
}

// Sync makes the names of all finished segments durable.
func (o *Outbox) Sync() error {
	if err := syncDir(o.fs, o.dir); err != nil {
		return o.fault(err)
	}
	return nil
}

// Has reports whether a segment's file is there.
func (o *Outbox) Has(r SegmentRef) (bool, error) {
	_, err := o.fs.Stat(o.path(r.Number))
	switch {
	case err == nil:
		return true, nil
	case errors.Is(err, iofs.ErrNotExist):
		return false, nil
	}
	return false, o.segmentFault(r.Number, err)
}

// HasSegment reports whether a segment of the state directory dir is there.
func HasSegment(fs FS, dir string, r SegmentRef) (bool, error) {
	return (&Outbox{fs: fs, dir: fs.PathJoin(dir, outboxDir)}).Has(r)
}

// Remove removes a segment; one that is not there is fine.
func (o *Outbox) Remove(r SegmentRef) error {
	if err := o.fs.Remove(o.path(r.Number)); err != nil && !errors.Is(err, iofs.ErrNotExist) {
		return o.segmentFault(r.Number, err)
	}
	return nil
}

// Blocks gives the blocks of a segment, each valid until the next. The last thing it gives is an error when the file
// is not what the reference says: only the end shows that.
func (o *Outbox) Blocks(r SegmentRef) func(yield func([]byte, error) bool) {
	return func(yield func([]byte, error) bool) {
		if err := o.read(r, func(b []byte) bool { return yield(b, nil) }); err != nil {
			yield(nil, o.segmentFault(r.Number, err))
		}
	}
}

// read calls f for each block until it returns false.
func (o *Outbox) read(r SegmentRef, f func([]byte) bool) (err error) {
	file, err := o.fs.Open(o.path(r.Number), vfs.SequentialReadsOption)
	if err != nil {
		return err
	}
	defer func() { err = errorsFirst(err, file.Close()) }()
	in := &segmentReader{in: bufio.NewReaderSize(file, segmentBuffer)}
	head := make([]byte, len(segmentHeader))
	if err := in.full(head); err != nil {
		return err
	}
	if string(head) != segmentHeader {
		return fault.Errorf(fault.StateDamaged, "it does not start with %q: damaged, or of an unknown version", segmentHeader)
	}
	length := head[:4]
	var block []byte
	for in.at < r.Length {
		if err := in.full(length); err != nil {
			return err
		}
		n := binary.LittleEndian.Uint32(length)
		if n > maxBlock || in.at+int64(n) > r.Length {
			return fault.Errorf(fault.StateDamaged, "damaged at offset %d", in.at-4)
		}
		if cap(block) < int(n) {
			block = make([]byte, n)
		}
		block = block[:n]
		if err := in.full(block); err != nil {
			return err
		}
		if !f(block) {
			return nil
		}
	}
	if in.at != r.Length || in.checksum != r.Checksum {
		return fault.Errorf(fault.StateDamaged, "damaged: its checksum is not the one that the checkpoint names")
	}
	return nil
}

// segmentReader counts and sums up what it reads.
type segmentReader struct {
	in       io.Reader
	at       int64
	checksum uint32
}

func (r *segmentReader) full(b []byte) error {
	if _, err := io.ReadFull(r.in, b); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return fault.Errorf(fault.StateDamaged, "it ends at offset %d, before what the checkpoint names", r.at)
		}
		return err
	}
	r.at += int64(len(b))
	r.checksum = crc32.Update(r.checksum, castagnoli, b)
	return nil
}
