package vars

import (
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/sluicesql/sluice/sql/ast"
)

// Text is a script with its variables replaced.
type Text struct {
	File               string
	Original, Expanded string
	// pieces are the replaced parts in order; what lies between them is the same in both texts.
	pieces []piece
}

// piece is a replaced part: its place in the expanded and in the original text, and the variable's name,
// empty for an escape.
type piece struct {
	from, to         int
	origFrom, origTo int
	name             string
}

// Locate turns a place in the expanded text into the place in the original. Within the value of a variable
// that is where the variable stands, and variable is its name.
func (t *Text) Locate(p ast.Pos) (orig ast.Pos, variable string) {
	if !p.IsValid() || len(t.pieces) == 0 {
		return p, ""
	}
	off := p.Offset
	// The last piece that starts at or before the place.
	i := sort.Search(len(t.pieces), func(i int) bool { return t.pieces[i].from > off }) - 1
	// Empty values: of several pieces at one place, the text that follows belongs to none of them.
	if i >= 0 {
		if q := t.pieces[i]; off < q.to {
			off, variable = q.origFrom, q.name
		} else {
			off += q.origTo - q.to
		}
	}
	return Place(p.File, t.Original, off), variable
}

// At is the place in the expanded text of a line and column, which count from 1; false where the text has none such.
func (t *Text) At(line, col int) (ast.Pos, bool) {
	rest := strings.TrimPrefix(t.Expanded, "\uFEFF")
	for range line - 1 {
		_, after, ok := strings.Cut(rest, "\n")
		if !ok {
			return ast.Pos{}, false
		}
		rest = after
	}
	for range col - 1 {
		_, size := utf8.DecodeRuneInString(rest)
		rest = rest[size:]
	}
	at := Place(t.File, t.Expanded, len(t.Expanded)-len(rest))
	return at, at.Line == line && at.Col == col
}

// Place is the place of a byte offset in a text.
func Place(file, src string, off int) ast.Pos {
	off = min(off, len(src))
	before := src[:off]
	before = strings.TrimPrefix(before, "\uFEFF") // a byte order mark is no character of the first line
	start := strings.LastIndexByte(before, '\n') + 1
	return ast.Pos{
		File:   file,
		Line:   1 + strings.Count(before, "\n"),
		Col:    1 + utf8.RuneCountInString(before[start:]),
		Offset: off,
	}
}
