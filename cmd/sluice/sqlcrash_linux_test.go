package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// The shell can be killed while a pager has the terminal.
func TestSQLKilledInPager(t *testing.T) {
	t.Parallel()
	before := freshTerminalState(t)
	dir := workspace(t)
	// It ends by the SIGHUP that those in front get when the terminal's first process ends.
	pager := "#!/bin/sh\nstty raw -echo <&1\nprintf '\\033[?1049h\\033[?25lpaging'\nexec sleep 1000\n"
	if err := os.WriteFile(filepath.Join(dir, "pager"), []byte(pager), 0o755); err != nil {
		t.Fatal(err)
	}
	c := startConsole(t, dir, []string{"PAGER=./pager"}, "sql")
	c.types("SHOW FUNCTIONS;\r")
	c.shows("paging")
	if err := c.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	c.ends()
	c.givenBack(before)
	c.remembers("SHOW FUNCTIONS;")
}

// The report of a crash can be read on the terminal that was given back, and whole in a file.
func TestSQLCrash(t *testing.T) {
	t.Parallel()
	before := freshTerminalState(t)
	c := startNumbers(t)
	c.asks()
	c.types("SELECT * FROM numbers;\r")
	c.shows("rows 1–24 of 50")
	if err := c.cmd.Process.Signal(syscall.SIGQUIT); err != nil { // by which Go's runtime crashes
		t.Fatal(err)
	}
	c.ends()
	c.givenBack(before)
	c.remembers("SELECT * FROM numbers;")
	raw := c.wrote()
	told := raw[strings.LastIndex(raw, "\x1b[?1049l"):]
	file := regexp.MustCompile(`\nsluice crashed\. The whole report is in (\S+)\r\n$`).FindStringSubmatch(told)
	if file == nil || !strings.Contains(told, "SIGQUIT: quit\r\n") || strings.Count(told, "\r\ngoroutine ") != 1 {
		t.Fatalf("the terminal says\n%s", told)
	}
	report, err := os.ReadFile(file[1])
	if err != nil {
		t.Fatal(err)
	}
	defer os.Remove(file[1])
	if !bytes.HasPrefix(report, []byte("SIGQUIT: quit\n")) || !bytes.Contains(report, []byte("repl.View")) {
		t.Errorf("the report is\n%s", report)
	}
}

// remembers checks that the history is whole, and ends with a statement.
func (c *console) remembers(last string) {
	c.t.Helper()
	history, err := os.ReadFile(filepath.Join(c.dir, "state", "sluice", "history"))
	if err != nil {
		c.t.Fatal(err)
	}
	var entry struct{ SQL string }
	for line := range bytes.Lines(history) {
		if err := json.Unmarshal(line, &entry); err != nil {
			c.t.Errorf("the history has the line %q: %v", line, err)
		}
	}
	if entry.SQL != last {
		c.t.Errorf("the history ends with %q", entry.SQL)
	}
}
