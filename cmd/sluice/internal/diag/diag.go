// Package diag shows errors to people: where, what, the line with a caret under the word, and the remedy.
package diag

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sluicesql/sluice/cmd/sluice/internal/display"
	"github.com/sluicesql/sluice/cmd/sluice/internal/redact"
	"github.com/sluicesql/sluice/internal/fault"
	"github.com/sluicesql/sluice/internal/secret"
	"github.com/sluicesql/sluice/sql/ast"
	"github.com/sluicesql/sluice/sql/parser"
)

// maxExcerpt is how many cells of a source line are shown.
const maxExcerpt = 140

// Printer writes errors.
type Printer struct {
	Out io.Writer
	// Color turns on escape codes.
	Color bool
	// Source gives the text of a file that errors point into; false when there is none.
	Source func(file string) (string, bool)
}

// Print writes err: mistakes in SQL with their source lines, any other error as one paragraph.
func (p *Printer) Print(err error) {
	var list ast.ErrorList
	var one *ast.Error
	switch {
	case errors.As(err, &list):
		for _, e := range list {
			p.mistake(e, "")
		}
	case errors.As(err, &one):
		p.mistake(one, "")
	default:
		p.plain(err)
	}
}

// plain writes an error that is no mistake in a text: its code ends the first line, and its remedy has one of its own.
func (p *Printer) plain(err error) {
	msg, code, hint := fault.Split(err)
	if code != "" {
		first, details, _ := strings.Cut(msg, "\n")
		first, colon := strings.CutSuffix(first, ":")
		msg = first + " [" + string(code) + "]"
		if colon {
			msg += ":"
		}
		if details != "" {
			msg += "\n" + details
		}
	}
	var b strings.Builder
	b.WriteString(p.paint(bold, "sluice:") + " " + clean(msg) + "\n")
	writeHint(&b, hint)
	_, _ = io.WriteString(p.Out, b.String()) // there is nobody left to tell
}

func writeHint(b *strings.Builder, hint string) {
	if hint != "" {
		b.WriteString("      hint: " + clean(hint) + "\n")
	}
}

// Warn writes a lint with its source line.
func (p *Printer) Warn(e *ast.Error) { p.mistake(e, "warning: ") }

func (p *Printer) mistake(e *ast.Error, kind string) {
	var b strings.Builder
	if at := e.Pos.String(); at != "" {
		b.WriteString(p.paint(bold, clean(at)+":") + " ")
	} else {
		b.WriteString(p.paint(bold, "sluice:") + " ")
	}
	b.WriteString(kind + clean(e.Msg))
	if e.Code != "" {
		b.WriteString(" [" + string(e.Code) + "]")
	}
	b.WriteByte('\n')
	if line, lead, width, ok := p.excerpt(e.Pos); ok {
		number := fmt.Sprintf("%5d", e.Pos.Line)
		fmt.Fprintf(&b, "%s | %s\n", number, line)
		fmt.Fprintf(&b, "%s | %s%s\n", strings.Repeat(" ", len(number)), strings.Repeat(" ", lead), p.paint(red, strings.Repeat("^", width)))
	}
	writeHint(&b, e.Hint)
	_, _ = io.WriteString(p.Out, b.String()) // there is nobody left to tell
}

// clean keeps an error's text from driving the terminal; its line breaks stay.
func clean(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = display.Clean(lines[i])
	}
	return strings.Join(lines, "\n")
}

const (
	bold = "1"
	red  = "1;31"
)

func (p *Printer) paint(code, s string) string {
	if !p.Color {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

// excerpt is the source line of a place as it is shown, the number of cells before the word at the place,
// and the number of cells of the word.
func (p *Printer) excerpt(pos ast.Pos) (line string, lead, width int, ok bool) {
	if p.Source == nil || !pos.IsValid() {
		return "", 0, 0, false
	}
	src, ok := p.Source(pos.File)
	if !ok || pos.Offset > len(src) {
		return "", 0, 0, false
	}
	src = mask(src, secret.InMistakes(src))
	start := strings.LastIndexByte(src[:pos.Offset], '\n') + 1
	end := len(src)
	if n := strings.IndexByte(src[pos.Offset:], '\n'); n >= 0 {
		end = pos.Offset + n
	}
	before := show(strings.TrimPrefix(src[start:pos.Offset], "\uFEFF"))
	rest := strings.TrimRight(src[pos.Offset:end], "\r")
	word := rest[:wordLen(rest)]
	after := show(rest[len(word):])
	word = show(word)
	width = min(max(display.Width(word), 1), maxExcerpt/2)
	if lead := display.Width(before); lead > maxExcerpt/2 {
		before = "…" + lastCells(before, maxExcerpt/2-1)
	}
	lead = display.Width(before)
	return strings.TrimRight(display.Cut(before+word+after, maxExcerpt), " "), lead, width, true
}

// Mask writes asterisks over the secrets in the options of a statement without mistakes, byte for byte, so that places
// stay what they are.
func Mask(src string) string { return mask(src, secret.InSQL(src)) }

// MaskTyped is Mask for what somebody typed, which may have mistakes.
func MaskTyped(src string) string {
	if _, err := parser.Parse("", src); err != nil {
		return mask(src, secret.InMistakes(src))
	}
	return Mask(src)
}

func mask(src string, places [][2]int) string {
	b := []byte(src)
	for _, at := range places {
		for i := at[0]; i < at[1]; i++ {
			if b[i] != '\n' && b[i] != '\r' {
				b[i] = '*'
			}
		}
	}
	return string(b)
}

// Hide is e without the secrets in options of src, which its message may quote: those that stand at its place, and values
// that hold a secret, wherever they stand.
func Hide(e *ast.Error, src string) *ast.Error {
	if !e.Pos.IsValid() || e.Pos.Offset > len(src) {
		return e
	}
	var secrets redact.Secrets
	end := e.Pos.Offset + wordLen(src[e.Pos.Offset:])
	for _, o := range secret.Options(src) {
		if o.From < end && o.To > e.Pos.Offset {
			secrets.Add(o.Secrets...)
		}
		if o.Shown != secret.Mask { // a value that is all secret may be a word that the message needs
			secrets.Replace(o.Value, o.Shown)
		}
	}
	safe := *e
	safe.Msg, safe.Hint = secrets.Text(e.Msg), secrets.Text(e.Hint)
	return &safe
}

// show makes a part of a source line fit for the terminal: a tab is one column in positions, and four
// cells here.
func show(s string) string {
	return display.Clean(strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\t", "    "))
}

// lastCells is the longest end of s that takes at most n cells.
func lastCells(s string, n int) string {
	for display.Width(s) > n {
		_, size := utf8.DecodeRuneInString(s)
		s = s[size:]
	}
	return s
}

// wordLen is the length of the word, quoted text, variable or operator that s starts with.
func wordLen(s string) int {
	r, size := utf8.DecodeRuneInString(s)
	switch {
	case size == 0:
		return 0
	case r == '\'' || r == '`' || r == '"':
		for i := 1; i < len(s); i++ {
			if s[i] == byte(r) {
				return i + 1
			}
		}
		return len(s)
	case strings.HasPrefix(s, "${"):
		if n := strings.IndexByte(s, '}'); n >= 0 {
			return n + 1
		}
		return 2
	case inWord(r):
		if n := strings.IndexFunc(s, func(r rune) bool { return !inWord(r) }); n >= 0 {
			return n
		}
		return len(s)
	}
	for _, op := range []string{"<>", "<=", ">=", "!=", "||", "=>", "/*+"} {
		if strings.HasPrefix(s, op) {
			return len(op)
		}
	}
	return size
}

func inWord(r rune) bool {
	return r == '_' || r == '$' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
}
