package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
)

// console is a terminal with a screen, on which the binary runs and somebody types.
type console struct {
	t    *testing.T
	dir  string
	pty  *os.File
	cmd  *exec.Cmd
	read sync.WaitGroup

	mu     sync.Mutex // guards all below
	screen *vt.Emulator
	raw    []byte
}

const (
	consoleWidth  = 100
	consoleHeight = 30
)

// startConsole runs the binary in a folder; an empty one is a new workspace.
func startConsole(t *testing.T, dir string, env []string, args ...string) *console {
	t.Helper()
	if dir == "" {
		dir = workspace(t)
	}
	ctx, cancel := context.WithTimeout(context.Background(), runTimeout)
	t.Cleanup(cancel)
	c := &console{t: t, dir: dir, cmd: command(ctx, dir, args...), screen: vt.NewEmulator(consoleWidth, consoleHeight)}
	c.cmd.Env = append(append(c.cmd.Env, "TERM=xterm-256color", "LC_ALL=C.UTF-8", "INPUTRC=/dev/null", "PAGER=", "XDG_STATE_HOME="+filepath.Join(dir, "state")), env...)
	var err error
	if c.pty, err = pty.StartWithSize(c.cmd, &pty.Winsize{Rows: consoleHeight, Cols: consoleWidth}); err != nil {
		t.Skipf("no pseudo terminals here: %v", err)
	}
	c.read.Go(func() {
		buf := make([]byte, 4096)
		for {
			n, err := c.pty.Read(buf)
			c.mu.Lock()
			c.raw = append(c.raw, buf[:n]...)
			_, _ = c.screen.Write(buf[:n])
			c.mu.Unlock()
			if err != nil {
				return // EIO: the last process has closed the terminal
			}
		}
	})
	// What the terminal answers when it is asked where the cursor is.
	answers := make(chan struct{})
	go func() {
		defer close(answers)
		buf := make([]byte, 256)
		for {
			n, err := c.screen.Read(buf)
			if err != nil {
				return
			}
			_, _ = c.pty.Write(buf[:n]) // nobody asks any more where that fails
		}
	}()
	t.Cleanup(func() {
		_ = c.cmd.Process.Kill()
		_ = c.pty.Close()
		c.read.Wait()
		_ = c.screen.InputPipe().(io.Closer).Close() // the screen's Close may not be called beside Read
		<-answers
	})
	return c
}

// sees is what is on the screen, without blanks at the ends of lines.
func (c *console) sees() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	lines := strings.Split(c.screen.String(), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n") + "\n"
}

// wrote is all that was written since the start.
func (c *console) wrote() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return string(c.raw)
}

func (c *console) types(keys string) {
	c.t.Helper()
	if _, err := c.pty.Write([]byte(keys)); err != nil {
		c.t.Fatal(err)
	}
}

// until waits until the screen is as it should be.
func (c *console) until(what string, ok func(screen string) bool) string {
	c.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		s := c.sees()
		if ok(s) {
			return s
		}
		if time.Now().After(deadline) {
			c.t.Fatalf("%s: not on the screen:\n%s\nwritten at the end: %q", what, s, c.wrote()[max(0, len(c.wrote())-2000):])
		}
	}
}

// shows waits for texts to be on the screen.
func (c *console) shows(texts ...string) string {
	c.t.Helper()
	return c.until(strings.Join(texts, ", "), func(s string) bool {
		for _, text := range texts {
			if !strings.Contains(s, text) {
				return false
			}
		}
		return true
	})
}

// asks waits for an empty prompt at the end of the screen.
func (c *console) asks() string {
	c.t.Helper()
	return c.until("a prompt", func(s string) bool {
		lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
		return strings.TrimRight(lines[len(lines)-1], " ") == "sluice>"
	})
}

// runs types a line and waits for the next prompt.
func (c *console) runs(line string) string {
	c.t.Helper()
	c.asks()
	c.types(line + "\r")
	c.until("the line "+line, func(s string) bool {
		return !strings.HasSuffix(strings.TrimRight(s, "\n "), "sluice>") || strings.Count(s, "sluice>") > 1
	})
	return c.asks()
}

// ends waits for the binary to end, and returns its exit code.
func (c *console) ends() int {
	c.t.Helper()
	err := c.cmd.Wait()
	if _, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		c.t.Fatal(err)
	}
	return c.cmd.ProcessState.ExitCode()
}
