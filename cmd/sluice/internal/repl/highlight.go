package repl

import (
	"strings"
	"unicode"

	"github.com/sluicesql/sluice/sql/parser"
)

// The colours of a statement, of the sixteen that every terminal has and every theme adjusts.
const (
	keywordColour = "\x1b[1;34m"
	nameColour    = "\x1b[36m"
	stringColour  = "\x1b[32m"
	numberColour  = "\x1b[35m"
	wrongColour   = "\x1b[31m"
	commentColour = "\x1b[2m"
	plain         = "\x1b[0m"
)

// Highlighter colours statements. It is for one goroutine.
type Highlighter struct {
	words map[string]string // upper-case words that have a colour
}

// NewHighlighter returns one that knows the keywords and the functions.
func NewHighlighter() *Highlighter {
	h := &Highlighter{words: map[string]string{}}
	for _, f := range functions() {
		h.words[f.Text] = nameColour
	}
	for _, w := range parser.Keywords() {
		h.words[w] = keywordColour
	}
	return h
}

// highlight is the text with colours. Without them it is the text as it was.
func (h *Highlighter) highlight(text string) string {
	if strings.HasPrefix(strings.TrimSpace(text), `\`) {
		return nameColour + text + plain
	}
	var b strings.Builder
	at := 0
	for _, t := range parser.Tokens(text) {
		if t.Start < at || t.End > len(text) {
			continue
		}
		gap(&b, text[at:t.Start])
		at = t.End
		colour := ""
		switch t.Kind {
		case parser.WordToken:
			colour = h.words[strings.ToUpper(t.Text)]
		case parser.StringToken:
			colour = stringColour
		case parser.NumberToken:
			colour = numberColour
		case parser.WrongToken:
			colour = wrongColour
		}
		paint(&b, colour, text[t.Start:t.End])
	}
	gap(&b, text[at:])
	return b.String()
}

// gap writes what lies between tokens: blanks and comments.
func gap(b *strings.Builder, s string) {
	i := strings.IndexFunc(s, func(r rune) bool { return !unicode.IsSpace(r) })
	if i < 0 {
		b.WriteString(s)
		return
	}
	b.WriteString(s[:i])
	paint(b, commentColour, s[i:])
}

// paint colours each line by itself, since the line editor draws them apart.
func paint(b *strings.Builder, colour, s string) {
	if colour == "" || s == "" {
		b.WriteString(s)
		return
	}
	for line := range strings.Lines(s) {
		text := strings.TrimSuffix(line, "\n")
		b.WriteString(colour + text + plain + line[len(text):])
	}
}
