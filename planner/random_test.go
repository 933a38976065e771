package planner

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/sql/ast"
	"github.com/sluicesql/sluice/sql/parser"
)

const randomDDL = `
CREATE TABLE a (id INT, x INT, y BIGINT, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'kafka', 'topic' = 'a', 'format' = 'debezium-json');
CREATE TABLE b (id INT, x INT, y BIGINT, PRIMARY KEY (id, x) NOT ENFORCED) WITH ('connector' = 'kafka', 'topic' = 'b', 'format' = 'debezium-json');
CREATE TABLE c (id INT, x INT, y BIGINT) WITH ('connector' = 'kafka', 'topic' = 'c', 'format' = 'debezium-json');
CREATE TABLE d (id INT, x INT, y BIGINT) WITH ('connector' = 'datagen');
CREATE VIEW ab AS SELECT a.id, a.x + b.x AS x, b.y FROM a JOIN b ON a.x = b.id;
CREATE VIEW av AS SELECT id, y - 1 AS x, y FROM a WHERE x > 0;
CREATE TABLE out_table (p BIGINT, q BIGINT, r BIGINT) WITH ('connector' = 'print');
CREATE TABLE out_two (p BIGINT, q BIGINT, r BIGINT) WITH ('connector' = 'print', 'sink.parallelism' = '2');
CREATE TABLE out_key (p BIGINT, q BIGINT, r BIGINT, PRIMARY KEY (p, q) NOT ENFORCED)
  WITH ('connector' = 'upsert-kafka', 'topic' = 't', 'key.format' = 'json', 'value.format' = 'json');
`

// randomTables are small, so that keys meet, with NULLs where the declaration allows them.
func randomTables(r *rand.Rand) simTables {
	t := simTables{}
	some := func() row.Datum {
		if r.IntN(8) == 0 {
			return row.NullDatum
		}
		return row.Int(int64(r.IntN(3)))
	}
	for i := range 4 {
		if r.IntN(5) > 0 {
			t["a"] = append(t["a"], []row.Datum{row.Int(int64(i)), some(), some()})
		}
		for k := range 2 {
			if r.IntN(3) > 0 {
				t["b"] = append(t["b"], []row.Datum{row.Int(int64(i)), row.Int(int64(k)), some()})
			}
		}
		for range 1 + r.IntN(2) {
			t["c"] = append(t["c"], []row.Datum{some(), some(), some()})
			t["d"] = append(t["d"], []row.Datum{some(), some(), some()})
		}
	}
	return t
}

// randomQuery is a join of a few tables under aliases t0, t1, …
func randomQuery(r *rand.Rand) string {
	n := 1 + r.IntN(4)
	tables := []string{"a", "b", "c", "d", "ab", "av", "(SELECT id, x + 1 AS x, y FROM b WHERE y >= 0)", "(SELECT id, id AS x, y FROM c WHERE id = 1)",
		"(VALUES (1, 2, CAST(NULL AS BIGINT)), (0, 1, 2))"}
	cols := []string{"id", "x", "y"}
	col := func(i int) string { return fmt.Sprintf("t%d.%s", i, cols[r.IntN(3)]) }
	cond := func(i int) string {
		switch r.IntN(6) {
		case 0:
			return fmt.Sprintf("%s = %d", col(i), r.IntN(3))
		case 1:
			return fmt.Sprintf("%s < %s", col(i), col(r.IntN(i+1)))
		case 2:
			return fmt.Sprintf("%s IS NOT NULL", col(i))
		case 3:
			return fmt.Sprintf("%s + %s > 1", col(i), col(r.IntN(i+1)))
		default:
			return "TRUE"
		}
	}
	var from, where strings.Builder
	comma := false
	for i := range n {
		t := fmt.Sprintf("%s AS t%d (id, x, y)", tables[r.IntN(len(tables))], i)
		var on []string
		if i > 0 {
			for range 1 + r.IntN(2) {
				if r.IntN(3) == 0 { // of one key with its neighbour's
					on = append(on, fmt.Sprintf("t%d.x = t%d.x", i-1, i))
					break
				}
				on = append(on, fmt.Sprintf("%s = %s", col(r.IntN(i)), col(i)))
			}
			if r.IntN(6) == 0 {
				on[0] = fmt.Sprintf("%s + 1 = %s", col(r.IntN(i)), col(i))
			}
		}
		on = append(on, cond(i))
		switch {
		case i == 0:
			from.WriteString(t)
			where.WriteString(cond(i))
		case comma || r.IntN(3) == 0:
			// The equalities go to WHERE. JOIN binds more tightly than the comma, so that an ON after it
			// could not see what is before it.
			comma = true
			from.WriteString(", " + t)
			where.WriteString(" AND " + strings.Join(on, " AND "))
		case r.IntN(8) == 0:
			from.WriteString(" CROSS JOIN " + t)
		default:
			kind := []string{" JOIN ", " LEFT JOIN ", " RIGHT JOIN ", " FULL JOIN "}[max(0, r.IntN(6)-2)]
			from.WriteString(kind + t + " ON " + strings.Join(on, " AND "))
		}
	}
	// Subqueries, in WHERE and as values.
	inner := func(pattern string) string {
		t := fmt.Sprintf("%s AS s (id, x, y)", tables[r.IntN(len(tables))])
		on := fmt.Sprintf("s.%s = %s", cols[r.IntN(3)], col(r.IntN(n)))
		switch r.IntN(4) {
		case 0:
			on += fmt.Sprintf(" AND s.%s < %s", cols[r.IntN(3)], col(r.IntN(n)))
		case 1:
			on += fmt.Sprintf(" AND s.%s = 1", cols[r.IntN(3)])
		}
		return strings.NewReplacer("$in", cols[r.IntN(3)], "$out", col(r.IntN(n)), "$t", t, "$on", on).Replace(pattern)
	}
	for range max(0, r.IntN(4)-1) {
		where.WriteString([]string{" AND ", " OR "}[r.IntN(2)] + inner([]string{
			"EXISTS (SELECT 1 FROM $t WHERE $on)", "NOT EXISTS (SELECT s.$in FROM $t WHERE $on)", "$out IN (SELECT s.$in FROM $t)", "$out NOT IN (SELECT s.$in FROM $t)",
			"$out NOT IN (SELECT s.$in FROM $t WHERE $on)", "$out IN (SELECT s.$in + 1 FROM $t WHERE $on)", "NOT ($out IN (SELECT s.$in FROM $t)) IS NULL",
			"EXISTS (SELECT 1 FROM $t WHERE s.id = 1)",
		}[r.IntN(8)]))
	}
	last := n - 1
	return fmt.Sprintf("SELECT %s, %s, %s FROM %s WHERE %s", col(0), col(last), col(r.IntN(n)), from.String(), where.String())
}

// TestRandomPlans holds plans to the queries they come from: results, unique keys, layouts, exchanges.
func TestRandomPlans(t *testing.T) {
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 1))
		// What a materialise step shows of the rows of one key is not the query's bag: such plans are refused here, and
		// tested in runtime.
		text := randomDDL + "SET 'table.exec.sink.upsert-materialize' = 'NONE';\n"
		if r.IntN(2) == 0 {
			text += "SET '" + OptEventsDuplicate + "' = 'false';\n"
		}
		inserts := 1 + r.IntN(2)
		for range inserts {
			text += "INSERT INTO " + []string{"out_table", "out_two", "out_key"}[r.IntN(3)] + " " + randomQuery(r) + ";\n"
		}
		if fault := checkPlan(text, randomTables(r), inserts); fault != "" {
			t.Fatalf("seed %d: %s\n%s", seed, fault, text)
		}
	}
}

// checkPlan says what is wrong with the plan of a script; empty when nothing is, or when it is refused.
func checkPlan(text string, tables simTables, inserts int) string {
	stmts, err := parser.Parse("q.sql", text)
	if err != nil {
		return err.Error()
	}
	s := NewSession(fakeRegistry())
	script, err := s.Run(stmts)
	if err != nil {
		if strings.Contains(err.Error(), "has no equality") || strings.Contains(err.Error(), "may have one PRIMARY KEY") {
			return ""
		}
		return err.Error()
	}
	sim := &simulator{tables: tables, done: map[Node][]simRow{}}
	plan := script.Steps[0].(*Job).Plan
	for i, st := range stmts[len(stmts)-inserts:] {
		jb := s.newJob(st.Position())
		if err := jb.insert(st.(*ast.Insert)); err != nil {
			return err.Error()
		}
		sink := jb.job.sinks[0]
		var want, got []string
		at := positions(sink.in.out(), sink.ids)
		for _, d := range tables.reference(jb.b.columns, sink.in) {
			want = append(want, fmt.Sprint(pickDatums(d, at)))
		}
		types := plan.Sinks[i].Input.Out().Types()
		for _, r := range sim.run(plan.Sinks[i]) {
			var d []row.Datum
			for c := range types {
				d = append(d, r.r.Get(c, types[c].Phys()))
			}
			got = append(got, fmt.Sprint(d))
		}
		if g, w := bag(got), bag(want); g != w {
			return fmt.Sprintf("got:\n%s\nwant:\n%s\n%s", g, w, plan.Explain())
		}
	}
	if len(sim.faults) > 0 {
		return strings.Join(sim.faults, "; ") + "\n" + plan.Explain()
	}
	return ""
}
