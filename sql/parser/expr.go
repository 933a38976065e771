package parser

import "github.com/sluicesql/sluice/sql/ast"

// binaryOps are the operators between two expressions.
var binaryOps = map[string]ast.BinaryOp{
	"OR": ast.OpOr, "AND": ast.OpAnd, "=": ast.OpEq, "<>": ast.OpNe, "!=": ast.OpNe, "<": ast.OpLt,
	"<=": ast.OpLe, ">": ast.OpGt, ">=": ast.OpGe, "OVERLAPS": ast.OpOverlaps, "+": ast.OpAdd,
	"-": ast.OpSub, "*": ast.OpMul, "/": ast.OpDiv, "%": ast.OpMod, "||": ast.OpConcat,
}

// foreignInfix are operators of other dialects, which are words.
var foreignInfix = map[string]string{
	"REGEXP":   "write REGEXP(string, pattern)",
	"RLIKE":    "write REGEXP(string, pattern)",
	"ILIKE":    "write LOWER(string) LIKE pattern",
	"DIV":      "write CAST(a / b AS BIGINT)",
	"MOD":      "write MOD(a, b) or a % b",
	"XOR":      "write a <> b",
	"COLLATE":  "strings compare by their characters",
	"MEMBER":   "",
	"MULTISET": "",
	"CONTAINS": "",
	"EQUALS":   "",
	"PRECEDES": "",
	"SUCCEEDS": "",
	"GLOB":     "write LIKE or REGEXP(string, pattern)",
	"NOTNULL":  "write IS NOT NULL",
	"ISNULL":   "write IS NULL",
}

// expr reads an expression.
func (p *parser) expr() ast.Expr {
	defer p.leave(p.enter(p.cur()))
	return p.binary(ast.PrecOr)
}

// binary reads an expression whose operators bind at least as tightly as least.
func (p *parser) binary(least int) ast.Expr {
	left := p.unary()
	for {
		t := p.cur()
		key := t.kw
		if t.kind == tOp {
			key = t.text
		}
		if op, ok := binaryOps[key]; ok {
			prec := op.Precedence()
			if prec < least {
				return left
			}
			p.grow(t)
			p.next()
			if prec == ast.PrecCompare && p.isOneOf("ANY", "SOME", "ALL") && p.isAt(1, "(") {
				left = p.quantified(t, op, left)
				continue
			}
			left = &ast.Binary{Pos: p.posOf(t), Op: op, Left: left, Right: p.binary(prec + 1)}
			continue
		}
		next, ok := p.predicate(left, key, least)
		if !ok {
			return left
		}
		p.grow(t)
		left = next
	}
}

// predicate reads what may follow an expression as words: IS, [NOT] BETWEEN,
// IN, LIKE and SIMILAR TO. False is none of them, or one that binds looser
// than least.
func (p *parser) predicate(left ast.Expr, key string, least int) (ast.Expr, bool) {
	at := 0
	if key == "NOT" {
		at = 1
	}
	switch p.at(at).kw {
	case "BETWEEN", "IN", "LIKE", "SIMILAR":
		if ast.PrecRange < least {
			return nil, false
		}
	case "IS":
		if at == 1 || ast.PrecIs < least {
			return nil, false
		}
		return p.isTest(left), true
	default:
		t := p.at(at)
		if hint, ok := foreignInfix[t.kw]; ok && t.kind == tWord && p.operandFollows(at) {
			p.unsupported(t, hint, "the operator %s is not supported", t.kw)
		}
		if t.kw == "AT" && p.isAt(at+1, "TIME") {
			p.unsupported(t, "write CONVERT_TZ(…) or CAST to TIMESTAMP_LTZ", "AT TIME ZONE is not supported")
		}
		if at == 1 {
			if p.next(); p.is("NULL") {
				p.failTok(p.cur(), "write IS NOT NULL", "NOT NULL is no condition")
			}
			p.unexpected("BETWEEN, IN, LIKE or SIMILAR TO after NOT", "BETWEEN", "IN", "LIKE", "SIMILAR")
		}
		return nil, false
	}
	pos := p.pos()
	not := p.accept("NOT")
	switch p.next().kw {
	case "BETWEEN":
		b := &ast.Between{Pos: pos, Expr: left, Not: not}
		b.Symmetric = p.accept("SYMMETRIC")
		if !b.Symmetric {
			p.accept("ASYMMETRIC")
		}
		b.Low = p.binary(ast.PrecRange + 1)
		p.expect("AND")
		b.High = p.binary(ast.PrecRange + 1)
		return b, true
	case "IN":
		in := &ast.In{Pos: pos, Expr: left, Not: not}
		in.List, in.Query = p.listOrQuery()
		return in, true
	case "SIMILAR":
		p.expect("TO")
		return p.like(&ast.Like{Pos: pos, Expr: left, Not: not, Similar: true}), true
	}
	return p.like(&ast.Like{Pos: pos, Expr: left, Not: not}), true
}

// operandFollows reports whether the word n tokens ahead is followed by
// something that can only be an operand: then the word was meant as an
// operator and not as an alias.
func (p *parser) operandFollows(n int) bool {
	if w := p.at(n).kw; w == "NOTNULL" || w == "ISNULL" {
		return true
	}
	switch t := p.at(n + 1); t.kind {
	case tString, tUnicode, tInt, tDecimal, tDouble, tQuoted:
		return true
	case tWord:
		return t.isName() || t.kw == "NULL" || t.kw == "CAST" || t.kw == "CASE"
	default:
		return t.isOp("(")
	}
}

func (p *parser) like(l *ast.Like) ast.Expr {
	l.Pattern = p.binary(ast.PrecRange + 1)
	if p.accept("ESCAPE") {
		l.Escape = p.binary(ast.PrecRange + 1)
	}
	return l
}

// isTest reads IS [NOT] and what it asks for.
func (p *parser) isTest(left ast.Expr) ast.Expr {
	t := p.next()
	not := p.accept("NOT")
	if p.accept("DISTINCT") {
		p.expect("FROM")
		op := ast.OpDistinctFrom
		if not {
			op = ast.OpNotDistinctFrom
		}
		return &ast.Binary{Pos: p.posOf(t), Op: op, Left: left, Right: p.binary(ast.PrecCompare + 1)}
	}
	is := &ast.Is{Pos: p.posOf(t), Expr: left, Not: not}
	what := p.expectOneOf("NULL", "TRUE", "FALSE", "UNKNOWN", "JSON")
	switch what {
	case "JSON":
		is.Kind = ast.IsJSON
		if p.isOneOf("OBJECT", "ARRAY", "SCALAR") {
			is.Kind = ast.IsKind("JSON " + p.next().kw)
		} else {
			p.accept("VALUE")
		}
	default:
		is.Kind = ast.IsKind(what)
	}
	return is
}

// quantified reads ANY|SOME|ALL (…) after a comparison.
func (p *parser) quantified(opTok *token, op ast.BinaryOp, left ast.Expr) ast.Expr {
	q := &ast.Quantified{Pos: p.posOf(opTok), Op: op, Left: left}
	q.All = p.next().kw == "ALL"
	q.List, q.Query = p.listOrQuery()
	return q
}

// listOrQuery reads (a, b, …) or (query).
func (p *parser) listOrQuery() ([]ast.Expr, *ast.Query) {
	p.open()
	if p.startsQuery(0) {
		q := p.query()
		p.expect(")")
		return nil, q
	}
	list := p.exprList()
	p.expect(")")
	return list, nil
}

// exprList reads expressions separated by commas.
func (p *parser) exprList() []ast.Expr {
	var list []ast.Expr
	p.commaList(func() { list = append(list, p.expr()) })
	return list
}

// unary reads NOT and the signs, which may be stacked.
func (p *parser) unary() ast.Expr {
	t := p.cur()
	switch {
	case p.is("NOT"):
		defer p.leave(p.enter(t))
		p.next()
		return &ast.Unary{Pos: p.posOf(t), Op: ast.OpNot, Expr: p.binary(ast.PrecNot)}
	case p.is("-"), p.is("+"):
		defer p.leave(p.enter(t))
		p.next()
		return &ast.Unary{Pos: p.posOf(t), Op: ast.UnaryOp(t.text), Expr: p.binary(ast.PrecSign)}
	}
	return p.postfix(p.primary())
}

// postfix reads the elements and fields of e: e[1], e.field.
func (p *parser) postfix(e ast.Expr) ast.Expr {
	for {
		t := p.cur()
		switch {
		case p.is("["):
			p.grow(t)
			p.openSign("[", "bracket")
			e = &ast.ElementAccess{Pos: e.Position(), Expr: e, Index: p.expr()}
			p.expect("]")
		case p.is(".") && !p.isAt(1, "*"):
			p.grow(t)
			p.next()
			e = &ast.FieldAccess{Pos: e.Position(), Expr: e, Field: p.fieldIdent()}
		default:
			return e
		}
	}
}
