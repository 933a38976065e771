package opbench

import (
	"context"
	"fmt"
	stdruntime "runtime"
	"sync/atomic"
	"time"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/changelog"
	"github.com/sluicesql/sluice/planner"
	"github.com/sluicesql/sluice/runtime"
	"github.com/sluicesql/sluice/sql/parser"
)

// Result is what a query took.
type Result struct {
	Name string
	// Changes of all inputs; an update is one.
	Changes int64
	// Rows is what the readers handed over for them: two for an update, or one where the plan reads upserts.
	Rows int64
	// Job is the time of the job, Floor that of the plain Go program on one core.
	Job, Floor time.Duration
}

// Rate is the changes that the job takes in a second.
func (r Result) Rate() float64 { return float64(r.Changes) / r.Job.Seconds() }

// RowRate is the rows that the job takes in a second.
func (r Result) RowRate() float64 { return float64(r.Rows) / r.Job.Seconds() }

// Run runs a query over so many changes, and its Go program. Results that differ are an error.
func (q *Query) Run(changes int64, parallelism int) (Result, error) {
	tables := q.tables(changes)
	r := Result{Name: q.Name}
	for _, t := range tables {
		r.Changes += t.changes
	}
	plan, err := planOf(q.SQL, tables)
	if err != nil {
		return r, fmt.Errorf("%s: %w", q.Name, err)
	}
	if q.OneCore {
		defer stdruntime.GOMAXPROCS(stdruntime.GOMAXPROCS(1))
		parallelism = 1
	}
	sink := &sum{}
	stdruntime.GC()
	begin := time.Now()
	job, err := runtime.Start(context.Background(), runtime.Config{
		Plan: plan, Parallelism: parallelism, OpenResult: func(spi.SinkSpec) (spi.Sink, error) { return sink, nil },
	})
	if err == nil {
		err = job.Wait()
	}
	if err != nil {
		return r, fmt.Errorf("%s: %w", q.Name, err)
	}
	r.Job = time.Since(begin)
	for _, t := range tables {
		r.Rows += t.rows.Load()
	}
	stdruntime.GC()
	begin = time.Now()
	want := q.floor(tables)
	r.Floor = time.Since(begin)
	if got := sink.total.Load(); got != want {
		return r, fmt.Errorf("%s: the job's rows sum up to %d and the Go program's to %d", q.Name, got, want)
	}
	return r, nil
}

func planOf(query string, tables []*table) (*planner.Plan, error) {
	r := spi.NewRegistry()
	r.AddConnector(connector{tables})
	sql := "SET 'table.exec.source.cdc-events-duplicate' = 'false';\n"
	for _, t := range tables {
		sql += t.ddl() + ";\n"
	}
	stmts, err := parser.Parse("opbench.sql", sql+query)
	if err != nil {
		return nil, err
	}
	script, err := planner.NewSession(r).Run(stmts)
	if err != nil {
		return nil, err
	}
	return script.Steps[len(script.Steps)-1].(*planner.Job).Plan, nil
}

// sum is a sink that adds up the columns of all rows, those that go with the opposite sign. All columns are BIGINT.
type sum struct{ total atomic.Int64 }

// Writer implements spi.Sink.
func (s *sum) Writer(int) spi.Writer { return writer{s} }

// Stats implements spi.Sink.
func (s *sum) Stats() spi.SinkStats { return spi.SinkStats{} }

// Close implements spi.Sink.
func (s *sum) Close() error { return nil }

type writer struct{ s *sum }

func (w writer) Write(_ context.Context, b *changelog.Batch) error {
	var n int64
	for i := range b.Len() {
		r, weight := b.Row(i), int64(b.Op(i).Weight())
		for c := range (len(r) - 8) / 8 { // a word of null bits, then a word for each column
			n += weight * r.Int64(c)
		}
	}
	w.s.total.Add(n)
	return nil
}

func (w writer) Barrier(_ context.Context, _ uint64, ack func(error)) { ack(nil) }
func (w writer) Close() error                                         { return nil }
