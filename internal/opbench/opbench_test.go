package opbench

import "testing"

// Every query and the Go program beside it have the same result.
func TestQueriesAgreeWithTheirFloors(t *testing.T) {
	for _, q := range Queries {
		for _, parallelism := range []int{1, 2} {
			if _, err := q.Run(20_000, parallelism); err != nil {
				t.Error(err)
			}
		}
	}
}
