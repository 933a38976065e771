package runtime_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/types"
	"github.com/sluicesql/sluice/internal/memconn"
	"github.com/sluicesql/sluice/internal/oracle"
	"github.com/sluicesql/sluice/planner"
	"github.com/sluicesql/sluice/runtime"
	"github.com/sluicesql/sluice/sql/parser"
)

// onceSQL writes one query into two transactional sinks and one that is not.
const onceSQL = `
CREATE TABLE once (id INT, user_id INT, firstname STRING, domain_name STRING) WITH ('connector' = 'mem', 'name' = 'once', 'transactional' = 'true');
CREATE TABLE names (id INT, firstname STRING) WITH ('connector' = 'mem', 'name' = 'names', 'transactional' = 'true');
CREATE TABLE often (id INT, user_id INT, firstname STRING, domain_name STRING) WITH ('connector' = 'mem', 'name' = 'often');
CREATE VIEW joined AS SELECT d.id, u.id AS user_id, u.firstname, d.domain_name FROM users u JOIN domains d ON u.id = d.user_id;
INSERT INTO once SELECT * FROM joined;
INSERT INTO names SELECT id, firstname FROM users WHERE id < 0;
INSERT INTO often SELECT * FROM joined;`

// planOf plans the statements of a script as one job.
func planOf(t *testing.T, hub *memconn.Hub, sql string) *planner.Plan {
	t.Helper()
	return planWith(t, hub, sql, "")
}

// planWith adds options to all tables of the hub.
func planWith(t *testing.T, hub *memconn.Hub, sql, options string) *planner.Plan {
	t.Helper()
	r := spi.NewRegistry()
	r.AddConnector(hub)
	var all strings.Builder
	for _, tab := range oracle.Tables() {
		all.WriteString(tab.DDL() + ";\n")
	}
	all.WriteString(sql)
	text := strings.ReplaceAll(all.String(), "'connector' = 'mem'", "'connector' = 'mem'"+options)
	stmts, err := parser.Parse("test.sql", text)
	if err != nil {
		t.Fatal(err)
	}
	script, err := planner.NewSession(r).Run(stmts)
	if err != nil {
		t.Fatal(err)
	}
	return script.Steps[len(script.Steps)-1].(*planner.Job).Plan
}

func filledHub(seed uint64, changes int) *memconn.Hub {
	hub := memconn.NewHub(seed)
	for _, tab := range oracle.Tables() {
		hub.SetTable(tab.Name, oracle.Generate(tab, seed, oracle.HistoryOptions{Changes: changes, Partitions: 2, Redeliver: true}))
	}
	return hub
}

// sum adds up changes to the rows that they leave.
func sum(cs []memconn.Change, ts []types.Type) string {
	have := map[string]int{}
	for _, c := range cs {
		text := oracle.Text(c.Row, ts)
		if have[text] += c.Op.Weight(); have[text] == 0 {
			delete(have, text)
		}
	}
	var out []string
	for text, n := range have {
		out = append(out, fmt.Sprintf("%s×%d", text, n))
	}
	sort.Strings(out)
	return strings.Join(out, ", ")
}

// sorted are the values of a map, in the order of the text.
func sorted(m map[string]string) string {
	return strings.Join(slices.Sorted(maps.Values(m)), "\n")
}

// lines are changes as text, sorted.
func lines(cs []memconn.Change, ts []types.Type) string {
	var out []string
	for _, c := range cs {
		out = append(out, c.Op.String()+" "+oracle.Text(c.Row, ts))
	}
	sort.Strings(out)
	return strings.Join(out, "\n")
}

// A job with transactional sinks, one of which has no output, and one that is not: all hold the same in the end. What
// a transactional sink is handed comes with rising markers, and a second start delivers nothing.
func TestExactlyOnce(t *testing.T) {
	hub := filledHub(3, 1000)
	plan := planOf(t, hub, onceSQL)
	dir := t.TempDir()
	var often []memconn.Change
	for i := range 2 {
		job, err := runtime.Start(context.Background(), runtime.Config{
			Plan: plan, Parallelism: 3, StateDir: dir, CheckpointInterval: time.Millisecond, EpochMaxRows: 10,
		})
		if err == nil {
			err = job.Wait()
		}
		if err != nil {
			t.Fatal(err)
		}
		for n := uint64(1); i == 0 && n <= job.Stats().Epochs; n++ {
			cs, ok := hub.Sink("often").Epoch(n)
			if !ok {
				t.Fatalf("epoch %d is not complete", n)
			}
			often = append(often, cs...)
		}
	}
	ts := plan.Sinks[0].Out().Types()
	got, want := sum(hub.Ledger("once").Changes(), ts), sum(often, ts)
	if got != want || got == "" {
		t.Errorf("the transactional sink holds\n%s\nand the other one\n%s", got, want)
	}
	markers := hub.Ledger("once").Markers()
	for i := 1; i < len(markers); i++ {
		if !markers[i-1].Before(markers[i]) {
			t.Errorf("marker %v follows %v", markers[i], markers[i-1])
		}
	}
	if len(markers) < 3 {
		t.Errorf("%d transactions only", len(markers))
	}
	if m, ok := hub.Ledger("names").Marker(); !ok || len(hub.Ledger("names").Changes()) != 0 {
		t.Errorf("the sink without output has marker %v (%v) and %d changes", m, ok, len(hub.Ledger("names").Changes()))
	}
}

// A checkpoint's output of several segments, with an outbox that is full each time: all of it arrives, in transactions
// that say which chunk they are.
func TestOutputOfSeveralChunks(t *testing.T) {
	hub := filledHub(4, 1000)
	plan := planOf(t, hub, onceSQL)
	job, err := runtime.Start(context.Background(), runtime.Config{
		Plan: plan, Parallelism: 2, StateDir: t.TempDir(), EpochMaxRows: 50,
		Hooks: &runtime.Hooks{SegmentBytes: 200, MaxOutbox: 1},
	})
	if err == nil {
		err = job.Wait()
	}
	if err != nil {
		t.Fatal(err)
	}
	var often []memconn.Change
	for n := uint64(1); n <= job.Stats().Epochs; n++ {
		cs, _ := hub.Sink("often").Epoch(n)
		often = append(often, cs...)
	}
	ts := plan.Sinks[0].Out().Types()
	if got, want := sum(hub.Ledger("once").Changes(), ts), sum(often, ts); got != want || got == "" {
		t.Errorf("the transactional sink holds\n%s\nand the other one\n%s", got, want)
	}
	chunks := 0
	markers := hub.Ledger("once").Markers()
	for i, m := range markers {
		chunks = max(chunks, m.Chunk)
		if i > 0 && !markers[i-1].Before(m) {
			t.Errorf("marker %v follows %v", m, markers[i-1])
		}
	}
	if chunks < 3 {
		t.Errorf("%d chunks at most in %d transactions", chunks, len(markers))
	}
}
