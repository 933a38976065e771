package runtime

import "github.com/sluicesql/sluice/engine/state"

// minBuffer is what a connector gets for its buffers however small the budget.
const minBuffer = 256 << 10

// memoryShare is what each of n takes of one purpose's part of the memory outside the state: what sources have
// fetched, what sinks have not been acknowledged, what shards stage, and what tasks hold of an epoch's output. It is
// at least least, and 0 without a budget.
func (j *Job) memoryShare(n int, least int64) int64 {
	if j.cfg.MemoryBudget == 0 {
		return 0
	}
	return max(state.BufferShare(j.cfg.MemoryBudget)/int64(max(n, 1)), least)
}
