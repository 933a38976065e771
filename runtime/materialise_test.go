package runtime_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/changelog"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/internal/fault"
	"github.com/sluicesql/sluice/internal/memconn"
	"github.com/sluicesql/sluice/internal/oracle"
	"github.com/sluicesql/sluice/planner"
	"github.com/sluicesql/sluice/runtime"
	"github.com/sluicesql/sluice/sql/parser"
)

// TestSinkKeys writes users, whose key is their id, into a table by age: whatever the shards, the epochs and the order of
// arrival, an age shows the user with the greatest id that has it, and the next one when that one goes. A sink that takes
// every change is read by its key as well.
func TestSinkKeys(t *testing.T) {
	for seed := range uint64(12) {
		for _, shards := range []int{1, 3} {
			for _, rows := range []int{1, 9, 1000} {
				t.Run(fmt.Sprintf("seed=%d/shards=%d/rows=%d", seed, shards, rows), func(t *testing.T) {
					t.Parallel()
					runSinkKeys(t, seed, shards, rows)
				})
			}
		}
	}
}

func runSinkKeys(t *testing.T, seed uint64, shards, rows int) {
	events := oracle.Generate(oracle.Users, seed, oracle.HistoryOptions{Changes: 120, Partitions: 3, Redeliver: true})
	for _, accepts := range []string{"upsert", "retract"} {
		hub := memconn.NewHub(seed)
		hub.SetTable("users", events)
		got := shownByKey(t, hub, shards, rows, oracle.Users.DDL()+`;
CREATE TABLE by_age (age BIGINT, id INT, firstname STRING, PRIMARY KEY (age) NOT ENFORCED) WITH ('connector' = 'mem', 'name' = 'out', 'accepts' = '`+accepts+`');
INSERT INTO by_age SELECT age, id, firstname FROM users WHERE age IS NOT NULL`)
		if want := greatestByAge(events); !maps.Equal(got, want) {
			t.Fatalf("%s\ngot  %v\nwant %v", accepts, got, want)
		}
	}
}

// TestSinkKeysOfEvents writes events, which have no key, into a table with one: it shows of each key the event that
// stands last, by partition and offset.
func TestSinkKeysOfEvents(t *testing.T) {
	for seed := range uint64(8) {
		hub, rng := memconn.NewHub(seed), rand.New(rand.NewPCG(seed, 1))
		events, want := make([][]memconn.Event, 3), map[int64]string{}
		for p := range events {
			for range 40 {
				k, v := rng.Int64N(9), rng.Int64N(100)
				events[p] = append(events[p], memconn.Event{After: []row.Datum{row.Int(k), row.Int(v)}})
				want[k] = fmt.Sprintf("%d|%d", k, v)
			}
		}
		hub.SetTable("events", events)
		got := shownByKey(t, hub, 1+int(seed%3), 7, `
CREATE TABLE events (k INT, v INT) WITH ('connector' = 'mem', 'name' = 'events', 'native' = 'append', 'metadata' = 'true');
CREATE TABLE latest (k INT, v INT, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'mem', 'name' = 'out', 'accepts' = 'upsert');
INSERT INTO latest SELECT k, v FROM events`)
		if !maps.Equal(got, want) {
			t.Fatalf("seed %d\ngot  %v\nwant %v", seed, got, want)
		}
	}
}

// TestUntrueKeys has a table that is trusted give two rows of its PRIMARY KEY in one epoch: no sink shows one of them as
// if it were all, whatever else the epoch brings.
func TestUntrueKeys(t *testing.T) {
	user := func(id int64, name string) []row.Datum { return []row.Datum{row.Int(id), row.String(name)} }
	egor, pavel, mitya := user(1, "Egor"), user(1, "Pavel"), user(2, "Mitya")
	const two = "result: an epoch gives two rows of one (id): (id: 1, firstname: Egor) and (id: 1, firstname: "
	for _, c := range []struct {
		name   string
		events []memconn.Event
		want   string
	}{
		{"inserts", []memconn.Event{{After: egor}, {After: mitya}, {After: pavel}}, two + "Pavel)"},
		{"an event that came twice", []memconn.Event{{After: egor}, {After: egor}}, two + "Egor)"},
		{"among updates", []memconn.Event{{After: mitya}, {Before: mitya, After: egor}, {After: pavel}}, two + "Pavel)"},
		{"deletes", []memconn.Event{{Before: pavel}, {Before: egor}}, "result: an epoch takes away two rows of one (id): (id: 1, firstname: Egor) and (id: 1, firstname: Pavel)"},
	} {
		for _, sink := range []string{
			"PRIMARY KEY (id) NOT ENFORCED) WITH ('accepts' = 'upsert',",
			"PRIMARY KEY (id) NOT ENFORCED) WITH (",
		} {
			for _, shards := range []int{1, 3} {
				for i := range c.events {
					c.events[i].Step = 1
				}
				hub := memconn.NewHub(uint64(shards))
				hub.SetTable("users", [][]memconn.Event{c.events})
				sql := "CREATE TABLE users (id INT, firstname STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'mem', 'name' = 'users');\n" +
					"CREATE TABLE result (id INT, firstname STRING, " + sink + " 'connector' = 'mem', 'name' = 'out');\n" +
					"INSERT INTO result SELECT * FROM users"
				_, _, err := runInto(t, hub, shards, 1000, "SET 'table.exec.source.cdc-events-duplicate' = 'false';\n"+sql)
				if err == nil {
					t.Errorf("%s, %s %d shards: no error", c.name, sink, shards)
				} else if msg, code, hint := fault.Split(err); code != fault.RowContradiction || !strings.HasPrefix(msg, c.want) || !strings.HasPrefix(hint, "the events of users") {
					t.Errorf("%s, %s %d shards: %v", c.name, sink, shards, err)
				}
				if _, _, err := runInto(t, hub, shards, 1000, sql); err != nil {
					t.Errorf("%s, not trusted: %v", c.name, err)
				}
			}
		}
	}
}

// shownByKey runs a script that ends with an INSERT into the sink out, and returns what its rows are in the end, by their
// key, which is the first column.
func shownByKey(t *testing.T, hub *memconn.Hub, shards, rows int, sql string) map[int64]string {
	t.Helper()
	plan, last, err := runInto(t, hub, shards, rows, sql)
	if err != nil {
		t.Fatal(err)
	}
	ts := plan.Sinks[0].Input.Out().Types()
	got := map[int64]string{}
	for n := uint64(1); n <= last; n++ {
		changes, complete := hub.Sink("out").Epoch(n)
		if !complete {
			t.Fatalf("epoch %d is not complete", n)
		}
		for _, c := range changes {
			if key := c.Row.Int64(0); c.Op == changelog.Delete {
				delete(got, key)
			} else {
				got[key] = oracle.Text(c.Row, ts)
			}
		}
	}
	return got
}

// runInto runs a script that ends with an INSERT to its end, and returns that one's plan, the last epoch, and the job's
// error.
func runInto(t *testing.T, hub *memconn.Hub, shards, rows int, sql string) (*planner.Plan, uint64, error) {
	t.Helper()
	r := spi.NewRegistry()
	r.AddConnector(hub)
	stmts, err := parser.Parse("sink.sql", sql)
	if err != nil {
		t.Fatal(err)
	}
	script, err := planner.NewSession(r).Run(stmts)
	if err != nil {
		t.Fatal(err)
	}
	plan := script.Steps[len(script.Steps)-1].(*planner.Job).Plan
	last := uint64(0)
	job, err := runtime.Start(context.Background(), runtime.Config{
		Plan: plan, Parallelism: shards, EpochMaxRows: rows, EpochMaxAge: time.Hour,
		Hooks: &runtime.Hooks{Check: true, Cut: func(n uint64, _ map[string][]spi.Position) { last = n }},
	})
	if err != nil {
		t.Fatal(err)
	}
	err = job.Wait()
	return plan, last, err
}

// greatestByAge is what the table holds at the end of the events.
func greatestByAge(events [][]memconn.Event) map[int64]string {
	best := map[int64]int64{}
	want := map[int64]string{}
	for id, u := range lastByKey(events) {
		if u[2].Null {
			continue
		}
		age := u[2].I
		if at, ok := best[age]; !ok || id > at {
			best[age], want[age] = id, fmt.Sprintf("%d|%d|%s", age, id, nameOf(u))
		}
	}
	return want
}

// lastByKey are the rows at the end of the events of a table whose key is its first column.
func lastByKey(events [][]memconn.Event) map[int64][]row.Datum {
	rows := map[int64][]row.Datum{}
	for _, part := range events {
		for _, e := range part {
			if e.After != nil {
				rows[e.After[0].I] = e.After
			} else {
				delete(rows, e.Before[0].I)
			}
		}
	}
	return rows
}

func nameOf(user []row.Datum) string {
	if user[1].Null {
		return "NULL"
	}
	return string(user[1].B)
}
