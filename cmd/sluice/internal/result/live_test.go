package result

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sluicesql/sluice/engine/changelog"
)

// screen interprets as much of a terminal's language as the painter speaks.
type screen struct {
	mu    sync.Mutex
	lines []string
	y     int
}

var sequence = regexp.MustCompile("^\x1b\\[(\\??[0-9]*)([A-Za-z])")

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := string(p)
	line := ""
	for len(text) > 0 {
		if m := sequence.FindStringSubmatch(text); m != nil {
			text = text[len(m[0]):]
			switch m[2] {
			case "A":
				n := 0
				if _, err := fmt.Sscan(m[1], &n); err != nil {
					return 0, err
				}
				s.y -= n
			case "J":
				if m[1] == "2" {
					s.lines = nil
				} else if s.y < len(s.lines) {
					s.lines = s.lines[:s.y]
				}
			case "H":
				s.y = 0
			}
			continue
		}
		switch c := text[0]; c {
		case '\n':
			for len(s.lines) <= s.y {
				s.lines = append(s.lines, "")
			}
			s.lines[s.y] = line
			line = ""
			s.y++
		case '\r':
			line = ""
		default:
			line += text[:1]
		}
		text = text[1:]
	}
	return len(p), nil
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.lines, "\n") + "\n"
}

func TestLiveTable(t *testing.T) {
	var scr screen
	height := 12
	s := open(t, Options{Mode: Table, Out: &scr, Screen: &Screen{
		Size:     func() (int, int) { scr.mu.Lock(); defer scr.mu.Unlock(); return 19, height },
		Status:   func() string { return "running" },
		Interval: time.Millisecond,
	}}, 1)
	w := s.Writer(0)
	shows := func(want string) {
		t.Helper()
		deadline := time.Now().Add(time.Minute)
		for scr.String() != want[1:] {
			if time.Now().After(deadline) {
				t.Fatalf("got\n%swant%s", scr.String(), want)
			}
			time.Sleep(time.Millisecond)
		}
	}
	write(t, w, change{changelog.Insert, 2, "b", 0}, change{changelog.Insert, 1, "a", 0})
	barrier(t, w, 1)
	shows(`
+----+------+-----…
| id | 名前 | pric…
+----+------+-----…
|  1 | a    |  0.0…
|  2 | b    |  0.0…
+----+------+-----…
2 rows in set
running
`)
	var more []change
	for i := range 8 {
		more = append(more, change{changelog.Insert, int64(i + 3), "c", 0})
	}
	write(t, w, append(more, change{changelog.Delete, 1, "a", 0})...)
	barrier(t, w, 2)
	shows(`
+----+------+-----…
| id | 名前 | pric…
+----+------+-----…
|  2 | b    |  0.0…
|  3 | c    |  0.0…
|  4 | c    |  0.0…
|  5 | c    |  0.0…
|  6 | c    |  0.0…
+----+------+-----…
9 rows in set, the…
running
`)
	scr.mu.Lock()
	height = 9
	scr.mu.Unlock()
	const small = `
+----+------+-----…
| id | 名前 | pric…
+----+------+-----…
|  2 | b    |  0.0…
|  3 | c    |  0.0…
+----+------+-----…
9 rows in set, the…
running
`
	shows(small)
	if err := s.Finish(true); err != nil {
		t.Fatal(err)
	}
	shows(small)
}
