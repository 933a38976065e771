package realkafka

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

// supervisor runs its arguments and watches its standard input: a line "term"
// ends them in an orderly way, the end of input kills them. So a server never
// outlives the process that started it, even when that one is killed, and no
// file names a process id that may have passed to another program. REMOVE, if
// set, is deleted at the end.
//
// The watcher reads descriptor 3 because a shell gives background commands
// /dev/null as standard input.
const supervisor = `
exec 3<&0 </dev/null
"$@" 3<&- &
child=$!
( read -r word <&3
  case "$word" in
  term) kill -TERM "$child"; read -r word <&3; kill -KILL "$child" ;;
  *) kill -KILL "$child" ;;
  esac
) 2>/dev/null &
wait "$child"
status=$?
[ -z "$REMOVE" ] || rm -rf "$REMOVE"
exit "$status"
`

// Process is a running program, such as a broker's JVM, under its supervisor.
type Process struct {
	stdin io.WriteCloser
	done  chan struct{} // closed when the supervisor has ended and was waited for
	err   error         // how it ended; valid after done
}

// StartProcess runs argv with its output in logFile. removeAtEnd, if not empty,
// is a folder that is deleted when the process ends, whoever ends it.
func StartProcess(argv []string, logFile *os.File, removeAtEnd string) (*Process, error) {
	cmd := exec.Command("/bin/sh", append([]string{"-c", supervisor, "sh"}, argv...)...)
	cmd.Env = append(os.Environ(), "REMOVE="+removeAtEnd)
	cmd.Stdout, cmd.Stderr = logFile, logFile
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", argv[0], err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", argv[0], err)
	}
	p := &Process{stdin: stdin, done: make(chan struct{})}
	go func() { // ended by term or kill, which wait for done
		p.err = cmd.Wait()
		close(p.done)
	}()
	return p, nil
}

// Term ends the process in an orderly way, or by force when that takes longer
// than patience.
func (p *Process) Term(patience time.Duration) error {
	if _, err := io.WriteString(p.stdin, "term\n"); err != nil {
		return p.Kill()
	}
	select {
	case <-p.done:
		return nil
	case <-time.After(patience):
		return errors.Join(fmt.Errorf("it did not stop within %v and was killed", patience), p.Kill())
	}
}

// Kill ends the process at once, as kill -9 does.
func (p *Process) Kill() error {
	_ = p.stdin.Close() // fails only when the process has ended already
	<-p.done
	return nil
}

// Exited reports whether the process has ended by itself.
func (p *Process) Exited() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}
