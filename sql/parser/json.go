package parser

import "github.com/sluicesql/sluice/sql/ast"

// jsonPath reads document, path.
func (p *parser) jsonPath(c *ast.Call) {
	c.Args = append(c.Args, p.expr())
	p.expect(",")
	c.Args = append(c.Args, p.expr())
	if t := p.cur(); t.kw == "PASSING" {
		p.unsupported(t, "", "PASSING in %s is not supported", c.Name.Base().Name)
	}
}

// returning reads RETURNING type, or nothing.
func (p *parser) returning(c *ast.Call) {
	if pos := p.pos(); p.accept("RETURNING") {
		c.Options = append(c.Options, ast.CallOption{Pos: pos, Name: "RETURNING", Type: p.dataType()})
	}
}

// jsonValue reads document, path [RETURNING type]
// [{NULL | ERROR | DEFAULT e} ON EMPTY] [… ON ERROR].
func (p *parser) jsonValue(c *ast.Call) {
	p.jsonPath(c)
	p.returning(c)
	for p.isOneOf("NULL", "ERROR", "DEFAULT") {
		o := ast.CallOption{Pos: p.pos(), Word: p.next().kw}
		if o.Word == "DEFAULT" {
			o.Value = p.expr()
		}
		p.onCase(c, o)
	}
}

// jsonQuery reads document, path [RETURNING type] [wrapper]
// [{NULL | ERROR | EMPTY ARRAY | EMPTY OBJECT} ON EMPTY] [… ON ERROR].
func (p *parser) jsonQuery(c *ast.Call) {
	p.jsonPath(c)
	p.returning(c)
	if p.isOneOf("WITH", "WITHOUT") {
		o := ast.CallOption{Pos: p.pos(), Name: "WRAPPER", Word: p.next().kw}
		if o.Word == "WITH" {
			o.Word = "WITH UNCONDITIONAL"
			if p.accept("CONDITIONAL") {
				o.Word = "WITH CONDITIONAL"
			} else {
				p.accept("UNCONDITIONAL")
			}
		}
		p.accept("ARRAY")
		p.expect("WRAPPER")
		c.Options = append(c.Options, o)
	}
	for p.isOneOf("NULL", "ERROR", "EMPTY") {
		o := ast.CallOption{Pos: p.pos(), Word: p.next().kw}
		if o.Word == "EMPTY" {
			o.Word += " " + p.expectOneOf("ARRAY", "OBJECT")
		}
		p.onCase(c, o)
	}
}

// onCase reads ON EMPTY or ON ERROR, the rest of o.
func (p *parser) onCase(c *ast.Call, o ast.CallOption) {
	p.expect("ON")
	t := p.cur()
	o.Name = "ON " + p.expectOneOf("EMPTY", "ERROR")
	for _, other := range c.Options {
		if other.Name == o.Name {
			p.failTok(t, "", "%s is given twice", o.Name)
		}
		if other.Name == "ON ERROR" {
			p.failTok(t, "", "ON EMPTY stands before ON ERROR")
		}
	}
	c.Options = append(c.Options, o)
}

// jsonExists reads document, path [{TRUE | FALSE | UNKNOWN | ERROR} ON ERROR].
func (p *parser) jsonExists(c *ast.Call) {
	p.jsonPath(c)
	if p.isOneOf("TRUE", "FALSE", "UNKNOWN", "ERROR") {
		o := ast.CallOption{Pos: p.pos(), Name: "ON ERROR", Word: p.next().kw}
		p.expectWords("ON", "ERROR")
		c.Options = append(c.Options, o)
	}
}

// jsonObject reads [KEY] k VALUE v, or k : v, … [{NULL | ABSENT} ON NULL].
func (p *parser) jsonObject(c *ast.Call) {
	if !p.is(")") && !p.onNullFollows() {
		p.commaList(func() {
			if p.is("KEY") && p.keyFollows() {
				p.next()
			}
			c.Args = append(c.Args, p.expr())
			if !p.accept(":") {
				p.expect("VALUE")
			}
			c.Args = append(c.Args, p.expr())
		})
	}
	p.onNull(c)
}

// keyFollows reports whether KEY is the word before a key, and not itself the
// name of a column.
func (p *parser) keyFollows() bool {
	switch t := p.at(1); t.kind {
	case tOp:
		return t.text == "("
	case tWord:
		return t.kw != "VALUE" && (!reserved[t.kw] || t.kw == "CASE" || t.kw == "CAST" || t.kw == "TRY_CAST")
	default:
		return true
	}
}

// jsonArray reads e, … [ORDER BY …] [{NULL | ABSENT} ON NULL].
func (p *parser) jsonArray(c *ast.Call) {
	if !p.is(")") && !p.onNullFollows() {
		c.Args = p.exprList()
	}
	if p.acceptWords("ORDER", "BY") {
		c.OrderBy = p.orderItems()
	}
	p.onNull(c)
}

func (p *parser) onNullFollows() bool {
	return p.isOneOf("NULL", "ABSENT") && p.isAt(1, "ON") && p.isAt(2, "NULL")
}

func (p *parser) onNull(c *ast.Call) {
	if p.onNullFollows() {
		c.Options = append(c.Options, ast.CallOption{Pos: p.pos(), Name: "ON NULL", Word: p.next().kw})
		p.next()
		p.next()
	}
}
