package parser

import "strings"

// kind is a kind of token.
type kind uint8

const (
	tEOF     kind = iota
	tError        // text is the message, kw the hint
	tWord         // a name or a keyword, without quotes
	tQuoted       // a name in backquotes
	tString       // '…'
	tUnicode      // U&'…', escapes not yet resolved
	tBinary       // x'…'
	tInt
	tDecimal
	tDouble
	tOp // an operator or other sign, hint brackets included
)

// token is one token. Tokens are kept for a whole text, so they are small.
type token struct {
	kind      kind
	line, col int32
	// off and end are the token's first byte and the one after its last.
	off, end int32
	// mate is the index of the bracket that belongs to this one, -1 where it
	// has none.
	mate int32
	// text is the name, the string without quotes, the number or the sign.
	text string
	// kw is the upper-case form of a tWord.
	kw string
}

// isOp reports whether t is the given sign.
func (t *token) isOp(op string) bool { return t.kind == tOp && t.text == op }

// isName reports whether t can be a name: a word that isn't reserved, or one
// in backquotes.
func (t *token) isName() bool {
	return t.kind == tQuoted || t.kind == tWord && !reserved[t.kw]
}

// isString reports whether t starts a string literal.
func (t *token) isString() bool { return t.kind == tString || t.kind == tUnicode }

// describe names t in a message.
func (t *token) describe() string {
	switch t.kind {
	case tEOF:
		return "the end of the text"
	case tString, tUnicode:
		return "the string " + quoteText(shorten(t.text))
	case tBinary:
		return "x" + quoteText(shorten(t.text))
	case tWord:
		if reserved[t.kw] {
			return t.kw
		}
	case tOp:
		if t.text == ";" {
			return `";"`
		}
	}
	return `"` + shorten(t.text) + `"`
}

func quoteText(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// shorten keeps a message on one line.
func shorten(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > 40 {
		return string(r[:40]) + "…"
	}
	return s
}
