package main

import (
	"cmp"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// SHOW JOBS lists a job of the shell's own once, also when its state directory is not written from the root.
func TestSQLShowsOwnJobOnce(t *testing.T) {
	o := sluice(t, workspace(t), `
CREATE TABLE ticks (n BIGINT) WITH ('connector' = 'datagen', 'rows-per-second' = '10');
CREATE TABLE nowhere (n BIGINT) WITH ('connector' = 'blackhole');
SET 'execution.checkpointing.dir' = 'own-state';
INSERT INTO nowhere SELECT n FROM ticks;
SHOW JOBS;
STOP JOB '1';
`, "sql").succeeded(t)
	if !strings.Contains(o.stdout, "INSERT INTO nowhere") || strings.Contains(o.stdout, "own-state") {
		t.Errorf("its own job is not listed once:\n%s", o.stdout)
	}
}

// An interrupt of a job that a script waits for ends the script.
func TestSQLInterruptEndsScript(t *testing.T) {
	p := start(t, `
CREATE TABLE ticks (n BIGINT) WITH ('connector' = 'datagen', 'rows-per-second' = '10', 'number-of-rows' = '100000', 'fields.n.kind' = 'sequence', 'fields.n.start' = '1', 'fields.n.end' = '100000');
CREATE TABLE sink (n BIGINT) WITH ('connector' = 'print');
INSERT INTO sink SELECT n FROM ticks;
SELECT 'went on' AS x;
`, "sql")
	if l := p.line(); !strings.HasPrefix(l, "+I[") {
		t.Fatalf("the first line is %q", l)
	}
	p.signal(os.Interrupt)
	for {
		l, err := p.lines.ReadString('\n')
		if strings.Contains(l, "went on") {
			t.Error("the script went on")
		}
		if err != nil {
			break
		}
	}
	if code := p.end(); code != exitInterrupted {
		t.Errorf("exit code %d\n%s", code, p.stderr.String())
	}
}

// The rows of a table are in the order that the query asks for, also by what it does not show.
func TestSQLOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	type line struct {
		n    int
		s    string // empty for NULL
		seen string
	}
	var lines []line
	var values []string
	for i := range 200 {
		l := line{n: rng.IntN(40) - 20, seen: fmt.Sprintf("row %d", i)}
		text := "CAST(NULL AS STRING)"
		if rng.IntN(4) > 0 {
			l.s = string(rune('a'+rng.IntN(5))) + strings.Repeat("z", rng.IntN(3))
			text = "'" + l.s + "'"
		}
		lines = append(lines, l)
		values = append(values, fmt.Sprintf("(%d, %s, '%s')", l.n, text, l.seen))
	}
	slices.SortFunc(lines, func(a, b line) int {
		null := func(l line) int {
			if l.s == "" {
				return 1
			}
			return 0
		}
		return cmp.Or(cmp.Compare(null(a), null(b)), -strings.Compare(a.s, b.s), cmp.Compare(a.n, b.n), strings.Compare(a.seen, b.seen))
	})
	want := func(n int) string {
		out := "seen\n"
		for _, l := range lines[:n] {
			out += l.seen + "\n"
		}
		return out
	}
	query := "SELECT seen FROM (VALUES " + strings.Join(values, ", ") + ") AS t(n, s, seen) ORDER BY s DESC NULLS LAST, n, seen"
	dir := workspace(t)
	for text, n := range map[string]int{query: len(lines), query + " LIMIT 17": 17} {
		if o := sluice(t, dir, "", "sql", "--output", "csv", "-e", text).succeeded(t); o.stdout != want(n) {
			t.Errorf("%d rows:\n%s", n, o.stdout)
		}
	}
	if o := sluice(t, dir, query+";", "run", "--result", "table", "-").succeeded(t); strings.Index(o.stdout, lines[0].seen+" ") > strings.Index(o.stdout, lines[1].seen+" ") {
		t.Errorf("run shows\n%s", o.stdout)
	}
}

// The changes of a query that never ends have no order, and an update of what its order alone reads is none of its
// result.
func TestSQLOrderOfChanges(t *testing.T) {
	const table = "CREATE TABLE ticks (n BIGINT) WITH ('connector' = 'datagen', 'rows-per-second' = '10');"
	o := sluice(t, workspace(t), table+"SELECT n FROM ticks ORDER BY n;", "sql")
	if o.code != exitWrong || !strings.Contains(o.stderr, "ORDER BY without LIMIT") {
		t.Errorf("exit code %d\n%s", o.code, o.stderr)
	}
	p := start(t, table+"SELECT 'same' AS x FROM (SELECT MAX(n) AS m FROM ticks) AS t ORDER BY m LIMIT 1;", "sql")
	var seen []string
	for range 4 {
		seen = append(seen, strings.Fields(p.line())...)
	}
	time.Sleep(time.Second) // for changes that should not come
	p.signal(os.Interrupt)
	rest, _ := io.ReadAll(p.lines)
	if code := p.end(); code != exitInterrupted || strings.Contains(string(rest), "same") || !slices.Contains(seen, "same") {
		t.Errorf("exit code %d: %v\n%s", code, seen, rest)
	}
}

// What STOP JOB WITH SAVEPOINT answers goes where results go, as they go.
func TestSQLSavepoint(t *testing.T) {
	dir := workspace(t)
	sluice(t, dir, `
CREATE TABLE ticks (n BIGINT) WITH ('connector' = 'datagen', 'rows-per-second' = '10');
CREATE TABLE nowhere (n BIGINT) WITH ('connector' = 'blackhole');
SET 'execution.checkpointing.dir' = 'state';
SET 'execution.checkpointing.savepoint-dir' = 'saves';
INSERT INTO nowhere SELECT n FROM ticks;
\o answer.csv
STOP JOB '1' WITH SAVEPOINT;
`, "sql", "--output", "csv").succeeded(t)
	b, err := os.ReadFile(filepath.Join(dir, "answer.csv"))
	if err != nil {
		t.Fatal(err)
	}
	path, ok := strings.CutPrefix(string(b), "savepoint path\n")
	if _, err := os.Stat(filepath.Join(dir, strings.TrimSpace(path))); !ok || err != nil {
		t.Errorf("the answer is %q: %v", b, err)
	}
}
