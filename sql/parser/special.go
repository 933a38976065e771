package parser

import (
	"strings"

	"github.com/sluicesql/sluice/sql/ast"
)

// specialForm gives the reader of a call with syntax of its own, or nil. It
// reads what stands between the parentheses and normalises it as ast.Call
// says.
func (p *parser) specialForm(name string) func(*ast.Call) {
	switch name {
	case "EXTRACT":
		return p.extract
	case "TRIM":
		return p.trim
	case "POSITION":
		return p.position
	case "SUBSTRING":
		return p.substring
	case "OVERLAY":
		return p.overlay
	case "CEIL", "CEILING", "FLOOR":
		return p.roundTo
	case "TIMESTAMPADD", "TIMESTAMPDIFF":
		return p.unitFirst
	case "CONVERT", "TRANSLATE":
		return p.using
	case "JSON_VALUE":
		return p.jsonValue
	case "JSON_QUERY":
		return p.jsonQuery
	case "JSON_EXISTS":
		return p.jsonExists
	case "JSON_OBJECT", "JSON_OBJECTAGG":
		return p.jsonObject
	case "JSON_ARRAY", "JSON_ARRAYAGG":
		return p.jsonArray
	}
	return nil
}

// timeUnits are the units of EXTRACT and its like.
var timeUnits = strings.Fields(`YEAR QUARTER MONTH WEEK DAY HOUR MINUTE SECOND MILLISECOND
	MICROSECOND NANOSECOND EPOCH DOW ISODOW DOY ISOYEAR DECADE CENTURY MILLENNIUM`)

// timeUnit reads a unit of time.
func (p *parser) timeUnit() ast.Expr {
	t := p.cur()
	unit := strings.TrimPrefix(t.kw, "SQL_TSI_")
	if !contains(timeUnits, unit) && strings.HasSuffix(unit, "S") {
		unit = strings.TrimSuffix(unit, "S")
	}
	if t.kind != tWord || !contains(timeUnits, unit) {
		p.unexpected("a unit of time", timeUnits...)
	}
	p.next()
	return &ast.Symbol{Pos: p.posOf(t), Name: unit}
}

// extract reads unit FROM e.
func (p *parser) extract(c *ast.Call) {
	c.Args = append(c.Args, p.timeUnit())
	p.expect("FROM")
	c.Args = append(c.Args, p.expr())
}

// trim reads [[BOTH | LEADING | TRAILING] [chars] FROM] s.
func (p *parser) trim(c *ast.Call) {
	side := &ast.Symbol{Pos: p.pos(), Name: "BOTH"}
	words := p.isOneOf("BOTH", "LEADING", "TRAILING") && !p.isAt(1, ")") && !p.isAt(1, ".") && !p.isAt(1, ",")
	if words {
		side.Name = p.next().kw
	}
	var chars ast.Expr = &ast.Literal{Pos: side.Pos, Kind: ast.StringLiteral, Text: " "}
	if words && p.accept("FROM") {
		c.Args = []ast.Expr{side, chars, p.expr()}
		return
	}
	s := p.expr()
	if words && !p.is("FROM") {
		p.unexpected("FROM", "FROM")
	}
	if p.accept("FROM") {
		chars, s = s, p.expr()
	}
	c.Args = []ast.Expr{side, chars, s}
}

// position reads a IN s [FROM n].
func (p *parser) position(c *ast.Call) {
	c.Args = append(c.Args, p.binary(ast.PrecRange+1))
	p.expect("IN")
	c.Args = append(c.Args, p.expr())
	if p.accept("FROM") {
		c.Args = append(c.Args, p.expr())
	}
}

// substring reads s FROM n [FOR m], or s, n [, m].
func (p *parser) substring(c *ast.Call) {
	c.Args = append(c.Args, p.expr())
	if p.accept("FROM") {
		c.Args = append(c.Args, p.expr())
		if p.accept("FOR") {
			c.Args = append(c.Args, p.expr())
		}
		return
	}
	for p.accept(",") {
		c.Args = append(c.Args, p.expr())
	}
}

// overlay reads s PLACING r FROM n [FOR m].
func (p *parser) overlay(c *ast.Call) {
	c.Args = append(c.Args, p.expr())
	p.expect("PLACING")
	c.Args = append(c.Args, p.expr())
	p.expect("FROM")
	c.Args = append(c.Args, p.expr())
	if p.accept("FOR") {
		c.Args = append(c.Args, p.expr())
	}
}

// roundTo reads e [TO unit], or e, digits.
func (p *parser) roundTo(c *ast.Call) {
	c.Args = append(c.Args, p.expr())
	if p.accept("TO") {
		c.Args = append(c.Args, p.timeUnit())
		return
	}
	for p.accept(",") {
		c.Args = append(c.Args, p.expr())
	}
}

// unitFirst reads unit, a, b.
func (p *parser) unitFirst(c *ast.Call) {
	c.Args = append(c.Args, p.timeUnit())
	for p.accept(",") {
		c.Args = append(c.Args, p.expr())
	}
}

// using reads plain arguments, and refuses e USING charset.
func (p *parser) using(c *ast.Call) {
	p.plainArgs(c)
	if t := p.cur(); t.kw == "USING" {
		p.unsupported(t, "strings are Unicode", "%s(… USING …) is not supported", c.Name.Base().Name)
	}
}
