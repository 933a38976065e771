package runtime_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/state"
	"github.com/sluicesql/sluice/internal/memconn"
	"github.com/sluicesql/sluice/internal/oracle"
	"github.com/sluicesql/sluice/planner"
	"github.com/sluicesql/sluice/runtime"
	"github.com/sluicesql/sluice/sql/parser"
)

// directory is a state directory over which several jobs run one after another, with tables of the oracle that
// grow, and sinks in memory.
type directory struct {
	t     *testing.T
	hub   *memconn.Hub
	live  map[string][]row.Datum // by table and key
	rng   *rand.Rand
	dir   string
	log   *epochLog
	from  uint64 // settle looks at the epochs after this one
	notes []string
	// tableOptions are those of all sources, beside their names.
	tableOptions string
	job          *runtime.Job
	plan         *planner.Plan
}

const sinkTables = `
CREATE TABLE pairs (id BIGINT, name STRING, domain STRING) WITH ('connector' = 'mem', 'name' = 'pairs');
CREATE TABLE amounts (region STRING, no BIGINT, amount BIGINT) WITH ('connector' = 'mem', 'name' = 'amounts');
CREATE TABLE names (id BIGINT, name STRING) WITH ('connector' = 'mem', 'name' = 'names');
`

const pairsSQL = `INSERT INTO pairs SELECT u.id, u.firstname, d.domain_name FROM users u JOIN domains d ON u.id = d.user_id;`

func newDirectory(t *testing.T) *directory {
	d := &directory{t: t, hub: memconn.NewHub(1), dir: t.TempDir(), live: map[string][]row.Datum{}, rng: rand.New(rand.NewPCG(1, 2)), log: &epochLog{cuts: map[uint64]map[string][]spi.Position{}}}
	for _, tab := range oracle.Tables() {
		d.hub.SetTable(tab.Name, make([][]memconn.Event, 2))
	}
	d.grow(200)
	return d
}

// grow adds changes to all tables: of some sixty rows each, most of which are there at any time.
func (d *directory) grow(n int) {
	for range n {
		id, no := d.rng.Int64N(60), d.rng.Int64N(60)
		d.change("users", id, row.Int(id), row.String(fmt.Sprintf("user %d", d.rng.IntN(9))), row.Int(d.rng.Int64N(20)))
		d.change("domains", no, row.Int(no), row.Int(d.rng.Int64N(60)), row.String(fmt.Sprintf("domain %d", d.rng.IntN(9))))
		d.change("orders", no, row.String("r"), row.Int(no), row.Int(d.rng.Int64N(60)), row.Int(d.rng.Int64N(9)))
	}
}

// change inserts, replaces or, one time out of five, deletes a row.
func (d *directory) change(table string, key int64, values ...row.Datum) {
	at := fmt.Sprint(table, key)
	e := memconn.Event{Before: d.live[at], After: values}
	if e.Before != nil && d.rng.IntN(5) == 0 {
		e.After = nil
	}
	d.live[at] = e.After
	d.hub.Append(table, int(key%2), e)
}

func (d *directory) planOf(sql string) *planner.Plan {
	d.t.Helper()
	var text strings.Builder
	for _, tab := range oracle.Tables() {
		text.WriteString(tab.DDL() + ";\n")
	}
	ddl := strings.ReplaceAll(text.String(), "'connector' = 'mem'", "'connector' = 'mem'"+d.tableOptions)
	text.Reset()
	text.WriteString(ddl + sinkTables + sql)
	stmts, err := parser.Parse("q.sql", text.String())
	if err != nil {
		d.t.Fatal(err)
	}
	r := spi.NewRegistry()
	r.AddConnector(d.hub)
	script, err := planner.NewSession(r).Run(stmts)
	if err != nil {
		d.t.Fatal(err)
	}
	return script.Steps[len(script.Steps)-1].(*planner.Job).Plan
}

// start starts a job on the directory.
func (d *directory) start(sql string, change func(*runtime.Config)) error {
	d.t.Helper()
	d.plan, d.notes = d.planOf(sql), nil
	cfg := runtime.Config{
		Plan: d.plan, Parallelism: 2, StateDir: d.dir, SQL: sql, Version: "sluice test", CheckpointInterval: 5 * time.Millisecond,
		EpochMaxRows: 50,
		Warn:         func(msg string) { d.notes = append(d.notes, msg) },
		Hooks:        &runtime.Hooks{Check: true, Cut: d.log.cut},
	}
	if change != nil {
		change(&cfg)
	}
	compared := d.compare(&cfg)
	var err error
	d.job, err = runtime.Start(context.Background(), cfg)
	if lost := compared != nil && len(compared.Lost) > 0; lost && !cfg.AllowRebuild && err == nil || !lost && err != nil && strings.Contains(err.Error(), "would lose some of it") {
		d.t.Errorf("compared, %v is lost; the start: %v", compared, err)
	}
	return err
}

// compare tells what starting a job would lose of the directory's state; nil where there is none to compare with.
func (d *directory) compare(cfg *runtime.Config) *runtime.Comparison {
	d.t.Helper()
	if cfg.FromSavepoint != "" || cfg.Hooks.FS != nil {
		return nil
	}
	was, err := runtime.ReadRecordedPlan(cfg.StateDir, "sluice test")
	if err != nil {
		return nil // nothing has run there
	}
	c, err := was.Compare(cfg.Plan, keepText)
	d.must(err)
	return c
}

func keepText(text string) string { return text }

// crash runs a job that is killed when so many of its epochs are done; no checkpoint comes by time. It reports whether
// the job had not ended by itself.
func (d *directory) crash(sql string, epochs int) bool {
	d.t.Helper()
	started := make(chan struct{})
	d.must(d.start(sql, func(cfg *runtime.Config) {
		cfg.CheckpointInterval = time.Hour
		n := 0
		cfg.Hooks.Done = func(uint64) {
			<-started
			if n++; n == epochs {
				d.job.Kill()
			}
		}
	}))
	close(started)
	return d.job.Wait() != nil
}

// crashLogged leaves a directory whose epoch log has epochs to repeat.
func (d *directory) crashLogged(sql string) {
	d.t.Helper()
	for {
		d.crash(sql, 2)
		info, err := runtime.ReadInfo(nil, d.dir)
		d.must(err)
		if info.Logged > 0 {
			return
		}
		d.grow(100) // it was through before it was killed
	}
}

// run runs a job over what is there, to its end.
func (d *directory) run(sql string, change func(*runtime.Config)) error {
	d.t.Helper()
	if err := d.start(sql, change); err != nil {
		return err
	}
	return d.job.Wait()
}

// weights are rows with how often they occur.
type weights map[string]int

func (w weights) list() []string {
	var out []string
	for text, n := range w {
		if n != 0 {
			out = append(out, fmt.Sprintf("%+d %s", n, text))
		}
	}
	slices.Sort(out)
	return out
}

func (w weights) minus(other weights) weights {
	out := maps.Clone(w)
	for text, n := range other {
		out[text] -= n
	}
	return out
}

func (w weights) plus(other weights) weights { return w.minus(weights{}.minus(other)) }

// epoch is what a sink was given in an epoch.
func (d *directory) epoch(sink string, e uint64) weights {
	n := d.plan.Sinks[slices.IndexFunc(d.plan.Sinks, func(s *planner.Sink) bool { return s.Table == sink })]
	ts := n.Out().Types()
	w := weights{}
	changes, _ := d.hub.Sink(sink).Epoch(e)
	for _, c := range changes {
		w[oracle.Text(c.Row, ts)] += c.Op.Weight()
	}
	return w
}

// net adds up what a sink was given in the epochs after one.
func (d *directory) net(sink string, after uint64) weights {
	return d.between(sink, after, d.log.last)
}

// between adds up what a sink was given in the epochs after one and up to another.
func (d *directory) between(sink string, after, last uint64) weights {
	sum := weights{}
	for e := after + 1; e <= last; e++ {
		for text, n := range d.epoch(sink, e) {
			sum[text] += n
		}
	}
	return sum
}

// fresh runs a job without a past, with sinks of its own, and shows it to f.
func (d *directory) fresh(sql string, f func(*directory)) {
	d.t.Helper()
	fresh := &directory{t: d.t, hub: d.hub, dir: d.t.TempDir(), log: &epochLog{cuts: map[uint64]map[string][]spi.Position{}}}
	for _, sink := range []string{"pairs", "amounts", "names"} {
		defer d.hub.PutSink(sink, d.hub.TakeSink(sink))
	}
	if err := fresh.run(sql, nil); err != nil {
		d.t.Fatal(err)
	}
	f(fresh)
}

// expected is what a job without a past gives.
func (d *directory) expected(sql, sink string) (w weights) {
	d.t.Helper()
	d.fresh(sql, func(f *directory) { w = f.net(sink, 0) })
	return w
}

func same(t *testing.T, what string, got, want weights) {
	t.Helper()
	if got, want := got.list(), want.list(); !slices.Equal(got, want) {
		t.Errorf("%s:\ngot  %v\nwant %v", what, got, want)
	}
}

func (d *directory) must(err error) {
	d.t.Helper()
	if err != nil {
		d.t.Fatal(err)
	}
}

// Operators whose state still means the same keep it, whatever is changed around them.
func TestChangedSQLKeepsState(t *testing.T) {
	for name, c := range map[string]struct{ sql, note string }{
		"the same":            {pairsSQL, ""},
		"another alias":       {strings.NewReplacer("u.", "x.", "users u", "users x").Replace(pairsSQL), ""},
		"computed column":     {strings.Replace(pairsSQL, "u.firstname,", "UPPER(u.firstname),", 1), "the query of pairs has changed"},
		"a filter above":      {strings.Replace(pairsSQL, ";", " WHERE CHAR_LENGTH(u.firstname || d.domain_name) <> 7;", 1), "the query of pairs has changed"},
		"a join beside":       {pairsSQL + "INSERT INTO amounts SELECT a.region, b.no, b.amount FROM orders a JOIN orders b ON a.no = b.domain_id;", ""},
		"a table beside":      {"INSERT INTO amounts SELECT region, no, amount FROM orders;" + pairsSQL, ""},
		"another parallelism": {pairsSQL, ""},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDirectory(t)
			d.must(d.run(pairsSQL, nil))
			before, gave := d.log.last, d.expected(c.sql, "pairs")
			if len(d.net("pairs", 0)) == 0 {
				t.Fatal("the first run gave nothing")
			}
			d.grow(100)
			d.must(d.run(c.sql, func(cfg *runtime.Config) {
				if name == "another parallelism" {
					cfg.Parallelism = 5
				}
			}))
			if notes := strings.Join(d.notes, "\n"); !strings.Contains(notes, c.note) || c.note == "" && notes != "" {
				t.Errorf("notes %q, want %q", d.notes, c.note)
			}
			same(t, "pairs", d.net("pairs", before), d.expected(c.sql, "pairs").minus(gave))
			if strings.Contains(c.sql, "amounts") {
				same(t, "amounts", d.net("amounts", 0), d.expected(c.sql, "amounts"))
			}
		})
	}
}

// What does not fit is refused with what is different, and nothing is changed; --allow-rebuild reads those inputs
// again, and no others.
func TestRebuild(t *testing.T) {
	const names = `INSERT INTO names SELECT id, firstname FROM users;`
	const orders = `INSERT INTO amounts SELECT a.region, b.no, b.amount FROM orders a JOIN orders b ON a.no = b.domain_id;`
	for name, c := range map[string]struct {
		from, to string
		errs     []string
		rebuilt  map[string]bool // sinks that are given everything again
	}{
		"another join key": {pairsSQL + orders, strings.Replace(pairsSQL, "u.id = d.user_id", "u.age = d.user_id", 1) + orders,
			[]string{"read again from the start: users, domains", "changed: Join: (age) = (user_id)", "- Join: (id) = (user_id)", "+ Join: (age) = (user_id)", "--allow-rebuild", "sluice test"},
			map[string]bool{"pairs": true}},
		"a column more": {pairsSQL, strings.Replace(pairsSQL, "u.firstname", "u.firstname || CAST(u.age AS STRING)", 1),
			[]string{"changed: Join", "age BIGINT"}, map[string]bool{"pairs": true}},
		"a join on a table that was only passed on": {names, pairsSQL,
			[]string{"read again from the start: users, domains", "new: Join"}, map[string]bool{"pairs": true}},
		"an INSERT less": {pairsSQL + orders, pairsSQL,
			[]string{"dropped: Join", "forgotten: how far table orders was read"}, map[string]bool{}},
		"an INSERT more on a table of a join": {pairsSQL, pairsSQL + names,
			[]string{"read again from the start: users, domains"}, map[string]bool{"pairs": true, "names": true}},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDirectory(t)
			d.must(d.run(c.from, nil))
			was, err := runtime.RecordPlan(d.planOf(c.from), keepText)
			d.must(err)
			planned, err := was.Compare(d.planOf(c.to), keepText)
			d.must(err)
			if found := d.compare(&runtime.Config{Plan: d.planOf(c.to), StateDir: d.dir, Hooks: &runtime.Hooks{}}); !slices.Equal(planned.Lost, found.Lost) || !slices.Equal(planned.Kept, found.Kept) {
				t.Errorf("of the plan, compared: %v; of the directory: %v", planned, found)
			}
			before := d.log.last
			d.grow(100)
			err = d.run(c.to, nil)
			for _, part := range c.errs {
				if err == nil || !strings.Contains(err.Error(), part) {
					t.Fatalf("refused without %q: %v", part, err)
				}
			}
			d.must(d.run(c.to, func(cfg *runtime.Config) { cfg.AllowRebuild = true }))
			for _, s := range d.plan.Sinks {
				from := uint64(0)
				if c.rebuilt[s.Table] {
					from = before
				}
				same(t, s.Table, d.net(s.Table, from), d.expected(c.to, s.Table))
			}
			// And the state is that of a job without a past.
			rows := d.job.Stats().StateRows
			d.fresh(c.to, func(f *directory) {
				if want := f.job.Stats().StateRows; rows != want {
					t.Errorf("%d rows of state after the rebuild, want %d", rows, want)
				}
			})
		})
	}
}

// The recorded plan has no secrets, and is compared with one that has none: what differs is shown, and not them.
func TestPlansAreComparedWithoutSecrets(t *testing.T) {
	redact := func(cfg *runtime.Config) {
		cfg.Redact = func(text string) string { return strings.ReplaceAll(text, "hunter2", "***") }
	}
	secret := strings.Replace(pairsSQL, "u.id = d.user_id", "u.id = d.user_id AND u.firstname || d.domain_name <> 'hunter2'", 1)
	d := newDirectory(t)
	d.must(d.run(secret, redact))
	err := d.run(strings.Replace(secret, "u.id = d.user_id", "u.age = d.user_id", 1), redact)
	if err == nil || !strings.Contains(err.Error(), "+ Join: (age) = (user_id)") {
		t.Fatalf("refused without the difference: %v", err)
	}
	if text := err.Error(); strings.Contains(text, "hunter2") || strings.Contains(text, "***") {
		t.Errorf("what is the same is shown as different: %s", text)
	}
}

// A directory whose plan is described in another form is refused with both versions' names, and left alone.
func TestOtherSignatureVersion(t *testing.T) {
	d := newDirectory(t)
	d.must(d.run(pairsSQL, nil))
	rewrite := func(from, to string) {
		t.Helper()
		st, err := state.Open(state.Options{Dir: d.dir, MustExist: true})
		d.must(err)
		b, err := st.Meta("plan")
		d.must(err)
		changed := strings.Replace(string(b), from, to, 1)
		if changed == string(b) {
			t.Fatalf("no %s in %s", from, b)
		}
		d.must(st.Edit(state.Edit{Meta: map[string][]byte{"plan": []byte(changed)}}))
		d.must(st.Close())
	}
	const now, other = `"signatures":1,"version":"sluice test"`, `"signatures":99,"version":"sluice 9"`
	rewrite(now, other)
	for _, rebuild := range []bool{false, true} {
		err := d.run(pairsSQL, func(cfg *runtime.Config) { cfg.AllowRebuild = rebuild })
		for _, part := range []string{d.dir, "sluice 9", "form 99", "form 1", "another --state-dir"} {
			if err == nil || !strings.Contains(err.Error(), part) {
				t.Fatalf("refused without %q: %v", part, err)
			}
		}
	}
	rewrite(other, now)
	d.must(d.run(pairsSQL, nil))
	same(t, "pairs", d.net("pairs", 0), d.expected(pairsSQL, "pairs"))
}

// A job that did not end in order is first to be ended in order.
func TestRebuildAfterCrash(t *testing.T) {
	d := newDirectory(t)
	d.crashLogged(pairsSQL)
	d.grow(100)
	changed := strings.Replace(pairsSQL, "u.id = d.user_id", "u.age = d.user_id", 1)
	if err := d.run(pairsSQL+"INSERT INTO amounts SELECT region, no, amount FROM orders;", nil); err == nil || !strings.Contains(err.Error(), "did not end in order") {
		t.Fatalf("a new component on a log to replay: %v", err)
	}
	before := d.log.last
	d.must(d.run(changed, func(cfg *runtime.Config) { cfg.AllowRebuild = true }))
	same(t, "pairs", d.net("pairs", before), d.expected(changed, "pairs"))
	d.grow(50)
	d.must(d.run(changed, nil))
	same(t, "pairs", d.net("pairs", before), d.expected(changed, "pairs"))
}

// State that has lost a checkpoint, by a damaged file or one from an older copy, is told by the epoch log.
func TestLostCheckpoint(t *testing.T) {
	d := newDirectory(t)
	d.must(d.run(pairsSQL, nil))
	d.grow(100)
	d.crashLogged(pairsSQL)
	logged, err := state.ReadLog(state.DefaultFS, d.dir)
	d.must(err)
	var first, cut map[string]any
	d.must(json.Unmarshal(logged[0], &first))
	st, err := state.Open(state.Options{Dir: d.dir, MustExist: true})
	d.must(err)
	d.must(json.Unmarshal(st.Cut(), &cut))
	cut["epoch"] = first["epoch"].(float64) - 2
	older, err := json.Marshal(cut)
	d.must(err)
	d.must(st.Edit(state.Edit{Cut: older}))
	d.must(st.Close())
	err = d.run(pairsSQL, nil)
	for _, part := range []string{d.dir, "a checkpoint is lost", fmt.Sprintf("epochs up to %.0f", cut["epoch"]), "savepoint"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Fatalf("refused without %q: %v", part, err)
		}
	}
}

// Logged epochs are not repeated with an input that they do not know of, wherever it meets those that they do.
func TestNewInputAfterCrash(t *testing.T) {
	const logs = `CREATE TABLE log (id BIGINT, word STRING) WITH ('connector' = 'mem', 'name' = 'log', 'native' = 'append');
		CREATE TABLE log2 (id BIGINT, word STRING) WITH ('connector' = 'mem', 'name' = 'log2', 'native' = 'append');` + pairsSQL
	const one = logs + `INSERT INTO names SELECT id, word FROM log;`
	for name, c := range map[string]struct{ from, to, sink string }{
		"without state": {one, strings.Replace(one, "FROM log;", "FROM log UNION ALL SELECT id, word FROM log2;", 1), "names"},
		"with state":    {logs, strings.Replace(logs, "d.user_id;", "d.user_id UNION ALL SELECT id, word, 'log' FROM log2;", 1), "pairs"},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDirectory(t)
			for _, table := range []string{"log", "log2"} {
				d.hub.SetTable(table, make([][]memconn.Event, 2))
				for i := range int64(300) {
					d.hub.Append(table, int(i%2), memconn.Event{After: []row.Datum{row.Int(i), row.String(table)}})
				}
			}
			d.crashLogged(c.from)
			if err := d.run(c.to, nil); err == nil || !strings.Contains(err.Error(), "did not end in order") {
				t.Fatalf("a new input beside logged ones: %v", err)
			}
			gave := d.expected(c.from, c.sink)
			d.must(d.run(c.from, nil))
			same(t, c.sink, d.net(c.sink, 0), gave)
			before := d.log.last
			d.must(d.run(c.to, nil))
			same(t, c.sink, d.net(c.sink, before), d.expected(c.to, c.sink).minus(gave))
		})
	}
}
