package kafka

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/sluicesql/sluice/internal/fault"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// A record batch of the message format v2 (Kafka 0.11 and later), big-endian:
//
//	 0 first offset int64       23 last offset delta int32    43 producer id int64
//	 8 length int32 (of what    27 first timestamp int64      51 producer epoch int16
//	   follows it)              35 max timestamp int64        53 base sequence int32
//	12 leader epoch int32                                     57 number of records int32
//	16 magic int8 = 2                                         61 records
//	17 crc32c uint32 (of all
//	   from 21 on)
//	21 attributes int16
const (
	batchHead       = 61
	attrCodec       = 0x07
	attrLogAppend   = 0x08
	attrTransaction = 0x10
	attrControl     = 0x20
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func be32(b []byte, i int) int32 { return int32(binary.BigEndian.Uint32(b[i:])) }
func be64(b []byte, i int) int64 { return int64(binary.BigEndian.Uint64(b[i:])) }

// wholeBatches cuts data, the batches of a fetch response, behind its last complete batch (a broker may
// cut the last one), and returns the offset to fetch next and the leader epoch of the last batch. With no
// complete batch in data next is at.
func wholeBatches(data []byte, at int64) (whole []byte, next int64, epoch int32, err error) {
	next, epoch = at, -1
	n := 0
	for len(data)-n >= batchHead {
		b := data[n:]
		size := 12 + int(be32(b, 8))
		if b[16] != 2 {
			return nil, at, -1, fault.Errorf(fault.KafkaDamaged, "the record at offset %d has message format v%d, from before Kafka 0.11, which is not supported", be64(b, 0), b[16]).
				Fix("copy the topic to a new one")
		}
		if size < batchHead {
			return nil, at, -1, fmt.Errorf("the batch at offset %d is damaged: its length is %d", be64(b, 0), size)
		}
		if size > len(b) {
			break
		}
		next = max(next, be64(b, 0)+int64(be32(b, 23))+1)
		epoch = be32(b, 12)
		n += size
	}
	return data[:n:n], next, epoch, nil
}

// record is one record, pointing into its batch.
type record struct {
	offset, timestamp int64
	key, value        []byte // nil is null
	headers           []byte // as on the wire, from their number on
}

// batchIter walks the record batches of one fetch response. It skips control records and what an aborted
// transaction wrote. Its zero value is at the end.
type batchIter struct {
	rest    []byte // batches not begun
	records []byte // what is left of the present batch's records
	n       int    // their number
	end     int64  // just past the last offset of the present batch, which may be a record no more there

	first, firstTime, maxTime int64
	epoch                     int32
	logAppendTime             bool

	// aborted are the transactions to be skipped, by first offset; aborting the producers at present
	// inside one.
	aborted  []kmsg.FetchResponseTopicPartitionAbortedTransaction
	aborting map[int64]bool
	checkCRC bool
	unpack   kgo.Decompressor
}

// reset begins with the batches of another response. aborted is sorted by first offset.
func (it *batchIter) reset(data []byte, aborted []kmsg.FetchResponseTopicPartitionAbortedTransaction) {
	it.rest, it.records, it.n, it.aborted = data, nil, 0, aborted
	clear(it.aborting)
}

// next opens batches until one has records to be read, and reports false at the end, or at a batch from
// stop on, which it leaves in rest. pos is moved past everything that holds no record.
func (it *batchIter) next(pos *int64, stop int64) (bool, error) {
	for len(it.rest) > 0 {
		b := it.rest
		if be64(b, 0) >= stop {
			*pos = max(*pos, stop)
			return false, nil
		}
		size := 12 + int(be32(b, 8)) // wholeBatches has checked it
		b, it.rest = b[:size:size], it.rest[size:]
		end := be64(b, 0) + int64(be32(b, 23)) + 1
		if end <= *pos {
			continue // a broker answers with the whole batch that the offset is in, rarely with one before
		}
		if it.checkCRC && crc32.Checksum(b[21:], castagnoli) != binary.BigEndian.Uint32(b[17:]) {
			return false, fmt.Errorf("the batch at offset %d is damaged: its checksum is wrong; nothing was read from it", be64(b, 0))
		}
		attr := int16(binary.BigEndian.Uint16(b[21:]))
		records := b[batchHead:]
		if codec := attr & attrCodec; codec != 0 {
			var err error
			if records, err = it.unpack.Decompress(records, kgo.CompressionCodecType(codec)); err != nil {
				return false, fmt.Errorf("the batch at offset %d cannot be decompressed: %w", be64(b, 0), err)
			}
		}
		if it.skips(b, attr, records, end) {
			*pos, it.epoch = max(*pos, min(end, stop)), be32(b, 12)
			continue
		}
		it.first, it.firstTime, it.maxTime = be64(b, 0), be64(b, 27), be64(b, 35)
		it.epoch, it.logAppendTime = be32(b, 12), attr&attrLogAppend != 0
		it.records, it.n, it.end = records, int(be32(b, 57)), end
		if it.n > 0 {
			return true, nil
		}
		*pos = max(*pos, min(end, stop)) // compaction took all records of this batch
	}
	return false, nil
}

// skips reports whether the batch b, which ends before end, holds nothing to be read, and follows the
// transactions.
func (it *batchIter) skips(b []byte, attr int16, records []byte, end int64) bool {
	producer := be64(b, 43)
	for len(it.aborted) > 0 && it.aborted[0].FirstOffset < end {
		if it.aborting == nil {
			it.aborting = map[int64]bool{}
		}
		it.aborting[it.aborted[0].ProducerID] = true
		it.aborted = it.aborted[1:]
	}
	if attr&attrControl != 0 {
		// A control record ends its producer's transaction. Its key is a version and a type, both int16; type 0 is abort.
		var rec record
		if _, err := parseRecord(records, &rec); err == nil && len(rec.key) >= 4 && rec.key[2] == 0 && rec.key[3] == 0 {
			delete(it.aborting, producer)
		}
		return true
	}
	return attr&attrTransaction != 0 && it.aborting[producer]
}

// peek reads the record at hand into rec, without moving. next has reported true and n is not 0.
func (it *batchIter) peek(rec *record) (rest []byte, err error) {
	rest, err = parseRecord(it.records, rec)
	if err != nil {
		return nil, fmt.Errorf("the batch at offset %d is damaged: %w", it.first, err)
	}
	rec.offset += it.first
	if it.logAppendTime {
		rec.timestamp = it.maxTime
	} else {
		rec.timestamp += it.firstTime
	}
	return rest, nil
}

// advance moves to rest, which peek returned.
func (it *batchIter) advance(rest []byte) {
	it.records = rest
	it.n--
}

var errRecord = fmt.Errorf("a record is cut short")

// parseRecord reads the first record of b, with offset and timestamp as the differences to the batch's.
func parseRecord(b []byte, rec *record) (rest []byte, err error) {
	length, n := varint(b)
	if n <= 0 || length < 0 || length > int64(len(b)-n) {
		return nil, errRecord
	}
	body, rest := b[n:n+int(length)], b[n+int(length):]
	if len(body) == 0 {
		return nil, errRecord
	}
	i := 1 // attributes, unused
	if rec.timestamp, n = varint(body[i:]); n <= 0 {
		return nil, errRecord
	}
	i += n
	if rec.offset, n = varint(body[i:]); n <= 0 {
		return nil, errRecord
	}
	i += n
	if length, n = varint(body[i:]); n <= 0 || length > int64(len(body)-i-n) {
		return nil, errRecord
	}
	i += n
	rec.key = nil
	if length >= 0 {
		rec.key = body[i : i+int(length) : i+int(length)]
		i += int(length)
	}
	if length, n = varint(body[i:]); n <= 0 || length > int64(len(body)-i-n) {
		return nil, errRecord
	}
	i += n
	rec.value = nil
	if length >= 0 {
		rec.value = body[i : i+int(length) : i+int(length)]
		i += int(length)
	}
	rec.headers = body[i:]
	if len(rec.headers) != 1 || rec.headers[0] != 0 {
		return rest, checkHeaders(rec.headers)
	}
	return rest, nil
}

func checkHeaders(b []byte) error {
	count, n := varint(b)
	if n <= 0 || count < 0 {
		return errRecord
	}
	for b = b[n:]; count > 0; count-- {
		for range 2 {
			length, n := varint(b)
			if n <= 0 || length > int64(len(b)-n) {
				return errRecord
			}
			b = b[n+int(max(length, 0)):]
		}
	}
	return nil
}

// varint reads a zigzag varint; n ≤ 0 says that there is none. Lengths below 64 and 8192 take one and two bytes.
func varint(b []byte) (v int64, n int) {
	if len(b) > 1 {
		if c := b[0]; c < 0x80 {
			return int64(c>>1) ^ -int64(c&1), 1
		} else if d := b[1]; d < 0x80 {
			u := uint64(c&0x7f) | uint64(d)<<7
			return int64(u>>1) ^ -int64(u&1), 2
		}
	}
	return binary.Varint(b)
}
