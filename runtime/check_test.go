package runtime_test

import (
	"context"
	"strings"
	"testing"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/internal/memconn"
	"github.com/sluicesql/sluice/internal/oracle"
	"github.com/sluicesql/sluice/planner"
	"github.com/sluicesql/sluice/runtime"
)

// TestChecked shows that the checkers stand where they should: a plan that promises what its operators do not keep
// is found out, by the node's number. (What each kind of fault looks like is engine/op's TestChecker.)
func TestChecked(t *testing.T) {
	for _, c := range []struct {
		name string
		lie  func(*planner.Plan)
		want string
	}{
		{"nothing", func(*planner.Plan) {}, ""},
		{"a unique key", func(p *planner.Plan) { find[*planner.Project](p.Sinks[0]).Keys = [][]int{{}} }, "unique key []"},
		{"a mode", func(p *planner.Plan) { find[*planner.Project](p.Sinks[0]).Mode = spi.AppendOnly }, "the stream is append-only"},
		{"a distribution", func(p *planner.Plan) { find[*planner.Project](p.Sinks[0]).Dist = []int{} }, "its shard is 1"},
		{"NOT NULL", func(p *planner.Plan) { find[*planner.Project](p.Sinks[0]).Columns[2].Type.NotNull = true }, "column 2 is NOT NULL"},
		{"an exchange", func(p *planner.Plan) { find[*planner.Exchange](p.Sinks[0]).Dist = []int{} }, "its shard is 1"},
		{"a key of the normaliser", func(p *planner.Plan) { find[*planner.Normalise](p.Sinks[0]).Keys = [][]int{{}} }, "unique key []"},
	} {
		t.Run(c.name, func(t *testing.T) {
			hub := memconn.NewHub(1)
			for _, tab := range oracle.Tables() {
				hub.SetTable(tab.Name, oracle.Generate(tab, 1, oracle.HistoryOptions{Changes: 200, Partitions: 2}))
			}
			plan := planOver(t, hub, oracleQueries[0])
			c.lie(plan)
			sink := hub.Sink("result")
			job, err := runtime.Start(context.Background(), runtime.Config{
				Plan: plan, Parallelism: 2, EpochMaxRows: 7, Hooks: &runtime.Hooks{Check: true},
				OpenResult: func(sp spi.SinkSpec) (spi.Sink, error) { sink.Open(sp.Writers); return sink, nil },
			})
			if err != nil {
				t.Fatal(err)
			}
			err = job.Wait()
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "node #")) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

// find is the first node of a type below n, n included.
func find[N planner.Node](n planner.Node) (found N) {
	if x, ok := n.(N); ok {
		return x
	}
	for _, in := range n.Inputs() {
		if x := find[N](in); planner.Node(x) != planner.Node(found) {
			return x
		}
	}
	return found
}
