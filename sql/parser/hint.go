package parser

import "github.com/sluicesql/sluice/sql/ast"

// hints reads /*+ NAME(args), … */, or nothing. Their names are the planner's
// business: it obeys them or refuses them by name.
func (p *parser) hints() []ast.Hint {
	if !p.accept("/*+") {
		return nil
	}
	var hints []ast.Hint
	for {
		h := ast.Hint{Pos: p.pos(), Name: p.ident("a hint's name")}
		if p.is("(") {
			p.open()
			if !p.is(")") {
				p.commaList(func() { h.Args = append(h.Args, p.hintArg()) })
			}
			p.expect(")")
		}
		hints = append(hints, h)
		if p.accept("*/") {
			return hints
		}
		p.accept(",")
	}
}

func (p *parser) hintArg() ast.HintArg {
	a := ast.HintArg{Pos: p.pos(), Key: p.hintText()}
	if p.accept("=") {
		a.HasValue = true
		a.ValuePos = p.pos()
		a.Value = p.hintText()
	}
	return a
}

// hintText reads a string, a number or a path of names.
func (p *parser) hintText() string {
	t := p.cur()
	switch {
	case t.isString():
		return p.stringText("a hint's argument")
	case t.kind == tInt || t.kind == tDecimal:
		return p.next().text
	case t.kind == tWord || t.kind == tQuoted:
		text := p.next().text
		for p.accept(".") {
			text += "." + p.fieldIdent().Name
		}
		return text
	}
	p.unexpected("a hint's argument")
	return ""
}
