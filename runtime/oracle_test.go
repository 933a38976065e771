package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sort"
	"strings"
	"sync"
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

// oracleQueries are valid for both engines and mean the same in both.
var oracleQueries = []string{
	`SELECT users.id, firstname, domain_name FROM users JOIN domains ON users.id = domains.user_id`,
	`SELECT firstname, domain_name FROM users JOIN domains ON users.id = domains.user_id`,
	`SELECT domains.id, firstname, domain_name FROM domains JOIN users ON users.id = domains.user_id WHERE age > 3 AND domain_name <> 'b'`,
	`SELECT users.id AS uid, domains.id AS did FROM users JOIN domains ON users.id = domains.user_id AND users.age < domains.id`,
	`SELECT id, firstname, age FROM users WHERE age > 4`,
	`SELECT a.id AS a_id, b.id AS b_id FROM users a JOIN users b ON a.age = b.age`,
	`SELECT a.firstname, b.firstname AS other FROM users a JOIN users b ON a.id = b.age`,
	`SELECT u.id, d.id AS did, o.region, o.no, o.amount FROM users u JOIN domains d ON u.id = d.user_id JOIN orders o ON o.domain_id = d.id`,
	`SELECT u.id, firstname, age, domain_name, o.region, o.no, o.amount FROM users u JOIN domains d ON u.id = d.user_id JOIN orders o ON o.domain_id = d.id`,
	`SELECT u.firstname, o.amount FROM orders o JOIN domains d ON o.domain_id = d.id JOIN users u ON u.id = d.user_id WHERE o.amount > 2`,
	`SELECT u.id, age, d.id AS did, domain_name FROM users u JOIN domains d ON u.id + 1 = d.user_id`,
	`SELECT d.id, o.no FROM domains d JOIN orders o ON d.id = o.no AND d.domain_name = o.region`,
	`SELECT u.id, d.domain_name, u.age + d.id AS s FROM users u JOIN domains d ON u.id = d.user_id WHERE u.age + d.id > 8`,
}

// oracleCase is one history, run and checked.
type oracleCase struct {
	query      string
	seed       uint64
	history    oracle.HistoryOptions
	trusted    bool // leave normalise out
	bag        bool
	shards     []int // of each run; a run but the last is killed
	batch      int
	epochRows  int
	pebble     bool
	budget     int64
	checkpoint time.Duration
}

func (c oracleCase) name() string {
	return fmt.Sprintf("seed=%d trusted=%v bag=%v shards=%v batch=%d rows=%d pebble=%v %q", c.seed, c.trusted, c.bag, c.shards, c.batch, c.epochRows, c.pebble, c.query)
}

func (c oracleCase) tables() []oracle.Table {
	ts := oracle.Tables()
	if c.bag {
		for i := range ts {
			ts[i].Key = nil
		}
	}
	return ts
}

// plan plans the case's query over a hub that holds its history.
func (c oracleCase) plan(t *testing.T, hub *memconn.Hub) *planner.Plan {
	t.Helper()
	r := spi.NewRegistry()
	r.AddConnector(hub)
	var sql strings.Builder
	if c.trusted {
		sql.WriteString("SET 'table.exec.source.cdc-events-duplicate' = 'false';\n")
	}
	for _, tab := range c.tables() {
		sql.WriteString(tab.DDL() + ";\n")
	}
	sql.WriteString(c.query)
	stmts, err := parser.Parse("oracle.sql", sql.String())
	if err != nil {
		t.Fatal(err)
	}
	script, err := planner.NewSession(r).Run(stmts)
	if err != nil {
		t.Fatal(err)
	}
	return script.Steps[len(script.Steps)-1].(*planner.Job).Plan
}

// log is what a test sees of a job's epochs over all its runs.
type epochLog struct {
	mu   sync.Mutex
	cuts map[uint64]map[string][]spi.Position
	last uint64
}

func (l *epochLog) cut(n uint64, pos map[string][]spi.Position) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cuts[n], l.last = pos, n
}

func (c oracleCase) run(t *testing.T) {
	hub := memconn.NewHub(c.seed)
	histories := map[string][][]memconn.Event{}
	for _, tab := range oracle.Tables() { // with the keys, by which histories are made
		histories[tab.Name] = oracle.Generate(tab, c.seed, c.history)
		hub.SetTable(tab.Name, histories[tab.Name])
	}
	dir := ""
	if c.pebble {
		dir = t.TempDir()
	}
	rng := rand.New(rand.NewPCG(c.seed, 7))
	log := &epochLog{cuts: map[uint64]map[string][]spi.Position{}}
	sink := hub.Sink("result")
	var ts []types.Type
	shown := map[uint64][]string{} // complete epochs of killed runs, to be shown again alike
	for i, shards := range c.shards {
		crash := i < len(c.shards)-1
		after := uint64(rng.IntN(12)) // epochs until the crash
		var done uint64
		killed := make(chan struct{})
		plan := c.plan(t, hub)
		ts = plan.Sinks[0].Input.Out().Types()
		cfg := runtime.Config{
			Plan: plan, Parallelism: shards, StateDir: dir, MemoryBudget: c.budget, BatchRows: c.batch,
			EpochMaxRows: c.epochRows, CheckpointInterval: c.checkpoint,
			OpenResult: func(s spi.SinkSpec) (spi.Sink, error) { sink.Open(s.Writers); return sink, nil },
			Hooks: &runtime.Hooks{Check: true, Cut: log.cut, Done: func(uint64) {
				if done++; crash && done == after+1 {
					close(killed)
				}
			}},
		}
		job, err := runtime.Start(context.Background(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan struct{})
		if crash {
			go func() {
				select {
				case <-killed:
					job.Kill()
				case <-ended:
				}
			}()
		}
		err = job.Wait()
		close(ended)
		if err != nil && (!crash || !errors.Is(err, context.Canceled)) {
			t.Fatalf("run %d: %v", i, err)
		}
		c.checkShown(t, sink, shown, log.last, ts)
		if !crash && c.history.DeleteAll && job.Stats().StateRows != 0 {
			t.Errorf("every row is deleted, and %d are left in the state", job.Stats().StateRows)
		}
		if crash && err == nil {
			return // it ended before the crash; the cases with later crashes cover the rest
		}
	}
	c.check(t, histories, log, sink, ts)
}

// checkShown holds epochs that were shown before a crash and again after it to the same content.
func (c oracleCase) checkShown(t *testing.T, sink *memconn.Sink, shown map[uint64][]string, last uint64, ts []types.Type) {
	for n := uint64(1); n <= last; n++ {
		changes, complete := sink.Epoch(n)
		if !complete {
			continue
		}
		lines := make([]string, len(changes))
		for i, ch := range changes {
			lines[i] = ch.Op.String()[:1] + oracle.Text(ch.Row, ts)
		}
		sort.Strings(lines)
		if was, ok := shown[n]; ok && strings.Join(was, "\n") != strings.Join(lines, "\n") {
			t.Errorf("epoch %d showed\n%s\nbefore the crash and\n%s\nafter it", n, strings.Join(was, "\n"), strings.Join(lines, "\n"))
		}
		shown[n] = lines
	}
}

// check is the prefix oracle.
func (c oracleCase) check(t *testing.T, histories map[string][][]memconn.Event, log *epochLog, sink *memconn.Sink, ts []types.Type) {
	db, err := oracle.Open(c.tables())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	at := map[string]int64{}
	have := map[string]int{}
	for n := uint64(1); n <= log.last; n++ {
		for _, positions := range log.cuts[n] {
			for _, p := range positions {
				key := fmt.Sprintf("%s/%d", p.Topic, p.Partition)
				for ; at[key] < p.Offset; at[key]++ {
					if err := db.Apply(p.Topic, histories[p.Topic][p.Partition][at[key]]); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
		changes, _ := sink.Epoch(n)
		signs := map[string]int{}
		for _, ch := range changes {
			text := oracle.Text(ch.Row, ts)
			if signs[text]*ch.Op.Weight() < 0 {
				t.Errorf("epoch %d both adds and removes %s", n, text)
			}
			signs[text] = ch.Op.Weight()
			if have[text] += ch.Op.Weight(); have[text] == 0 {
				delete(have, text)
			}
		}
		want, err := db.Query(c.query)
		if err != nil {
			t.Fatal(err)
		}
		if g, w := multiset(have), multiset(want); g != w {
			t.Fatalf("after epoch %d\ngot  %s\nwant %s\nthe epoch's changes: %v", n, g, w, signs)
		}
	}
	for table, parts := range histories {
		for p, events := range parts {
			key := fmt.Sprintf("%s/%d", table, p)
			if _, used := at[key]; used && at[key] != int64(len(events)) {
				t.Errorf("%s was read to %d of %d", key, at[key], len(events))
			}
		}
	}
}

func multiset(m map[string]int) string {
	var s []string
	for k, n := range m {
		s = append(s, fmt.Sprintf("%s×%d", k, n))
	}
	sort.Strings(s)
	return strings.Join(s, ", ")
}

// TestPrefixOracle runs every query over generated histories in a matrix of shards, batch sizes, state backends,
// forms of the source and restarts.
func TestPrefixOracle(t *testing.T) {
	seeds := 3
	if testing.Short() {
		seeds = 1
	}
	seed := uint64(0)
	for range seeds {
		for qi, q := range oracleQueries {
			for _, shards := range []int{1, 2, 4} {
				for _, batch := range []int{1, 3, 1024} {
					seed++
					c := oracleCase{
						query: q, seed: seed, shards: []int{shards}, batch: batch, epochRows: []int{1, 7, 50}[seed%3],
						history: oracle.HistoryOptions{Changes: 60, Partitions: 3, Redeliver: true, DeleteAll: seed%2 == 0},
					}
					switch (int(seed) + qi) % 4 {
					case 1: // the source is trusted
						c.trusted, c.history.Redeliver = true, false
					case 2: // no primary keys
						c.bag, c.history.Redeliver, c.history.Bag = true, false, true
					}
					if seed%2 == 1 {
						c.pebble, c.budget, c.checkpoint = true, 1<<20, time.Millisecond
						for range int(seed/2) % 4 { // crashes, each followed by another number of shards
							c.shards = append(c.shards, []int{1, 2, 3, 4}[int(seed+uint64(len(c.shards)))%4])
						}
					}
					t.Run(c.name(), func(t *testing.T) {
						t.Parallel()
						c.run(t)
					})
				}
			}
		}
	}
}

// TestPrefixOracleMoves has rows move between shards of one join while they change, in large epochs, so that the
// next join gets the pieces in any order: a row's successor before its delete, and updates of both.
func TestPrefixOracleMoves(t *testing.T) {
	seeds := uint64(4)
	if testing.Short() {
		seeds = 1
	}
	for seed := range seeds {
		for _, q := range oracleQueries[8:10] {
			for _, shards := range []int{2, 4} {
				for _, batch := range []int{1, 3} {
					c := oracleCase{
						query: q, seed: 1000 + seed, shards: []int{shards}, batch: batch, epochRows: 200, trusted: seed%2 == 0,
						history: oracle.HistoryOptions{Changes: 300, Partitions: 3, Redeliver: seed%2 == 1, DeleteAll: true},
					}
					t.Run(c.name(), func(t *testing.T) {
						t.Parallel()
						c.run(t)
					})
				}
			}
		}
	}
}
