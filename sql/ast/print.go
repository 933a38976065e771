package ast

import "strings"

// String gives a node as SQL on one line, in a canonical form: upper-case
// keywords, no more parentheses than needed, synonyms resolved. Parsing it
// gives an equal tree, but for positions. The node is an Expr, a Statement, a
// *Query or another QueryBody, a TableRef, a *DataType or an Ident or Name.
func String(n Node) string {
	var p printer
	switch n := n.(type) {
	case Expr:
		p.expr(n, 0)
	case Statement:
		p.statement(n)
	case QueryBody:
		p.body(n)
	case TableRef:
		p.table(n)
	case *DataType:
		p.dataType(n)
	case Ident:
		p.ident(n)
	case Name:
		p.name(n)
	}
	return p.String()
}

// printer collects the text of a tree.
type printer struct{ strings.Builder }

// print adds pieces of text.
func (p *printer) print(pieces ...string) {
	for _, s := range pieces {
		p.WriteString(s)
	}
}

// list prints n items with commas between them.
func (p *printer) list(n int, item func(i int)) {
	for i := range n {
		if i > 0 {
			p.print(", ")
		}
		item(i)
	}
}

// when prints the text where the condition holds.
func (p *printer) when(cond bool, text string) {
	if cond {
		p.print(text)
	}
}

func (p *printer) ident(n Ident) {
	if !n.Quoted && isPlain(n.Name) {
		p.print(n.Name)
		return
	}
	p.print("`", strings.ReplaceAll(n.Name, "`", "``"), "`")
}

// isPlain reports whether a name that was not read from a text can do without
// backquotes.
func isPlain(s string) bool {
	for i, r := range s {
		letter := r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= 0x80
		inner := r >= '0' && r <= '9' || r == '$'
		if !letter && (i == 0 || !inner) {
			return false
		}
	}
	return s != ""
}

func (p *printer) path(parts []Ident) {
	for i, n := range parts {
		p.when(i > 0, ".")
		p.ident(n)
	}
}

func (p *printer) name(n Name) { p.path(n.Parts) }

func (p *printer) idents(list []Ident) {
	p.print("(")
	p.list(len(list), func(i int) { p.ident(list[i]) })
	p.print(")")
}

// text prints a string literal.
func (p *printer) text(s string) {
	p.print("'", strings.ReplaceAll(s, "'", "''"), "'")
}
