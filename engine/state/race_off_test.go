//go:build !race

package state

const underRace = false
