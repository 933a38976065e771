// Package termguard gives a terminal back when the process that changed its modes crashes: panics, or is killed in a way
// that it cannot notice.
//
// A process of the same binary, the guard, waits at the end of a pipe, whose other end closes with the process that is
// watched over. What comes through it is, in this order: the terminal's modes; and either the report of a crash, or the
// byte that says that all is in order.
package termguard

import (
	"encoding/binary"
	"os"
	"os/exec"
	"runtime/debug"
	"sync"
	"syscall"
)

// Guard watches over a terminal. A nil Guard watches over none.
type Guard struct {
	terminal *terminal
	pipe     *os.File // nil: there is no process
	process  *exec.Cmd
	once     sync.Once
}

// name is how the process of a guard is called, by which it knows that it is one.
const name = "sluice-terminal-guard"

// inOrder is the byte that says that the terminal is as it was. No report of a crash begins with it.
const inOrder = 0

// Start has a guard watch over the terminal on which in and out are open, and which has the modes now that it is to have
// after a crash. The process must call Serve before anything else. With an error a crash may leave the terminal as it is;
// the Guard can be used all the same.
func Start(in, out *os.File) (*Guard, error) {
	t, err := open(in, out)
	if err != nil {
		return nil, err
	}
	g := &Guard{terminal: t}
	return g, g.start()
}

func (g *Guard) start() error {
	executable, err := os.Executable()
	if err != nil {
		return err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer r.Close()
	cmd := exec.Command(executable)
	cmd.Args = []string{name}
	cmd.Dir = "/" // no folder is in use by it
	cmd.Stdin, cmd.Stdout, cmd.ExtraFiles = g.terminal.in, g.terminal.out, []*os.File{r}
	// In a session of its own no key is a signal for it, and the terminal never stops it for being in the background.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err = binary.Write(w, binary.NativeEndian, g.terminal.modes); err == nil {
		err = cmd.Start()
	}
	if err == nil {
		g.pipe, g.process = w, cmd
		return debug.SetCrashOutput(w, debug.CrashOptions{})
	}
	_ = w.Close()
	return err
}

// Restore gives the terminal the modes that it had at the start.
func (g *Guard) Restore() {
	if g != nil {
		g.terminal.restore()
	}
}

// Dismiss ends the guard: the terminal is as it was. It must not be deferred, since a panic runs what is deferred before
// it ends the process.
func (g *Guard) Dismiss() {
	if g == nil || g.pipe == nil {
		return
	}
	g.once.Do(func() {
		// The guard of a closed pipe ends, whatever became of it.
		_ = debug.SetCrashOutput(nil, debug.CrashOptions{})
		_, _ = g.pipe.Write([]byte{inOrder})
		_ = g.pipe.Close()
		_ = g.process.Wait()
	})
}
