package parser

import (
	"strings"

	"github.com/sluicesql/sluice/sql/ast"
)

// call reads a call from its parenthesis on, and what may follow it.
func (p *parser) call(name ast.Name) ast.Expr {
	c := &ast.Call{Pos: name.Pos, Name: name}
	open := p.open()
	upper := specialName(name)
	if special := p.specialForm(upper); special != nil {
		c.Name = plainName(name.Pos, upper)
		special(c)
	} else {
		p.plainArgs(c)
	}
	if !p.is(")") {
		if p.cur().kind == tEOF {
			p.failTok(open, "", "the parenthesis is never closed")
		}
		p.unexpected(`"," or ")"`)
	}
	p.next()
	p.callSuffix(c)
	return c
}

// specialName gives the upper-case name of a call that may have syntax of its
// own, "" for a path or a name in backquotes.
func specialName(name ast.Name) string {
	if len(name.Parts) != 1 || name.Parts[0].Quoted {
		return ""
	}
	return strings.ToUpper(name.Parts[0].Name)
}

// plainArgs reads [DISTINCT] args [ORDER BY …].
func (p *parser) plainArgs(c *ast.Call) {
	switch {
	case p.is(")"):
		return
	case p.is("*") && p.isAt(1, ")"):
		c.Args = []ast.Expr{&ast.Star{Pos: p.pos()}}
		p.next()
		return
	case p.accept("DISTINCT"):
		c.Distinct = true
	default:
		p.accept("ALL")
	}
	p.commaList(func() { c.Args = append(c.Args, p.arg()) })
	if p.acceptWords("ORDER", "BY") {
		c.OrderBy = p.orderItems()
	}
	p.nullsOption(c)
}

// arg reads one argument: an expression, name => value, or the table or the
// descriptor of a table function.
func (p *parser) arg() ast.Expr {
	t := p.cur()
	switch {
	case p.at(0).isName() && p.isAt(1, "=>"):
		name := p.identOf(p.next())
		p.next()
		return &ast.NamedArg{Pos: name.Pos, Name: name, Value: p.arg()}
	case p.is("DESCRIPTOR") && p.isAt(1, "("):
		p.next()
		return &ast.Descriptor{Pos: p.posOf(t), Columns: p.identList("a column name")}
	case p.is("TABLE"):
		return p.tableArg()
	case p.is("DEFAULT") && (p.isAt(1, ",") || p.isAt(1, ")")):
		p.unsupported(t, "leave the argument out", "DEFAULT as an argument is not supported")
	case p.startsQuery(0) && !p.is("("):
		q := p.query()
		return &ast.Subquery{Pos: p.posOf(t), Query: q}
	}
	return p.expr()
}

// tableArg reads TABLE name or TABLE (query), [PARTITION BY …] [ORDER BY …].
func (p *parser) tableArg() ast.Expr {
	a := &ast.TableArg{Pos: p.pos()}
	p.expect("TABLE")
	if p.is("(") {
		pos := p.pos()
		p.open()
		a.Table = &ast.DerivedTable{Pos: pos, Query: p.query()}
		p.expect(")")
	} else {
		name := p.objectName("the name of a table")
		a.Table = &ast.NamedTable{Pos: name.Pos, Name: name}
	}
	if p.acceptWords("PARTITION", "BY") {
		if p.is("(") {
			p.open()
			a.PartitionBy = p.exprList()
			p.expect(")")
		} else {
			a.PartitionBy = []ast.Expr{p.expr()}
		}
	}
	if p.acceptWords("ORDER", "BY") {
		if p.is("(") {
			p.open()
			a.OrderBy = p.orderItems()
			p.expect(")")
		} else {
			a.OrderBy = []ast.OrderItem{p.orderItem()}
		}
	}
	return a
}

// nullsOption reads IGNORE NULLS or RESPECT NULLS.
func (p *parser) nullsOption(c *ast.Call) {
	if p.isOneOf("IGNORE", "RESPECT") && p.isAt(1, "NULLS") {
		c.Options = append(c.Options, ast.CallOption{Pos: p.pos(), Name: "NULLS", Word: p.next().kw})
		p.next()
	}
}

// callSuffix reads WITHIN GROUP, IGNORE NULLS, FILTER and OVER.
func (p *parser) callSuffix(c *ast.Call) {
	if p.acceptWords("WITHIN", "GROUP") {
		p.open()
		p.expectWords("ORDER", "BY")
		c.WithinGroup = p.orderItems()
		p.expect(")")
	}
	p.nullsOption(c)
	if p.is("FILTER") && p.isAt(1, "(") {
		p.next()
		p.open()
		p.expect("WHERE")
		c.Filter = p.expr()
		p.expect(")")
	}
	if p.is("OVER") && (p.isAt(1, "(") || p.at(1).isName()) {
		p.next()
		if p.is("(") {
			c.Over = p.window()
			return
		}
		n := p.ident("a window's name")
		c.Over = &ast.Window{Pos: n.Pos, Ref: n, Bare: true}
	}
}

// window reads (name PARTITION BY … ORDER BY … frame).
func (p *parser) window() *ast.Window {
	w := &ast.Window{Pos: p.pos()}
	p.open()
	if p.cur().isName() && !p.isOneOf("PARTITION", "ROWS", "RANGE", "GROUPS") {
		p.lastAlias = p.i
		w.Ref = p.ident("a window's name")
	}
	if p.acceptWords("PARTITION", "BY") {
		w.PartitionBy = p.exprList()
	}
	if p.acceptWords("ORDER", "BY") {
		w.OrderBy = p.orderItems()
	}
	if p.is("GROUPS") {
		p.unsupported(p.cur(), "write ROWS or RANGE", "frames of GROUPS are not supported")
	}
	if p.isOneOf("ROWS", "RANGE") {
		w.Frame = p.frame()
	}
	if !p.is(")") {
		p.unexpected(`")" at the end of the window`, "PARTITION", "ORDER", "ROWS", "RANGE")
	}
	p.next()
	return w
}

// frame reads ROWS|RANGE bound, or BETWEEN bound AND bound.
func (p *parser) frame() *ast.Frame {
	f := &ast.Frame{Pos: p.pos(), Rows: p.is("ROWS")}
	p.next()
	if p.accept("BETWEEN") {
		f.Start = p.frameBound()
		p.expect("AND")
		f.End = p.frameBound()
	} else {
		f.Start = p.frameBound()
	}
	if t := p.cur(); t.kw == "EXCLUDE" {
		p.unsupported(t, "", "EXCLUDE in a frame is not supported")
	}
	return f
}

func (p *parser) frameBound() ast.FrameBound {
	b := ast.FrameBound{Pos: p.pos()}
	switch {
	case p.acceptWords("CURRENT", "ROW"):
		b.Kind = ast.CurrentRow
	case p.acceptWords("UNBOUNDED", "PRECEDING"):
		b.Kind = ast.UnboundedPreceding
	case p.acceptWords("UNBOUNDED", "FOLLOWING"):
		b.Kind = ast.UnboundedFollowing
	default:
		b.Offset = p.binary(ast.PrecAdd)
		b.Kind = ast.Following
		if p.expectOneOf("PRECEDING", "FOLLOWING") == "PRECEDING" {
			b.Kind = ast.Preceding
		}
	}
	return b
}

// orderItems reads the items of an ORDER BY.
func (p *parser) orderItems() []ast.OrderItem {
	var items []ast.OrderItem
	p.commaList(func() { items = append(items, p.orderItem()) })
	return items
}

func (p *parser) orderItem() ast.OrderItem {
	o := ast.OrderItem{Pos: p.pos(), Expr: p.expr()}
	if p.accept("DESC") {
		o.Desc = true
	} else {
		p.accept("ASC")
	}
	if p.accept("NULLS") {
		o.Nulls = ast.NullsFirst
		if p.expectOneOf("FIRST", "LAST") == "LAST" {
			o.Nulls = ast.NullsLast
		}
	}
	return o
}
