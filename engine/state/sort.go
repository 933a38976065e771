package state

import (
	"bytes"
	"cmp"
	"math/bits"
	"slices"
)

// sorter sorts a key group's frozen items by the keys of their records. Its buffers are kept for the next.
type sorter struct {
	other []frozenItem
	seen  uint64
}

// Keys of a table mostly differ in few of their first 24 bytes: integers far from the full range, with
// constant marks between them. A radix sort over just those bytes costs about a fifth of comparisons; with
// more than maxRadix such bytes, comparing whole words is faster again.
const (
	minRadix = 64
	maxRadix = 8
)

func (s *sorter) sort(f *Frozen, items []frozenItem) {
	if len(items) >= minRadix && s.radix(items) {
		s.settle(f, items)
	} else {
		slices.SortFunc(items, f.compare)
	}
	// The records lie in the order of changes: touch them together before they are read one by one.
	for i := range items {
		s.seen += uint64(f.blocks[items[i].block][items[i].off])
	}
}

// radix sorts by table and prefix words, bytes that are the same everywhere left out. It declines when too
// many are not.
func (s *sorter) radix(items []frozenItem) bool {
	first := items[0]
	var t, a, b, c uint64
	for i := range items {
		x := &items[i]
		t |= uint64(x.table ^ first.table)
		a |= x.a ^ first.a
		b |= x.b ^ first.b
		c |= x.c ^ first.c
	}
	if varying(t)+varying(a)+varying(b)+varying(c) > maxRadix {
		return false
	}
	if len(s.other) < len(items) {
		s.other = make([]frozenItem, max(len(items), 2*len(s.other)))
	}
	from, to := items, s.other[:len(items)]
	for word, mask := range [4]uint64{c, b, a, t} { // the least significant first
		for ; mask != 0; from, to = to, from {
			shift := bits.TrailingZeros64(mask) &^ 7
			mask &^= 0xFF << shift
			radixPass(from, to, word, shift)
		}
	}
	if &from[0] != &items[0] {
		copy(items, from)
	}
	return true
}

// varying is the number of bytes of mask that are not 0.
func varying(mask uint64) int {
	n := 0
	for ; mask != 0; n++ {
		mask &^= 0xFF << (bits.TrailingZeros64(mask) &^ 7)
	}
	return n
}

func radixPass(from, to []frozenItem, word, shift int) {
	var at [256]uint32
	for i := range from {
		at[from[i].word(word)>>shift&0xFF]++
	}
	sum := uint32(0)
	for i, n := range at {
		at[i] = sum
		sum += n
	}
	for i := range from {
		p := &at[from[i].word(word)>>shift&0xFF]
		to[*p] = from[i]
		*p++
	}
}

func (x *frozenItem) word(i int) uint64 {
	switch i {
	case 0:
		return x.c
	case 1:
		return x.b
	case 2:
		return x.a
	}
	return uint64(x.table)
}

// settle orders the items whose prefix words are equal by the rest of their keys.
func (s *sorter) settle(f *Frozen, items []frozenItem) {
	for i := 0; i < len(items); {
		j := i + 1
		for j < len(items) && items[i].samePrefix(&items[j]) {
			j++
		}
		if j > i+1 {
			slices.SortFunc(items[i:j], f.compare)
		}
		i = j
	}
}

func (x *frozenItem) samePrefix(y *frozenItem) bool {
	return x.c == y.c && x.b == y.b && x.a == y.a && x.table == y.table
}

func (f *Frozen) compare(x, y frozenItem) int {
	switch {
	case x.table != y.table:
		return cmp.Compare(x.table, y.table)
	case x.a != y.a:
		return cmp.Compare(x.a, y.a)
	case x.b != y.b:
		return cmp.Compare(x.b, y.b)
	case x.c != y.c:
		return cmp.Compare(x.c, y.c)
	}
	kx, _, _ := f.record(&x)
	ky, _, _ := f.record(&y)
	return bytes.Compare(kx, ky)
}
