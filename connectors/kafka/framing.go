package kafka

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"math/bits"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// outBatch is a record batch under construction: room for the head, then framed records.
type outBatch struct {
	buf       []byte
	n         int32
	first     int64 // timestamp of the first record, in milliseconds
	max       int64
	born      time.Time
	wire      []byte // the batch as it is sent, once it is sealed
	packed    bytes.Buffer
	hasID     bool
	identity  int // which of the producer's identities the sequence belongs to
	sequence  int32
	lastError error
}

// reset makes b empty and keeps its memory.
func (b *outBatch) reset() {
	if cap(b.buf) < batchHead {
		b.buf = make([]byte, batchHead, 64<<10)
	}
	b.buf, b.n, b.wire, b.hasID, b.lastError = b.buf[:batchHead], 0, nil, false, nil
}

// varintSize is the number of bytes of a zigzag varint.
func varintSize(v int64) int {
	u := uint64(v<<1) ^ uint64(v>>63)
	return (bits.Len64(u|1) + 6) / 7
}

// size is the number of bytes that b would have with one more record of that body.
func (b *outBatch) size(body []byte, at int64) int {
	delta := int64(0)
	if b.n > 0 {
		delta = at - b.first
	}
	inner := 1 + varintSize(delta) + varintSize(int64(b.n)) + len(body)
	return len(b.buf) + varintSize(int64(inner)) + inner
}

// add frames one record. body is what follows the two differences: key, value and headers.
func (b *outBatch) add(body []byte, at int64) {
	if b.n == 0 {
		b.first, b.max, b.born = at, at, time.Now()
	}
	b.max = max(b.max, at)
	delta := at - b.first
	buf := binary.AppendVarint(b.buf, int64(1+varintSize(delta)+varintSize(int64(b.n))+len(body)))
	buf = append(buf, 0) // attributes
	buf = binary.AppendVarint(buf, delta)
	buf = binary.AppendVarint(buf, int64(b.n))
	b.buf = append(buf, body...)
	b.n++
}

// load makes b the batch that seal gave once, to be sealed again.
func (b *outBatch) load(wire []byte) {
	b.buf = append(b.buf[:0], wire...)
	b.wire, b.n = b.buf, be32(wire, 57)
	b.first, b.max, b.born = be64(wire, 27), be64(wire, 35), time.Now()
}

// seal writes the head. It is done again when the producer's identity has changed.
func (b *outBatch) seal(id int64, epoch int16, sequence int32, transactional bool, compressor kgo.Compressor) {
	attr := uint16(0)
	if b.wire == nil {
		b.wire = b.buf
		if compressor != nil {
			b.packed.Reset()
			packed, codec := compressor.Compress(&b.packed, b.buf[batchHead:])
			if codec != 0 && len(packed) < len(b.buf)-batchHead {
				b.wire = append(append(make([]byte, 0, batchHead+len(packed)), b.buf[:batchHead]...), packed...)
				attr = uint16(codec)
			}
		}
	} else {
		attr = binary.BigEndian.Uint16(b.wire[21:])
	}
	if transactional {
		attr |= attrTransaction
	}
	w, be := b.wire, binary.BigEndian
	be.PutUint64(w, 0)
	be.PutUint32(w[8:], uint32(len(w)-12))
	be.PutUint32(w[12:], ^uint32(0)) // the leader sets its epoch
	w[16] = 2
	be.PutUint16(w[21:], attr)
	be.PutUint32(w[23:], uint32(b.n-1))
	be.PutUint64(w[27:], uint64(b.first))
	be.PutUint64(w[35:], uint64(b.max))
	be.PutUint64(w[43:], uint64(id))
	be.PutUint16(w[51:], uint16(epoch))
	be.PutUint32(w[53:], uint32(sequence))
	be.PutUint32(w[57:], uint32(b.n))
	be.PutUint32(w[17:], crc32.Checksum(w[21:], castagnoli))
}
