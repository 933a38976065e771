package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// What was typed is in the history when it runs, however the shell ends.
func TestSQLHistoryAfterKill(t *testing.T) {
	t.Parallel()
	c := startConsole(t, "", nil, "sql")
	c.runs("SELECT 'before the kill' AS x;")
	c.runs("CREATE TABLE ticks (n BIGINT) WITH ('connector' = 'datagen', 'rows-per-second' = '5');")
	c.types("SELECT COUNT(*) FROM ticks;\r")
	c.shows("[table]")
	if err := c.cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	c.ends()
	c = startConsole(t, c.dir, nil, "sql")
	c.asks()
	c.types(keyUp)
	c.shows("sluice> SELECT COUNT(*) FROM ticks;")
	c.types(keyUp + keyUp)
	c.shows("sluice> SELECT 'before the kill' AS x;")
	c.types(ctrl('C'))
	c.quits()
}

// A history that a crash has torn, or that is no history in parts, is read without those parts, and goes on.
func TestSQLTornHistory(t *testing.T) {
	t.Parallel()
	dir := workspace(t)
	file := filepath.Join(dir, "state", "sluice", "history")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	torn := `{"time":"2026-01-02T03:04:05Z","sql":"SELECT 'first';"}` + "\n\xff\xfe\x00 no JSON\n" +
		`{"time":"2026-01-02T03:04:06Z","sql":"SELECT 'second';"}` + "\n" + `{"time":"2026-01-02T03:04:07Z","sql":"SELECT 'to`
	if err := os.WriteFile(file, []byte(torn), 0o600); err != nil {
		t.Fatal(err)
	}
	c := startConsole(t, dir, nil, "sql")
	c.runs("SELECT 'third';")
	c.types(keyUp + keyUp)
	c.shows("sluice> SELECT 'second';")
	c.types(keyUp)
	c.shows("sluice> SELECT 'first';")
	c.types(ctrl('C'))
	c.quits()
	c = startConsole(t, dir, nil, "sql")
	c.asks()
	c.types(keyUp + keyUp)
	c.shows("sluice> SELECT 'third';")
	c.types(ctrl('C'))
	c.quits()
}

// Ctrl-R searches the history by any part of an input; a history that cannot be kept is said, and hinders nothing.
func TestSQLHistorySearch(t *testing.T) {
	t.Parallel()
	c := startConsole(t, "", nil, "sql")
	for _, s := range []string{"SELECT 'größe' AS first;", "SELECT 'needle' AS second;", "SELECT 'hay' AS third;"} {
		c.runs(s)
	}
	c.types(ctrl('R') + "need")
	c.shows("inc-search): need_\n", "sluice> SELECT 'needle' AS second;\n")
	c.types(keyEnter)
	c.until("it runs", func(s string) bool { return asking(s) && strings.Count(c.transcript(), "| needle |") == 2 })
	c.quits()

	c = startConsole(t, "", nil, "sql", "--history", "/dev/null/nowhere")
	c.shows("history: ")
	c.runs("SELECT 'goes on';")
	c.types(keyUp)
	c.shows("sluice> SELECT 'goes on';\n+")
	c.types(ctrl('C'))
	c.quits()
}
