package display

import (
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-json"
)

// Layout is a way to write rows.
type Layout uint8

// The layouts.
const (
	Aligned  Layout = iota // columns between lines, as on a terminal
	CSV                    // RFC 4180; a NULL is empty, and an empty text is ""
	JSON                   // an object a line
	Markdown               // a table of GitHub's Markdown
	Expanded               // a line a column, for rows that are wide
)

// Layouts are the names of the layouts, in order. Expanded has none: it is a way to look at an aligned one.
var Layouts = []string{"table", "csv", "json", "markdown"}

// String is the layout's name.
func (l Layout) String() string {
	if l == Expanded {
		return "expanded"
	}
	return Layouts[l]
}

// LayoutNamed is the layout of a name, which must be one of Layouts.
func LayoutNamed(name string) Layout { return Layout(slices.Index(Layouts, name)) }

// Cell is a value as text.
type Cell struct {
	Text string
	Null bool
}

// nullText is what people see of a NULL.
const nullText = "<NULL>"

func (c Cell) text() string {
	if c.Null {
		return nullText
	}
	return c.Text
}

// shown is the value on a line of a terminal.
func (c Cell) shown() string { return Clean(c.text()) }

// Column is a column of a sheet.
type Column struct {
	Name string
	// Right says that values stand at the right, as numbers do.
	Right bool
}

// Sheet writes rows in a layout. Each of its methods appends to buf.
type Sheet struct {
	layout  Layout
	columns []Column
	widths  []int
}

// NewSheet returns a sheet whose columns are as wide as their names; see Measure.
func NewSheet(layout Layout, columns []Column) *Sheet {
	s := &Sheet{layout: layout, columns: columns}
	for _, c := range columns {
		s.widths = append(s.widths, Width(Clean(c.Name)))
	}
	return s
}

// Measure makes the columns wide enough for a row that will be written. Only an aligned sheet needs it.
func (s *Sheet) Measure(cells []Cell) {
	if s.layout != Aligned {
		return
	}
	for i, c := range cells {
		s.widths[i] = max(s.widths[i], Width(c.shown()))
	}
}

// Begin is what comes before the rows.
func (s *Sheet) Begin(buf []byte) []byte {
	switch s.layout {
	case Aligned:
		buf = append(s.Rule(buf), '\n')
		buf = append(s.Header(buf), '\n')
		return append(s.Rule(buf), '\n')
	case CSV:
		for i, c := range s.columns {
			if i > 0 {
				buf = append(buf, ',')
			}
			buf = appendCSV(buf, Cell{Text: c.Name})
		}
		return append(buf, '\n')
	case Markdown:
		var mark []string
		for _, c := range s.columns {
			buf = append(buf, "| "+markdownCell(c.Name)+" "...)
			if c.Right {
				mark = append(mark, "---:")
			} else {
				mark = append(mark, "---")
			}
		}
		return append(buf, "|\n|"+strings.Join(mark, "|")+"|\n"...)
	}
	return buf
}

// Row is row n, counted from 1.
func (s *Sheet) Row(buf []byte, n int, cells []Cell) []byte {
	switch s.layout {
	case Aligned:
		return append(s.Line(buf, cells), '\n')
	case CSV:
		for i, c := range cells {
			if i > 0 {
				buf = append(buf, ',')
			}
			buf = appendCSV(buf, c)
		}
		return append(buf, '\n')
	case JSON:
		return s.object(buf, cells)
	case Markdown:
		for _, c := range cells {
			buf = append(buf, "| "+markdownCell(c.text())+" "...)
		}
		return append(buf, "|\n"...)
	}
	return s.record(buf, n, cells)
}

// End is what comes after the given number of rows.
func (s *Sheet) End(buf []byte, rows int) []byte {
	if s.layout == Aligned && rows > 0 {
		return append(s.Rule(buf), '\n')
	}
	return buf
}

// Rule is a line between parts of an aligned sheet.
func (s *Sheet) Rule(buf []byte) []byte {
	for _, w := range s.widths {
		buf = append(buf, '+')
		for range w + 2 {
			buf = append(buf, '-')
		}
	}
	return append(buf, '+')
}

// Header is the line of the names in an aligned sheet.
func (s *Sheet) Header(buf []byte) []byte {
	for i, c := range s.columns {
		buf = append(buf, "| "...)
		buf = append(Pad(buf, Clean(c.Name), s.widths[i], c.Right), ' ')
	}
	return append(buf, '|')
}

// Line is a row of an aligned sheet, without a line break.
func (s *Sheet) Line(buf []byte, cells []Cell) []byte {
	for i, c := range s.columns {
		buf = append(buf, "| "...)
		buf = append(Pad(buf, cells[i].shown(), s.widths[i], c.Right), ' ')
	}
	return append(buf, '|')
}

// record is a row with a line for each column.
func (s *Sheet) record(buf []byte, n int, cells []Cell) []byte {
	width := 0
	for _, w := range s.widths {
		width = max(width, w)
	}
	buf = fmt.Appendf(buf, "-[ row %d ]%s\n", n, strings.Repeat("-", max(width, 10)))
	for i, c := range s.columns {
		buf = append(Pad(buf, Clean(c.Name), width, false), " | "...)
		buf = append(buf, cells[i].shown()...)
		buf = append(buf, '\n')
	}
	return buf
}

func (s *Sheet) object(buf []byte, cells []Cell) []byte {
	buf = append(buf, '{')
	for i, c := range s.columns {
		if i > 0 {
			buf = append(buf, ',')
		}
		buf = append(appendJSON(buf, c.Name), ':')
		if cells[i].Null {
			buf = append(buf, "null"...)
		} else {
			buf = appendJSON(buf, cells[i].Text)
		}
	}
	return append(buf, "}\n"...)
}

func appendJSON(buf []byte, s string) []byte {
	b, err := json.MarshalWithOption(s, json.DisableHTMLEscape())
	if err != nil {
		panic(err) // a string always has a JSON form
	}
	return append(buf, b...)
}

// appendCSV keeps a NULL, which is empty, apart from an empty text, which is quoted.
func appendCSV(buf []byte, c Cell) []byte {
	if c.Null {
		return buf
	}
	if c.Text != "" && !strings.ContainsAny(c.Text, ",\"\r\n") && c.Text[0] != ' ' && c.Text[len(c.Text)-1] != ' ' {
		return append(buf, c.Text...)
	}
	buf = append(buf, '"')
	buf = append(buf, strings.ReplaceAll(c.Text, `"`, `""`)...)
	return append(buf, '"')
}

// markdown is what Markdown reads as something else within a cell.
var markdown = strings.NewReplacer(`\`, `\\`, "|", `\|`, "*", `\*`, "_", `\_`, "`", "\\`", "~", `\~`, "[", `\[`, "$", `\$`,
	"&", "&amp;", "<", "&lt;", "\n", "<br>", "\r\n", "<br>")

// markdownCell is s as a cell, which is one line of the file.
func markdownCell(s string) string { return Clean(markdown.Replace(s)) }
