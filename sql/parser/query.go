package parser

import "github.com/sluicesql/sluice/sql/ast"

// startsQuery reports whether a query starts n tokens ahead. A parenthesis
// starts one when a query fills it and what follows it goes on with the query
// or ends it: in (SELECT 1) + 2 it starts an expression instead.
func (p *parser) startsQuery(n int) bool {
	i := min(p.i+n, len(p.toks)-1)
	open := i
	for p.toks[i].isOp("(") {
		if i-open > MaxNesting {
			return false
		}
		i++
	}
	switch t := &p.toks[i]; t.kw {
	case "SELECT", "WITH", "VALUES":
	case "TABLE":
		if !p.toks[i+1].isName() {
			return false
		}
	default:
		return false
	}
	for i--; i >= open; i-- {
		mate := int(p.toks[i].mate)
		if mate < 0 {
			continue // reported when it's stepped over
		}
		if t := &p.toks[mate+1]; t.kind != tEOF && !t.isOp(")") && !t.isOp(";") && !queryGoesOn[t.kw] {
			return false
		}
	}
	return true
}

// queryGoesOn are the words that go on with a query after a parenthesis.
var queryGoesOn = wordSet("UNION INTERSECT EXCEPT MINUS ORDER LIMIT OFFSET FETCH")

// query reads a query with its WITH and the clauses after its body.
func (p *parser) query() *ast.Query {
	defer p.leave(p.enter(p.cur()))
	q := &ast.Query{Pos: p.pos()}
	if p.is("WITH") {
		q.With = p.with()
	}
	if p.isSkeleton() {
		s := newSkeleton(p)
		s.query()
		s.lift(q)
		return q
	}
	q.Body = p.setOps()
	p.tail(q)
	return q
}

// isSkeleton reports whether the query body that starts here can go through
// sqlparser as a whole: selects and unions of selects.
func (p *parser) isSkeleton() bool {
	isUnion := false
	for i := p.i; ; i++ {
		t := &p.toks[i]
		switch {
		case t.kind == tEOF, t.isOp(")"), t.isOp("]"), t.isOp(";"):
			return isUnion || p.is("SELECT")
		case t.kw == "INTERSECT", t.kw == "EXCEPT", t.kw == "MINUS":
			return false
		case t.kw == "UNION":
			isUnion = true
		case t.mate > int32(i):
			i = int(t.mate)
		}
	}
}

// with reads WITH name [(columns)] AS (query), ….
func (p *parser) with() *ast.With {
	w := &ast.With{Pos: p.pos()}
	p.expect("WITH")
	if t := p.cur(); t.kw == "RECURSIVE" && p.at(1).isName() {
		p.unsupported(t, "", "WITH RECURSIVE is not supported")
	}
	p.commaList(func() {
		c := ast.CTE{Name: p.ident("the name of a query")}
		if p.is("(") {
			c.Columns = p.identList("a column name")
		}
		p.expect("AS")
		p.open()
		c.Query = p.query()
		p.expect(")")
		w.CTEs = append(w.CTEs, c)
	})
	return w
}

// setOps reads operands joined by UNION, EXCEPT and INTERSECT, of which the
// last binds tightest.
func (p *parser) setOps() ast.QueryBody {
	return p.setOpChain(p.intersections, "UNION", "EXCEPT", "MINUS")
}

func (p *parser) intersections() ast.QueryBody {
	return p.setOpChain(p.operand, "INTERSECT")
}

func (p *parser) setOpChain(operand func() ast.QueryBody, ops ...string) ast.QueryBody {
	left := operand()
	for p.isOneOf(ops...) {
		t := p.next()
		p.grow(t)
		kind := ast.SetOpKind(t.kw)
		if t.kw == "MINUS" {
			kind = ast.Except
		}
		op := &ast.SetOp{Pos: p.posOf(t), Kind: kind, Left: left, All: p.allOrDistinct()}
		op.Right = operand()
		left = op
	}
	return left
}

// allOrDistinct reads ALL or DISTINCT after a set operation.
func (p *parser) allOrDistinct() bool {
	if p.accept("ALL") {
		return true
	}
	p.accept("DISTINCT")
	return false
}

// operand reads one operand of a set operation.
func (p *parser) operand() ast.QueryBody {
	switch t := p.cur(); {
	case p.is("SELECT"):
		s := newSkeleton(p)
		s.selectCore()
		q := &ast.Query{Pos: p.posOf(t)}
		s.lift(q)
		return q.Body
	case p.is("VALUES"):
		return p.values()
	case p.is("TABLE"):
		p.next()
		return &ast.TableQuery{Pos: p.posOf(t), Name: p.objectName("the name of a table")}
	case p.is("("):
		p.open()
		q := p.query()
		p.expect(")")
		return unwrap(q)
	}
	p.unexpected("SELECT, VALUES or a query in parentheses", "SELECT", "VALUES")
	return nil
}

// unwrap gives the body of a query that has nothing besides: the parentheses
// around it mean nothing then.
func unwrap(q *ast.Query) ast.QueryBody {
	if q.With == nil && len(q.OrderBy) == 0 && q.Limit == nil && q.Offset == nil {
		return q.Body
	}
	return q
}

// values reads VALUES row, …; a row is a list in parentheses or a single
// expression.
func (p *parser) values() ast.QueryBody {
	v := &ast.Values{Pos: p.pos()}
	p.expect("VALUES")
	p.commaList(func() {
		r := ast.ValuesRow{Pos: p.pos()}
		if p.is("ROW") && p.isAt(1, "(") {
			p.next()
		}
		if p.is("(") && !p.startsQuery(1) {
			p.open()
			r.Items = p.exprList()
			p.expect(")")
		} else {
			r.Items = []ast.Expr{p.expr()}
		}
		if len(v.Rows) > 0 && len(r.Items) != len(v.Rows[0].Items) {
			p.fail(r.Pos, "", "this row of VALUES has %d columns, the first has %d", len(r.Items), len(v.Rows[0].Items))
		}
		v.Rows = append(v.Rows, r)
	})
	return v
}

// tail reads the clauses after a query's body: ORDER BY, LIMIT, OFFSET and
// FETCH.
func (p *parser) tail(q *ast.Query) {
	start := p.cur()
	if p.is("ORDER") {
		p.next()
		p.expect("BY")
		q.OrderBy = p.orderItems()
	}
	if p.accept("LIMIT") {
		p.limit(q)
	}
	if p.accept("OFFSET") {
		q.Offset = p.count("a number of rows to skip")
		if p.is("ROW") || p.is("ROWS") {
			p.next()
		}
	}
	if t := p.cur(); t.kw == "LIMIT" {
		p.failTok(t, "write LIMIT … OFFSET …", "LIMIT stands before OFFSET")
	}
	if t := p.cur(); p.accept("FETCH") {
		if q.Limit != nil {
			p.failTok(t, "", "LIMIT and FETCH exclude each other")
		}
		p.expectOneOf("FIRST", "NEXT")
		q.Limit = p.count("a number of rows")
		p.expectOneOf("ROW", "ROWS")
		p.expect("ONLY")
	}
	p.afterTail(start)
}

func (p *parser) limit(q *ast.Query) {
	if !p.accept("ALL") {
		q.Limit = p.count("a number of rows")
	}
	if t := p.cur(); t.isOp(",") && p.at(1).kind == tInt {
		p.unsupported(t, "write LIMIT count OFFSET start", "LIMIT start, count is not supported")
	}
}

// count reads the number of LIMIT and its like, a whole number.
func (p *parser) count(what string) ast.Expr {
	t := p.cur()
	if t.kind != tInt {
		p.unexpected(what)
	}
	p.next()
	return &ast.Literal{Pos: p.posOf(t), Kind: ast.IntLiteral, Text: t.text}
}

// afterTail refuses what other dialects, and sqlparser, take after a query.
func (p *parser) afterTail(start *token) {
	t := p.cur()
	switch t.kw {
	case "UNION", "INTERSECT", "EXCEPT", "MINUS":
		if start != t {
			p.failTok(start, "put the query before "+t.kw+" in parentheses",
				"%s before %s belongs to one query or to both", start.kw, t.kw)
		}
	case "FOR":
		p.unsupported(t, "queries lock nothing", "FOR %s is not supported after a query", p.at(1).text)
	case "LOCK":
		if p.isAt(1, "IN") {
			p.unsupported(t, "queries lock nothing", "LOCK IN SHARE MODE is not supported")
		}
	case "INTO":
		p.unsupported(t, "write INSERT INTO … SELECT", "SELECT … INTO is not supported")
	}
}
