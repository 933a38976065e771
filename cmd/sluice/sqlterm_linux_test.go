package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A statement may take several lines; it runs when Enter is pressed behind its semicolon.
func TestSQLStatementOfSeveralLines(t *testing.T) {
	c := startConsole(t, "", nil, "sql")
	c.asks()
	c.types("SELECT 1 AS one,\r")
	c.shows("     ->")
	c.types("2 AS two;\r")
	c.shows("|   1 |   2 |", "1 row in set")
	c.quits()
}

func TestSQLCompletion(t *testing.T) {
	c := startConsole(t, "", nil, "sql")
	c.runs("CREATE VIEW customers AS SELECT 1 AS customer_number;")
	c.types("SELECT customer_n")
	c.types("\t") // a column without a table
	c.types(" x FROM cust\t;\r")
	c.shows("FROM customers", `unknown column "customer_n"`)
}

// A FILE that is - is typed up to its end, and nothing is asked for afterwards.
func TestSQLStandardInputTyped(t *testing.T) {
	c := startConsole(t, "", nil, "sql", "-")
	c.types("SELECT 1 AS one;\r\x04")
	c.shows("1 row in set")
	if code := c.ends(); code != 0 || strings.Contains(c.sees(), "sluice>") {
		t.Errorf("exit code %d\n%s", code, c.sees())
	}
}

const slowTable = "CREATE TABLE ticks (n BIGINT) WITH ('connector' = 'datagen', 'rows-per-second' = '5', 'number-of-rows' = '10000');"

// An interrupt is that of the statement that ran, not of the next one.
func TestSQLWatchAfterInterrupt(t *testing.T) {
	c := startConsole(t, "", nil, "sql")
	c.runs(slowTable)
	c.types("SELECT COUNT(*) FROM ticks;\r")
	c.shows(" records in · ")
	c.types("\x03")
	c.shows("interrupted")
	c.runs("SHOW CATALOGS;")
	c.types("\\watch 0.1\r")
	c.until("a second run", func(s string) bool { return strings.Count(s, "(every 100ms)") >= 2 })
	c.types("\x03")
	c.quits()
}

// The line of progress is gone whenever a job in the background writes a row.
func TestSQLProgressBesideOutput(t *testing.T) {
	c := startConsole(t, "", nil, "sql")
	c.runs(slowTable)
	c.runs("CREATE TABLE sink (n BIGINT) WITH ('connector' = 'print');")
	c.runs("INSERT INTO sink SELECT n FROM ticks;")
	c.types("SELECT COUNT(*) FROM ticks;\r")
	c.shows(" records in · ")
	c.until("a row in the place of the progress", func(string) bool { return strings.Contains(c.wrote(), "\r\x1b[K+I[") })
	c.types("\x03")
	c.shows("interrupted")
	c.quits()
}

// What was typed is kept for the next shell, without the values of secret options.
func TestSQLHistory(t *testing.T) {
	c := startConsole(t, "", nil, "sql")
	c.runs("SELECT 'kept' AS x;")
	for _, option := range secretShapes {
		c.runs("CREATE TABLE s (n INT) WITH (" + strings.ReplaceAll(option, "\n", " ") + ");")
	}
	c.runs("CREATE TABLE s (n INT) WITH ('password' 'HIDE');")
	c.quits()
	file := filepath.Join(c.dir, "state", "sluice", "history")
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if s := string(b); !strings.Contains(s, "kept") || !strings.Contains(s, "ssl.keystore.password") || strings.Contains(s, "HIDE") {
		t.Errorf("the history is\n%s", s)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the history's mode: %v %v", info.Mode(), err)
	}
	c = startConsole(t, c.dir, nil, "sql")
	c.asks()
	c.types(strings.Repeat("\x1b[A", len(secretShapes)+3))
	c.shows("sluice> SELECT 'kept' AS x;")
}
