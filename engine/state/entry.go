package state

import (
	"bytes"
	"unsafe"
)

// entry is the header of an entry in the arena; key, sub and value follow. Lengths above 255 stand in three
// more words before the key (flagLong).
type entry struct {
	next, prev       Ref // in its group
	weight           int32
	flags            uint8
	klen, slen, vlen uint8
}

const (
	flagLong    uint8 = 1 << iota // lengths are in the long header
	flagGroup                     // the head of a big group: no entry, see group.go
	flagIndexed                   // entry of a big group
	flagDirty                     // in the table's list of changes since the last Freeze
	flagFlight                    // in the list of the Frozen that is not durable yet
	flagDurable                   // its Pebble key exists, or will when that Frozen is committed
	flagDead                      // out of its group; the lists that name it let it go
	flagUsed                      // on a group's head: loaded since the clock last came by
)

const (
	headBytes     = 16
	longHeadBytes = headBytes + 12
	maxShort      = 255
)

func (a *arena) at(r Ref) *entry { return (*entry)(a.ptr(r)) }

func (e *entry) lens() (head, k, s, v int) {
	if e.flags&flagLong == 0 {
		return headBytes, int(e.klen), int(e.slen), int(e.vlen)
	}
	l := e.long()
	return longHeadBytes, int(l[0]), int(l[1]), int(l[2])
}

func (e *entry) long() *[3]uint32 { return (*[3]uint32)(unsafe.Add(unsafe.Pointer(e), headBytes)) }

func (e *entry) bytesAt(off, n int) []byte {
	return unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(e), off)), n)
}

func (e *entry) key() []byte {
	head, k, _, _ := e.lens()
	return e.bytesAt(head, k)
}

func (e *entry) sub() []byte {
	head, k, s, _ := e.lens()
	return e.bytesAt(head+k, s)
}

func (e *entry) value() []byte {
	head, k, s, v := e.lens()
	return e.bytesAt(head+k+s, v)
}

// ident is what tells the entry apart within its group.
func (e *entry) ident(bag bool) []byte {
	if bag {
		return e.value()
	}
	return e.sub()
}

func (e *entry) hasKey(key []byte) bool { return bytes.Equal(e.key(), key) }

// layout says how an entry with these lengths lies in memory.
func layout(k, s, v int) (size int, long bool) {
	if k|s|v > maxShort {
		return longHeadBytes + k + s + v, true
	}
	return headBytes + k + s + v, false
}

// newEntry writes an entry in no group.
func (t *Table) newEntry(key, sub, value []byte, weight int32, flags uint8) Ref {
	a := &t.sh.arena
	size, long := layout(len(key), len(sub), len(value))
	r := a.alloc(size + t.timeBytes)
	t.bytes += int64(a.size(r))
	e := a.at(r)
	head := headBytes
	if long {
		flags |= flagLong
		*e = entry{weight: weight, flags: flags}
		*e.long() = [3]uint32{uint32(len(key)), uint32(len(sub)), uint32(len(value))}
		head = longHeadBytes
	} else {
		*e = entry{weight: weight, flags: flags, klen: uint8(len(key)), slen: uint8(len(sub)), vlen: uint8(len(value))}
	}
	b := e.bytesAt(head, size-head)
	n := copy(b, key)
	n += copy(b[n:], sub)
	copy(b[n:], value)
	if t.life != nil {
		e.putTime(t.life.now)
	}
	return r
}

// setValueInPlace overwrites the value when the slot fits it, with more bytes behind it, and would not be mostly
// empty.
func (a *arena) setValueInPlace(r Ref, e *entry, value []byte, more int) bool {
	head, k, s, _ := e.lens()
	size, long := layout(k, s, len(value))
	slot := a.size(r)
	if long != (e.flags&flagLong != 0) || size+more > slot || (slot > 128 && size < slot/2) {
		return false
	}
	if long {
		e.long()[2] = uint32(len(value))
	} else {
		e.vlen = uint8(len(value))
	}
	copy(e.bytesAt(head+k+s, len(value)), value)
	return true
}

// retire frees an entry that is out of its group, at once or when the lists that name it are through.
func (t *Table) retire(r Ref, e *entry) {
	if e.flags&(flagDirty|flagFlight) != 0 {
		e.flags |= flagDead
		return
	}
	t.free(r)
}

func (t *Table) free(r Ref) {
	a := &t.sh.arena
	t.bytes -= int64(a.size(r))
	a.release(r)
}

// last is the last of e's size bytes.
func (e *entry) last(size int) *byte {
	return (*byte)(unsafe.Add(unsafe.Pointer(e), size-1))
}
