//go:build race

package state

// underRace makes the largest tests smaller: the detector slows them down twentyfold.
const underRace = true
