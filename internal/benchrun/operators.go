package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sluicesql/sluice/internal/opbench"
)

// operatorChanges is the number of changes that each query of opbench runs over.
const operatorChanges = 5_000_000

// operators are the medians of opbench's queries.
type operators struct {
	parallelism int
	results     []opbench.Result
}

func (b *bench) measureOperators(changes int64) (*operators, error) {
	o := &operators{parallelism: b.parallelism}
	runs := make([][]opbench.Result, len(opbench.Queries))
	for range b.runs { // in turn, so that what slows the machine down for a while slows all
		for i, q := range opbench.Queries {
			r, err := q.Run(changes, b.parallelism)
			if err != nil {
				return nil, err
			}
			b.log("%s: %v, Go maps %v", r.Name, r.Job.Round(time.Millisecond), r.Floor.Round(time.Millisecond))
			runs[i] = append(runs[i], r)
		}
	}
	for _, rs := range runs {
		var jobs, floors []time.Duration
		for _, r := range rs {
			jobs, floors = append(jobs, r.Job), append(floors, r.Floor)
		}
		slices.Sort(jobs)
		slices.Sort(floors)
		r := rs[0]
		r.Job, r.Floor = median(jobs), median(floors)
		o.results = append(o.results, r)
	}
	return o, nil
}

func (r *report) operatorsSection() string {
	o := r.operators
	var b strings.Builder
	fmt.Fprintf(&b, "Queries over %s changes of tables in memory, an update being one change and two rows (one where the plan reads upserts), %d shards (the filter on one core); beside each a plain Go program over maps on one core that gives the same result. %s\n\n",
		group(o.results[0].Changes), o.parallelism, r.machine)
	b.WriteString("| query | changes/s | rows/s | Go maps, changes/s |\n|---|---|---|---|\n")
	times := map[string]time.Duration{}
	for _, res := range o.results {
		times[res.Name] = res.Job
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", res.Name, group(int64(res.Rate())), group(int64(res.RowRate())), group(int64(float64(res.Changes)/res.Floor.Seconds())))
	}
	fmt.Fprintf(&b, "\nThe LEFT JOIN takes %.2f times the inner join's time.\n", times[opbench.LeftJoin].Seconds()/times[opbench.InnerJoin].Seconds())
	return b.String()
}
