package repl

import (
	"strings"
	"testing"
)

// A menu that is cut completes no more than the whole one would.
func TestFitting(t *testing.T) {
	for _, test := range []struct {
		all   string
		room  int
		shown string
		left  int
	}{
		{"a b c", 3, "a b c", 0},
		{"array_a array_b array_c array other", 3, "array_a array_b other", 2},
		{"array_a array_b array_c array", 3, "array_a array_b array", 1},
		{"aa ab ac ad", 2, "aa ab", 2},
		{"a b c", 0, "a b c", 0},
	} {
		var all []Candidate
		for _, text := range strings.Fields(test.all) {
			all = append(all, Candidate{Text: text})
		}
		found, left := fitting(all, test.room)
		var shown []string
		for _, c := range found {
			shown = append(shown, c.Text)
		}
		if strings.Join(shown, " ") != test.shown || left != test.left {
			t.Errorf("%d of %s: %v and %d more", test.room, test.all, shown, left)
		}
	}
}
