package state

import (
	"math/rand/v2"
	"testing"
	"unsafe"
)

func TestSizeClasses(t *testing.T) {
	for n := 1; n <= slabBytes/2; n++ {
		c := classOf(n)
		if size := int(classSize[c]); size < n || c > 0 && int(classSize[c-1]) >= n || size%8 != 0 {
			t.Fatalf("%d bytes: class %d of %d bytes", n, c, size)
		}
	}
	if classSize[numClasses-1] != slabBytes/2 {
		t.Fatal("the last class is not half a slab")
	}
}

// Allocations of all sizes come and go; none overlaps another, and at the end nothing is held.
func TestArena(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	var a arena
	type block struct {
		r    Ref
		n    int
		mark byte
	}
	var blocks []block
	sum := int64(0)
	rounds := 40_000
	if underRace {
		rounds = 8000
	}
	for round := range rounds {
		if rng.IntN(100) < 52-20*round/rounds {
			n := 1 + rng.IntN(200)
			switch rng.IntN(200) {
			case 0:
				n = rng.IntN(regionBytes) + 1
			case 1:
				n = rng.IntN(slabBytes) + 1
			case 2:
				if rng.IntN(10) == 0 {
					n = regionBytes + rng.IntN(regionBytes)
				}
			}
			b := block{a.alloc(n), n, byte(round)}
			if b.r == 0 || a.size(b.r) < n {
				t.Fatalf("alloc(%d) = %d of %d bytes", n, b.r, a.size(b.r))
			}
			fillBlock(&a, b.r, n, b.mark)
			blocks = append(blocks, b)
			sum += int64(a.size(b.r))
		} else if len(blocks) > 0 {
			i := rng.IntN(len(blocks))
			b := blocks[i]
			if !blockIs(&a, b.r, b.n, b.mark) {
				t.Fatal("a block was overwritten")
			}
			sum -= int64(a.size(b.r))
			a.release(b.r)
			blocks[i] = blocks[len(blocks)-1]
			blocks = blocks[:len(blocks)-1]
		}
		if sum != a.live || a.held < a.live-slabBytes {
			t.Fatalf("live %d, counted %d, held %d", a.live, sum, a.held)
		}
	}
	for _, b := range blocks {
		if !blockIs(&a, b.r, b.n, b.mark) {
			t.Fatal("a block was overwritten")
		}
		a.release(b.r)
	}
	if a.live != 0 || a.held != 0 {
		t.Fatalf("empty: live %d, held %d", a.live, a.held)
	}
	regions := len(a.regions)
	for range 100 { // what was freed serves other sizes
		a.release(a.alloc(rng.IntN(100_000) + 1))
	}
	if len(a.regions) != regions {
		t.Fatal("freed memory is not used again")
	}
	must(t, a.close())
}

// fillBlock marks both ends of a block, which is where neighbours would meet.
func fillBlock(a *arena, r Ref, n int, mark byte) {
	b := unsafe.Slice((*byte)(a.ptr(r)), n)
	for i := range min(n, 64) {
		b[i], b[n-1-i] = mark, mark
	}
}

func blockIs(a *arena, r Ref, n int, mark byte) bool {
	b := unsafe.Slice((*byte)(a.ptr(r)), n)
	for i := range min(n, 64) {
		if b[i] != mark || b[n-1-i] != mark {
			return false
		}
	}
	return true
}
