package parser

import (
	"strings"

	"github.com/sluicesql/sluice/sql/ast"
)

// literalKinds are the literals that are one token.
var literalKinds = map[kind]ast.LiteralKind{
	tInt: ast.IntLiteral, tDecimal: ast.DecimalLiteral, tDouble: ast.DoubleLiteral, tBinary: ast.BinaryLiteral,
}

// wordLiterals are the literals that are one word.
var wordLiterals = map[string]ast.LiteralKind{
	"NULL": ast.NullLiteral, "TRUE": ast.BoolLiteral, "FALSE": ast.BoolLiteral, "UNKNOWN": ast.BoolLiteral,
}

// timeLiterals are the words that make a string after them a literal.
var timeLiterals = map[string]ast.LiteralKind{
	"DATE": ast.DateLiteral, "TIME": ast.TimeLiteral, "TIMESTAMP": ast.TimestampLiteral,
	"TIMESTAMP_LTZ": ast.TimestampLTZLiteral,
}

// noParens are the functions that are called without parentheses.
var noParens = wordSet(`CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP CURRENT_ROW_TIMESTAMP
	LOCALTIME LOCALTIMESTAMP CURRENT_USER SESSION_USER SYSTEM_USER
	CURRENT_CATALOG CURRENT_DATABASE CURRENT_SCHEMA`)

// callableReserved are reserved words that are functions before a parenthesis.
var callableReserved = wordSet("LEFT RIGHT")

// primary reads an expression without operators.
func (p *parser) primary() ast.Expr {
	t := p.cur()
	if k, ok := literalKinds[t.kind]; ok {
		p.next()
		return &ast.Literal{Pos: p.posOf(t), Kind: k, Text: t.text}
	}
	switch {
	case t.isString():
		return &ast.Literal{Pos: p.posOf(t), Kind: ast.StringLiteral, Text: p.stringText("a string"), TextPos: p.posOf(t)}
	case p.is("("):
		return p.parenthesis()
	case t.kind == tQuoted:
		return p.path()
	case t.kind == tWord:
		return p.word(t)
	}
	p.unexpected("an expression")
	return nil
}

// word reads an expression that starts with a word.
func (p *parser) word(t *token) ast.Expr {
	if k, ok := wordLiterals[t.kw]; ok {
		p.next()
		text := t.kw
		if k == ast.NullLiteral {
			text = ""
		}
		return &ast.Literal{Pos: p.posOf(t), Kind: k, Text: text}
	}
	if lit := p.timeLiteral(t); lit != nil {
		return lit
	}
	switch t.kw {
	case "CASE":
		return p.caseExpr()
	case "CAST", "TRY_CAST":
		return p.cast()
	case "EXISTS":
		p.next()
		p.open()
		e := &ast.Exists{Pos: p.posOf(t), Query: p.query()}
		p.expect(")")
		return e
	case "ARRAY", "MAP":
		if p.isAt(1, "[") {
			return p.constructor(t)
		}
		if p.isAt(1, "(") {
			p.unsupported(t, "write "+t.kw+"[…]", "%s(…) is not supported", t.kw)
		}
	case "ROW":
		if p.isAt(1, "(") {
			p.next()
			p.open()
			r := &ast.Row{Pos: p.posOf(t), Explicit: true}
			if !p.is(")") {
				r.Items = p.exprList()
			}
			p.expect(")")
			return r
		}
	case "NEXT":
		if p.isAt(1, "VALUE") && p.isAt(2, "FOR") {
			p.unsupported(t, "", "NEXT VALUE FOR is not supported")
		}
	case "MULTISET":
		if p.isAt(1, "[") || p.isAt(1, "(") {
			p.unsupported(t, "write ARRAY[…]", "MULTISET constructors are not supported")
		}
	}
	if noParens[t.kw] && !p.isAt(1, "(") && !p.isAt(1, ".") {
		p.next()
		return &ast.Call{Pos: p.posOf(t), Name: plainName(p.posOf(t), t.kw), NoParens: true}
	}
	if p.isAt(1, "(") && (!reserved[t.kw] || callableReserved[t.kw]) {
		p.next()
		return p.call(ast.Name{Pos: p.posOf(t), Parts: []ast.Ident{p.identOf(t)}})
	}
	if strings.HasPrefix(t.text, "_") && p.at(1).isString() && p.at(1).off == t.end {
		p.unsupported(t, "strings are Unicode", "the character set %s is not supported", t.text)
	}
	if (t.kw == "E" || t.kw == "N" || t.kw == "B") && p.at(1).kind == tString && p.at(1).off == t.end {
		p.unsupported(t, "write '…', or U&'…' for escapes", "%s'…' is not supported", t.text)
	}
	if reserved[t.kw] {
		p.unexpected("an expression")
	}
	return p.path()
}

func plainName(pos ast.Pos, name string) ast.Name {
	return ast.Name{Pos: pos, Parts: []ast.Ident{{Pos: pos, Name: name}}}
}

// path reads a path of names, and the call that it may name.
func (p *parser) path() ast.Expr {
	t := p.next()
	c := &ast.ColumnRef{Pos: p.posOf(t), Parts: []ast.Ident{p.identOf(t)}}
	for p.is(".") && !p.isAt(1, "*") {
		p.next()
		c.Parts = append(c.Parts, p.fieldIdent())
	}
	if !p.is("(") {
		return c
	}
	if len(c.Parts) > 3 {
		p.fail(c.Pos, "", "a function's name has at most three parts")
	}
	return p.call(ast.Name{Pos: c.Pos, Parts: c.Parts})
}

// parenthesis reads what an opening parenthesis starts: a query, a row or an
// expression.
func (p *parser) parenthesis() ast.Expr {
	t := p.open()
	if p.startsQuery(0) {
		q := p.query()
		p.expect(")")
		return &ast.Subquery{Pos: p.posOf(t), Query: q}
	}
	list := p.exprList()
	p.expect(")")
	if len(list) == 1 {
		return list[0]
	}
	return &ast.Row{Pos: p.posOf(t), Items: list}
}

// timeLiteral reads DATE '…' and its like and INTERVAL '…' unit; nil is none
// of them, since the same words are names elsewhere.
func (p *parser) timeLiteral(t *token) ast.Expr {
	words := 1
	k, ok := timeLiterals[t.kw]
	switch {
	case t.kw == "INTERVAL":
		return p.interval(t)
	case !ok:
		return nil
	case t.kw == "TIMESTAMP" && p.isAt(1, "WITH") && p.isAt(2, "LOCAL"):
		k, words = ast.TimestampLTZLiteral, 5
	case t.kw == "TIMESTAMP" && p.isAt(1, "WITHOUT"):
		words = 4
	}
	if !p.at(words).isString() {
		return nil
	}
	p.i += words
	lit := &ast.Literal{Pos: p.posOf(t), Kind: k, TextPos: p.pos()}
	lit.Text = p.stringText("a time")
	return lit
}

// interval reads INTERVAL [-]'…' unit.
func (p *parser) interval(t *token) ast.Expr {
	signed := 1
	if p.isAt(1, "-") || p.isAt(1, "+") {
		signed = 2
	}
	if !p.at(signed).isString() {
		if n := p.at(signed); n.kind == tInt || n.kind == tDecimal {
			p.failTok(n, "write INTERVAL '"+n.text+"' …", "the value %s of an interval has to stand in quotes", n.text)
		}
		return nil
	}
	e := &ast.Interval{Pos: p.posOf(t), Negative: p.isAt(1, "-")}
	p.i += signed
	e.TextPos = p.pos()
	e.Text = p.stringText("an interval")
	e.Range = p.intervalRange()
	return e
}

// caseExpr reads CASE … END.
func (p *parser) caseExpr() ast.Expr {
	t := p.next()
	defer p.leave(p.enter(t))
	c := &ast.Case{Pos: p.posOf(t)}
	if !p.is("WHEN") {
		c.Operand = p.expr()
	}
	for p.is("WHEN") {
		pos := p.pos()
		p.next()
		conds := []ast.Expr{p.expr()}
		for c.Operand != nil && p.accept(",") { // any of several values
			conds = append(conds, p.expr())
		}
		p.expect("THEN")
		then := p.expr()
		for _, cond := range conds {
			c.Whens = append(c.Whens, ast.When{Pos: pos, Cond: cond, Then: then})
		}
	}
	if len(c.Whens) == 0 {
		p.unexpected("WHEN", "WHEN")
	}
	if p.accept("ELSE") {
		c.Else = p.expr()
	}
	if !p.is("END") && (p.atEnd() || p.is("FROM")) {
		p.failTok(t, "end it with END", "the CASE is never closed")
	}
	if !p.is("END") {
		p.unexpected("WHEN, ELSE or END", "WHEN", "ELSE", "END")
	}
	p.next()
	return c
}

// cast reads CAST(e AS type) and TRY_CAST(e AS type).
func (p *parser) cast() ast.Expr {
	t := p.next()
	p.open()
	c := &ast.Cast{Pos: p.posOf(t), Try: t.kw == "TRY_CAST", Expr: p.expr()}
	p.expect("AS")
	c.Type = p.dataType()
	p.expect(")")
	return c
}

// constructor reads ARRAY[…] and MAP[…].
func (p *parser) constructor(t *token) ast.Expr {
	p.next()
	p.openSign("[", "bracket")
	var items []ast.Expr
	if !p.is("]") {
		items = p.exprList()
	}
	p.expect("]")
	if t.kw == "ARRAY" {
		return &ast.Array{Pos: p.posOf(t), Items: items}
	}
	if len(items)%2 != 0 {
		p.failTok(t, "", "MAP[…] takes pairs of a key and a value")
	}
	return &ast.Map{Pos: p.posOf(t), Items: items}
}
