package oracle

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	stdruntime "runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/keyenc"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/state"
	"github.com/sluicesql/sluice/engine/state/statetest"
	"github.com/sluicesql/sluice/engine/types"
	"github.com/sluicesql/sluice/internal/memconn"
	"github.com/sluicesql/sluice/planner"
	"github.com/sluicesql/sluice/runtime"
	"github.com/sluicesql/sluice/sql/parser"
)

// Case is a query with the histories of its tables, and how it is run.
type Case struct {
	Tables []Table
	// Events are the tables' histories, by partition.
	Events map[string][][]memconn.Event
	Views  []View
	Query  string
	// Reference is the query in the second engine's words; its zero value is Query over Views.
	Reference Reference

	// Seed decides the order in which partitions are read, and when runs are killed.
	Seed uint64
	// Trusted leaves normalise out.
	Trusted bool
	// Shards are those of each run; a run but the last is killed.
	Shards []int
	// Batch is the largest number of rows that travel together.
	Batch int
	// EpochRows is the largest epoch; 0 for no bound.
	EpochRows int
	// Durable keeps state on disk, with at most Budget bytes of it in memory and a checkpoint every Checkpoint.
	Durable    bool
	Budget     int64
	Checkpoint time.Duration
	// Lifetime is what the query's state forgets; nil for nothing.
	Lifetime *Lifetime
	// Empties says that the histories end with the deletion of every row, which must leave no state.
	Empties bool
}

// Reference is a query in one engine's words.
type Reference struct {
	Views []View
	Query string
}

// Difference is an error that says where sluice differs from the second engine.
type Difference struct {
	Epoch     uint64
	Got, Want string
	Changes   string
}

func (d *Difference) Error() string {
	return fmt.Sprintf("after epoch %d\ngot  %s\nwant %s\nthe epoch's changes: %s", d.Epoch, d.Got, d.Want, d.Changes)
}

// PlanError is sluice's refusal of a case's SQL.
type PlanError struct{ Err error }

func (e *PlanError) Error() string { return e.Err.Error() }

// Unwrap returns the refusal.
func (e *PlanError) Unwrap() error { return e.Err }

// ReferenceError is the second engine's refusal of a case's query.
type ReferenceError struct{ Err error }

func (e *ReferenceError) Error() string { return "the second engine: " + e.Err.Error() }

// Unwrap returns the refusal.
func (e *ReferenceError) Unwrap() error { return e.Err }

// Plan plans the case's query over a connector that holds its tables.
func (c *Case) Plan(conn spi.Connector) (*planner.Plan, error) {
	r := spi.NewRegistry()
	r.AddConnector(conn)
	var sql strings.Builder
	if c.Trusted {
		sql.WriteString("SET 'table.exec.source.cdc-events-duplicate' = 'false';\n")
	}
	if c.Lifetime != nil {
		fmt.Fprintf(&sql, "SET 'table.exec.state.ttl' = '%d ms';\n", c.Lifetime.TTL)
	}
	for _, t := range c.Tables {
		sql.WriteString(t.DDL() + ";\n")
	}
	for _, v := range c.Views {
		fmt.Fprintf(&sql, "CREATE VIEW %s AS %s;\n", v.Name, v.Query)
	}
	if c.Lifetime != nil {
		sql.WriteString(c.Lifetime.statements(c.Query))
	} else {
		sql.WriteString(c.Query)
	}
	stmts, err := parser.Parse("case.sql", sql.String())
	if err != nil {
		return nil, &PlanError{err}
	}
	script, err := planner.NewSession(r).Run(stmts)
	if err != nil {
		return nil, &PlanError{err}
	}
	return script.Steps[len(script.Steps)-1].(*planner.Job).Plan, nil
}

// run is a case on its way.
type run struct {
	*Case
	hub   *memconn.Hub
	sink  *memconn.Sink
	dir   string   // empty without state on disk
	fs    state.FS // in memory: opening a state directory would be most of the time
	rng   *rand.Rand
	types []types.Type
	keys  [][]int           // unique ones of the result, as the plan has them
	shown map[uint64]string // complete epochs of killed runs, to be shown again alike

	mu    sync.Mutex
	cuts  map[uint64]map[string][]spi.Position
	last  uint64
	ends  map[uint64]int64 // when epochs ended, of a case with a lifetime
	clock int64            // what its clock shows, in milliseconds since 1970: more than the machine's
}

func (r *run) cut(n uint64, pos map[string][]spi.Position) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cuts[n], r.last = pos, n
	if r.Lifetime != nil && (n == 1 || !reflect.DeepEqual(pos, r.cuts[n-1])) {
		r.clock += r.rng.Int64N(r.Lifetime.TTL) // and not where nothing came, or idle epochs would follow one another
	}
}

// Run runs the case. The error is a *Difference, a *PlanError, a *ReferenceError, or what ended the job.
func (c *Case) Run(engine Engine) error {
	r := &run{
		Case: c, hub: memconn.NewHub(c.Seed), rng: rand.New(rand.NewPCG(c.Seed, 7)),
		shown: map[uint64]string{}, cuts: map[uint64]map[string][]spi.Position{}, ends: map[uint64]int64{}, clock: 1 << 42,
	}
	for _, t := range c.Tables {
		r.hub.SetTable(t.Name, c.Events[t.Name])
	}
	r.sink = r.hub.Sink("result")
	if c.Durable {
		r.dir, r.fs = "state", statetest.NewDisk().FS()
	}
	for i, shards := range c.Shards {
		last := i == len(c.Shards)-1
		ended, err := r.start(shards, !last)
		if err != nil {
			return err
		}
		if err := r.checkShown(); err != nil {
			return err
		}
		if ended {
			break // it may have ended before the crash; cases with later crashes cover the rest
		}
	}
	if r.Lifetime != nil {
		return r.checkForgetting(engine)
	}
	return r.check(engine)
}

// start runs the job, to its end or to a crash.
func (r *run) start(shards int, crash bool) (ended bool, err error) {
	plan, err := r.Plan(r.hub)
	if err != nil {
		return false, err
	}
	r.types, r.keys = plan.Sinks[0].Input.Out().Types(), plan.Sinks[0].Keys
	after := uint64(r.rng.IntN(12)) // epochs until the crash
	var done uint64
	var stuck error
	killed := make(chan struct{})
	cfg := runtime.Config{
		Plan: plan, Parallelism: shards, StateDir: r.dir, MemoryBudget: r.Budget, BatchRows: r.Batch,
		EpochMaxRows: r.EpochRows, CheckpointInterval: r.Checkpoint,
		OpenResult: func(s spi.SinkSpec) (spi.Sink, error) { r.sink.Open(s.Writers); return r.sink, nil },
		Hooks: &runtime.Hooks{FS: r.fs, Check: true, Cut: r.cut, Ended: r.ended, Done: func(uint64) {
			if done++; crash && done == after+1 {
				close(killed)
			}
		}},
	}
	if r.Lifetime != nil {
		cfg.Hooks.Now = r.now
	}
	cfg.Measure = r.Seed%2 == 0
	if r.EpochRows == 0 {
		cfg.EpochMaxRows, cfg.EpochMaxAge = 1<<30, time.Hour
	}
	job, err := runtime.Start(context.Background(), cfg)
	if err != nil {
		return false, err
	}
	hangs := time.AfterFunc(longest, func() {
		stuck = fmt.Errorf("the job has not ended after %s; its goroutines:\n%s", longest, stacks())
		job.Kill()
	})
	finished := make(chan struct{})
	if crash {
		go func() {
			select {
			case <-killed:
				job.Kill()
			case <-finished:
			}
		}()
	}
	err = job.Wait()
	close(finished)
	switch {
	case !hangs.Stop():
		return false, stuck
	case err == nil && r.Empties && !rests(plan) && job.Stats().StateRows != 0:
		return false, fmt.Errorf("every row is deleted, and %d are left in the state", job.Stats().StateRows)
	case crash && errors.Is(err, context.Canceled):
		return false, nil
	case err == nil && cfg.Measure:
		err = checkMeasured(plan, job, r.Durable)
	}
	return err == nil, err
}

// longest is how long a job may take: far longer than any does.
const longest = 2 * time.Minute

func stacks() []byte {
	b := make([]byte, 1<<20)
	return b[:stdruntime.Stack(b, true)]
}

// checkShown holds epochs that were shown before a crash and again after it to the same content.
func (r *run) checkShown() error {
	for n := uint64(1); n <= r.last; n++ {
		changes, complete := r.sink.Epoch(n)
		if !complete {
			continue
		}
		lines := make([]string, len(changes))
		for i, ch := range changes {
			lines[i] = ch.Op.String()[:1] + Text(ch.Row, r.types)
		}
		slices.Sort(lines)
		text := strings.Join(lines, "\n")
		if was, ok := r.shown[n]; ok && was != text {
			return fmt.Errorf("epoch %d showed\n%s\nbefore the crash and\n%s\nafter it", n, was, text)
		}
		r.shown[n] = text
	}
	return nil
}

// check is the prefix oracle.
func (r *run) check(engine Engine) error {
	ref := r.Reference
	if ref.Query == "" {
		ref = Reference{r.Views, r.Query}
	}
	tables := make([]Content, len(r.Tables))
	for i, t := range r.Tables {
		tables[i].Table = t
	}
	at := map[string]int64{}
	have := map[string]int{}
	rows := map[string]int{} // by their bytes
	var want map[string]int
	for n := uint64(1); n <= r.last; n++ {
		moved := r.advance(tables, at, r.cuts[n])
		changes, _ := r.sink.Epoch(n)
		signs := map[string]int{} // by the rows' bytes: texts round
		var shown []string
		for _, ch := range changes {
			text, exact := Text(ch.Row, r.types), string(ch.Row)
			if signs[exact]*ch.Op.Weight() < 0 {
				return fmt.Errorf("epoch %d both adds and removes %s", n, text)
			}
			signs[exact] = ch.Op.Weight()
			shown = append(shown, ch.Op.String()+" "+text)
			if have[text] += ch.Op.Weight(); have[text] == 0 {
				delete(have, text)
			}
			if rows[exact] += ch.Op.Weight(); rows[exact] == 0 {
				delete(rows, exact)
			}
		}
		if moved || want == nil {
			var err error
			if want, err = engine.Query(tables, ref.Views, ref.Query, r.types); err != nil {
				return &ReferenceError{err}
			}
		}
		if !maps.Equal(have, want) && !r.constantsPending(n) {
			return &Difference{Epoch: n, Got: multiset(have), Want: multiset(want), Changes: strings.Join(shown, ", ")}
		}
		if err := r.checkKeys(rows); err != nil {
			return fmt.Errorf("after epoch %d %w", n, err)
		}
	}
	for table, parts := range r.Events {
		for p, events := range parts {
			key := fmt.Sprintf("%s/%d", table, p)
			if _, used := at[key]; used && at[key] != int64(len(events)) {
				return fmt.Errorf("%s was read to %d of %d", key, at[key], len(events))
			}
		}
	}
	return nil
}

// checkKeys holds the result to the unique keys that the plan knows of it.
func (r *run) checkKeys(rows map[string]int) error {
	for _, k := range r.keys {
		cols, seen := keyenc.Columns(r.types, k), map[string]string{}
		for exact, n := range rows {
			key := string(keyenc.Append(nil, row.Row(exact), cols))
			if other, twice := seen[key]; twice || n > 1 {
				return fmt.Errorf("the columns %v are no key: there is %s, %d times, and %q", k, Text(row.Row(exact), r.types), n, other)
			}
			seen[key] = exact
		}
	}
	return nil
}

// advance applies the events up to a cut, and tells whether there were any. A table that is read twice has twice
// the same positions.
func (r *run) advance(tables []Content, at map[string]int64, cut map[string][]spi.Position) (moved bool) {
	for _, positions := range cut {
		for _, p := range positions {
			key := fmt.Sprintf("%s/%d", p.Topic, p.Partition)
			i := slices.IndexFunc(tables, func(c Content) bool { return c.Name == p.Topic })
			if i < 0 {
				continue // VALUES
			}
			for ; at[key] < p.Offset; at[key]++ {
				tables[i].Apply(r.Events[p.Topic][p.Partition][at[key]])
				moved = true
			}
			at[key] += 0 // the table is in use
		}
	}
	return moved
}

// constantsPending reports whether VALUES of the query had rows left to read after epoch n: the result is that of a part
// of them then.
func (r *run) constantsPending(n uint64) bool {
	for name, last := range r.cuts[r.last] {
		now := r.cuts[n][name]
		if len(last) > 0 && strings.HasPrefix(last[0].Topic, "VALUES") && (len(now) == 0 || now[0].Offset < last[0].Offset) {
			return true
		}
	}
	return false
}

func multiset(m map[string]int) string {
	var s []string
	for k, n := range m {
		s = append(s, fmt.Sprintf("%s×%d", k, n))
	}
	slices.Sort(s)
	return strings.Join(s, ", ")
}

// rests tells whether a plan keeps state over empty tables: an aggregate without GROUP BY has a row over no rows,
// which the operators above it hold too, and VALUES are rows.
func rests(p *planner.Plan) bool {
	var holds func(planner.Node) bool
	holds = func(node planner.Node) bool {
		if a, ok := node.(*planner.Aggregate); ok && a.Global {
			return true
		}
		_, values := node.(*planner.Values)
		return values || slices.ContainsFunc(node.Inputs(), holds)
	}
	return slices.ContainsFunc(p.Sinks, func(s *planner.Sink) bool { return holds(s) })
}
