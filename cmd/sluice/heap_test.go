package main

import (
	"runtime/debug"
	"testing"
)

// The bound of the heap is for all jobs that run, and gone with the last of them.
func TestHeapBound(t *testing.T) {
	t.Setenv("GOGC", "")
	t.Setenv("GOMEMLIMIT", "")
	percent, limit := debug.SetGCPercent(77), debug.SetMemoryLimit(1<<40)
	defer func() {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limit)
	}()
	is := func(what string, percent int, limit int64) {
		t.Helper()
		p := debug.SetGCPercent(percent)
		if l := debug.SetMemoryLimit(-1); p != percent || l != limit {
			t.Errorf("%s: %d %% and %d bytes, not %d and %d", what, p, l, percent, limit)
		}
	}
	var h heapBound
	h.tighten(0)()
	is("a job without a budget", 77, 1<<40)
	first := h.tighten(1 << 30)
	is("one job", 50, 1<<30+heapBeside)
	second := h.tighten(1 << 20)
	is("two jobs", 50, 1<<30+1<<20+heapBeside)
	first()
	is("the second job", 50, 1<<20+heapBeside)
	second()
	is("no job", 77, 1<<40)
	t.Setenv("GOMEMLIMIT", "1GiB")
	h.tighten(5)()
	is("a limit that the user has set", 77, 1<<40)
}
