package parser

import (
	"strconv"
	"strings"
	"testing"
)

// TestLexPositions checks what a golden file can't hold as text: line ends,
// tabs, a byte order mark, broken UTF-8.
func TestLexPositions(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"a\n b", "a@1:1+0 b@2:2+3"},
		{"a\r\nb\r\n\r\nc", "a@1:1+0 b@2:1+3 c@4:1+8"},
		{"\ta\t\tb", "a@1:2+1 b@1:5+4"},
		{"\uFEFFa b", "a@1:1+3 b@1:3+5"},
		{"é'ü\nx' b", "é@1:1+0 ü\nx@1:2+2 b@2:4+9"},
		{"a\u00a0b\u2003c", "a@1:1+0 b@1:3+3 c@1:5+7"},
		{"/* é\n */ a -- b\nc", "a@2:5+10 c@3:1+17"},
		{"a\xffb", "a@1:1+0 the text is not valid UTF-8 here@1:2+1 b@1:3+2"},
		{"a\x00", "a@1:1+0 the character U+0000 has no meaning here@1:2+1"},
	} {
		var got []string
		for _, tok := range lex(c.text) {
			if tok.kind != tEOF {
				p := &parser{}
				pos := p.posOf(&tok)
				got = append(got, tok.text+"@"+pos.String()+"+"+strconv.Itoa(pos.Offset))
			}
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%q: got %q, want %q", c.text, s, c.want)
		}
	}
}

// TestLexBrackets checks that a bracket finds its own partner, and that a
// semicolon keeps a missing one from pairing up with the next statement's.
func TestLexBrackets(t *testing.T) {
	for text, want := range map[string]string{
		"( [ ] )":       "3 2 1 0",
		"( ( ) ; )":     "-1 2 1 -1 -1",
		"( [ ) ]":       "-1 3 -1 1",
		"( ) ) [":       "1 0 -1 -1",
		"( '(' -- (\n)": "2 -1 0",
	} {
		var got []string
		for _, tok := range lex(text) {
			if tok.kind != tEOF {
				got = append(got, strconv.Itoa(int(tok.mate)))
			}
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%q: got %s, want %s", text, s, want)
		}
	}
}
