package main

import (
	"os"
	"runtime/debug"
)

// gcPercent is how much the Go heap may grow between collections. State lies outside of the heap, which
// so holds little but buffers in use: letting it grow costs some ten megabytes and saves most collections.
const gcPercent = 400

// tuneGC sets up the garbage collector, unless the user did by GOGC.
func tuneGC() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
}
