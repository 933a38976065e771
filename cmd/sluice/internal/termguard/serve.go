package termguard

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// Serve does the work of a guard and ends the process, if the process was started as one; otherwise it returns at once.
func Serve() {
	if os.Args[0] != name {
		return
	}
	// Whoever ends the process that is watched over by its name means it alone, and must not hit its guard first.
	signal.Ignore(syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGTSTP)
	_ = os.WriteFile("/proc/self/comm", []byte("tty-guard"), 0) // where there is such a file
	err := watch(&terminal{in: os.Stdin, out: os.Stdout}, os.NewFile(3, "pipe"))
	if err != nil {
		os.Exit(1)
	}
	os.Exit(0)
}

// watch waits for the end of the process that is watched over, and gives back the terminal unless it did.
func watch(t *terminal, pipe io.Reader) error {
	if err := binary.Read(pipe, binary.NativeEndian, &t.modes); err != nil {
		return err // it never came to change them
	}
	in := bufio.NewReader(pipe)
	first, err := in.ReadByte()
	switch {
	case err == io.EOF: // killed
		t.restore()
		return nil
	case err != nil || first == inOrder:
		return err
	}
	t.restore() // already now, so that what the runtime writes to the terminal can be read
	_ = in.UnreadByte()
	report, err := io.ReadAll(in)
	t.restore() // again: what ran beside may have painted meanwhile
	if err != nil {
		return err
	}
	return tell(t.out, report)
}

// tell shows the report of a crash: how it begins, and where the whole can be read.
func tell(out io.Writer, report []byte) error {
	file, err := keep(report)
	if err != nil {
		_, err = out.Write(report) // nowhere else
		return err
	}
	w := bufio.NewWriter(out)
	_, _ = w.Write(head(report))
	fmt.Fprintf(w, "\nsluice crashed. The whole report is in %s\n", file)
	return w.Flush()
}

// head is the part of a report up to the end of its first goroutine, which is the one that crashed.
func head(report []byte) []byte {
	goroutine := []byte("\ngoroutine ")
	first := bytes.Index(report, goroutine)
	if first < 0 {
		return report
	}
	from := first + len(goroutine)
	if second := bytes.Index(report[from:], goroutine); second >= 0 {
		return report[:from+second]
	}
	return report
}

// keep writes the report to a file, and returns its name.
func keep(report []byte) (name string, err error) {
	f, err := os.CreateTemp("", "sluice-crash-*.txt")
	if err != nil {
		return "", err
	}
	_, err = f.Write(report)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return f.Name(), err
}
