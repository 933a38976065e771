package repl

import (
	"regexp"
	"strings"
	"testing"
)

var colour = regexp.MustCompile("\x1b\\[[0-9;]*m")

// Colours are all that is added to a text, right or wrong, at whatever place its end is, and none goes on beyond its
// line.
func TestHighlightAddsColoursAlone(t *testing.T) {
	h := NewHighlighter()
	for _, text := range []string{
		"SELECT 'it''s', `a``b`, \"x\", 1.5e3 /* c\nd */ -- e\nFROM users AS ü WHERE UPPER(größe) <> '漢\n字';",
		`\d users`, "  \\x", "'\n`\n\"", "\x00\xff\xfe'`\"\\", "", "/* open\n and on",
	} {
		for i := range len(text) + 1 {
			shown := h.highlight(text[:i])
			if plain := colour.ReplaceAllString(shown, ""); plain != text[:i] {
				t.Errorf("%q is shown as %q", text[:i], plain)
			}
			for line := range strings.Lines(shown) {
				if codes := colour.FindAllString(line, -1); len(codes) > 0 && codes[len(codes)-1] != plain {
					t.Errorf("%q: a colour goes on behind %q", text[:i], line)
				}
			}
		}
	}
	for text, want := range map[string]string{
		"SELECT x": keywordColour + "SELECT" + plain + " x", "upper(": nameColour + "upper" + plain + "(", "'a'": stringColour + "'a'" + plain,
		"12": numberColour + "12" + plain, "-- a": commentColour + "-- a" + plain,
	} {
		if got := h.highlight(text); got != want {
			t.Errorf("%q is %q, not %q", text, got, want)
		}
	}
}
