package runtime

import (
	"testing"

	"github.com/sluicesql/sluice/engine/state"
)

func TestMemoryShare(t *testing.T) {
	for _, budget := range []int64{64 << 20, 256 << 20, 1 << 30, 64 << 30} {
		j := &Job{cfg: Config{MemoryBudget: budget}}
		for _, n := range []int{1, 3} {
			if all := int64(n) * j.memoryShare(n, 1); all > state.BufferShare(budget) || all < state.BufferShare(budget)-int64(n) {
				t.Errorf("%d takers of %d MB get %d bytes together", n, budget>>20, all)
			}
		}
		if got := j.memoryShare(1000, budget); got != budget {
			t.Errorf("%d bytes, less than the least", got)
		}
	}
	if got := (&Job{}).memoryShare(2, 10); got != 0 {
		t.Errorf("%d bytes without a budget", got)
	}
}
