package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/keyenc"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/state"
	"github.com/sluicesql/sluice/engine/state/statetest"
	"github.com/sluicesql/sluice/internal/memconn"
	"github.com/sluicesql/sluice/internal/oracle"
	"github.com/sluicesql/sluice/planner"
	"github.com/sluicesql/sluice/runtime"
	"github.com/sluicesql/sluice/sql/ast"
	"github.com/sluicesql/sluice/sql/parser"
)

// TestScripts runs the stories of testdata/scripts, each over a matrix of shards, batch sizes, state backends, and
// with a crash and a restart at every barrier or none. What they show must be the same in all. The commands:
//
//	sql         DDL and SET; tables use 'connector' = 'mem', 'bounded' = 'false'
//	query       starts the job of one SELECT
//	push TABLE  events, one a line: "c 1, Egor" a new row, "d 1, Egor" a deleted one,
//	            "u 1, Egor -> 1, Egor II" an update; NULL is NULL
//	barrier     waits until all that was pushed has been processed, and shows the changes since the last
//	            barrier, as one epoch would show them
//	state       shows the number of rows in the state
//	clock TIME  moves the job's clock on, and waits until it has noticed
//	error       like barrier, for a job that fails: shows the error
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/scripts/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, f := range files {
		for _, shards := range []int{1, 4} {
			for _, batch := range []int{1, 3, 1024} {
				for _, m := range []scriptMode{{}, {pebble: true}, {pebble: true, restart: true}} {
					m.shards, m.batch = shards, batch
					name := fmt.Sprintf("%s/shards=%d/batch=%d/pebble=%v/restart=%v", filepath.Base(f), shards, batch, m.pebble, m.restart)
					t.Run(name, func(t *testing.T) { runScript(t, f, m) })
				}
			}
		}
	}
}

type scriptMode struct {
	shards, batch   int
	pebble, restart bool
}

// epochLog is what a test sees of a job's epochs over all its runs.
type epochLog struct {
	mu   sync.Mutex
	cuts map[uint64]map[string][]spi.Position
	last uint64

	clock, asked, cutAt time.Time // what the clock shows, what it said last, and at the last cut
}

// now is the job's clock, which stands still.
func (l *epochLog) now() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked = l.clock
	return l.clock
}

// advance moves the clock on.
func (l *epochLog) advance(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.clock = l.clock.Add(d)
}

// noticed reports whether an epoch was cut at what the clock shows.
func (l *epochLog) noticed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cutAt.Equal(l.clock)
}

func (l *epochLog) cut(n uint64, pos map[string][]spi.Position) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cuts[n], l.last, l.cutAt = pos, n, l.asked
}

// script is one story on its way.
type script struct {
	t       *testing.T
	mode    scriptMode
	hub     *memconn.Hub
	tables  map[string][]*ast.Column
	session *planner.Session
	dir     string
	fs      state.FS
	query   string
	plan    *planner.Plan
	job     *runtime.Job
	sink    *memconn.Sink
	log     *epochLog
	shown   uint64 // the last epoch that a barrier has shown
	// complete are the epochs that were so when a job was killed: the next one does not repeat them where a checkpoint
	// holds them.
	complete map[uint64]bool
}

func runScript(t *testing.T, file string, m scriptMode) {
	s := &script{t: t, mode: m, hub: memconn.NewHub(uint64(m.shards * m.batch)), tables: map[string][]*ast.Column{}, log: &epochLog{cuts: map[uint64]map[string][]spi.Position{}, clock: time.Now()}}
	if m.pebble {
		s.dir, s.fs = "state", statetest.NewDisk().FS()
	}
	r := spi.NewRegistry()
	r.AddConnector(s.hub)
	s.session = planner.NewSession(r)
	s.sink = s.hub.Sink("result")
	defer s.kill()
	datadriven.RunTest(t, file, func(t *testing.T, d *datadriven.TestData) string {
		switch d.Cmd {
		case "sql":
			return s.sql(d.Input)
		case "query":
			s.query = d.Input
			s.start()
			return ""
		case "push":
			return s.push(d.CmdArgs[0].Key, d.Input)
		case "barrier":
			out := s.barrier()
			if m.restart {
				s.kill()
				s.start()
			}
			return out
		case "clock":
			by, err := spi.ParseDuration(d.CmdArgs[0].Key)
			if err != nil {
				t.Fatal(err)
			}
			s.log.advance(by)
			for end := time.Now().Add(2 * time.Minute); !s.log.noticed(); time.Sleep(time.Millisecond) {
				if time.Now().After(end) {
					t.Fatal("the job does not look at its clock")
				}
			}
			return ""
		case "state":
			// After a restart the job may be replaying still.
			got := ""
			for end := time.Now().Add(time.Minute); got != d.Expected && time.Now().Before(end); time.Sleep(time.Millisecond) {
				got = fmt.Sprintf("%d rows\n", s.job.Stats().StateRows)
			}
			return got
		case "error":
			return s.job.Wait().Error() + "\n"
		}
		t.Fatalf("unknown command %s", d.Cmd)
		return ""
	})
}

func (s *script) sql(text string) string {
	stmts, err := parser.Parse("script.sql", text)
	if err == nil {
		_, err = s.session.Run(stmts)
	}
	if err != nil {
		return err.Error() + "\n"
	}
	for _, st := range stmts {
		if ct, ok := st.(*ast.CreateTable); ok {
			name := ct.Name.Base().Name
			s.tables[name] = ct.Columns
			s.hub.SetTable(name, make([][]memconn.Event, 2))
		}
	}
	return ""
}

func (s *script) start() {
	stmts, err := parser.Parse("query.sql", s.query)
	if err != nil {
		s.t.Fatal(err)
	}
	out, err := s.session.Run(stmts)
	if err != nil {
		s.t.Fatal(err)
	}
	s.plan = out.Steps[0].(*planner.Job).Plan
	cfg := runtime.Config{
		Plan: s.plan, Parallelism: s.mode.shards, StateDir: s.dir, BatchRows: s.mode.batch, CheckpointInterval: 2 * time.Millisecond,
		OpenResult: func(sp spi.SinkSpec) (spi.Sink, error) { s.sink.Open(sp.Writers); return s.sink, nil },
		Hooks:      &runtime.Hooks{FS: s.fs, Check: true, Cut: s.log.cut, Now: s.log.now},
	}
	if s.mode.pebble {
		cfg.MemoryBudget = 1 // rows leave memory at once
	}
	if s.job, err = runtime.Start(context.Background(), cfg); err != nil {
		s.t.Fatal(err)
	}
}

func (s *script) kill() {
	if s.job == nil {
		return
	}
	s.job.Kill()
	if err := s.job.Wait(); err != nil && !errors.Is(err, context.Canceled) && !s.t.Failed() {
		s.t.Logf("ended: %v", err)
	}
	s.job = nil
	s.complete = map[uint64]bool{}
	for n := s.shown + 1; n <= s.log.last; n++ {
		_, s.complete[n] = s.sink.Epoch(n)
	}
}

func (s *script) push(table, lines string) string {
	def := s.tables[table]
	for _, l := range strings.Split(lines, "\n") {
		op, rest, _ := strings.Cut(l, " ")
		var e memconn.Event
		switch op {
		case "c":
			e.After = s.values(def, rest)
		case "d":
			e.Before = s.values(def, rest)
		case "u":
			b, a, _ := strings.Cut(rest, " -> ")
			e.Before, e.After = s.values(def, b), s.values(def, a)
		default:
			s.t.Fatalf("no event: %q", l)
		}
		key := e.After
		if key == nil {
			key = e.Before
		}
		// By the first column, as a producer places by key: the order of one key's events is kept.
		h := keyenc.Hash(fmt.Appendf(nil, "%d%s", key[0].I, key[0].B))
		s.hub.Append(table, int(h%2), e)
	}
	return ""
}

func (s *script) values(def []*ast.Column, text string) []row.Datum {
	parts := strings.Split(text, ", ")
	if len(parts) != len(def) {
		s.t.Fatalf("%q has not %d values", text, len(def))
	}
	v := make([]row.Datum, len(parts))
	for i, p := range parts {
		switch n, err := strconv.ParseInt(p, 10, 64); {
		case p == "NULL":
			v[i] = row.NullDatum
		case def[i].Type.Name == "STRING":
			v[i] = row.String(p)
		case err != nil:
			s.t.Fatal(err)
		default:
			v[i] = row.Int(n)
		}
	}
	return v
}

// barrier waits until everything pushed lies before a cut whose epoch is complete in the sink, and adds up the
// epochs since the last barrier.
func (s *script) barrier() string {
	deadline := time.Now().Add(2 * time.Minute)
	for !s.settled() {
		select {
		case <-s.job.Finished():
			s.t.Fatalf("the job has ended: %v", s.job.Wait())
		default:
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("not settled after two minutes; stats %+v", s.job.Stats())
		}
		time.Sleep(time.Millisecond)
	}
	s.log.mu.Lock()
	last := s.log.last
	s.log.mu.Unlock()
	ts := s.plan.Sinks[0].Input.Out().Types()
	net := map[string]int{}
	for n := s.shown + 1; n <= last; n++ {
		changes, _ := s.sink.Epoch(n)
		for _, c := range changes {
			net[oracle.Text(c.Row, ts)] += c.Op.Weight()
		}
	}
	s.shown = last
	var lines []string
	for text, n := range net {
		for range n {
			lines = append(lines, "+ "+text)
		}
		for range -n {
			lines = append(lines, "- "+text)
		}
	}
	if len(lines) == 0 {
		return "no change\n"
	}
	sort.Strings(lines)
	return strings.Join(lines, "\n") + "\n"
}

func (s *script) settled() bool {
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	read := map[string]int64{}
	for _, ps := range s.log.cuts[s.log.last] {
		for _, p := range ps {
			read[fmt.Sprintf("%s/%d", p.Topic, p.Partition)] = p.Offset
			if p.Offset < s.hub.Len(p.Topic, int(p.Partition)) {
				return false
			}
		}
	}
	for n := s.shown + 1; n <= s.log.last; n++ {
		if _, complete := s.sink.Epoch(n); !complete && !s.complete[n] {
			return false
		}
	}
	return len(read) > 0
}
