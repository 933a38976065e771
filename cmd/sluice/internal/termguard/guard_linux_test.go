package termguard

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// endingVariable makes a process of the tests one that has a guard, and ends in the way that it names.
const endingVariable = "TERMGUARD_TEST_ENDING"

func TestMain(m *testing.M) {
	Serve()
	if ending := os.Getenv(endingVariable); ending != "" {
		guarded(ending)
	}
	os.Exit(m.Run())
}

var endings = map[string]func(*Guard){
	"dismissed": func(g *Guard) {
		fmt.Print(giveBack)
		_ = unix.IoctlSetTermios(0, setModes, &g.terminal.modes)
		g.Dismiss()
		g.Dismiss()
	},
	"restored": func(g *Guard) {
		g.Restore()
		g.Dismiss()
	},
	"exit": func(*Guard) { os.Exit(3) },
	"kill": func(*Guard) { _ = unix.Kill(os.Getpid(), unix.SIGKILL) },
	"kill when taken over": func(g *Guard) {
		others := othersModes(g.terminal.modes)
		_ = unix.IoctlSetTermios(0, setModes, &others)
		_ = unix.Kill(os.Getpid(), unix.SIGKILL)
	},
	"panic": func(*Guard) {
		go func() { panic("the reason") }()
		select {}
	},
	"fatal error": func(*Guard) { new(sync.Mutex).Unlock() }, // which is no panic
}

// othersModes are the modes that a shell has at its prompt.
func othersModes(modes unix.Termios) unix.Termios {
	modes.Lflag &^= unix.ECHO | unix.ICANON
	return modes
}

const (
	take     = "\x1b[?1049h\x1b[?25l\x1b[?2004h"
	giveBack = "\x1b[?2004l\x1b[?25h\x1b[?1049l"
)

// guarded starts a guard, takes the terminal, says which process the guard is, and ends when a key is pressed.
func guarded(ending string) {
	g, err := Start(os.Stdin, os.Stdout)
	if err != nil {
		panic(err)
	}
	if _, err := term.MakeRaw(0); err != nil {
		panic(err)
	}
	if ending == "kill at once" {
		endings["kill"](g)
	}
	fmt.Printf(take+"%d\n", g.process.Process.Pid)
	_, _ = os.Stdin.Read(make([]byte, 1))
	endings[ending](g)
	os.Exit(0)
}

// run runs a process with a guard on a terminal up to its ending, before which it calls meanwhile with the process of
// the guard. It returns what was written in the end, when no process has the terminal any more.
func run(t *testing.T, ending string, meanwhile func(guard int)) string {
	t.Helper()
	ours, theirs, err := pty.Open()
	if err != nil {
		t.Skipf("no pseudo terminals here: %v", err)
	}
	defer ours.Close()
	before, err := open(ours, ours)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), endingVariable+"="+ending, "TMPDIR="+t.TempDir())
	cmd.Stdin, cmd.Stdout, cmd.Stderr = theirs, theirs, theirs
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	err = cmd.Start()
	_ = theirs.Close()
	if err != nil {
		t.Fatal(err)
	}
	defer time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() }).Stop()
	in := bufio.NewReader(ours)
	if ending != "kill at once" {
		var guard int
		if _, err := fmt.Fscanf(in, take+"%d\n", &guard); err != nil {
			t.Fatal(err)
		}
		if modes, err := open(ours, ours); err != nil || modes.modes == before.modes {
			t.Fatalf("the terminal is not raw: %v", err)
		}
		if meanwhile != nil {
			meanwhile(guard)
		}
		if _, err := ours.WriteString("x"); err != nil {
			t.Fatal(err)
		}
	}
	written, _ := io.ReadAll(in) // fails when the last process has closed the terminal
	_ = cmd.Wait()               // what it ends with is what it was told to
	want := before.modes
	if ending == "kill when taken over" {
		want = othersModes(want)
	}
	if after, err := open(ours, ours); err != nil || after.modes != want {
		t.Errorf("the terminal is to have the modes %+v, and has %+v, %v", want, after.modes, err)
	}
	return string(written)
}

func TestOrderlyEnd(t *testing.T) {
	t.Parallel()
	for ending, want := range map[string]string{"dismissed": giveBack, "restored": leave + plain} {
		if got := run(t, ending, nil); got != want {
			t.Errorf("%s: %q is written", ending, got)
		}
	}
}

func TestKill(t *testing.T) {
	t.Parallel()
	for _, ending := range []string{"exit", "kill", "kill at once"} {
		if got := run(t, ending, nil); got != leave+plain {
			t.Errorf("%s: %q is written", ending, got)
		}
	}
}

// Who has the terminal already keeps the modes that he gave it.
func TestKillNoticedLate(t *testing.T) {
	t.Parallel()
	if got := run(t, "kill when taken over", nil); got != leave {
		t.Errorf("%q is written", got)
	}
}

// No signal but SIGKILL ends a guard, and who ends processes by their name doesn't find it.
func TestSignalsToTheGuard(t *testing.T) {
	t.Parallel()
	got := run(t, "kill", func(guard int) {
		comm := fmt.Sprintf("/proc/%d/comm", guard)
		for tired := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
			name, err := os.ReadFile(comm)
			if err != nil || time.Now().After(tired) {
				t.Fatalf("the guard is called %q: %v", name, err)
			}
			if string(name) == "tty-guard\n" {
				break
			}
		}
		for _, sig := range []unix.Signal{unix.SIGINT, unix.SIGTERM, unix.SIGHUP, unix.SIGQUIT, unix.SIGTSTP} {
			if err := unix.Kill(guard, sig); err != nil {
				t.Fatal(err)
			}
		}
	})
	if got != leave+plain {
		t.Errorf("%q is written", got)
	}
}

// A crash is told on the terminal that was given back: how the report begins, and the file that has it all. The runtime
// leaves the reason of what is no panic out of the report.
func TestCrash(t *testing.T) {
	t.Parallel()
	for ending, reason := range map[string]string{"panic": "panic: the reason\n", "fatal error": ""} {
		got := run(t, ending, nil)
		_, told, _ := strings.Cut(got, leave+plain)
		_, told, again := strings.Cut(told, leave)
		told = strings.ReplaceAll(told, "\r\n", "\n")
		file := regexp.MustCompile(`(?s)^` + reason + `\ngoroutine \d+ [^\n]+\n.*termguard\.init.*\n\nsluice crashed\. The whole report is in (\S+)\n$`).FindStringSubmatch(told)
		if !again || file == nil {
			t.Fatalf("%s: the terminal says\n%q", ending, got)
		}
		report, err := os.ReadFile(file[1])
		if err != nil || !bytes.HasPrefix(report, []byte(reason+"\ngoroutine ")) {
			t.Errorf("%s: the report is %q, %v", ending, report, err)
		}
	}
}

func TestHead(t *testing.T) {
	const panicked, other = "panic: x\n\ngoroutine 7 [running]:\nmain.f()\n\tf.go:1\n", "\ngoroutine 1 [select]:\nmain.main()\n\tf.go:2\n"
	for report, want := range map[string]string{
		panicked:                 panicked,
		panicked + other + other: panicked,
		other + other:            other,
		"no goroutine":           "no goroutine",
	} {
		if got := string(head([]byte(report))); got != want {
			t.Errorf("the head of %q is %q", report, got)
		}
	}
}

// What is no terminal has no guard, and wants none.
func TestNoTerminal(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	g, err := Start(r, w)
	if err == nil {
		t.Error("a pipe has a guard")
	}
	g.Restore()
	g.Dismiss()
}
