package runtime_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/expr"
	"github.com/sluicesql/sluice/engine/text"
	"github.com/sluicesql/sluice/internal/memconn"
	"github.com/sluicesql/sluice/planner"
	"github.com/sluicesql/sluice/runtime"
	"github.com/sluicesql/sluice/sql/parser"
)

// The examples of aggregates and window functions, as docs/functions.md shows them, are SQL with the results that they
// claim.
func TestExamplesOverRows(t *testing.T) {
	examples := map[string][]expr.RowsExample{}
	for _, f := range expr.Aggregates() {
		examples[f.Name] = append(examples[f.Name], f.Examples...)
	}
	for _, f := range expr.WindowFunctions() {
		examples[f.Name] = append(examples[f.Name], f.Examples...)
	}
	for name, list := range examples {
		if len(list) == 0 {
			t.Errorf("%s has no example", name)
		}
		for _, x := range list {
			columns := "x"
			if strings.Contains(strings.SplitN(x.Rows, "),", 2)[0], ",") {
				columns = "x, y"
			}
			// A window function has a result for each row, in the order of x.
			first := "'' AS x, "
			if strings.Contains(x.Call, "OVER") {
				first = "CAST(x AS STRING), "
			}
			got := resultOf(t, "SELECT "+first+x.Call+" FROM (VALUES "+x.Rows+") AS t("+columns+")")
			for i, row := range got {
				_, got[i], _ = strings.Cut(row, "|")
			}
			if s := strings.Join(got, ", "); s != x.Want {
				t.Errorf("%s over %s = %s, want %s", x.Call, x.Rows, s, x.Want)
			}
		}
	}
}

// resultOf are the rows of a query over bounded input, as text and sorted.
func resultOf(t *testing.T, query string) []string {
	t.Helper()
	stmts, err := parser.Parse("", query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	out, err := planner.NewSession(spi.NewRegistry()).Run(stmts)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	plan := out.Steps[0].(*planner.Job).Plan
	sink := memconn.NewHub(1).Sink("result")
	job, err := runtime.Start(context.Background(), runtime.Config{
		Plan: plan, Parallelism: 1,
		OpenResult: func(sp spi.SinkSpec) (spi.Sink, error) { sink.Open(sp.Writers); return sink, nil },
		Hooks:      &runtime.Hooks{Check: true},
	})
	if err == nil {
		err = job.Wait()
	}
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	types := plan.Sinks[0].Input.Out().Types()
	net := map[string]int{}
	for n := range uint64(100) {
		changes, _ := sink.Epoch(n)
		for _, c := range changes {
			var values []string
			for i, t := range types {
				values = append(values, string(text.Append(nil, t, c.Row.Get(i, t.Phys()), nil)))
			}
			net[strings.Join(values, "|")] += c.Op.Weight()
		}
	}
	var rows []string
	for r, n := range net {
		for range n {
			rows = append(rows, r)
		}
	}
	slices.Sort(rows)
	return rows
}
