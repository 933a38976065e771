package display

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"regexp"
	"strings"
	"testing"
)

// awkward are values that one layout or another could break at.
var awkward = []string{
	"", " ", " a ", "plain", `"`, `""`, "a,b", "a;b", "a\tb", "a\nb", "a\r\nb", "\n", "|", `\`, `\|`, "a|b\\|c", "<b>", "&lt;", "*a*", "_a_", "`a`", "~~a~~",
	"[a](b)", "$x$", "'", "é", "漢字", "\x1b[31m", "\u0000", "\u2028", "NULL", "<NULL>", "#", "- a", "=1+1", "{}", "null", "\uFEFF",
}

func rowsOf(layout Layout, columns int) []byte {
	var cols []Column
	var cells []Cell
	for i := range columns {
		cols = append(cols, Column{Name: awkward[len(awkward)-1-i]})
	}
	s := NewSheet(layout, cols)
	buf := s.Begin(nil)
	n := 0
	for i := 0; i+columns <= len(awkward); i += columns {
		cells = cells[:0]
		for _, text := range awkward[i : i+columns] {
			cells = append(cells, Cell{Text: text})
		}
		n++
		buf = s.Row(buf, n, cells)
	}
	return s.End(buf, n)
}

// Whoever reads a CSV file by RFC 4180 reads the values that were written.
func TestCSVReadsBack(t *testing.T) {
	for _, columns := range []int{1, 2, 3} {
		// The reader of the standard library turns \r\n within quotes into \n.
		got, err := csv.NewReader(bytes.NewReader(rowsOf(CSV, columns))).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		var values []string
		for _, r := range got[1:] {
			values = append(values, r...)
		}
		for i, v := range values {
			if want := strings.ReplaceAll(awkward[i], "\r\n", "\n"); v != want {
				t.Errorf("%d columns: %q was read as %q", columns, want, v)
			}
		}
		if want := len(awkward) / columns * columns; len(values) != want {
			t.Errorf("%d columns: %d values, not %d", columns, len(values), want)
		}
	}
	null := string(NewSheet(CSV, make([]Column, 2)).Row(nil, 1, []Cell{{Null: true}, {Text: ""}}))
	if null != ",\"\"\n" {
		t.Errorf("a NULL and an empty text are %q", null)
	}
}

// Each line of JSON is an object with the values that were written.
func TestJSONReadsBack(t *testing.T) {
	s := NewSheet(JSON, []Column{{Name: "a\"\n"}})
	for _, text := range awkward {
		var got map[string]string
		line := s.Row(nil, 1, []Cell{{Text: text}})
		if err := json.Unmarshal(line, &got); err != nil || got["a\"\n"] != text || bytes.Count(line, []byte("\n")) != 1 {
			t.Errorf("%q is %s %v", text, line, err)
		}
	}
	if got := string(s.Row(nil, 1, []Cell{{Null: true}})); got != "{\"a\\\"\\n\":null}\n" {
		t.Errorf("a NULL is %s", got)
	}
}

// A row of a Markdown table is one line with as many cells as there are columns, and says nothing by its signs.
func TestMarkdownCells(t *testing.T) {
	bare := regexp.MustCompile("(^|[^\\\\])[|*_`~[$]|<[^b]|&[^al]")
	for _, text := range awkward {
		line := string(NewSheet(Markdown, []Column{{Name: "a"}}).Row(nil, 1, []Cell{{Text: text}}))
		cell, ok := strings.CutSuffix(strings.TrimPrefix(line, "| "), " |\n")
		// A pair of backslashes stands for one, and escapes nothing.
		if inner := strings.ReplaceAll(cell, `\\`, "/"); !ok || strings.Contains(cell, "\n") || bare.MatchString(inner) {
			t.Errorf("%q is %q", text, line)
		}
	}
	for text, want := range map[string]string{"a|b": `a\|b`, "a\nb\r\nc": "a<br>b<br>c", "<br>": "&lt;br>", "&lt;": "&amp;lt;", "\x1b": "␛"} {
		if got := markdownCell(text); got != want {
			t.Errorf("%q is %q, not %q", text, got, want)
		}
	}
}

// On a terminal a row is one line, or one for each column, and all lines are of one width.
func TestSheetsOfLines(t *testing.T) {
	cells := make([]Cell, 0, len(awkward))
	for _, text := range awkward {
		cells = append(cells, Cell{Text: text})
	}
	cells = append(cells, Cell{Null: true})
	s := NewSheet(Aligned, []Column{{Name: "a"}})
	for _, c := range cells {
		s.Measure([]Cell{c})
	}
	width := Width(string(s.Rule(nil)))
	for _, c := range cells {
		if line := string(s.Line(nil, []Cell{c})); strings.ContainsAny(line, "\n\r\x1b") || Width(line) != width {
			t.Errorf("%q is %q, %d cells of %d", c.Text, line, Width(line), width)
		}
		if rec := string(NewSheet(Expanded, []Column{{Name: "a"}}).Row(nil, 1, []Cell{c})); strings.Count(rec, "\n") != 2 {
			t.Errorf("%q is %q", c.Text, rec)
		}
	}
}
