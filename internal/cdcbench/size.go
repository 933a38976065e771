package cdcbench

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// DefaultSeed is the seed of every published figure.
const DefaultSeed = 42

// Size is the extent of a workload.
type Size struct {
	Name    string // part of the topics' names
	Users   int    // domains are three times as many
	Changes int    // after the snapshot
}

var sizes = map[string]Size{
	"XS": {"XS", 1_000, 1_000},
	"S":  {"S", 100_000, 100_000},
	"M":  {"M", 1_000_000, 1_000_000},
	"XL": {"XL", 10_000_000, 10_000_000}, // 25 GB in Kafka
	"L":  {"L", 100_000, 0},              // the snapshot of S alone: latency runs bring their own changes
}

// SizeNamed returns a preset: XS, S, M, XL or L.
func SizeNamed(name string) (Size, error) {
	s, ok := sizes[name]
	if !ok {
		return Size{}, fmt.Errorf("unknown size %q; there are %s", name, strings.Join(slices.Sorted(maps.Keys(sizes)), ", "))
	}
	return s, nil
}

// UsersTopic is where Load writes the users.
func (s Size) UsersTopic() string { return "users_" + s.Name }

// DomainsTopic is where Load writes the domains.
func (s Size) DomainsTopic() string { return "domains_" + s.Name }
