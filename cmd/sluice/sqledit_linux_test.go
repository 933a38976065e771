package main

import (
	"strings"
	"testing"
)

// Keys of a terminal.
const (
	keyUp        = "\x1b[A"
	keyDown      = "\x1b[B"
	keyRight     = "\x1b[C"
	keyLeft      = "\x1b[D"
	keyHome      = "\x1b[H"
	keyEnd       = "\x1b[F"
	keyDelete    = "\x1b[3~"
	keyBackspace = "\x7f"
	keyEnter     = "\r"
	keyEscape    = "\x1b"
)

// ctrl is a letter with the control key, and alt one with the meta key.
func ctrl(letter byte) string { return string(letter & 0x1f) }
func alt(letter byte) string  { return "\x1b" + string(letter) }

// What is typed can be moved in, taken out and put back before it runs.
func TestSQLEditing(t *testing.T) {
	t.Parallel()
	c := startConsole(t, "", nil, "sql")
	for _, e := range []struct{ name, keys, want string }{
		{"a character to the left", "SELECT 12 AS c;" + strings.Repeat(keyLeft, 7) + "0", "102"},
		{"to the right again", "SELECT 12 AS c;" + strings.Repeat(keyLeft, 7) + keyRight + "0", "120"},
		{"the beginning and the end", "ELECT 1 AS c" + keyHome + "S" + keyEnd + ";", "1"},
		{"the same by Ctrl-A and Ctrl-E", "ELECT 2 AS c" + ctrl('A') + "S" + ctrl('E') + ";", "2"},
		{"words to the left", "SELECT x1 AS c;" + strings.Repeat(alt('b'), 4) + keyDelete, "1"},
		{"words to the right", "SELECT 1 AS c;" + ctrl('A') + alt('f') + " 1 +", "2"},
		{"Ctrl with the arrows", "SELECT x1 AS c;" + strings.Repeat("\x1b[1;5D", 4) + keyDelete, "1"},
		{"backspace", "SELECT 99" + keyBackspace + keyBackspace + "4 AS c;", "4"},
		{"delete a word before", "SELECT 5 mistake" + ctrl('W') + "AS c;", "5"},
		{"delete a word behind", "SELECT wrong 6 AS c;" + ctrl('A') + alt('f') + alt('d'), "6"},
		{"delete to the end", "SELECT 7 AS c; what else" + strings.Repeat(keyLeft, 10) + ctrl('K'), "7"},
		{"delete to the beginning, and put back", "1 AS c;" + ctrl('A') + "SELECT " + ctrl('U') + ctrl('Y'), "1"},
		{"undo", "SELECT 8 AS c;" + ctrl('U') + ctrl('_'), "8"},
		{"words beyond ASCII", "SELECT 'größe' mañana" + ctrl('W') + "AS c;", "größe"},
		{"a wide character between others", "SELECT 'ab' AS c;" + strings.Repeat(keyLeft, 8) + "漢z", "a漢zb"},
		{"characters of several runes", "SELECT 'e\u0301👨‍👩‍👧x' AS c;", "e\u0301👨‍👩‍👧x"},
		{"wide characters", "SELECT '漢字かな' AS c;" + strings.Repeat(keyLeft, 8) + keyBackspace, "漢字な"},
	} {
		if s := c.runs(e.keys); !strings.Contains(s, " "+e.want+" |\n") || strings.Contains(s, "[") {
			t.Errorf("%s: %q is not the answer:\n%s", e.name, e.want, s)
		}
	}
	c.quits()
}

// In a statement of several lines the arrows go from line to line, and the history is where the lines end.
func TestSQLEditingLines(t *testing.T) {
	t.Parallel()
	c := startConsole(t, "", nil, "sql")
	c.runs("SELECT 'before';")
	c.types("SELECT 1 AS a,\r2 AS b,\r3 AS c")
	c.shows("sluice> SELECT 1 AS a,", "     -> 3 AS c")
	c.types(keyUp + keyHome + "2")
	c.shows("22 AS b,")
	c.types(keyUp + keyEnd + " 'x' AS x,")
	c.shows("sluice> SELECT 1 AS a, 'x' AS x,")
	c.types(keyDown + keyDown + keyEnd + ";" + keyEnter)
	c.shows("22 |")
	c.asks()
	c.types(keyUp + ctrl('C')) // the whole statement comes back, and is given up
	c.until("the statement, and a prompt below", func(s string) bool { return asking(s) && strings.Count(s, "3 AS c;") == 2 })
	c.quits()
}

// What is pasted is text: it runs when Enter is pressed, and its tabs complete nothing.
func TestSQLPaste(t *testing.T) {
	t.Parallel()
	c := startConsole(t, "", nil, "sql")
	paste := func(text string) { c.types("\x1b[200~" + text + "\x1b[201~") }
	c.asks()
	paste("SELECT\t'grün' AS colour;\nSELECT 'two\r\nlines' AS x;")
	c.shows("lines' AS x;")
	if s := c.sees(); strings.Contains(s, "+--") {
		t.Errorf("it ran before Enter was pressed:\n%s", s)
	}
	c.types(keyEnter)
	c.shows("| grün   |", "| two␊lines |")

	// More than the editor reads at once, and cut within a character.
	long := strings.Repeat("äöü", 700)
	c.asks()
	paste("SELECT '" + long + "' = CONCAT('" + long + "', '') AS same, CHAR_LENGTH('" + long + "') AS n;")
	c.types(keyEnter)
	c.shows("| TRUE | 2100 |")
	c.quits()
}

// The line is seen while it is typed, wherever on the screen the prompt is, and however long it is.
func TestSQLEditingAtTheBottom(t *testing.T) {
	t.Parallel()
	for name, env := range map[string][]string{"colours": nil, "no colours": {"NO_COLOR=1"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := startConsole(t, "", env, "sql")
			for range consoleHeight {
				c.runs("")
			}
			c.types("SELECT 'seen'")
			c.shows("sluice> SELECT 'seen'")
			long := "SELECT '" + strings.Repeat("0123456789", 12)
			c.types(ctrl('U') + long)
			c.shows("sluice> "+long[:consoleWidth-8], "\n"+long[consoleWidth-8:]+"\n")
			c.types(ctrl('U'))
			c.asks()
			edge := "SELECT '" + strings.Repeat("x", consoleWidth-18) + "';" // to the last column
			c.types(edge)
			c.shows("sluice> " + edge)
			c.types(keyEnter)
			c.shows("1 row in set")
			c.runs("SELECT 'two\rlines';")
			c.shows("sluice> SELECT 'two\n     -> lines';\n")
			c.quits()
		})
	}
}
