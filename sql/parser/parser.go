package parser

import (
	"fmt"

	"github.com/sluicesql/sluice/sql/ast"
)

// parser reads the tokens of one text.
type parser struct {
	file string
	toks []token
	i    int
	// depth is how deeply what is being read is nested.
	depth int
	// height bounds from above the height of the tree read at this level.
	height int
	// lastAlias is the index of the last token that was taken as an alias
	// without AS, or -1: the first suspect when the next token is wrong.
	lastAlias int
}

// Parse reads a script: statements separated by semicolons; one after the
// last is not needed. file is the name that positions carry.
//
// On an error Parse gives the statements that it could read, and an
// ast.ErrorList with the mistakes in the order of the text.
func Parse(file, text string) ([]ast.Statement, error) {
	p, err := newParser(file, text)
	if err != nil {
		return nil, err
	}
	var stmts []ast.Statement
	var errs ast.ErrorList
	for len(errs) < MaxErrors {
		for p.accept(";") {
		}
		if p.cur().kind == tEOF {
			break
		}
		start := p.i
		var stmt ast.Statement
		if e := p.attempt(func() { stmt = p.statement(); p.endOfStatement(start) }); e != nil {
			errs = append(errs, e)
			p.recoverFrom(start)
			continue
		}
		stmts = append(stmts, stmt)
	}
	return stmts, errs.Err()
}

// ParseExpr reads one expression.
func ParseExpr(file, text string) (ast.Expr, error) {
	p, err := newParser(file, text)
	if err != nil {
		return nil, err
	}
	var e ast.Expr
	if bad := p.attempt(func() {
		e = p.expr()
		if p.cur().kind != tEOF {
			p.unexpected("the end of the expression")
		}
	}); bad != nil {
		return nil, ast.ErrorList{bad}
	}
	return e, nil
}

func newParser(file, text string) (*parser, error) {
	if len(text) > MaxText {
		return nil, ast.ErrorList{{
			Pos: ast.Pos{File: file, Line: 1, Col: 1},
			Msg: fmt.Sprintf("the text is larger than %d MiB", MaxText>>20), Hint: "split it", Code: ast.CodeLimit,
		}}
	}
	return &parser{file: file, toks: lex(text), lastAlias: -1}, nil
}

// attempt runs f and gives the mistake that it found, if any.
func (p *parser) attempt(f func()) (err *ast.Error) {
	defer func() {
		if r := recover(); r != nil {
			b, ok := r.(bailout)
			if !ok {
				panic(r)
			}
			err = b.err
		}
	}()
	p.depth, p.height, p.lastAlias = 0, 0, -1
	f()
	return nil
}

// endOfStatement wants a semicolon or the end of the text.
func (p *parser) endOfStatement(start int) {
	t := p.cur()
	if t.kind == tEOF || t.isOp(";") {
		return
	}
	if t.kind == tWord && contains(statementWords, t.kw) && t.kw != "WITH" {
		p.failTok(t, "end the statement that starts at "+place(&p.toks[start])+` with ";"`,
			"expected \";\" before %s", t.kw)
	}
	p.unexpected("the end of the statement", clauseWords...)
}

// recoverFrom goes to the end of the statement that starts at token start: to
// its semicolon, or in a statement set to the one after its END, so that the
// inserts of a broken set aren't read as statements of their own.
func (p *parser) recoverFrom(start int) {
	p.i = statementEnd(p.toks, start)
}

func (p *parser) cur() *token { return &p.toks[p.i] }

// at gives the token n after the current one, the last one past the end.
func (p *parser) at(n int) *token { return &p.toks[min(p.i+n, len(p.toks)-1)] }

// next gives the current token and steps over it.
func (p *parser) next() *token {
	t := p.cur()
	if t.kind != tEOF {
		p.i++
	}
	return t
}

func (p *parser) posOf(t *token) ast.Pos {
	return ast.Pos{File: p.file, Line: int(t.line), Col: int(t.col), Offset: int(t.off)}
}

func (p *parser) pos() ast.Pos { return p.posOf(p.cur()) }

// place is a token's line and column in a hint.
func place(t *token) string { return ast.Pos{Line: int(t.line), Col: int(t.col)}.String() }

// is reports whether the current token is the word, or the sign.
func (p *parser) is(what string) bool { return matches(p.cur(), what) }

// isAt is is for the token n after the current one.
func (p *parser) isAt(n int, what string) bool { return matches(p.at(n), what) }

func matches(t *token, what string) bool {
	return t.kind == tWord && t.kw == what || t.kind == tOp && t.text == what
}

// isOneOf reports whether the current token is one of the words.
func (p *parser) isOneOf(words ...string) bool {
	for _, w := range words {
		if p.is(w) {
			return true
		}
	}
	return false
}

// accept steps over the current token where it is the word or sign.
func (p *parser) accept(what string) bool {
	if p.is(what) {
		p.i++
		return true
	}
	return false
}

// acceptWords steps over all of the words, or over none.
func (p *parser) acceptWords(words ...string) bool {
	for n, w := range words {
		if !p.isAt(n, w) {
			return false
		}
	}
	p.i += len(words)
	return true
}

// expect steps over the word or sign, which has to stand here.
func (p *parser) expect(what string) *token {
	if !p.is(what) {
		if isWord(what) {
			p.unexpected(what, what)
		}
		p.unexpected(`"` + what + `"`)
	}
	return p.next()
}

// expectWords steps over the words, which have to stand here.
func (p *parser) expectWords(words ...string) {
	for _, w := range words {
		p.expect(w)
	}
}

// expectOneOf steps over one of the words and gives it.
func (p *parser) expectOneOf(words ...string) string {
	for _, w := range words {
		if p.accept(w) {
			return w
		}
	}
	p.unexpected(oneOf(words), words...)
	return ""
}

// open steps over an opening parenthesis. One that is never closed is
// reported here, at its own place, and not where the text ends.
func (p *parser) open() *token { return p.openSign("(", "parenthesis") }

func (p *parser) openSign(sign, name string) *token {
	t := p.expect(sign)
	if t.mate < 0 {
		p.failTok(t, "", "the %s is never closed", name)
	}
	return t
}

// commaList reads items separated by commas.
func (p *parser) commaList(item func()) {
	item()
	for p.accept(",") {
		item()
	}
}

func isWord(s string) bool { return s[0] >= 'A' && s[0] <= 'Z' }

func contains(words []string, w string) bool {
	for _, x := range words {
		if x == w {
			return true
		}
	}
	return false
}

// oneOf lists words in a message: A, B or C.
func oneOf(words []string) string {
	s := words[0]
	for i, w := range words[1:] {
		if i == len(words)-2 {
			s += " or " + w
		} else {
			s += ", " + w
		}
	}
	return s
}
