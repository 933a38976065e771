package main

import (
	"os"
	"runtime/debug"
	"sync"
)

// heapBeside is how much more than the memory budgets the Go heap may grow to before the garbage collector is run for
// that alone. State under a budget lies outside that heap, which holds some of what the budget is for and what no
// budget counts.
const heapBeside = 160 << 20

// heapBound is the bound of the Go heap while jobs with a memory budget run. The zero value is one without jobs.
type heapBound struct {
	mu     sync.Mutex
	jobs   int
	budget int64 // of all jobs
	// percent and limit are what they were without jobs.
	percent int
	limit   int64
}

// tighten makes the garbage collector run at half the growth that is usual, and more often when the heap grows by
// heapBeside beyond the budgets of the jobs that run, unless GOGC and GOMEMLIMIT say otherwise. The heap holds buffers
// without pointers: collecting them costs little, and garbage would be memory that no budget counts. A job without a
// budget, which is 0, bounds nothing. loosen, which is called once, says that the job has ended.
func (h *heapBound) tighten(budget int64) (loosen func()) {
	if budget == 0 {
		return func() {}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.jobs++; h.jobs == 1 {
		h.percent, h.limit = debug.SetGCPercent(50), debug.SetMemoryLimit(-1)
	}
	h.budget += budget
	h.set()
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.jobs--
		h.budget -= budget
		h.set()
	}
}

func (h *heapBound) set() {
	percent, limit := 50, h.budget+heapBeside
	if h.jobs == 0 || os.Getenv("GOGC") != "" {
		percent = h.percent
	}
	if h.jobs == 0 || os.Getenv("GOMEMLIMIT") != "" {
		limit = h.limit
	}
	debug.SetGCPercent(percent)
	debug.SetMemoryLimit(limit)
}
