package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"
)

// terminal is a pseudo terminal on which the binary runs.
type terminal struct {
	t      *testing.T
	master *os.File
	cmd    *exec.Cmd

	mu   sync.Mutex
	seen bytes.Buffer
	read sync.WaitGroup
}

func startOnTerminal(t *testing.T, sql string, env []string, args ...string) *terminal {
	t.Helper()
	master, slave, err := pty.Open()
	if err != nil {
		t.Skipf("no pseudo terminals here: %v", err)
	}
	t.Cleanup(func() { _ = master.Close() })
	defer slave.Close()
	if err := pty.Setsize(slave, &pty.Winsize{Rows: 12, Cols: 100}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), runTimeout)
	t.Cleanup(cancel)
	x := &terminal{t: t, master: master, cmd: command(ctx, workspace(t), args...)}
	x.cmd.Env = append(append(x.cmd.Env, "TERM=xterm"), env...)
	x.cmd.Stdin, x.cmd.Stdout, x.cmd.Stderr = strings.NewReader(sql), slave, slave
	if err := x.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	x.read.Go(func() {
		buf := make([]byte, 4096)
		for {
			n, err := master.Read(buf)
			x.mu.Lock()
			x.seen.Write(buf[:n])
			x.mu.Unlock()
			if err != nil {
				return // EIO: the last process has closed the terminal
			}
		}
	})
	return x
}

func (x *terminal) text() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return strings.ReplaceAll(x.seen.String(), "\r\n", "\n")
}

// shows waits for a text to appear.
func (x *terminal) shows(text string) {
	x.t.Helper()
	for deadline := time.Now().Add(time.Minute); !strings.Contains(x.text(), text); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			x.t.Fatalf("%q does not appear:\n%q", text, x.text())
		}
	}
}

func (x *terminal) end() int {
	x.t.Helper()
	err := x.cmd.Wait()
	if _, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		x.t.Fatal(err)
	}
	x.read.Wait()
	holdToCodes(x.t, x.text())
	return x.cmd.ProcessState.ExitCode()
}

// escape is what moves the cursor or colours what follows.
var escape = regexp.MustCompile(`\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[()][A-Z0-9]|[=>78])`)

// holdToCodes holds what was written to a terminal to the rule that no error lacks its code.
func holdToCodes(t *testing.T, written string) {
	t.Helper()
	var b strings.Builder
	for line := range strings.Lines(escape.ReplaceAllString(written, "")) {
		line = strings.TrimRight(line, "\r\n")
		b.WriteString(line[strings.LastIndexByte(line, '\r')+1:] + "\n") // what was there before was overwritten
	}
	for _, line := range uncoded(b.String()) {
		t.Errorf("an error without a code: %q", line)
	}
}

// The line of progress is gone whenever a row appears, and at the end.
func TestProgressOnTerminal(t *testing.T) {
	x := startOnTerminal(t, strings.ReplaceAll(endlessSQL, "'1000'", "'20'"), nil, "run", "-")
	x.shows(" records in · ")
	x.shows("\r\x1b[K+I[")
	if err := x.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if code := x.end(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	lines := strings.Split(x.text(), "\n")
	if last := lines[len(lines)-2]; !strings.Contains(last, "sluice: stopped after ") || strings.Contains(last, " · ") && !strings.Contains(last, "\r\x1b[Ksluice: ") {
		t.Errorf("the last line is %q", last)
	}
}

func TestQuietOnTerminal(t *testing.T) {
	x := startOnTerminal(t, "SELECT 1 AS one;", nil, "run", "--quiet", "-")
	if code := x.end(); code != 0 || x.text() != "+I[1]\n" {
		t.Errorf("exit code %d, output %q", code, x.text())
	}
}

// A table of an unbounded query is repainted in place, and stays when the job ends.
func TestLiveTableOnTerminal(t *testing.T) {
	x := startOnTerminal(t, endlessSQL, nil, "run", "--result", "table", "-")
	x.shows("rows in set, the first 5 of them shown")
	x.shows("\x1b[11A\r")
	x.shows("Ctrl-C ends")
	if err := x.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if code := x.end(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	x.shows("sluice: stopped after ")
}

func TestColoursOnTerminal(t *testing.T) {
	const colour = "\x1b[1mstdin:1:1:\x1b[0m"
	x := startOnTerminal(t, "SELEC 1;", nil, "run", "-")
	if code := x.end(); code != exitWrong || !strings.Contains(x.text(), colour) {
		t.Errorf("exit code %d, output %q", code, x.text())
	}
	x = startOnTerminal(t, "SELEC 1;", []string{"NO_COLOR=1"}, "run", "-")
	if code := x.end(); code != exitWrong || strings.Contains(x.text(), "\x1b") {
		t.Errorf("NO_COLOR: exit code %d, output %q", code, x.text())
	}
}
