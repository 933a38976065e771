package state

import (
	"encoding/binary"
	"fmt"
	"unsafe"

	"github.com/sluicesql/sluice/engine/keyenc"
	"github.com/sluicesql/sluice/internal/fault"
)

// Frozen holds copies of the entries that changed up to a barrier, as the keys and values to write. Commit
// reads it on another goroutine while the shard goes on.
type Frozen struct {
	shard  *Shard
	groups [keyenc.KeyGroups][]frozenItem
	blocks [][]byte
	used   int // blocks in use, the last one up to off
	off    int
	bytes  int64
	rows   int
	runs   []run       // what left memory since the Freeze before, oldest first
	counts []tableRows // of all tables at the barrier
	err    error
}

// tableRows is how many live rows a table has, as the shard knows: those on disk that were never in memory since
// Open are not among them.
type tableRows struct {
	table uint16
	rows  int64
}

// frozenItem stands for a record while sorting: the first 24 bytes behind the group and table as integers,
// since comparing byte slices would take half of a commit's time.
type frozenItem struct {
	a, b, c uint64
	table   uint16
	block   uint16
	off     uint32
}

// A record is the lengths of key and value, 4 bytes each, and the two.
const (
	blockBytes  = 1 << 20
	recordHead  = 8
	deletedMark = 1<<32 - 1 // instead of the value's length
)

// Freeze copies the entries changed since the last Freeze, at a checkpoint's barrier. The shard may go on
// at once. The Frozen before must have been passed to Durable. Nil when the store is memory only.
//
// When a table breaks what must hold at a barrier (Conflicts; Negatives unless it is a bag), Commit returns
// an error that says so, and writes nothing.
func (sh *Shard) Freeze() *Frozen {
	if sh.store.db == nil {
		return nil
	}
	if sh.frozen != nil {
		panic("state: Freeze while a Frozen is in flight")
	}
	f := sh.spare
	if f == nil {
		f = &Frozen{shard: sh}
	}
	sh.spare = nil
	for _, t := range sh.order {
		t.freeze(f)
		f.counts = append(f.counts, tableRows{t.id, t.Rows()})
	}
	f.runs, sh.runs = sh.runs, nil
	sh.dirtyBytes, sh.nextSpill = 0, 0
	sh.frozen = f
	sh.publish()
	return f
}

func (t *Table) freeze(f *Frozen) {
	if f.err == nil && (t.Conflicts() > 0 || t.negatives > 0 && !t.bag) {
		f.err = t.conflict()
	}
	a := &t.sh.arena
	t.dirty, t.frozen = t.frozen[:0], t.dirty
	kept := t.frozen[:0]
	for i, r := range t.frozen {
		if i%touchAhead == 0 {
			t.touchAll(t.frozen[i:min(i+touchAhead, len(t.frozen))])
		}
		e := a.at(r)
		e.flags &^= flagDirty
		if e.flags&flagDead != 0 {
			t.free(r)
			continue
		}
		f.add(t, e)
		e.flags |= flagFlight | flagDurable
		if e.weight == 0 {
			t.buried = append(t.buried, r)
		} else {
			kept = append(kept, r)
		}
	}
	t.frozen = kept
}

// touchAhead is how many entries are brought near the processor together, see Load.
const touchAhead = 64

func (t *Table) touchAll(refs []Ref) {
	var seen uint64
	for _, r := range refs {
		e := t.sh.arena.at(r)
		head, kl, sl, vl := e.lens()
		seen += uint64(*e.last(head + kl + sl + vl))
	}
	t.sh.sink += seen
}

// conflict describes one of the table's offenders.
func (t *Table) conflict() error {
	e := t.sh.arena.at(t.Offenders(1)[0])
	if e.weight < 0 {
		return fault.Errorf(fault.RowContradiction, "table %d: row (key %x, unique key %x) was taken back and had never been given", t.id, e.key(), e.sub())
	}
	return fault.Errorf(fault.RowContradiction, "table %d: unique key (key %x, unique key %x) holds more than one row", t.id, e.key(), e.sub())
}

// add appends e's record.
func (f *Frozen) add(t *Table, e *entry) {
	head, kl, sl, vl := e.lens()
	key := e.bytesAt(head, kl)
	ident := e.bytesAt(head+kl, sl)
	value := e.bytesAt(head+kl+sl, vl)
	if t.bag {
		ident, value = value, nil
	}
	buf := f.room(recordHead + groupTableBytes + len(key) + len(ident) + len(value) + 2*binary.MaxVarintLen64 + t.timeBytes)
	group := keyenc.Group(keyenc.Hash(key))
	rec := appendStateKey(buf[:recordHead], group, t.id, key, ident)
	keyEnd := len(rec)
	switch {
	case e.weight == 0:
		binary.LittleEndian.PutUint32(rec[4:], deletedMark)
	case t.bag:
		rec = appendBagValue(rec, len(key), e.weight)
		if t.life != nil {
			rec = binary.BigEndian.AppendUint64(rec, uint64(e.time()))
		}
		binary.LittleEndian.PutUint32(rec[4:], uint32(len(rec)-keyEnd))
	default:
		if t.life != nil {
			rec = appendTimedHeader(rec, len(key), e.time())
		} else {
			rec = appendRowHeader(rec, len(key))
		}
		rec = append(rec, value...)
		binary.LittleEndian.PutUint32(rec[4:], uint32(len(rec)-keyEnd))
	}
	binary.LittleEndian.PutUint32(rec, uint32(keyEnd-recordHead))
	it := frozenItem{table: t.id, block: uint16(f.used - 1), off: uint32(f.off)}
	it.a, it.b, it.c = prefixWords(rec[recordHead+groupTableBytes : keyEnd])
	f.groups[group] = append(f.groups[group], it)
	f.off += len(rec)
	f.bytes += int64(len(rec))
	f.rows++
}

// prefixWords are the first 24 bytes of k, zero behind its end: their order is k's as far as they go.
func prefixWords(k []byte) (a, b, c uint64) {
	if len(k) >= 24 {
		return binary.BigEndian.Uint64(k), binary.BigEndian.Uint64(k[8:]), binary.BigEndian.Uint64(k[16:])
	}
	var pad [24]byte
	copy(pad[:], k)
	return binary.BigEndian.Uint64(pad[:]), binary.BigEndian.Uint64(pad[8:]), binary.BigEndian.Uint64(pad[16:])
}

// room returns an empty slice over n free bytes at f.off of block f.used-1.
func (f *Frozen) room(n int) []byte {
	if f.used == 0 || f.off+n > len(f.blocks[f.used-1]) {
		if f.used == len(f.blocks) {
			f.blocks = append(f.blocks, nil)
		}
		if len(f.blocks[f.used]) < n {
			f.dropBlock(f.used)
			b, err := mapMemory(max(n, blockBytes))
			if err != nil {
				panic(fmt.Sprintf("state: no memory for a checkpoint: %v", err))
			}
			f.blocks[f.used] = b
		}
		f.used++
		f.off = 0
	}
	b := f.blocks[f.used-1]
	return b[f.off : f.off+n : f.off+n]
}

func (f *Frozen) dropBlock(i int) {
	if f.blocks[i] == nil {
		return
	}
	if err := unmapMemory(f.blocks[i]); err != nil {
		panic(fmt.Sprintf("state: unmap: %v", err))
	}
	f.blocks[i] = nil
}

// record returns an item's Pebble key, and its value unless it is a deletion.
func (f *Frozen) record(it *frozenItem) (key, value []byte, deleted bool) {
	rec := f.blocks[it.block][it.off:]
	k, v := binary.LittleEndian.Uint32(rec), binary.LittleEndian.Uint32(rec[4:])
	key = rec[recordHead : recordHead+k]
	if v == deletedMark {
		return key, nil, true
	}
	return key, rec[recordHead+k : recordHead+k+v], false
}

// reset empties f and keeps about as much memory as was in use.
func (f *Frozen) reset() {
	for i := range f.groups {
		f.groups[i] = f.groups[i][:0]
	}
	for i := len(f.blocks) - 1; i >= 0; i-- {
		if i > 2*f.used || len(f.blocks[i]) > blockBytes {
			f.dropBlock(i)
		}
	}
	f.blocks = f.blocks[:min(len(f.blocks), 2*f.used+1)]
	f.used, f.off, f.bytes, f.rows, f.err = 0, 0, 0, 0, nil
	f.runs, f.counts = nil, f.counts[:0]
}

// dropBlocks gives the memory back.
func (f *Frozen) dropBlocks() {
	for i := range f.blocks {
		f.dropBlock(i)
	}
	f.blocks = nil
}

// capacity is the memory that f takes, in use or kept for the next.
func (f *Frozen) capacity() int64 {
	var n int64
	for _, b := range f.blocks {
		n += int64(len(b))
	}
	for _, items := range f.groups {
		n += int64(cap(items)) * int64(unsafe.Sizeof(frozenItem{}))
	}
	return n
}

// Durable tells the shard, on its own goroutine, that Commit of f has returned without error: its
// tombstones go, its entries may be evicted. A nil f is ignored.
func (sh *Shard) Durable(f *Frozen) error {
	if f == nil {
		return nil
	}
	if f != sh.frozen {
		panic("state: Durable of a Frozen that is not in flight")
	}
	for _, t := range sh.order {
		t.durable()
	}
	err := sh.dropRuns(f.runs)
	f.reset()
	sh.frozen, sh.spare = nil, f
	sh.stuck = false
	sh.publish()
	if err != nil {
		return sh.store.fail(err)
	}
	return nil
}

func (t *Table) durable() {
	a := &t.sh.arena
	for _, r := range t.frozen {
		e := a.at(r)
		e.flags &^= flagFlight
		if e.flags&(flagDead|flagDirty) == flagDead {
			t.free(r)
		}
	}
	t.frozen = t.frozen[:0]
	for _, r := range t.buried {
		e := a.at(r)
		e.flags &^= flagFlight
		switch {
		case e.flags&flagDead != 0:
			if e.flags&flagDirty == 0 {
				t.free(r)
			}
		case e.flags&flagDirty != 0 && len(t.sh.runs) > 0:
			// It was given again, and may stand in one of the runs: removing it still takes a tombstone.
		case e.weight == 0:
			// Still a tombstone, or again one: its Pebble key is gone either way.
			t.unlink(r, e)
			t.retire(r, e)
		case e.flags&flagDirty != 0:
			e.flags &^= flagDurable // given again since, and not written yet
		}
	}
	t.buried = t.buried[:0]
}
