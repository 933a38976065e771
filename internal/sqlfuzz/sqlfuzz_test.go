package sqlfuzz

import (
	"os"
	"path/filepath"
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
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no scripts", err)
	}
	engine, err := openSQLite()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		src, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		s, err := oracle.ParseScript(string(src))
		if err != nil {
			t.Fatalf("%s: %v", f, err)
		}
		c, ok := s.For(engine.Name())
		if !ok {
			continue
		}
		if err := c.Run(engine); err != nil {
			t.Errorf("%s: %v", f, err)
		}
	}
}
