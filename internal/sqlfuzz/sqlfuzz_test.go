package sqlfuzz

import (
	"os"
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
