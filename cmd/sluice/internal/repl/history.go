package repl

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// maxHistory is the number of inputs that a history file is cut back to when it has grown to twice as many.
const maxHistory = 5000

// History is what was typed, kept in a file: a JSON object a line, appended in one write, so that several shells can
// share it and a crash harms at most the last line, which is then passed over. It implements the line editor's source
// of history.
type History struct {
	file  string // empty keeps the history in memory alone
	clean func(string) string
	lines []historyLine
}

type historyLine struct {
	Time time.Time `json:"time"`
	SQL  string    `json:"sql"`
}

// OpenHistory reads the history of a file, which need not exist; an empty name keeps it in memory. clean is applied
// to all that is kept, to leave secrets out.
func OpenHistory(file string, clean func(string) string) (*History, error) {
	h := &History{file: file, clean: clean}
	if file == "" {
		return h, nil
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return nil, fmt.Errorf("history: %w", err)
	}
	b, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("history: %w", err)
	}
	for line := range strings.Lines(string(b)) {
		var l historyLine
		if json.Unmarshal([]byte(line), &l) == nil && l.SQL != "" {
			h.lines = append(h.lines, l)
		}
	}
	if len(h.lines) >= 2*maxHistory {
		h.lines = h.lines[len(h.lines)-maxHistory:]
		return h, h.rewrite()
	}
	if len(b) > 0 && b[len(b)-1] != '\n' {
		// A line that was cut short would swallow the next one.
		return h, h.append([]byte{'\n'})
	}
	return h, nil
}

// rewrite replaces the file by what is known, all at once.
func (h *History) rewrite() (err error) {
	f, err := os.CreateTemp(filepath.Dir(h.file), ".history-")
	if err != nil {
		return fmt.Errorf("history: %w", err)
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	w := bufio.NewWriter(f)
	for _, l := range h.lines {
		if _, err := w.Write(l.encode()); err != nil {
			return errors.Join(err, f.Close())
		}
	}
	if err := errors.Join(w.Flush(), f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), h.file)
}

func (l historyLine) encode() []byte {
	b, err := json.Marshal(l)
	if err != nil {
		panic(err) // a time and a string always have a JSON form
	}
	return append(b, '\n')
}

func (h *History) append(b []byte) error {
	f, err := os.OpenFile(h.file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	return errors.Join(err, f.Close())
}

// Write adds an input.
func (h *History) Write(s string) (int, error) {
	s = h.clean(strings.TrimSpace(s))
	if s == "" || len(h.lines) > 0 && h.lines[len(h.lines)-1].SQL == s {
		return len(h.lines), nil
	}
	l := historyLine{time.Now().UTC().Truncate(time.Second), s}
	h.lines = append(h.lines, l)
	if h.file == "" {
		return len(h.lines), nil
	}
	return len(h.lines), h.append(l.encode())
}

var errNoLine = errors.New("no such line of the history")

// GetLine returns input i, the oldest being 0.
func (h *History) GetLine(i int) (string, error) {
	if i < 0 || i >= len(h.lines) {
		return "", errNoLine
	}
	return h.lines[i].SQL, nil
}

// Len is the number of inputs.
func (h *History) Len() int { return len(h.lines) }

// Dump returns all inputs.
func (h *History) Dump() any { return h.lines }
