package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

const (
	manyRows    = 100_000
	manyRowsSQL = "CREATE TABLE many (n BIGINT) WITH ('connector' = 'datagen', 'rows-per-second' = '10000000', 'fields.n.kind' = 'sequence', 'fields.n.start' = '1', 'fields.n.end' = '100000');"
	// memoryOfMany is what the shell may take for a result of a megabyte or two.
	memoryOfMany = 400 << 20
)

// A long result is written whole, and takes memory by its size.
func TestSQLLongResult(t *testing.T) {
	t.Parallel()
	c := startConsole(t, "", nil, "sql")
	c.runs(manyRowsSQL)
	c.mu.Lock()
	c.blind = true
	c.mu.Unlock()
	c.types("SELECT n FROM many;\r")
	c.until("the prompt behind the end", func(string) bool {
		_, behind, ended := strings.Cut(c.wroteLast(2000), "100,000 rows in set\r\n")
		return ended && strings.Contains(behind, "sluice> ")
	})
	if rows := strings.Count(c.wrote(), "\r\n| "); rows != manyRows+1 {
		t.Errorf("%d rows are on the screen", rows-1)
	}
	checkPeak(t, c)
	c.types("\\q\r")
	if code := c.ends(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// With a pager it goes there, also when the pager is left before its end.
func TestSQLLongResultInPager(t *testing.T) {
	t.Parallel()
	dir := workspace(t)
	pager := "#!/bin/sh\nif [ -e leave ]; then head -n 4; else tail -n 3; fi\n"
	if err := os.WriteFile(filepath.Join(dir, "pager"), []byte(pager), 0o755); err != nil {
		t.Fatal(err)
	}
	c := startConsole(t, dir, []string{"PAGER=./pager"}, "sql")
	c.runs(manyRowsSQL)
	if s := c.runs("SELECT n FROM many;"); !strings.Contains(s, "| 100000 |\n+--------+\n100,000 rows in set\n") || strings.Contains(s, "| 99998") {
		t.Errorf("the pager shows\n%s", s)
	}
	if s := c.runs("SELECT 1 AS short;"); !strings.Contains(s, "|     1 |\n+-------+\n1 row in set") || strings.Count(s, "+-------+") != 3 {
		t.Errorf("a short result goes through the pager:\n%s", s)
	}
	if err := os.WriteFile(filepath.Join(dir, "leave"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if s := c.runs("SELECT n FROM many;"); !strings.HasSuffix(s, "|      1 |\nsluice>\n") {
		t.Errorf("a pager that was left:\n%s", s)
	}
	checkPeak(t, c)
	c.quits()
}

var peak = regexp.MustCompile(`VmHWM:\s*(\d+) kB`)

// checkPeak holds the memory that the shell has taken to what is sane.
func checkPeak(t *testing.T, c *console) {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	m := peak.FindSubmatch(status)
	if m == nil {
		t.Fatalf("no peak in\n%s", status)
	}
	if kb, _ := strconv.Atoi(string(m[1])); kb<<10 > memoryOfMany && len(buildFlags) == 0 {
		t.Errorf("the shell took %d MB", kb>>10)
	}
}

// Bytes that are no UTF-8 are shown as such, wherever they come from, and never reach the terminal.
func TestSQLNotUTF8(t *testing.T) {
	t.Parallel()
	dir := workspace(t)
	if err := os.WriteFile(filepath.Join(dir, "bad.sql"), []byte("SELECT 1 AS one;\nSELECT '\xff\xfe' AS x;\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	c := startConsole(t, dir, nil, "sql")
	if s := c.runs(`\i bad.sql`); !strings.Contains(s, "bad.sql:2:8: the string is not valid UTF-8") {
		t.Errorf("a file:\n%s", s)
	}
	c.asks()
	c.types("\x1b[200~SELECT 'a\xffb' AS x;\x1b[201~\r")
	c.shows("sluice> SELECT 'a\ufffdb' AS x;")
	c.runs("")
	if s := c.runs("SELECT CAST(X'41ff' AS STRING) AS x;"); !strings.Contains(s, "the bytes are no UTF-8") {
		t.Errorf("bytes as a string:\n%s", s)
	}
	if s := c.runs("SELECT X'41ff' AS b, CHR(27) || '[2JB' AS x;"); !strings.Contains(s, "41ff") || !strings.Contains(s, "[2JB |") {
		t.Errorf("bytes, and a string of control characters:\n%s", s)
	}
	if s := c.wrote(); !utf8.ValidString(s) || strings.Contains(s, "\x1b[2JB") {
		t.Error("the terminal was given what is no text")
	}
	c.quits()
}
