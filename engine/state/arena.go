package state

import (
	"fmt"
	"math/bits"
	"unsafe"
)

// The arena gives out memory outside the Go heap by 32-bit references, in units of 8 bytes: 32 GB a shard.
//
// The operating system is asked for reservations of 64 MB, cut into regions of 4 MB, cut into 64 slabs of
// 64 KB. A slab serves one size class: slots of one size, with a free list. A slab without live slots
// belongs to all classes again, which is what makes the memory of an emptied table reusable by any other.
// What is larger than half a slab gets a run of whole slabs; what is larger than a region, a mapping of
// its own.
const (
	unitShift    = 3
	slabShift    = 16
	slabBytes    = 1 << slabShift
	regionShift  = 22
	regionBytes  = 1 << regionShift
	reserveBytes = 16 * regionBytes
	hugeAlign    = 2 << 20

	slabUnits   = slabShift - unitShift   // bits of a Ref within a slab
	regionUnits = regionShift - unitShift // bits of a Ref within a region
	unitMask    = 1<<regionUnits - 1
	maxRegions  = 1 << (32 - regionUnits)
	regionSlabs = regionBytes / slabBytes // 64: the free slabs of a region are one word
	maxArena    = maxRegions * regionBytes
	allSlabs    = 1<<regionSlabs - 1
)

type arena struct {
	regions  []unsafe.Pointer // base of each region, nil when its number is free
	free     []uint64         // bit i of free[r]: slab i of region r is in no class
	own      map[Ref][]byte   // mappings of their own, by the region's first Ref
	slabs    []slab
	partial  [numClasses]uint32 // per class, the first slab of the list of those with a free slot
	spare    []int              // region numbers whose mapping is gone
	hint     int                // no region below it has a free slab
	idle     int                // regions with all slabs free
	reserved []byte             // what is left of the last reservation
	maps     [][]byte           // reservations, for close
	live     int64              // bytes of the slots in use
	held     int64              // bytes of the slabs in use
}

// slab describes 64 KB. Slab 0 is never used, so that Ref 0 is none.
type slab struct {
	free       Ref    // first freed slot; each holds the next one's Ref in its first 4 bytes
	bump       uint32 // offset of the first slot never used
	live       uint32 // slots in use; of a run, its slabs
	next, prev uint32 // in its class's partial list
	class      uint8
	listed     bool
}

const (
	classRun uint8 = 254 // first slab of a run
	classOwn uint8 = 255 // first slab of a mapping of its own
)

// Size classes: every 8 bytes up to 512, then eight steps a doubling up to 4 KB, then what divides a slab
// into 15, 14, … 2 slots.
const (
	smallClasses = 512 / 8
	midClasses   = 24
	numClasses   = smallClasses + 1 + midClasses + 14
)

var classSize = func() (size [numClasses]uint32) {
	c := 0
	for ; c <= smallClasses; c++ {
		size[c] = uint32(c * 8)
	}
	for base := uint32(512); base < 4096; base *= 2 {
		for step := uint32(1); step <= 8; step++ {
			size[c] = base + base/8*step
			c++
		}
	}
	for n := uint32(15); n >= 2; n-- {
		size[c] = slabBytes / n / 8 * 8
		c++
	}
	return size
}()

// classOf is the smallest class that holds n bytes; n is at most half a slab.
func classOf(n int) uint8 {
	if n <= 512 {
		return uint8((n + 7) >> 3)
	}
	if n <= 4096 {
		d := bits.Len(uint(n-1)) - 1 // 512 << (d-9) < n
		return uint8(smallClasses + (d-9)*8 + ((n - 1 - 1<<d) >> (d - 3)) + 1)
	}
	c := smallClasses + midClasses + 1
	for int(classSize[c]) < n {
		c++
	}
	return uint8(c)
}

// ptr is the address of r.
func (a *arena) ptr(r Ref) unsafe.Pointer {
	return unsafe.Add(a.regions[r>>regionUnits], uintptr(r&unitMask)<<unitShift)
}

// size is the number of bytes that the allocation r occupies.
func (a *arena) size(r Ref) int {
	s := &a.slabs[r>>slabUnits]
	switch s.class {
	case classRun:
		return int(s.live) * slabBytes
	case classOwn:
		return len(a.own[r])
	}
	return int(classSize[s.class])
}

// alloc returns n > 0 bytes, not zeroed, aligned to 8.
func (a *arena) alloc(n int) Ref {
	if n > slabBytes/2 {
		return a.allocLarge(n)
	}
	c := classOf(n)
	no := a.partial[c]
	if no == 0 {
		no = a.newSlab(c)
	}
	s, size := &a.slabs[no], classSize[c]
	r := s.free
	if r != 0 {
		s.free = *(*Ref)(a.ptr(r))
	} else {
		r = Ref(no<<slabUnits | s.bump>>unitShift)
		s.bump += size
	}
	s.live++
	a.live += int64(size)
	if s.free == 0 && s.bump+size > slabBytes {
		a.unlist(no)
	}
	return r
}

// release frees what alloc returned.
func (a *arena) release(r Ref) {
	no := uint32(r >> slabUnits)
	s := &a.slabs[no]
	if s.class >= classRun {
		a.releaseLarge(r)
		return
	}
	a.live -= int64(classSize[s.class])
	s.live--
	if s.live == 0 {
		if s.listed {
			a.unlist(no)
		}
		a.returnSlabs(no, 1)
		return
	}
	*(*Ref)(a.ptr(r)) = s.free
	s.free = r
	if !s.listed {
		a.list(no)
	}
}

func (a *arena) list(no uint32) {
	s := &a.slabs[no]
	first := a.partial[s.class]
	s.next, s.prev, s.listed = first, 0, true
	if first != 0 {
		a.slabs[first].prev = no
	}
	a.partial[s.class] = no
}

func (a *arena) unlist(no uint32) {
	s := &a.slabs[no]
	if s.prev != 0 {
		a.slabs[s.prev].next = s.next
	} else {
		a.partial[s.class] = s.next
	}
	if s.next != 0 {
		a.slabs[s.next].prev = s.prev
	}
	s.listed = false
}

func (a *arena) newSlab(c uint8) uint32 {
	no := a.takeSlabs(1)
	a.slabs[no] = slab{class: c}
	a.list(no)
	return no
}

func (a *arena) allocLarge(n int) Ref {
	if n > regionBytes {
		return a.allocOwn(n)
	}
	k := (n + slabBytes - 1) / slabBytes
	no := a.takeSlabs(k)
	a.slabs[no] = slab{class: classRun, live: uint32(k)}
	a.live += int64(k) * slabBytes
	return Ref(no << slabUnits)
}

func (a *arena) releaseLarge(r Ref) {
	no := uint32(r >> slabUnits)
	s := &a.slabs[no]
	if s.class == classRun {
		a.live -= int64(s.live) * slabBytes
		a.returnSlabs(no, int(s.live))
		return
	}
	b := a.own[r]
	delete(a.own, r)
	a.live -= int64(len(b))
	a.held -= int64(len(b))
	a.regions[r>>regionUnits] = nil
	a.spare = append(a.spare, int(r>>regionUnits))
	if err := unmapMemory(b); err != nil {
		panic(fmt.Sprintf("state: unmap: %v", err))
	}
}

// allocOwn gives n bytes a mapping and a region number of their own; the Ref only ever names their start.
func (a *arena) allocOwn(n int) Ref {
	b, err := mapMemory((n + slabBytes - 1) / slabBytes * slabBytes)
	if err != nil {
		panic(fmt.Sprintf("state: no memory for an entry of %d bytes: %v", n, err))
	}
	if len(a.regions) == 0 {
		a.newRegion() // region 0 holds Ref 0
	}
	region := a.numberRegion(unsafe.Pointer(unsafe.SliceData(b)))
	r := Ref(region << regionUnits)
	if a.own == nil {
		a.own = map[Ref][]byte{}
	}
	a.own[r] = b
	a.slabs[r>>slabUnits] = slab{class: classOwn}
	a.live += int64(len(b))
	a.held += int64(len(b))
	return r
}

// takeSlabs finds k free slabs in a row, in the lowest region that has them, so that high ones empty.
func (a *arena) takeSlabs(k int) uint32 {
	for i := a.hint; ; i++ {
		if i == len(a.free) {
			i = a.newRegion()
		}
		word := a.free[i]
		if k == 1 && word == 0 && i == a.hint {
			a.hint++
			continue
		}
		run := word
		for j := 1; j < k && run != 0; j++ {
			run &= word >> j
		}
		if run != 0 {
			return a.mark(i, bits.TrailingZeros64(run), k)
		}
	}
}

func (a *arena) mark(region, first, k int) uint32 {
	if a.free[region] == allSlabs {
		a.idle--
	}
	a.free[region] &^= slabMask(first, k)
	a.held += int64(k) * slabBytes
	return uint32(region*regionSlabs + first)
}

func slabMask(first, k int) uint64 { return (1<<k - 1) << first }

func (a *arena) returnSlabs(no uint32, k int) {
	region := int(no / regionSlabs)
	a.free[region] |= slabMask(int(no%regionSlabs), k)
	a.held -= int64(k) * slabBytes
	a.hint = min(a.hint, region)
	if a.free[region] == allSlabs {
		// One idle region is kept against going back and forth at its edge.
		if a.idle++; a.idle > 1 {
			releaseMemory(unsafe.Slice((*byte)(a.regions[region]), regionBytes))
		}
	}
}

func (a *arena) newRegion() int {
	if len(a.reserved) < regionBytes {
		b, err := mapMemory(reserveBytes + hugeAlign)
		if err != nil {
			panic(fmt.Sprintf("state: no memory for tables (%d MB in use): %v", a.held>>20, err))
		}
		a.maps = append(a.maps, b)
		skip := -uintptr(unsafe.Pointer(unsafe.SliceData(b))) & (hugeAlign - 1)
		a.reserved = b[skip : skip+reserveBytes]
	}
	b := a.reserved[:regionBytes]
	a.reserved = a.reserved[regionBytes:]
	region := a.numberRegion(unsafe.Pointer(unsafe.SliceData(b)))
	if region == 0 { // never idle: its first slab would hold Ref 0
		a.free[0] = allSlabs &^ 1
		return 0
	}
	a.free[region] = allSlabs
	a.idle++
	adviseHuge(b) // not the first region: small tables stay small
	return region
}

// numberRegion enters a region's base under a number.
func (a *arena) numberRegion(base unsafe.Pointer) int {
	if n := len(a.spare); n > 0 {
		region := a.spare[n-1]
		a.spare = a.spare[:n-1]
		a.regions[region] = base
		a.hint = min(a.hint, region)
		return region
	}
	if len(a.regions) == maxRegions {
		panic("state: a shard's tables exceed 32 GB of memory: raise the parallelism or set a memory budget")
	}
	a.regions = append(a.regions, base)
	a.free = append(a.free, 0)
	a.slabs = append(a.slabs, make([]slab, regionSlabs)...)
	return len(a.regions) - 1
}

// close unmaps everything.
func (a *arena) close() error {
	var first error
	for _, b := range a.maps {
		if err := unmapMemory(b); err != nil && first == nil {
			first = err
		}
	}
	for _, b := range a.own {
		if err := unmapMemory(b); err != nil && first == nil {
			first = err
		}
	}
	*a = arena{}
	return first
}
