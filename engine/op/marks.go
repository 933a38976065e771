package op

import (
	"bytes"

	"github.com/sluicesql/sluice/engine/keyenc"
)

// marks is what an operator notes of the present epoch, to settle at its barrier: for each key, or each row under
// a key, one flag. Walking it goes by the order of noting. It keeps its memory from epoch to epoch, unless an epoch
// was large.
type marks struct {
	buf   []byte
	list  []mark
	slots []uint32 // open addressing: 1 + the index in list; the length is a power of two
}

type mark struct {
	h               uint64 // keyenc.Hash of the key
	hash            uint64 // of key and row
	start, row, end int    // in buf: the key, and behind it the row
	slot            uint32
	flag            bool
}

// marksKept bounds the memory that is kept from epoch to epoch.
const marksKept = 64 << 10

func (t *marks) hash(h uint64, row []byte) uint64 {
	if row == nil {
		return h
	}
	return h ^ keyenc.Hash(row)*0x9E3779B97F4A7C15
}

// find returns the entry of a key, with a nil row, or of a row under a key; nil when there is none. It is valid until
// the next add.
func (t *marks) find(h uint64, key, row []byte) *mark {
	if len(t.list) == 0 {
		return nil
	}
	hash := t.hash(h, row)
	mask := uint32(len(t.slots) - 1)
	for i := uint32(hash>>7) & mask; t.slots[i] != 0; i = (i + 1) & mask {
		e := &t.list[t.slots[i]-1]
		if e.hash == hash && bytes.Equal(t.key(e), key) && bytes.Equal(t.row(e), row) {
			return e
		}
	}
	return nil
}

// add notes a key or row that is not there.
func (t *marks) add(h uint64, key, row []byte, flag bool) {
	if 2*(len(t.list)+1) > len(t.slots) {
		t.grow()
	}
	e := mark{h: h, hash: t.hash(h, row), start: len(t.buf), flag: flag}
	t.buf = append(t.buf, key...)
	e.row = len(t.buf)
	t.buf = append(t.buf, row...)
	e.end = len(t.buf)
	t.list = append(t.list, e)
	t.place(len(t.list) - 1)
}

func (t *marks) place(n int) {
	e := &t.list[n]
	mask := uint32(len(t.slots) - 1)
	i := uint32(e.hash>>7) & mask
	for t.slots[i] != 0 {
		i = (i + 1) & mask
	}
	t.slots[i], e.slot = uint32(n+1), i
}

func (t *marks) grow() {
	t.slots = make([]uint32, max(64, 2*len(t.slots)))
	for n := range t.list {
		t.place(n)
	}
}

func (t *marks) key(e *mark) []byte { return t.buf[e.start:e.row] }
func (t *marks) row(e *mark) []byte { return t.buf[e.row:e.end] }

// reset forgets everything.
func (t *marks) reset() {
	if len(t.slots) > marksKept {
		*t = marks{}
		return
	}
	for i := range t.list {
		t.slots[t.list[i].slot] = 0
	}
	t.list, t.buf = t.list[:0], t.buf[:0]
}
