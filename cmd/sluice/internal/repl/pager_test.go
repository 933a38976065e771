package repl

import (
	"strings"
	"testing"
)

// A text fits as it is drawn: wide characters take two cells, and a line that is too long goes on in the next.
func TestFits(t *testing.T) {
	for _, c := range []struct {
		name, text string
		fits       bool
	}{
		{"nothing", "", true},
		{"a line less than the screen has", strings.Repeat("x\n", 4), true},
		{"as many lines as the screen has", strings.Repeat("x\n", 5), false},
		{"empty lines", strings.Repeat("\n", 5), false},
		{"a line of four rows", strings.Repeat("x", 40) + "\n", true},
		{"a line of five rows", strings.Repeat("x", 41) + "\n", false},
		{"no line break at the end", strings.Repeat("x", 41), false},
		{"wide characters", strings.Repeat("漢", 20) + "\n", true},
		{"one too many of them", strings.Repeat("漢", 21) + "\n", false},
		{"characters of several bytes", strings.Repeat("é", 40) + "\n", true},
	} {
		if got := fits([]byte(c.text), 10, 5); got != c.fits {
			t.Errorf("%s: %t", c.name, got)
		}
	}
}
