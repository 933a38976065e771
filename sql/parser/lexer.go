package parser

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// lexer cuts a text into tokens. It never fails: what it can't read becomes a
// tError, which is reported when the parser comes to it, so that an unclosed
// string doesn't hide the mistakes before it.
type lexer struct {
	src    string
	off    int
	line   int
	col    int
	tokens []token
	// hint is the index of the /*+ that is open, or -1.
	hint int
	// open are the indexes of the brackets that are open.
	open []int
}

// lex gives the tokens of src, the last a tEOF.
func lex(src string) []token {
	l := &lexer{src: src, line: 1, col: 1, hint: -1}
	if strings.HasPrefix(src, "\uFEFF") {
		l.off = len("\uFEFF") // a byte order mark is not part of the text
	}
	l.tokens = make([]token, 0, len(src)/6+8)
	for l.next() {
		if len(l.tokens) >= MaxTokens {
			l.fail(l.start(), fmt.Sprintf("the text has more than %d tokens", MaxTokens), "split it")
			break
		}
	}
	if l.hint >= 0 {
		t := &l.tokens[l.hint]
		t.kind, t.text, t.kw = tError, "the hint is never closed", "end it with */"
	}
	end := l.start()
	l.emit(end, tEOF, "", "")
	return l.tokens
}

// mark is a place in the text, where a token starts.
type mark struct{ off, line, col int }

func (l *lexer) start() mark { return mark{l.off, l.line, l.col} }

// emit ends the token that started at m at the current place.
func (l *lexer) emit(m mark, k kind, text, kw string) {
	l.tokens = append(l.tokens, token{
		kind: k, line: int32(m.line), col: int32(m.col),
		off: int32(m.off), end: int32(l.off), mate: -1, text: text, kw: kw,
	})
}

func (l *lexer) fail(m mark, msg, hint string) { l.emit(m, tError, msg, hint) }

// peek gives the byte n after the current one, 0 at the end.
func (l *lexer) peek(n int) byte {
	if l.off+n < len(l.src) {
		return l.src[l.off+n]
	}
	return 0
}

// advance steps over n bytes that hold whole characters.
func (l *lexer) advance(n int) {
	for end := l.off + n; l.off < end; {
		_, size := utf8.DecodeRuneInString(l.src[l.off:])
		if l.src[l.off] == '\n' {
			l.line, l.col = l.line+1, 1
		} else {
			l.col++
		}
		l.off += size
	}
}

// next reads one token, or skips blanks or a comment; false is the end.
func (l *lexer) next() bool {
	if l.off >= len(l.src) {
		return false
	}
	m := l.start()
	r, size := utf8.DecodeRuneInString(l.src[l.off:])
	switch {
	case r == utf8.RuneError && size == 1:
		l.advance(1)
		l.fail(m, "the text is not valid UTF-8 here", "save the file as UTF-8")
	case unicode.IsSpace(r):
		l.advance(size)
	case r == '-' && l.peek(1) == '-':
		l.lineComment()
	case r == '/' && l.peek(1) == '*':
		l.blockComment(m)
	case r == '*' && l.peek(1) == '/' && l.hint >= 0:
		l.advance(2)
		l.hint = -1
		l.emit(m, tOp, "*/", "")
	case (r == 'x' || r == 'X') && l.peek(1) == '\'':
		l.binary(m)
	case (r == 'U' || r == 'u') && l.peek(1) == '&' && l.peek(2) == '\'':
		l.advance(2)
		l.str(m, tUnicode)
	case r == '_' || unicode.IsLetter(r):
		l.word(m)
	case r >= '0' && r <= '9', r == '.' && isDigit(l.peek(1)) && !l.afterName():
		l.number(m)
	case r == '\'':
		l.str(m, tString)
	case r == '`':
		l.quoted(m)
	case r == '"':
		l.doubleQuoted(m)
	default:
		l.sign(m, r, size)
	}
	return true
}

func (l *lexer) lineComment() {
	n := strings.IndexByte(l.src[l.off:], '\n')
	if n < 0 {
		n = len(l.src) - l.off
	}
	l.advance(n)
}

// blockComment skips /* … */, which doesn't nest, and opens a hint at /*+.
func (l *lexer) blockComment(m mark) {
	if l.peek(2) == '+' && l.hint < 0 {
		l.advance(3)
		l.hint = len(l.tokens)
		l.emit(m, tOp, "/*+", "")
		return
	}
	n := strings.Index(l.src[l.off+2:], "*/")
	if n < 0 {
		l.advance(len(l.src) - l.off)
		l.fail(m, "the comment is never closed", "end it with */")
		return
	}
	l.advance(n + 4)
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isWordRune(r rune) bool {
	return r == '_' || r == '$' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.Mn, r) || unicode.Is(unicode.Mc, r)
}

// wordLen is the length of the word characters at the current place.
func (l *lexer) wordLen() int {
	n := 0
	for l.off+n < len(l.src) {
		r, size := utf8.DecodeRuneInString(l.src[l.off+n:])
		if !isWordRune(r) || r == utf8.RuneError && size == 1 {
			break
		}
		n += size
	}
	return n
}

func (l *lexer) word(m mark) {
	n := l.wordLen()
	text := l.src[l.off : l.off+n]
	l.advance(n)
	l.emit(m, tWord, text, strings.ToUpper(text))
}

// afterName reports whether a point at the current place belongs to the name
// right before it, as in t.1, and doesn't start a number.
func (l *lexer) afterName() bool {
	if len(l.tokens) == 0 {
		return false
	}
	t := &l.tokens[len(l.tokens)-1]
	return int(t.end) == l.off && (t.kind == tWord || t.kind == tQuoted || t.isOp(")") || t.isOp("]"))
}

func (l *lexer) number(m mark) {
	k := tInt
	n := 0
	digits := func() {
		for isDigit(l.peek(n)) {
			n++
		}
	}
	digits()
	if l.peek(n) == '.' {
		k = tDecimal
		n++
		digits()
	}
	if c := l.peek(n); c == 'e' || c == 'E' {
		exp := 1
		if c := l.peek(n + 1); c == '+' || c == '-' {
			exp = 2
		}
		if isDigit(l.peek(n + exp)) {
			k = tDouble
			n += exp
			digits()
		}
	}
	text := l.src[l.off : l.off+n]
	l.advance(n)
	if rest := l.wordLen(); rest > 0 {
		text += l.src[l.off : l.off+rest]
		l.advance(rest)
		l.fail(m, `"`+shorten(text)+`" is not a number`, "to use it as a name, write `"+shorten(text)+"`")
		return
	}
	l.emit(m, k, text, "")
}

// signs are the signs of more than one character, longer ones first. Those
// that the dialect lacks are read as a whole so that the error names them.
// >> is not among them: it closes two types, as in ARRAY<ARRAY<INT>>.
var signs = []string{
	"<=>", "->>", "==", "<>", "<=", ">=", "!=", "||", "=>", "::", "->", "<<", "&&", "@@",
}

func (l *lexer) sign(m mark, r rune, size int) {
	for _, s := range signs {
		if strings.HasPrefix(l.src[l.off:], s) {
			l.advance(len(s))
			l.emit(m, tOp, s, "")
			return
		}
	}
	l.advance(size)
	switch {
	case strings.ContainsRune("+-*/%=<>(),.;[]:?@&|^~!", r):
		text := l.src[m.off:l.off]
		l.emit(m, tOp, text, "")
		l.pair(len(l.tokens)-1, text)
	case r == '#':
		l.fail(m, `"#" starts no comment here`, "comments are -- to the end of the line, or /* … */")
	case strings.ContainsRune("‘’‚“”„«»", r):
		l.fail(m, `"`+string(r)+`" is a typographic quote`, "strings stand in plain quotes: '…'")
	default:
		l.fail(m, "the character "+quoteRune(r)+" has no meaning here", "names with such characters stand in backquotes")
	}
}

// pair finds the partner of a bracket. A semicolon closes everything, since
// none can stand within brackets: so one missing parenthesis doesn't pair up
// with those of the next statement.
func (l *lexer) pair(i int, sign string) {
	switch sign {
	case "(", "[":
		l.open = append(l.open, i)
	case ")", "]":
		opening := "("
		if sign == "]" {
			opening = "["
		}
		if n := len(l.open); n > 0 && l.tokens[l.open[n-1]].text == opening {
			j := l.open[n-1]
			l.open = l.open[:n-1]
			l.tokens[i].mate, l.tokens[j].mate = int32(j), int32(i)
		}
	case ";":
		l.open = l.open[:0]
	}
}
