package state

import "testing"

// The parts of a budget come to no more than the budget.
func TestSharesComeToTheBudget(t *testing.T) {
	for budget := int64(4 << 20); budget <= 64<<30; budget *= 2 {
		cache, memtable, hot := shares(budget)
		if sum := cache + 2*memtable + hot + bufferPurposes*BufferShare(budget); sum != budget {
			t.Errorf("of %d MB: %d bytes", budget>>20, sum)
		}
		if hot < budget/2 {
			t.Errorf("of %d MB %d MB are left for what is hot", budget>>20, hot>>20)
		}
	}
}
