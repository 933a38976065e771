package planner

import (
	"strings"
	"testing"
	"time"

	"github.com/sluicesql/sluice/engine/expr"
	"github.com/sluicesql/sluice/engine/types"
	"github.com/sluicesql/sluice/sql/ast"
	"github.com/sluicesql/sluice/sql/parser"
)

func TestTimeZone(t *testing.T) {
	at := time.Date(2024, 7, 1, 12, 0, 0, 0, time.UTC)
	for name, want := range map[string]int{
		"UTC": 0, "Europe/Berlin": 7200, "+02:30": 9000, "GMT-8": -28800, "UTC+05:45": 20700, "GMT+02": 7200,
	} {
		loc, err := timeZone(name)
		if err != nil {
			t.Errorf("timeZone(%q): %v", name, err)
			continue
		}
		if _, got := at.In(loc).Zone(); got != want {
			t.Errorf("timeZone(%q) is %d seconds east, want %d", name, got, want)
		}
	}
	for _, name := range []string{"Mars", "+99:00", "GMT+"} {
		if loc, err := timeZone(name); err == nil {
			t.Errorf("timeZone(%q) = %v, want an error", name, loc)
		}
	}
}

func TestSessionOptionDefaultsAreValid(t *testing.T) {
	seen := map[string]bool{}
	for i := range sessionOptions {
		o := &sessionOptions[i]
		if seen[o.Name] {
			t.Errorf("%s is declared twice", o.Name)
		}
		seen[o.Name] = true
		if o.Unsupported != "" {
			continue
		}
		if o.Help == "" {
			t.Errorf("%s has no help", o.Name)
		}
		if o.Default != "" {
			if err := o.check(o.Default); err != nil {
				t.Errorf("the default of %s is refused: %v", o.Name, err)
			}
		}
	}
}

// TestFlinkOptionsAreKnown: each name of Flink's is implemented or refused by name, none is unknown.
func TestFlinkOptionsAreKnown(t *testing.T) {
	for _, name := range []string{
		"parallelism.default", "execution.checkpointing.interval", "state.backend.type", "execution.checkpointing.dir", "state.checkpoints.dir",
		"execution.runtime-mode", "pipeline.name", "table.exec.state.ttl", "table.exec.mini-batch.enabled", "table.exec.mini-batch.allow-latency",
		"table.exec.mini-batch.size", "table.exec.source.idle-timeout", "table.exec.source.cdc-events-duplicate", "table.exec.sink.not-null-enforcer",
		"table.exec.sink.upsert-materialize", "table.local-time-zone", "sql-client.execution.result-mode", "sql-client.execution.max-table-result.rows",
	} {
		if findSessionOption(name) == nil {
			t.Errorf("%s is unknown", name)
		}
	}
}

func TestAssignable(t *testing.T) {
	of := types.Of
	dec := types.DecimalOf
	varchar := func(n int) types.Type { return types.Type{Kind: types.Varchar, Precision: n} }
	for _, c := range []struct {
		from, to types.Type
		ok       bool
	}{
		{of(types.Int), of(types.BigInt), true},
		{of(types.BigInt), of(types.Int), false},
		{of(types.Int), dec(10, 0), true},
		{of(types.Int), dec(9, 0), false},
		{of(types.BigInt), dec(19, 0), true},
		{dec(10, 2), dec(12, 2), true},
		{dec(10, 2), dec(10, 1), false},
		{dec(10, 2), of(types.Double), true},
		{of(types.Double), of(types.Float), false},
		{of(types.Double), dec(38, 10), false},
		{of(types.Float), of(types.Double), true},
		{varchar(5), types.String(), true},
		{types.String(), varchar(5), true},
		{types.String(), of(types.Int), false},
		{of(types.Int), types.String(), false},
		{of(types.Boolean), of(types.Int), false},
		{of(types.Date), types.TimestampOf(3), true},
		{types.TimestampOf(3), of(types.Date), false},
		{types.TimestampOf(3), types.TimestampLTZOf(3), true},
		{types.TimestampOf(9), types.TimestampOf(3), false},
		{of(types.Null), of(types.Date), true},
		{types.ArrayOf(of(types.Int)), types.ArrayOf(of(types.BigInt)), true},
		{types.ArrayOf(of(types.Int)), types.ArrayOf(of(types.Int).Required()), false},
		{types.RowOf(types.Field{Name: "a", Type: of(types.Int)}), types.RowOf(types.Field{Name: "b", Type: of(types.BigInt)}), true},
		{types.RowOf(types.Field{Name: "a", Type: of(types.Int)}), types.RowOf(), false},
		{types.MapOf(types.String(), of(types.Int)), types.MapOf(types.String(), types.String()), false},
	} {
		if ok, _ := assignable(c.from, c.to, nil); ok != c.ok {
			t.Errorf("assignable(%s, %s) = %v, want %v", c.from, c.to, ok, c.ok)
		}
	}
}

// A declared length neither cuts a value off nor refuses it; only CHAR and BINARY that are longer pad it.
func TestAssignedLengths(t *testing.T) {
	for fixed, variable := range map[types.Kind]types.Kind{types.Char: types.Varchar, types.Binary: types.Varbinary} {
		for _, to := range []types.Kind{fixed, variable} {
			for n := 1; n <= 3; n++ {
				ok, cast := assignable(types.Type{Kind: fixed, Precision: 2}, types.Type{Kind: to, Precision: n}, nil)
				if pads := to == fixed && n > 2; !ok || cast != pads {
					t.Errorf("%v(2) to %v(%d): %v, with a cast %v", fixed, to, n, ok, cast)
				}
			}
		}
	}
}

func TestIntervals(t *testing.T) {
	const day = int64(86400e6)
	for text, want := range map[string]int64{
		"INTERVAL '2' YEAR": 24, "INTERVAL '1-6' YEAR TO MONTH": 18, "INTERVAL -'1' MONTH": -1, "INTERVAL '3' QUARTER": 9,
		"INTERVAL '1' DAY": day, "INTERVAL '-1' DAY": -day, "INTERVAL -'-1' DAY": day, "INTERVAL '2' WEEK": 14 * day,
		"INTERVAL '1 12' DAY TO HOUR": day * 3 / 2, "INTERVAL '100' HOUR": 100 * 3600e6, "INTERVAL '01:02' MINUTE TO SECOND": 62e6,
		"INTERVAL '1.5' SECOND": 1500000, "INTERVAL '0.000001' SECOND": 1, "INTERVAL '1 00:00:00.25' DAY TO SECOND": day + 250000,
	} {
		e, err := parser.ParseExpr("", text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		c, err := bindInterval(e.(*ast.Interval))
		if err != nil {
			t.Errorf("%s: %v", text, err)
		} else if got := c.(*expr.Const).Value.I; got != want {
			t.Errorf("%s = %d, want %d", text, got, want)
		}
	}
	for _, text := range []string{
		"INTERVAL '' DAY", "INTERVAL 'x' DAY", "INTERVAL '1 24' DAY TO HOUR", "INTERVAL '1' DAY TO HOUR", "INTERVAL '1.5' DAY",
		"INTERVAL '99999999999999999999' DAY", "INTERVAL '9999999999999999' WEEK",
	} {
		e, err := parser.ParseExpr("", text)
		if err != nil {
			continue // the parser refuses it already
		}
		if c, err := bindInterval(e.(*ast.Interval)); err == nil {
			t.Errorf("%s = %v, want an error", text, c)
		}
	}
}

// fingerprintOf is the fingerprint of a job over users and domains.
func fingerprintOf(t *testing.T, change ...string) string {
	t.Helper()
	text := `
CREATE TABLE users (id BIGINT, name STRING, PRIMARY KEY (id) NOT ENFORCED)
  WITH ('connector' = 'kafka', 'topic' = 'users', 'format' = 'debezium-json', 'scan.startup.mode' = 'earliest-offset');
CREATE TABLE domains (id BIGINT, user_id BIGINT, domain STRING, PRIMARY KEY (id) NOT ENFORCED)
  WITH ('connector' = 'kafka', 'topic' = 'domains', 'format' = 'debezium-json');
CREATE TABLE result (id BIGINT, name STRING, domain STRING) WITH ('connector' = 'print');
INSERT INTO result SELECT u.id, u.name, d.domain FROM users u JOIN domains d ON u.id = d.user_id AND u.name <> d.domain AND u.name > 'a';`
	text = strings.NewReplacer(change...).Replace(text)
	stmts, err := parser.Parse("q.sql", text)
	if err != nil {
		t.Fatal(err)
	}
	script, err := NewSession(fakeRegistry()).Run(stmts)
	if err != nil {
		t.Fatal(err)
	}
	return script.Steps[0].(*Job).Plan.Fingerprint
}

func TestFingerprint(t *testing.T) {
	base := fingerprintOf(t)
	for what, change := range map[string][]string{
		"nothing":          {},
		"start":            {"earliest-offset", "latest-offset"},
		"projection":       {"SELECT u.id, u.name, d.domain", "SELECT u.id, UPPER(u.name), d.domain"},
		"sink":             {"'print'", "'print', 'print-identifier' = 'x'"},
		"another INSERT":   {"'a';", "'a'; INSERT INTO result VALUES (1, 'a', 'b');"},
		"alias":            {"u.", "x.", "users u", "users x"},
		"unread column":    {"name STRING, PRIMARY", "name STRING, more INT, PRIMARY"},
		"broker's address": {"'topic' = 'users'", "'topic' = 'users', 'properties.bootstrap.servers' = 'b:9092'"},
	} {
		same := fingerprintOf(t, change...) == base
		// A further INSERT has a scan or values of its own, so the whole is another job.
		if want := what != "another INSERT"; same != want {
			t.Errorf("%s changed: same fingerprint = %v, want %v", what, same, want)
		}
	}
	for what, change := range map[string][]string{
		"topic":       {"'topic' = 'users'", "'topic' = 'people'"},
		"type":        {"name STRING", "name VARCHAR(10)"},
		"key":         {"PRIMARY KEY (id) NOT ENFORCED)\n  WITH ('connector' = 'kafka', 'topic' = 'domains'", "PRIMARY KEY (id, user_id) NOT ENFORCED)\n  WITH ('connector' = 'kafka', 'topic' = 'domains'"},
		"join key":    {"u.id = d.user_id", "u.id = d.id"},
		"filter":      {"'a';", "'a' AND u.name <> 'x';"},
		"trust":       {"CREATE TABLE users", "SET '" + OptEventsDuplicate + "' = 'false'; CREATE TABLE users"},
		"column used": {" AND u.name <> d.domain", "", "u.name, d.domain", "u.name, 'x'"},
	} {
		if fingerprintOf(t, change...) == base {
			t.Errorf("%s changed, but the fingerprint did not", what)
		}
	}
}

// TestFactsClasses: equal columns stand for each other in keys.
func TestFactsClasses(t *testing.T) {
	f := newFacts()
	f.addKey([]int{1, 2})
	f.addKey([]int{3})
	if !f.isKey([]int{3, 9}) || f.isKey([]int{1}) || !f.isKey([]int{2, 1}) {
		t.Error("keys are not what was added")
	}
	f.merge(1, 7)
	f.rekey()
	if !f.isKey([]int{7, 2}) {
		t.Error("a column equal to one of a key does not stand for it")
	}
	f.consts[f.rep(2)] = true
	f.rekey()
	if !f.isKey([]int{7}) {
		t.Error("a constant is not left out of a key")
	}
	if got := f.visible([]int{7, 3}); len(got) != 2 {
		t.Errorf("visible keys = %v, want two", got)
	}
	f.consts[f.rep(1)] = true
	f.rekey()
	if !f.isKey(nil) {
		t.Error("a key of constants does not make a single row")
	}
}
