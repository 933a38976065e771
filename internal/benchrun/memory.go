package main

import (
	"context"

	"github.com/sluicesql/sluice/internal/cdcbench"
)

// memory is the peak of the same job, state in memory, on two sizes.
type memory struct {
	small, large timed
}

// perRow is how many bytes a live row of the inputs adds to the process.
func (m *memory) perRow() float64 { return m.slope(func(t timed) int64 { return t.peak }) }

// statePerRow is how many bytes a live row of the inputs adds to the state.
func (m *memory) statePerRow() float64 {
	return m.slope(func(t timed) int64 { return t.said.StateBytes })
}

func (m *memory) slope(bytes func(timed) int64) float64 {
	return float64(bytes(m.large)-bytes(m.small)) / float64(m.large.facts.liveRows-m.small.facts.liveRows)
}

// measureMemory compares a workload with a tenth of it. measured is the job on the
// large one, if it has run already.
func (b *bench) measureMemory(ctx context.Context, large cdcbench.Size, measured *throughput) (*memory, error) {
	small, err := b.timeBlackhole(ctx, tenth(large), trusted)
	if err != nil {
		return nil, err
	}
	if measured != nil {
		return &memory{small, measured.blackhole}, nil
	}
	m := &memory{small: small}
	m.large, err = b.timeBlackhole(ctx, large, trusted)
	return m, err
}

// tenth is a tenth of a workload; of M it is S.
func tenth(s cdcbench.Size) cdcbench.Size {
	t := cdcbench.Size{Name: s.Name + "_tenth", Users: s.Users / 10, Changes: s.Changes / 10}
	if s.Name == "M" {
		t.Name = "S"
	}
	return t
}
