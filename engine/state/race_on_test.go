//go:build race

package state

// underRace makes the largest tests smaller: the detector slows them down twentyfold, and has Pebble check itself.
// make test runs them at their full size without it.
const underRace = true
