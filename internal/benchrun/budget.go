package main

import (
	"context"
	"fmt"

	"github.com/sluicesql/sluice/internal/cdcbench"
)

// overBudget is how much more than its memory budget a process may take: code, buffers of the connectors, and
// garbage.
const overBudget = 400 << 20

// withinBudget is a job with less memory than its state takes.
type withinBudget struct {
	timed
	budget int64
}

// measureBudget runs Kafka → join → Kafka with the exact default and a memory budget, verifies what was written, and
// refuses a process that took too much.
func (b *bench) measureBudget(ctx context.Context, size cdcbench.Size, budget int64) (*withinBudget, error) {
	t, err := b.timeKafkaWithin(ctx, size, exact, budget)
	if err != nil {
		return nil, err
	}
	if t.peak > budget+overBudget {
		return nil, fmt.Errorf("workload %s took %d MB of memory; the budget is %d MB, and %d MB more may be used", size.Name, t.peak>>20, budget>>20, int64(overBudget)>>20)
	}
	return &withinBudget{t, budget}, nil
}

func (r *report) budgetSection() string {
	t := r.budget
	return fmt.Sprintf("Kafka → join → Kafka, exact, Pebble, checkpoint every second; the output was verified. %s\n\n"+
		"| workload | live rows of the inputs | rows in the state | memory budget | envelopes/s | whole process | peak RSS |\n|---|---|---|---|---|---|---|\n"+
		"| %s | %s | %s | %d MB | %s | %.0f s | %s MB |\n",
		r.machine, t.facts.size.Name, group(t.facts.liveRows), group(t.said.StateRows), t.budget>>20, group(int64(t.rate())), t.elapsed.Seconds(), group(t.peak>>20))
}
