package parser

import (
	"unicode/utf8"

	"github.com/sluicesql/sluice/sql/ast"
)

// ident reads one name; what says whose, for the message.
func (p *parser) ident(what string) ast.Ident {
	if !p.cur().isName() {
		p.unexpected(what)
	}
	return p.identOf(p.next())
}

func (p *parser) identOf(t *token) ast.Ident {
	return ast.Ident{Pos: p.posOf(t), Name: t.text, Quoted: t.kind == tQuoted}
}

// fieldIdent reads a name after a point, where reserved words are names too.
func (p *parser) fieldIdent() ast.Ident {
	if t := p.cur(); t.kind != tWord && t.kind != tQuoted {
		p.unexpected("a name after the point")
	}
	return p.identOf(p.next())
}

// objectName reads the name of a table or view.
func (p *parser) objectName(what string) ast.Name {
	n := ast.Name{Pos: p.pos(), Parts: []ast.Ident{p.ident(what)}}
	for p.accept(".") {
		t := p.cur()
		n.Parts = append(n.Parts, p.fieldIdent())
		if len(n.Parts) > 3 {
			p.failTok(t, "", "a name has at most three parts: catalog.database.table")
		}
	}
	return n
}

// identList reads (a, b, c).
func (p *parser) identList(what string) []ast.Ident {
	p.open()
	var list []ast.Ident
	p.commaList(func() { list = append(list, p.ident(what)) })
	p.expect(")")
	return list
}

// stringText reads a string literal; what says what it's for.
func (p *parser) stringText(what string) string {
	t := p.cur()
	if !t.isString() {
		if t.kind == tQuoted || t.kind == tWord && !reserved[t.kw] {
			p.failTok(t, "write '"+t.text+"'", "expected %s in quotes, found %q", what, t.text)
		}
		p.unexpected(what + " in quotes")
	}
	p.next()
	if t.kind == tString {
		return t.text
	}
	esc := '\\'
	if p.accept("UESCAPE") {
		e := p.next()
		r, size := utf8.DecodeRuneInString(e.text)
		if e.kind != tString || size != len(e.text) || size == 0 {
			p.failTok(e, "", "UESCAPE takes one character in quotes")
		}
		esc = r
	}
	s, err := unescape(t.text, esc)
	if err != nil {
		p.failTok(t, "", "bad Unicode escape: %v", err)
	}
	return s
}
