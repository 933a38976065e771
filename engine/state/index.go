package state

import (
	"math/bits"
	"unsafe"
)

// index maps 32-bit tags, taken from a hash, to Refs; several Refs may share a tag, the caller tells them
// apart. It is an extendible hash table: a directory over the tag's high bits leads to segments of up to
// 4096 slots, open-addressed by the tag's low bits. A segment grows alone, by doubling and then by
// splitting in two, which needs the tags only and no look at the entries; there is never a moment at which
// everything is copied.
type index struct {
	a     *arena
	dir   []*segment // 1<<depth; a segment of lesser depth stands in several places
	depth uint8
	used  int
	bytes int64
}

type segment struct {
	mem   Ref
	base  unsafe.Pointer // of mem
	mask  uint32
	used  uint32
	depth uint8 // the number of high tag bits that its tags share
}

type slot struct {
	tag uint32
	ref Ref // 0: empty
}

const (
	slotBytes = 8
	minSlots  = 16
	maxSlots  = 4096
)

// tagOf takes bits below the key group's, which are the same for many keys of a shard.
func tagOf(h uint64) uint32 { return uint32(h >> 25) }

func (g *segment) slot(i uint32) *slot {
	return (*slot)(unsafe.Add(g.base, uintptr(i)*slotBytes))
}

// segmentOf is the segment that holds tag; the index must not be empty.
func (ix *index) segmentOf(tag uint32) *segment { return ix.dir[tag>>(32-ix.depth)] }

func (ix *index) newSegment(slots uint32, depth uint8) *segment {
	mem := ix.a.alloc(int(slots) * slotBytes)
	ix.bytes += int64(ix.a.size(mem))
	g := &segment{mem: mem, base: ix.a.ptr(mem), mask: slots - 1, depth: depth}
	clear(unsafe.Slice((*slot)(g.base), slots))
	return g
}

func (ix *index) freeSegment(g *segment) {
	ix.bytes -= int64(ix.a.size(g.mem))
	ix.a.release(g.mem)
}

// insert adds a pair; it does not look for an equal one.
func (ix *index) insert(tag uint32, r Ref) {
	if ix.dir == nil {
		ix.dir = []*segment{ix.newSegment(minSlots, 0)}
	}
	g := ix.segmentOf(tag)
	for g.used >= (g.mask+1)/16*13 {
		ix.grow(g)
		g = ix.segmentOf(tag)
	}
	g.put(tag, r)
	ix.used++
}

func (g *segment) put(tag uint32, r Ref) {
	i := tag & g.mask
	for g.slot(i).ref != 0 {
		i = (i + 1) & g.mask
	}
	*g.slot(i) = slot{tag, r}
	g.used++
}

// locate is the place of the pair (tag, r), which must exist.
func (ix *index) locate(tag uint32, r Ref) (*segment, uint32) {
	g := ix.segmentOf(tag)
	i := tag & g.mask
	for {
		s := g.slot(i)
		if s.ref == r {
			return g, i
		}
		if s.ref == 0 {
			panic("state: entry is missing from its index")
		}
		i = (i + 1) & g.mask
	}
}

// replace makes the pair (tag, r) lead to n.
func (ix *index) replace(tag uint32, r, n Ref) {
	g, i := ix.locate(tag, r)
	g.slot(i).ref = n
}

// remove takes out the pair (tag, r).
func (ix *index) remove(tag uint32, r Ref) {
	g, i := ix.locate(tag, r)
	ix.removeAt(g, i)
	ix.shrink(g)
}

// removeAt empties slot i of g by moving back those behind it that may move: no tombstones, so that probes
// stay short whatever was deleted. Slot i may hold another pair afterwards.
func (ix *index) removeAt(g *segment, i uint32) {
	for j := i; ; {
		j = (j + 1) & g.mask
		s := *g.slot(j)
		if s.ref == 0 {
			break
		}
		// s may fill the hole when its home is not in (i, j].
		if (j-s.tag)&g.mask >= (j-i)&g.mask {
			*g.slot(i) = s
			i = j
		}
	}
	*g.slot(i) = slot{}
	g.used--
	ix.used--
}

// shrink gives memory back after removals from g, which may be replaced.
func (ix *index) shrink(g *segment) {
	if ix.used == 0 {
		ix.reset()
		return
	}
	slots := g.mask + 1
	for slots > minSlots && g.used < slots/8 {
		slots /= 2
	}
	if slots != g.mask+1 {
		ix.swap(g, ix.copyOf(g, slots))
	}
}

// grow makes room in g's part of the tags.
func (ix *index) grow(g *segment) {
	if g.mask+1 < maxSlots || g.depth >= ix.maxDepth() {
		ix.swap(g, ix.copyOf(g, (g.mask+1)*2))
		return
	}
	if g.depth == ix.depth {
		wide := make([]*segment, 2*len(ix.dir))
		for i, x := range ix.dir {
			wide[2*i], wide[2*i+1] = x, x
		}
		ix.dir = wide
		ix.depth++
	}
	shift := 31 - g.depth
	var count [2]uint32
	for i := uint32(0); i <= g.mask; i++ {
		if s := g.slot(i); s.ref != 0 {
			count[s.tag>>shift&1]++
		}
	}
	var halves [2]*segment
	for i, n := range count {
		slots := uint32(minSlots)
		for slots < 2*n {
			slots *= 2
		}
		halves[i] = ix.newSegment(slots, g.depth+1)
	}
	for i := uint32(0); i <= g.mask; i++ {
		if s := g.slot(i); s.ref != 0 {
			halves[s.tag>>shift&1].put(s.tag, s.ref)
		}
	}
	first, span := ix.span(g)
	for i := range span {
		ix.dir[first+i] = halves[2*i/span]
	}
	ix.freeSegment(g)
}

// maxDepth bounds the directory: far more than random tags need, little when many tags are alike, which no
// number of splits would tell apart.
func (ix *index) maxDepth() uint8 { return uint8(min(20, bits.Len(uint(ix.used/1024))+4)) }

func (ix *index) copyOf(g *segment, slots uint32) *segment {
	n := ix.newSegment(slots, g.depth)
	for i := uint32(0); i <= g.mask; i++ {
		if s := g.slot(i); s.ref != 0 {
			n.put(s.tag, s.ref)
		}
	}
	return n
}

// span is where g stands in the directory. g must not be empty.
func (ix *index) span(g *segment) (first, n int) {
	n = 1 << (ix.depth - g.depth)
	for i := uint32(0); i <= g.mask; i++ {
		if s := g.slot(i); s.ref != 0 {
			first = int(s.tag>>(32-ix.depth)) &^ (n - 1)
			return first, n
		}
	}
	for first < len(ix.dir) && ix.dir[first] != g {
		first += n
	}
	return first, n
}

// swap puts n in g's place and frees g.
func (ix *index) swap(g, n *segment) {
	first, span := ix.span(g)
	for i := range span {
		ix.dir[first+i] = n
	}
	ix.freeSegment(g)
}

// reset frees everything.
func (ix *index) reset() {
	for i := 0; i < len(ix.dir); {
		g := ix.dir[i]
		i += 1 << (ix.depth - g.depth)
		ix.freeSegment(g)
	}
	ix.dir, ix.depth, ix.used = nil, 0, 0
}
