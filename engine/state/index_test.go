package state

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// The index against a list a tag, with tags that are random, few, or all in one corner, while it grows
// through many segments and shrinks again.
func TestIndex(t *testing.T) {
	for name, tag := range map[string]func(*rand.Rand) uint32{
		"random": func(r *rand.Rand) uint32 { return r.Uint32() },
		"few":    func(r *rand.Rand) uint32 { return r.Uint32N(10_000) * 0x9E3779B9 },
		"corner": func(r *rand.Rand) uint32 { return r.Uint32N(100_000) },
		"same":   func(r *rand.Rand) uint32 { return r.Uint32N(20) },
	} {
		t.Run(name, func(t *testing.T) {
			n := 60_000
			if underRace {
				n = 20_000
			}
			if name == "same" {
				n = 5000 // probes are as long as there are pairs of a tag
			}
			testIndex(t, n, tag)
		})
	}
}

func testIndex(t *testing.T, n int, tag func(*rand.Rand) uint32) {
	rng := rand.New(rand.NewPCG(3, 4))
	var a arena
	ix := index{a: &a}
	want := map[uint32][]Ref{}
	type pair struct {
		tag uint32
		ref Ref
	}
	var pairs []pair
	check := func() {
		t.Helper()
		got := 0
		for tag, refs := range want {
			var found []Ref
			g := ix.segmentOf(tag)
			for i := tag & g.mask; g.slot(i).ref != 0; i = (i + 1) & g.mask {
				if g.slot(i).tag == tag {
					found = append(found, g.slot(i).ref)
				}
			}
			slices.Sort(found)
			if !slices.Equal(found, refs) {
				t.Fatalf("tag %x: %v, want %v", tag, found, refs)
			}
			got += len(found)
		}
		if got != ix.used || ix.bytes != a.live {
			t.Fatalf("%d pairs, used %d; %d bytes, live %d", got, ix.used, ix.bytes, a.live)
		}
	}
	add := func(ref Ref) {
		p := pair{tag(rng), ref}
		ix.insert(p.tag, ref)
		want[p.tag] = append(want[p.tag], ref)
		pairs = append(pairs, p)
	}
	remove := func() {
		i := rng.IntN(len(pairs))
		p := pairs[i]
		pairs[i] = pairs[len(pairs)-1]
		pairs = pairs[:len(pairs)-1]
		ix.remove(p.tag, p.ref)
		if refs := slices.DeleteFunc(want[p.tag], func(r Ref) bool { return r == p.ref }); len(refs) > 0 {
			want[p.tag] = refs
		} else {
			delete(want, p.tag)
		}
	}
	ref := Ref(0)
	for range n {
		ref++
		add(ref)
		if rng.IntN(3) == 0 {
			remove()
		}
	}
	check()
	full := ix.bytes
	for len(pairs) > n/100 {
		remove()
	}
	check()
	if ix.bytes > full/8 {
		t.Fatalf("%d bytes for a hundredth of what took %d", ix.bytes, full)
	}
	p := pairs[0]
	ix.replace(p.tag, p.ref, ref+1)
	pairs[0].ref = ref + 1
	want[p.tag][slices.Index(want[p.tag], p.ref)] = ref + 1
	slices.Sort(want[p.tag])
	check()
	for len(pairs) > 0 {
		remove()
	}
	if ix.bytes != 0 || a.live != 0 || ix.dir != nil {
		t.Fatalf("empty: %d bytes", ix.bytes)
	}
	must(t, a.close())
}
