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

	mu      sync.Mutex // guards all below
	screen  *vt.Emulator
	raw     []byte
	blind   bool          // only raw is kept: the screen takes its time for much text
	changed chan struct{} // closed when the next is written
}

const (
	consoleWidth  = 100
	consoleHeight = 30
	// patience is how long a machine that has much to do may take for what takes milliseconds.
	patience = time.Minute
)

// startConsole runs the binary in a folder; an empty one is a new workspace.
func startConsole(t *testing.T, dir string, env []string, args ...string) *console {
	t.Helper()
	return startConsoleOf(t, consoleWidth, consoleHeight, dir, env, args...)
}

// startConsoleOf is startConsole on a terminal of another size.
func startConsoleOf(t *testing.T, width, height int, dir string, env []string, args ...string) *console {
	t.Helper()
	if dir == "" {
		dir = workspace(t)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*patience)
	t.Cleanup(cancel)
	c := &console{t: t, dir: dir, cmd: command(ctx, dir, args...), screen: vt.NewEmulator(width, height), changed: make(chan struct{})}
	c.cmd.Env = append(append(c.cmd.Env, "TERM=xterm-256color", "LC_ALL=C.UTF-8", "INPUTRC=/dev/null", "PAGER=", "XDG_STATE_HOME="+filepath.Join(dir, "state")), env...)
	var err error
	if c.pty, err = pty.StartWithSize(c.cmd, &pty.Winsize{Rows: uint16(height), Cols: uint16(width)}); err != nil {
		t.Skipf("no pseudo terminals here: %v", err)
	}
	c.read.Go(func() {
		buf := make([]byte, 4096)
		for {
			n, err := c.pty.Read(buf)
			c.mu.Lock()
			c.raw = append(c.raw, buf[:n]...)
			if !c.blind {
				_, _ = c.screen.Write(buf[:n])
			}
			close(c.changed)
			c.changed = make(chan struct{})
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
		holdToCodes(c.t, c.wrote())
		_ = c.screen.InputPipe().(io.Closer).Close() // the screen's Close may not be called beside Read
		<-answers
	})
	return c
}

// sees is what is on the screen, without blanks at the ends of lines.
func (c *console) sees() string {
	s, _ := c.look()
	return s
}

// look is what is on the screen, and a channel that is closed when something is written to it.
func (c *console) look() (screen string, changed <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return trimmed(c.screen.String()), c.changed
}

func trimmed(screen string) string {
	lines := strings.Split(screen, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n") + "\n"
}

// transcript is what was on the screen since the start: the lines that have left it at its upper edge too.
func (c *console) transcript() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var b strings.Builder
	for _, line := range c.screen.Scrollback().Lines() {
		b.WriteString(line.String() + "\n")
	}
	return trimmed(b.String() + c.screen.String())
}

// wrote is all that was written since the start.
func (c *console) wrote() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return string(c.raw)
}

// wroteLast is the last n bytes of that, at most.
func (c *console) wroteLast(n int) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return string(c.raw[max(0, len(c.raw)-n):])
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
	tired := time.After(patience)
	for {
		s, changed := c.look()
		if ok(s) {
			return s
		}
		select {
		case <-changed:
		case <-tired:
			c.t.Fatalf("%s: not on the screen:\n%s\nwritten at the end: %q", what, s, c.wroteLast(2000))
		}
	}
}

// shows waits for texts to be on the screen.
func (c *console) shows(texts ...string) string {
	c.t.Helper()
	return c.until(strings.Join(texts, ", "), func(s string) bool { return containsAll(s, texts...) })
}

func containsAll(s string, texts ...string) bool {
	for _, text := range texts {
		if !strings.Contains(s, text) {
			return false
		}
	}
	return true
}

// asks waits for an empty prompt at the end of the screen.
func (c *console) asks() string {
	c.t.Helper()
	return c.until("a prompt", asking)
}

func asking(screen string) bool { return strings.HasSuffix("\n"+screen, "\nsluice>\n") }

// runs waits for a prompt, types keys and Enter, and returns what is there from that prompt to the one after it.
func (c *console) runs(keys string) string {
	c.t.Helper()
	c.asks()
	before := len(c.prompted())
	c.types(keys + "\r")
	c.until("the prompt after "+keys, func(s string) bool { return asking(s) && len(c.prompted()) > before })
	return strings.Join(c.prompted()[before-1:], "")
}

// repeats runs keys again and again, until their answer has a text.
func (c *console) repeats(keys, want string) {
	c.t.Helper()
	for tired := time.Now().Add(patience); !strings.Contains(c.runs(keys), want); {
		if time.Now().After(tired) {
			c.t.Fatalf("%q is never in the answer to %s:\n%s", want, keys, c.sees())
		}
	}
}

// prompted is what was on the screen since the start, cut in front of each prompt; what came before the first is left out.
func (c *console) prompted() []string {
	parts := strings.Split("\n"+c.transcript(), "\nsluice>")
	for i := range parts {
		parts[i] = "sluice>" + strings.TrimSuffix(parts[i], "\n") + "\n"
	}
	return parts[1:]
}

// quits ends the shell as people do; it has nothing to say about it.
func (c *console) quits() {
	c.t.Helper()
	c.asks()
	c.types("\\q\r")
	if code := c.ends(); code != 0 {
		c.t.Errorf("exit code %d\n%s", code, c.sees())
	}
	if strings.Contains(c.wrote(), "\x1b7\x1b[?1049l") {
		c.t.Error("the terminal is given back as after a crash")
	}
}

// resizes gives the terminal another size.
func (c *console) resizes(width, height int) {
	c.t.Helper()
	c.mu.Lock()
	c.screen.Resize(width, height)
	c.mu.Unlock()
	if err := pty.Setsize(c.pty, &pty.Winsize{Rows: uint16(height), Cols: uint16(width)}); err != nil {
		c.t.Fatal(err)
	}
}

// ends waits for the binary to end, and returns its exit code.
func (c *console) ends() int {
	c.t.Helper()
	err := c.cmd.Wait()
	if _, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		c.t.Fatal(err)
	}
	c.read.Wait() // all that it wrote is on the screen
	return c.cmd.ProcessState.ExitCode()
}
