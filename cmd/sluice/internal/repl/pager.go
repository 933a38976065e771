package repl

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"github.com/sluicesql/sluice/cmd/sluice/internal/display"
)

// Page writes text to out, a terminal of the given size. What does not fit on it goes through the program that PAGER
// names, less if there is none; PAGER= turns that off. run runs it.
func Page(out *os.File, text []byte, width, height int, run func(*exec.Cmd) error) error {
	pager, set := os.LookupEnv("PAGER")
	if !set {
		pager = "less"
	}
	fields := strings.Fields(pager)
	if len(fields) == 0 || fits(text, width, height) {
		_, err := out.Write(text)
		return err
	}
	path, err := exec.LookPath(fields[0])
	if err != nil {
		_, err := out.Write(text)
		return err
	}
	cmd := exec.Command(path, fields[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(text), out, os.Stderr
	cmd.Env = os.Environ()
	if _, set := os.LookupEnv("LESS"); !set {
		// Lines are cut rather than wrapped, and the text stays on the screen.
		cmd.Env = append(cmd.Env, "LESS=SX")
	}
	err = run(cmd)
	if errors.Is(err, syscall.EPIPE) {
		return nil // it was left before it had read everything
	}
	return err
}

// fits reports whether a text can be seen at once, its long lines wrapped, with a line left for the prompt.
func fits(text []byte, width, height int) bool {
	lines := 0
	for line := range bytes.Lines(text) {
		line = bytes.TrimSuffix(line, []byte("\n"))
		cells := len(line)
		if cells > width {
			cells = display.Width(string(line))
		}
		if lines += max((cells+width-1)/width, 1); lines >= height {
			return false
		}
	}
	return true
}
