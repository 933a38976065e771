package sqlfuzz

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/sluicesql/sluice/internal/oracle"
)

func openSQLite() (oracle.Engine, error) { return oracle.OpenSQLite() }

// TestRandomQueries holds random queries to SQLite. DuckDB, which has words for more of them, is asked in
// internal/duckoracle.
func TestRandomQueries(t *testing.T) {
	c := Campaign{From: 1, Count: 1500, Workers: 4, Features: For("sqlite"), Open: openSQLite, Out: os.Stderr, Progress: 1 << 62, Reduce: 500}
	if testing.Short() {
		c.Count = 150
	}
	sum, err := c.Run()
	if err != nil {
		t.Fatal(err)
	}
	for seed, s := range sum.Failures {
		t.Errorf("seed %d:\n%s", seed, s)
	}
	// Conditions fold to constants now and then, which leaves joins without an equality; those alone are refused.
	if refused := sum.Counts[Refused] + sum.Counts[Unreadable]; refused > c.Count/10 {
		t.Errorf("%v", &sum)
	}
	for why := range sum.Refusals {
		if !strings.Contains(why, "has no equality") && !strings.Contains(why, "cannot be made by the equality") {
			t.Errorf("refused: %s", why)
		}
	}
	t.Logf("%v, in %s", &sum, sum.Elapsed)
}

// TestScripts runs what once failed.
func TestScripts(t *testing.T) {
	engine, err := openSQLite()
	if err != nil {
		t.Fatal(err)
	}
	if err := oracle.RunScripts("testdata/*.txt", engine); err != nil {
		t.Error(err)
	}
}

// TestGenerated asks whether the generator still writes what docs/sql.md says works, as far as it writes it at all: what
// never occurs is held to nothing.
func TestGenerated(t *testing.T) {
	var all strings.Builder
	for seed := range uint64(2000) {
		c := generate(seed, For("duckdb"))
		for _, v := range append(c.views, &cte{q: c.query}) {
			all.WriteString(v.q.text(sluice) + "\n")
		}
	}
	for _, pattern := range []string{
		"LEFT JOIN t", "RIGHT JOIN ", "FULL JOIN ", "CROSS JOIN t", " USING ", "NATURAL ", "CROSS JOIN LATERAL ", "LEFT JOIN LATERAL ", `LATERAL \(.* LIMIT [1-3]\) AS`, `UNNEST\(`,
		`\(VALUES `, `ON \(*[a-z0-9.]+ IS NOT DISTINCT FROM`, `= [a-z0-9.]+\) AND \([a-z0-9.]+ = [a-z0-9.]+\)`, "WITH w", "UNION ALL", "UNION ", "INTERSECT ALL", "EXCEPT ALL", "INTERSECT ", "EXCEPT ",
		` IN \(SELECT`, `NOT IN \(SELECT`, `= ANY \(SELECT`, `<> ALL \(SELECT`, `EXISTS \(SELECT`, `CASE \(SELECT`, `\) BETWEEN `, ` BETWEEN `, `THEN \(SELECT`, `LIMIT 1\)`,
		`GROUP BY [^()]*\(SELECT`, `HAVING .*\(SELECT`, "ROLLUP", "CUBE", "GROUPING SETS", `GROUPING\(`, `DISTINCT [^)]*\) FILTER`, "WITHIN GROUP", "STDDEV_POP",
		`LAG\(`, `LEAD\(`, `NTILE\(`, "ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING", "RANGE BETWEEN", "DENSE_RANK", "QUALIFY", "SELECT DISTINCT", " OFFSET ",
	} {
		if n := len(regexp.MustCompile(pattern).FindAllString(all.String(), -1)); n < 5 {
			t.Errorf("%d of 2000 queries hold %s", n, pattern)
		}
	}
}
