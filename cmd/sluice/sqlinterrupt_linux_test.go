package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// Ctrl-C means what runs in front, never a job in the background; and a job that is stopped goes on later from what it
// committed, without losing or repeating anything.
func TestSQLInterruptKeepsWhatIsCommitted(t *testing.T) {
	t.Parallel()
	c := startNumbers(t)
	c.runs("SET 'execution.checkpointing.dir' = 'copying';")
	c.runs("INSERT INTO copies SELECT n, name FROM numbers;")
	c.types("a line that is given up" + ctrl('C'))
	c.until("a prompt below the line", func(s string) bool { return asking(s) && strings.Contains(s, "given up\n") })
	copied := func(n string) {
		t.Helper()
		c.repeats("SELECT COUNT(*) AS copied FROM copies;", "| "+n+" |\n")
	}
	copied("    50")
	if s := c.runs("SHOW JOBS;"); !strings.Contains(s, "RUNNING") {
		t.Errorf("the job in the background does not run:\n%s", s)
	}
	c.runs("STOP JOB '1';")
	if s := c.runs("SHOW JOBS;"); !strings.Contains(s, "STOPPED") {
		t.Errorf("the job was not stopped:\n%s", s)
	}
	c.runs("RESET 'execution.checkpointing.dir'; INSERT INTO numbers VALUES (51, 'later');")
	c.runs(`\wait`)
	c.runs("SET 'execution.checkpointing.dir' = 'copying';")
	c.runs("INSERT INTO copies SELECT n, name FROM numbers;")
	copied("    51")
	c.quits()
}

// The first Ctrl-C stops a statement in order, also a query that is shown as changes.
func TestSQLInterruptedQuery(t *testing.T) {
	t.Parallel()
	c := startNumbers(t)
	c.runs("SET 'sql-client.execution.result-mode' = 'tableau';")
	c.types("SELECT n FROM numbers;\r")
	c.until("all rows", func(s string) bool { return strings.Count(c.transcript(), "\n| +I ") == 50 })
	c.types(ctrl('C'))
	c.shows("interrupted")
	c.runs("SELECT 'goes on' AS x;")
	c.quits()
}

// However the shell ends, the terminal is as it was before.
func TestSQLTerminalIsRestored(t *testing.T) {
	t.Parallel()
	for name, begin := range map[string]func(c *console){
		"in the editor": func(c *console) {
			c.types("SELECT 1")
			c.shows("SELECT 1")
		},
		"in a menu": func(c *console) {
			c.types("SHOW \t")
			c.shows("CATALOGS")
		},
		"in a live table": func(c *console) {
			c.types("SELECT * FROM numbers;\r")
			c.shows("rows 1–24 of 50")
		},
		"in a query": func(c *console) {
			c.types("SET 'sql-client.execution.result-mode' = 'tableau'; SELECT n FROM numbers;\r")
			c.shows("| +I ")
		},
	} {
		for ending, end := range map[string]func(c *console){
			"SIGTERM": func(c *console) { _ = c.cmd.Process.Signal(syscall.SIGTERM) },
			"SIGHUP":  func(c *console) { _ = c.cmd.Process.Signal(syscall.SIGHUP) },
			"SIGKILL": func(c *console) { _ = c.cmd.Process.Kill() },
			"Ctrl-C and then Ctrl-D": func(c *console) {
				c.types(ctrl('C'))
				c.until("a prompt", asking)
				c.types(ctrl('D'))
			},
		} {
			t.Run(ending+" "+name, func(t *testing.T) {
				t.Parallel()
				before := freshTerminalState(t)
				c := startNumbers(t)
				c.asks()
				if asking := terminalState(t, c.pty); *asking == *before {
					t.Error("the editor leaves the terminal as it is: the test sees nothing")
				}
				begin(c)
				end(c)
				c.ends()
				c.givenBack(before)
			})
		}
	}
}

// givenBack checks that the terminal has the state that it had before, and is on its usual screen with its cursor.
func (c *console) givenBack(before *unix.Termios) {
	c.t.Helper()
	if after := terminalState(c.t, c.pty); *after != *before {
		c.t.Errorf("the terminal was %+v, and is %+v", before, after)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.screen.IsAltScreen() || c.screen.CursorHidden() {
		c.t.Errorf("the other screen: %v, the cursor hidden: %v", c.screen.IsAltScreen(), c.screen.CursorHidden())
	}
	for _, mode := range []string{"\x1b[?2004", "\x1b[?1049", "\x1b[?25"} {
		raw := string(c.raw)
		i := strings.LastIndex(raw, mode)
		if i < 0 {
			continue
		}
		if on := raw[i+len(mode)] == 'h'; on != (mode == "\x1b[?25") {
			c.t.Errorf("the mode %q is left as %c", mode, raw[i+len(mode)])
		}
	}
}

// terminalState is how the terminal treats what is typed and written.
func terminalState(t *testing.T, terminal *os.File) (state *unix.Termios) {
	t.Helper()
	raw, err := terminal.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var failed error
	err = raw.Control(func(fd uintptr) { state, failed = unix.IoctlGetTermios(int(fd), unix.TCGETS) })
	if err = errors.Join(err, failed); err != nil {
		t.Fatal(err)
	}
	return state
}

// freshTerminalState is that of a terminal on which nothing was started yet.
func freshTerminalState(t *testing.T) *unix.Termios {
	t.Helper()
	ours, theirs, err := pty.Open()
	if err != nil {
		t.Skipf("no pseudo terminals here: %v", err)
	}
	defer theirs.Close()
	defer ours.Close()
	return terminalState(t, ours)
}

// A Ctrl-C that comes behind Enter, before there is anything to stop, is for what is typed; one that was for an editor
// is not.
func TestSQLEarlyInterrupt(t *testing.T) {
	t.Parallel()
	dir := workspace(t)
	slow := filepath.Join(dir, "slow.sql")
	if err := unix.Mkfifo(slow, 0o600); err != nil {
		t.Fatal(err)
	}
	editor := "#!/bin/sh\ntrap 'echo \"SELECT COUNT(*) AS edited FROM ticks;\" >$1; sleep 0.5; exit 0' INT\necho editing\nwhile :; do sleep 0.1; done\n"
	if err := os.WriteFile(filepath.Join(dir, "editor"), []byte(editor), 0o755); err != nil {
		t.Fatal(err)
	}
	c := startConsole(t, dir, []string{"VISUAL=./editor"}, "sql")
	c.runs(slowTable)
	c.types("\\i slow.sql\r")
	var f *os.File
	for tired := time.Now().Add(patience); f == nil; time.Sleep(10 * time.Millisecond) {
		var err error
		// There is no such device until the shell reads from it.
		if f, err = os.OpenFile(slow, os.O_WRONLY|unix.O_NONBLOCK, 0); err != nil && (!errors.Is(err, unix.ENXIO) || time.Now().After(tired)) {
			t.Fatal(err)
		}
	}
	c.types(ctrl('C'))
	c.shows("^C")
	if _, err := f.WriteString("SHOW CATALOGS;\nSELECT COUNT(*) AS early FROM ticks;\nSELECT 'goes on' AS x;\n"); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	c.shows("default_catalog", "interrupted\n", "goes on")
	c.asks()
	c.types("\\e\r")
	c.shows("editing")
	c.types(ctrl('C'))
	c.shows("AS edited FROM ticks;", " records in · ")
	c.types(ctrl('C'))
	c.until("the edited statement is interrupted", func(s string) bool { return asking(s) && strings.Count(s, "interrupted\n") == 2 })
	c.quits()
}
