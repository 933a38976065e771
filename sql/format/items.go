package format

import (
	"strings"

	"github.com/sluicesql/sluice/sql/ast"
	"github.com/sluicesql/sluice/sql/parser"
)

// item is a token or a comment.
type item struct {
	text  string
	start int
	// word is the upper-case form of a word; empty for comments and other tokens.
	word    string
	comment bool
	// lines is the number of line breaks before it, and gap says that blanks or comments stand there.
	lines int
	gap   bool

	// What the layout finds out.
	in   int  // the item that opens the bracket that it stands in; -1 for none
	kind kind // of the bracket that it opens
	ends bool // it closes the bracket in
	// first says that it begins a statement, or a query in brackets.
	first bool
	// pad is the number of blanks before it beside the one that divides words.
	pad int
}

// lineComment says that the rest of the line is the comment's.
func (it *item) lineComment() bool { return it.comment && strings.HasPrefix(it.text, "--") }

// split cuts text at its tokens, which are those of masked, a text of the same length.
func split(file, text, masked string) ([]item, error) {
	var items []item
	at, line := 0, 0 // the end of the last item, and the line breaks since
	space := func(end int) {
		for at < end {
			rest := text[at:end]
			n := commentLen(rest)
			if n == 0 {
				if rest[0] == '\n' {
					line++
				}
				at++
				continue
			}
			gap := len(items) > 0
			items = append(items, item{text: strings.TrimRight(rest[:n], " \t\r"), start: at, comment: true, lines: line, gap: gap})
			at, line = at+n, 0
		}
	}
	for _, t := range parser.Tokens(masked) {
		if t.Kind == parser.WrongToken {
			return nil, badToken(file, text, t)
		}
		before := at
		space(t.Start)
		items = append(items, item{text: text[t.Start:t.End], start: t.Start, word: t.Word, lines: line, gap: before != t.Start})
		at, line = t.End, 0
	}
	space(len(text))
	return items, nil
}

func badToken(file, text string, t parser.Token) error {
	before := text[:t.Start]
	line := strings.LastIndexByte(before, '\n') + 1
	return &ast.Error{
		Pos: ast.Pos{File: file, Line: 1 + strings.Count(before, "\n"), Col: 1 + len([]rune(before[line:])), Offset: t.Start},
		Msg: "this cannot be read, so that the text is not formatted", Code: ast.CodeSyntax,
	}
}

// commentLen is the length of the comment that s starts with, or 0.
func commentLen(s string) int {
	switch {
	case strings.HasPrefix(s, "--"):
		if n := strings.IndexByte(s, '\n'); n >= 0 {
			return n
		}
		return len(s)
	case strings.HasPrefix(s, "/*"):
		if n := strings.Index(s[2:], "*/"); n >= 0 {
			return n + 4
		}
	}
	return 0
}
