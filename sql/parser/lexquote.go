package parser

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// quotedEnd gives the length of the quoted text at the current place, quotes
// included, a doubled quote standing for itself; false when it isn't closed.
func (l *lexer) quotedEnd(quote byte) (int, bool) {
	s := l.src[l.off:]
	for i := 1; i < len(s); i++ {
		if s[i] != quote {
			continue
		}
		if i+1 < len(s) && s[i+1] == quote {
			i++
			continue
		}
		return i + 1, true
	}
	return len(s), false
}

// inner takes the quotes off a quoted text and undoubles those within.
func inner(s string, quote string) string {
	s = s[1 : len(s)-1]
	if strings.Contains(s, quote) {
		s = strings.ReplaceAll(s, quote+quote, quote)
	}
	return s
}

func (l *lexer) str(m mark, k kind) {
	n, ok := l.quotedEnd('\'')
	raw := l.src[l.off : l.off+n]
	l.advance(n)
	switch {
	case !ok:
		l.fail(m, "the string is never closed", "end it with ', and write '' for a quote within it")
	case !utf8.ValidString(raw):
		l.fail(m, "the string is not valid UTF-8", "save the file as UTF-8")
	default:
		l.emit(m, k, inner(raw, "'"), "")
	}
}

func (l *lexer) quoted(m mark) {
	n, ok := l.quotedEnd('`')
	raw := l.src[l.off : l.off+n]
	l.advance(n)
	switch {
	case !ok:
		l.fail(m, "the name in backquotes is never closed", "end it with `, and write `` for a backquote within it")
	case len(raw) == 2:
		l.fail(m, "the name in backquotes is empty", "")
	case !utf8.ValidString(raw):
		l.fail(m, "the name is not valid UTF-8", "save the file as UTF-8")
	default:
		l.emit(m, tQuoted, inner(raw, "`"), "")
	}
}

// doubleQuoted refuses "…": other dialects read it as a name or as a string,
// and guessing would make one of the two wrong in silence.
func (l *lexer) doubleQuoted(m mark) {
	n, ok := l.quotedEnd('"')
	raw := l.src[l.off : l.off+n]
	l.advance(n)
	if !ok {
		l.fail(m, "the double quote is never closed", "names stand in `backquotes`, strings in 'single quotes'")
		return
	}
	text := shorten(inner(raw, `"`))
	l.fail(m, `"`+text+`" in double quotes has no meaning`,
		"write `"+text+"` for a name or '"+text+"' for a string")
}

func (l *lexer) binary(m mark) {
	l.advance(1)
	n, ok := l.quotedEnd('\'')
	raw := l.src[l.off : l.off+n]
	l.advance(n)
	if !ok {
		l.fail(m, "the binary literal is never closed", "end it with '")
		return
	}
	text := inner(raw, "'")
	for _, r := range text {
		if !unicode.Is(unicode.ASCII_Hex_Digit, r) {
			l.fail(m, "a binary literal holds hex digits, not "+quoteRune(r), "")
			return
		}
	}
	if len(text)%2 != 0 {
		l.fail(m, "a binary literal holds an even number of hex digits", "put a 0 in front")
		return
	}
	l.emit(m, tBinary, text, "")
}

func quoteRune(r rune) string {
	if unicode.IsPrint(r) {
		return `"` + string(r) + `"`
	}
	return fmt.Sprintf("U+%04X", r)
}

// unescape resolves the escapes of U&'…': \XXXX and \+XXXXXX in hex, \\ for
// the escape character itself.
func unescape(s string, esc rune) (string, error) {
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		i += size
		if r != esc {
			b.WriteRune(r)
			continue
		}
		if next, n := utf8.DecodeRuneInString(s[i:]); next == esc && n > 0 {
			b.WriteRune(esc)
			i += n
			continue
		}
		digits := 4
		if strings.HasPrefix(s[i:], "+") {
			digits = 6
			i++
		}
		if i+digits > len(s) {
			return "", fmt.Errorf("an escape needs %d hex digits", digits)
		}
		code, err := strconv.ParseUint(s[i:i+digits], 16, 32)
		if err != nil || !utf8.ValidRune(rune(code)) {
			return "", fmt.Errorf("%q is no character", s[i:i+digits])
		}
		b.WriteRune(rune(code))
		i += digits
	}
	return b.String(), nil
}
