package state

import (
	"encoding/binary"

	"github.com/sluicesql/sluice/internal/fault"
)

// What the state directory holds, format version 2:
//
//	FORMAT      the line "sluice state 2"
//	LOCK        locked while a process uses the directory
//	db/         a Pebble store with the bytewise comparer
//	ingest/     sorted tables on their way into it, and runs (run.go); leftovers are removed at Open
//	epochs.log  the epoch log, see epochlog.go
//	RUNNING     there while a process uses the directory, and after a crash, see running.go
//	NEW         there while the Pebble store is being made
//	SAVEPOINT   only in a savepoint: what it is of
//	RESTORED    the SAVEPOINT from which the directory was made
//	RESTORING   without FORMAT: it is being made of one, or was when a crash came
//
// Pebble's keys, the table id in big-endian order:
//
//	key group | table (2) | key | sub   → uvarint(len(key)<<1)   | value
//	key group | table (2) | key | value → uvarint(len(key)<<1|1) | varint(weight)     of a bag
//	key group | table (2) | key | sub   → uvarint(len(key)<<1|1) | 0 | time | value   of a timed table
//	key group | table (2) | key | value → uvarint(len(key)<<1|1) | varint(weight) | time   of a timed bag
//	FF 'c'                             →  the cut of the last commit
//	FF 'm' name                        →  metadata
//	FF 'n' table (2)                   →  varint(number of the table's rows)
//
// A time is 8 bytes, the highest first: milliseconds since 1970. The length in the value lets a scan tell the key from
// what follows it without knowing the columns.

// FormatVersion is the version of the state directory that this package reads and writes.
const FormatVersion = 2

const (
	formatFile = "FORMAT"
	lockFile   = "LOCK"
	dbDir      = "db"
	ingestDir  = "ingest"
	outboxDir  = "outbox"
	logFile    = "epochs.log"

	newFile       = "NEW"
	runningFile   = "RUNNING"
	savepointFile = "SAVEPOINT"
	restoredFile  = "RESTORED"
	restoringFile = "RESTORING"
)

const (
	groupTableBytes = 3
	metaSpace       = 0xFF
)

var cutKey = []byte{metaSpace, 'c'}

// rowCountKey is where the number of a table's rows stands.
func rowCountKey(table uint16) []byte {
	return binary.BigEndian.AppendUint16([]byte{metaSpace, 'n'}, table)
}

func metaKey(name string) []byte { return append([]byte{metaSpace, 'm'}, name...) }

// appendStateKey appends the Pebble key of an entry; ident is its sub, or its value in a bag.
func appendStateKey(buf []byte, group int, table uint16, key, ident []byte) []byte {
	buf = append(buf, byte(group), byte(table>>8), byte(table))
	buf = append(buf, key...)
	return append(buf, ident...)
}

func appendRowHeader(buf []byte, keyLen int) []byte {
	return binary.AppendUvarint(buf, uint64(keyLen)<<1)
}

// appendTimedHeader is told from a bag's value by its weight of 0, which no entry of a bag has.
func appendTimedHeader(buf []byte, keyLen int, time int64) []byte {
	buf = append(binary.AppendUvarint(buf, uint64(keyLen)<<1|1), 0)
	return binary.BigEndian.AppendUint64(buf, uint64(time))
}

func appendBagValue(buf []byte, keyLen int, weight int32) []byte {
	buf = binary.AppendUvarint(buf, uint64(keyLen)<<1|1)
	return binary.AppendVarint(buf, int64(weight))
}

// stored is a state entry as read from Pebble; its slices are borrowed from the iterator.
type stored struct {
	group           int
	table           uint16
	bag             bool
	key, sub, value []byte
	weight          int32
	time            int64 // of a timed table
}

func decodeStored(k, v []byte) (stored, error) {
	u, n := binary.Uvarint(v)
	keyLen := int(u >> 1)
	if len(k) < groupTableBytes || n <= 0 || u>>1 > uint64(len(k)-groupTableBytes) {
		return stored{}, fault.Errorf(fault.StateDamaged, "state entry %x has a damaged value %x", k, v[:min(len(v), 16)])
	}
	e := stored{group: int(k[0]), table: binary.BigEndian.Uint16(k[1:]), bag: u&1 != 0, weight: 1}
	k = k[groupTableBytes:]
	e.key, e.sub, e.value = k[:keyLen], k[keyLen:], v[n:]
	if !e.bag {
		return e, nil
	}
	w, m := binary.Varint(e.value)
	rest := e.value[max(m, 0):]
	timed := len(rest) == 8 || w == 0 && len(rest) > 8
	if m <= 0 || len(rest) > 0 != timed || w == 0 && !timed || int64(int32(w)) != w {
		return stored{}, fault.Errorf(fault.StateDamaged, "state entry %x has a damaged weight %x", k, v)
	}
	if timed {
		e.time = int64(binary.BigEndian.Uint64(rest))
	}
	if w == 0 {
		e.bag, e.value = false, rest[8:]
		return e, nil
	}
	e.weight, e.value, e.sub = int32(w), e.sub, nil
	return e, nil
}
