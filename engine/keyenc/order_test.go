package keyenc

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/types"
)

// TestOrderColumns holds the order of encodings to that of the values: two columns, each ascending or descending, with NULLs
// first or last.
func TestOrderColumns(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	texts := []string{"", "a", "ab", "b", "\x00", "\x00\x00", "a\x00", "\xff", "\xff\xff", "a\xff"}
	for mask := range 16 {
		order := []OrderColumn{
			{Column{0, types.PhysBytes}, mask&1 != 0, mask&2 != 0},
			{Column{1, types.PhysInt}, mask&4 != 0, mask&8 != 0},
		}
		value := func() (row.Row, *string, *int64) {
			var b row.Builder
			b.Begin(nil, 2)
			var s *string
			var n *int64
			if rng.IntN(4) > 0 {
				s = &texts[rng.IntN(len(texts))]
				b.String(0, *s)
			}
			if rng.IntN(4) > 0 {
				v := rng.Int64N(5) - 2
				n = &v
				b.Int64(1, v)
			}
			return b.Finish(nil), s, n
		}
		for range 2000 {
			x, xs, xn := value()
			y, ys, yn := value()
			want := compareNulls(xs, ys, order[0])
			if want == 0 {
				want = compareNulls(xn, yn, order[1])
			}
			ex, ey := AppendOrder(nil, x, order), AppendOrder(nil, y, order)
			if got := bytes.Compare(ex, ey); got != want {
				t.Fatalf("order %d: %x %x compare as %d, want %d", mask, ex, ey, got, want)
			}
			if n, err := SkipOrder(append(slices.Clone(ex), ey...), order); err != nil || n != len(ex) {
				t.Fatalf("order %d: %x is skipped as %d, %v", mask, ex, n, err)
			}
		}
	}
}

func compareNulls[T string | int64](x, y *T, c OrderColumn) int {
	last := 1
	if c.NullsLast {
		last = -1
	}
	switch {
	case x == nil && y == nil:
		return 0
	case x == nil:
		return -last
	case y == nil:
		return last
	}
	n := 0
	if *x < *y {
		n = -1
	} else if *x > *y {
		n = 1
	}
	if c.Desc {
		return -n
	}
	return n
}
