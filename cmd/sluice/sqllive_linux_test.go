package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// numbersSQL is a topic of the numbers 1 to 50, which never ends, and one that they can be copied to.
const numbersSQL = `
CREATE TABLE numbers (n BIGINT, name STRING) WITH ('connector' = 'kafka', 'topic' = 'numbers',
  'properties.bootstrap.servers' = '${KAFKA_BROKERS}', 'scan.startup.mode' = 'earliest-offset', 'format' = 'json');
CREATE TABLE copies (n BIGINT, name STRING) WITH ('connector' = 'kafka', 'topic' = 'copies',
  'properties.bootstrap.servers' = '${KAFKA_BROKERS}', 'scan.startup.mode' = 'earliest-offset', 'scan.bounded.mode' = 'latest-offset', 'format' = 'json');
`

// startNumbers is a shell that knows the tables of numbersSQL.
func startNumbers(t *testing.T) *console {
	t.Helper()
	dir := workspace(t)
	var records strings.Builder
	for n := range 50 {
		fmt.Fprintf(&records, `{"topic":"numbers","key":"%d","value":"{\"n\":%d,\"name\":\"number %d\"}"}`+"\n", n+1, n+1, n+1)
	}
	for name, text := range map[string]string{"numbers.jsonl": records.String(), "numbers.sql": numbersSQL} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return startConsole(t, dir, nil, "sql", "--embed", "numbers.jsonl", "numbers.sql")
}

// firstRow is the first row of the table on the screen: the title, and the three lines of its head, are above.
func firstRow(screen string) string {
	lines := strings.Split(screen, "\n")
	if len(lines) < 5 {
		return ""
	}
	return lines[4]
}

// The result of a query whose inputs have no end is a table that can be moved in, sorted, and looked at as changes
// and rates, until q ends it.
func TestSQLLiveTable(t *testing.T) {
	t.Parallel()
	c := startNumbers(t)
	c.asks()
	c.types("SELECT * FROM numbers;\r")
	c.shows("[table] SELECT * FROM numbers", "rows 1–24 of 50")
	for _, step := range []struct {
		name, keys, first string
		want              []string
	}{
		{"down", keyDown, "|  2 | number 2  |", []string{"rows 2–25 of 50"}},
		{"up", keyUp, "|  1 | number 1  |", []string{"rows 1–24 of 50"}},
		{"a page down", "\x1b[6~", "| 24 | number 24 |", []string{"rows 24–47 of 50"}},
		{"the end", keyEnd, "| 27 | number 27 |", []string{"rows 27–50 of 50"}},
		{"a page up", "\x1b[5~", "|  4 | number 4  |", []string{"rows 4–27 of 50"}},
		{"the beginning", keyHome, "|  1 | number 1  |", []string{"rows 1–24 of 50"}},
		{"sort by a column", "s", "|  1 | number 1  |", []string{"[table by n]"}},
		{"descending", "S", "| 50 | number 50 |", []string{"[table by n, descending]"}},
		{"by the next column", "s", "|  9 | number 9  |", []string{"[table by name, descending]"}},
		{"by none, ascending", "sS", "|  1 | number 1  |", []string{"[table] "}},
		{"to the right", keyRight, "umber 1  |", nil},
		{"and back", keyLeft, "|  1 | number 1  |", nil},
		{"changes", "c", "", []string{"[changelog] SELECT", "| op | ", "| +I | "}},
		{"rates", "r", "", []string{"[rates] SELECT", "records in: ", "changes out: "}},
		{"the next one is the table again", "\t", "|  1 | number 1  |", []string{"[table] SELECT"}},
		{"an export", "erows.csv\r", "", []string{"50 rows are in rows.csv"}},
		{"another", "erows.json\r", "", []string{"50 rows are in rows.json"}},
		{"a third", "erows.md\r", "", []string{"50 rows are in rows.md"}},
		{"one that fails", "enowhere/rows.csv\r", "", []string{"open nowhere/rows.csv: no such file or directory"}},
		{"one that is given up", "enothing" + ctrl('C'), "", []string{"q ends"}},
	} {
		c.types(step.keys)
		c.until(step.name, func(s string) bool {
			return (step.first == "" || firstRow(s) == step.first) && containsAll(s, step.want...)
		})
	}
	c.types("q")
	c.shows("stopped: 50 changes, which left 50 rows in set")
	c.quits()
	for name, want := range map[string]string{
		"rows.csv":  "n,name\n1,number 1\n",
		"rows.json": `{"n":1,"name":"number 1"}` + "\n",
		"rows.md":   "| n | name |\n|---:|---|\n| 1 | number 1 |\n",
	} {
		b, err := os.ReadFile(filepath.Join(c.dir, name))
		if err != nil || !strings.HasPrefix(string(b), want) || !strings.Contains(string(b), "number 50") {
			t.Errorf("%s: %v\n%s", name, err, b)
		}
	}
}

// What is frozen stays as it is while the result goes on.
func TestSQLLiveTableFrozen(t *testing.T) {
	t.Parallel()
	c := startConsole(t, "", nil, "sql")
	c.runs("CREATE TABLE ticks (n BIGINT) WITH ('connector' = 'datagen', 'rows-per-second' = '20');")
	c.types("SELECT COUNT(*) AS ticks FROM ticks;\r")
	count := func(s string) (n int) {
		_, _ = fmt.Sscanf(firstRow(s), "| %d", &n)
		return n
	}
	records := regexp.MustCompile(`([0-9,]+) records in`)
	read := func(s string) (n int) {
		if m := records.FindStringSubmatch(s); m != nil {
			n, _ = strconv.Atoi(strings.ReplaceAll(m[1], ",", ""))
		}
		return n
	}
	c.until("a count", func(s string) bool { return count(s) > 5 })
	c.types(" ")
	c.shows("[table · frozen]")
	begun := read(c.sees())
	// The screen may show a part of a picture: that of now is whole when the next one is begun.
	frozen := c.until("the next picture", func(s string) bool { return read(s) > begun })
	after := c.until("more records", func(s string) bool { return read(s) > read(frozen)+20 })
	if count(after) != count(frozen) {
		t.Errorf("the frozen table has changed from\n%s\nto\n%s", frozen, after)
	}
	c.types(" ")
	c.until("the table goes on", func(s string) bool { return count(s) > count(frozen) })
	c.types(ctrl('C'))
	c.shows("stopped: ")
	c.quits()
}

// The live table takes the size that the terminal has.
func TestSQLLiveTableResized(t *testing.T) {
	t.Parallel()
	c := startNumbers(t)
	c.asks()
	c.types("SELECT * FROM numbers;\r")
	c.shows("rows 1–24 of 50")
	for _, size := range []struct{ width, height int }{{60, 12}, {140, 50}, {20, 8}, {consoleWidth, consoleHeight}, {10, 4}, {80, 24}} {
		c.resizes(size.width, size.height)
		c.until(fmt.Sprintf("a table of %v", size), func(s string) bool {
			lines := strings.Split(strings.TrimSuffix(s, "\n"), "\n")
			if len(lines) != size.height || !strings.HasPrefix(lines[0], "[table]") || !strings.HasPrefix(lines[len(lines)-1], "↑↓") {
				return false
			}
			shown := max(size.height-6, 1)
			return size.height < 7 || strings.Contains(s, fmt.Sprintf("| number %d ", shown)) && !strings.Contains(s, fmt.Sprintf("| number %d ", shown+1))
		})
	}
	c.types("q")
	c.shows("50 rows in set")
	c.quits()
}

// A line that is being typed survives another size of the terminal.
func TestSQLEditorResized(t *testing.T) {
	t.Parallel()
	c := startConsole(t, "", nil, "sql")
	c.asks()
	c.types("SELECT 'a line that is rather long' AS a, 'and goes on' AS b")
	c.shows("'and goes on' AS b")
	c.resizes(40, 20)
	c.shows("\nng' AS a, 'and goes on' AS b\n")
	c.types(", 'and on' AS cc")
	c.shows(", 'and on' A\nS cc\n")
	c.resizes(120, 40)
	c.shows("rather long' AS a, 'and goes on' AS b, 'and on' AS cc\n")
	c.types(", 'to its end' AS d;")
	c.shows("'to its end' AS d;")
	c.types(keyEnter)
	c.shows("| a line that is rather long | and goes on | and on | to its end |")
	c.runs("SELECT 1;")
	c.quits()
}
