package parser

import (
	"github.com/sluicesql/sluice/sql/ast"
)

// from writes the tables of FROM.
func (s *skeleton) from(parts *selectParts) {
	s.joins()
	for s.p.is(",") {
		t := s.p.next()
		s.p.grow(t)
		parts.commas = append(parts.commas, s.p.posOf(t))
		s.write(", ")
		s.joins()
	}
}

// joins writes a table and those joined to it.
func (s *skeleton) joins() {
	s.factor()
	for {
		j := s.p.joinWords()
		if j == nil {
			return
		}
		s.p.grow(s.p.cur())
		switch j.kind {
		case ast.InnerJoin:
			s.write(" join ")
		case ast.CrossJoin:
			s.write(" cross join ")
		case ast.LeftJoin, ast.FullJoin:
			s.write(" left join ")
		case ast.RightJoin:
			s.write(" right join ")
		}
		s.factor()
		s.condition(j)
	}
}

// joinWords reads the words of a join; nil is none.
func (p *parser) joinWords() *joinParts {
	j := &joinParts{pos: p.pos(), kind: ast.InnerJoin}
	p.foreignJoin()
	j.natural = p.accept("NATURAL")
	t := p.cur()
	switch t.kw {
	case "JOIN":
	case "INNER":
		p.next()
	case "CROSS":
		p.next()
		j.kind = ast.CrossJoin
		if j.natural {
			p.failTok(t, "write CROSS JOIN", "a CROSS JOIN can't be NATURAL")
		}
	case "LEFT", "RIGHT", "FULL":
		j.kind = map[string]ast.JoinKind{"LEFT": ast.LeftJoin, "RIGHT": ast.RightJoin, "FULL": ast.FullJoin}[t.kw]
		p.next()
		p.accept("OUTER")
	case "OUTER":
		p.failTok(t, "write LEFT, RIGHT or FULL OUTER JOIN", "OUTER JOIN needs a side")
	default:
		if j.natural {
			p.unexpected("JOIN", "JOIN")
		}
		return nil
	}
	p.expect("JOIN")
	return j
}

// foreignJoin refuses the joins of other dialects by name.
func (p *parser) foreignJoin() {
	t := p.cur()
	switch {
	case t.kw == "STRAIGHT_JOIN":
		p.unsupported(t, "write JOIN", "STRAIGHT_JOIN is not supported")
	case (t.kw == "SEMI" || t.kw == "ANTI") && p.isAt(1, "JOIN"),
		(t.kw == "LEFT" || t.kw == "RIGHT") && (p.isAt(1, "SEMI") || p.isAt(1, "ANTI")):
		p.failTok(t, "write IN, EXISTS, NOT IN or NOT EXISTS", "SEMI and ANTI joins have no syntax of their own")
	case t.kw == "ASOF" && p.isAt(1, "JOIN"), t.kw == "LEFT" && p.isAt(1, "ASOF"):
		p.unsupported(t, "", "ASOF JOIN is not supported")
	case (t.kw == "CROSS" || t.kw == "OUTER") && p.isAt(1, "APPLY"):
		p.unsupported(t, "write CROSS JOIN LATERAL or LEFT JOIN LATERAL … ON TRUE", "%s APPLY is not supported", t.kw)
	}
}

// condition reads ON or USING and writes the placeholder that leads to the
// join.
func (s *skeleton) condition(j *joinParts) {
	p := s.p
	t := p.cur()
	has := t.kw == "ON" || t.kw == "USING"
	switch {
	case has && j.kind == ast.CrossJoin:
		p.failTok(t, "write JOIN … "+t.kw, "a CROSS JOIN takes no %s", t.kw)
	case has && j.natural:
		p.failTok(t, "", "a NATURAL JOIN takes no %s", t.kw)
	case !has && j.kind != ast.CrossJoin && !j.natural:
		p.misspelt()
		if t.kind == tError {
			p.failTok(t, "", "")
		}
		hint := ""
		if j.kind == ast.InnerJoin {
			hint = "write CROSS JOIN if every row shall meet every row"
		}
		p.fail(j.pos, hint, "the join needs ON or USING")
	case t.kw == "ON":
		p.next()
		j.on = p.expr()
	case t.kw == "USING":
		p.next()
		j.using = p.identList("a column name")
		s.write(" using (")
		for i, c := range j.using {
			if i > 0 {
				s.write(", ")
			}
			s.put(c.Name, slot{kind: slotUsing, join: j})
		}
		s.write(")")
		return
	}
	s.write(" on ")
	s.put("join", slot{kind: slotJoin, join: j})
}

// factor writes one table.
func (s *skeleton) factor() {
	p := s.p
	t := p.cur()
	switch {
	case p.is("LATERAL"):
		p.next()
		if p.is("(") {
			s.derived(p.posOf(t), true)
			return
		}
		s.tableFunction(p.posOf(t), true)
	case p.is("TABLE") && p.isAt(1, "("):
		s.tableFunction(p.posOf(t), false)
	case p.is("UNNEST"):
		s.unnest()
	case p.is("(") && p.startsQuery(1):
		s.derived(p.posOf(t), false)
	case p.is("("):
		s.parenthesis()
	default:
		s.namedTable()
	}
}

// parenthesis writes a join in parentheses.
func (s *skeleton) parenthesis() {
	p := s.p
	t := p.open()
	defer p.leave(p.enter(t))
	if s.depth >= maxSkeletonNesting {
		p.failTokAs(ast.CodeLimit, t, "", "joins are nested more than %d parentheses deep", maxSkeletonNesting)
	}
	s.open()
	s.joins()
	if p.is(",") {
		p.failTok(p.cur(), "write CROSS JOIN", "a comma can't join tables within parentheses")
	}
	s.close()
	p.expect(")")
	if c := p.cur(); p.is("AS") || c.isName() && !noAlias[c.kw] {
		p.failTok(c, "give the tables within an alias, or write (SELECT * FROM …)", "a join in parentheses takes no alias")
	}
}

// namedTable writes a table by its name, or a table function.
func (s *skeleton) namedTable() {
	p := s.p
	if p.at(1).isOp("(") && p.cur().isName() {
		s.tableFunction(p.pos(), false)
		return
	}
	t := &ast.NamedTable{Pos: p.pos(), Name: p.objectName("a table")}
	t.Hints = p.hints()
	if p.is("FOR") && p.isOneOfAt(1, "SYSTEM_TIME", "SYSTEM") {
		p.next()
		if !p.acceptWords("SYSTEM", "TIME") {
			p.expect("SYSTEM_TIME")
		}
		p.expectWords("AS", "OF")
		t.AsOf = p.expr()
	}
	s.foreignTable()
	s.table(t.Name.Base().Name, t)
	s.foreignTable()
}

func (p *parser) isOneOfAt(n int, words ...string) bool {
	return p.at(n).kind == tWord && contains(words, p.at(n).kw)
}

// foreignTable refuses what may follow a table in other dialects, or in parts
// of Flink's that are not executed.
func (s *skeleton) foreignTable() {
	p := s.p
	t := p.cur()
	switch t.kw {
	case "USE", "IGNORE", "FORCE":
		if p.isAt(1, "INDEX") || p.isAt(1, "KEY") {
			p.unsupported(t, "", "%s %s is not supported", t.kw, p.at(1).kw)
		}
	case "PARTITION":
		if p.isAt(1, "(") {
			p.unsupported(t, "write WHERE", "PARTITION (…) after a table is not supported")
		}
	case "TABLESAMPLE":
		p.unsupported(t, "", "TABLESAMPLE is not supported")
	case "MATCH_RECOGNIZE", "PIVOT", "UNPIVOT":
		if p.isAt(1, "(") {
			p.unsupported(t, "", "%s is not supported", t.kw)
		}
	}
}

// table writes the placeholder of a table and reads its alias.
func (s *skeleton) table(label string, t ast.TableRef) {
	s.put(label, slot{kind: slotTable, table: t})
	if a := s.p.tableAlias(); !a.Name.IsZero() {
		s.write(" as ")
		s.put(a.Name.Name, slot{kind: slotAlias, alias: a})
	}
}

// tableAlias reads [AS] name [(columns)], or nothing.
func (p *parser) tableAlias() ast.TableAlias {
	a := ast.TableAlias{Name: p.alias()}
	if !a.Name.IsZero() && p.is("(") {
		a.Columns = p.identList("a column name")
	}
	return a
}

// derived writes a query in parentheses. One that the grammar lacks is read
// by our side and goes in as a table.
func (s *skeleton) derived(pos ast.Pos, lateral bool) {
	p := s.p
	if !p.startsQuery(1) {
		p.open()
		p.unexpected("a query", "SELECT", "WITH", "VALUES")
	}
	d := &ast.DerivedTable{Pos: pos, Lateral: lateral}
	if !s.nestable(1) {
		p.open()
		d.Query = p.query()
		p.expect(")")
		s.table("query", d)
		return
	}
	t := p.open()
	saved := p.enter(t)
	d.Query = &ast.Query{Pos: p.pos()}
	s.open()
	s.query()
	s.close()
	p.leave(saved)
	p.expect(")")
	// The grammar wants an alias; here one also leads to the table's slot.
	s.write(" as ")
	d.Alias = p.tableAlias()
	s.put(d.Alias.Name.Name, slot{kind: slotTable, table: d})
}

// tableFunction writes TABLE(call) or a bare call.
func (s *skeleton) tableFunction(pos ast.Pos, lateral bool) {
	p := s.p
	f := &ast.TableFunction{Pos: pos, Lateral: lateral}
	wrapped := p.is("TABLE")
	if wrapped {
		p.next()
		p.open()
	}
	name := p.objectName("the name of a table function")
	if !p.is("(") {
		p.unexpected(`"(" and the arguments of the table function`)
	}
	call, ok := p.call(name).(*ast.Call)
	if !ok || call.Over != nil || call.Filter != nil {
		p.fail(name.Pos, "", "a table function takes neither FILTER nor OVER")
	}
	f.Call = call
	if wrapped {
		p.expect(")")
	}
	s.table("function", f)
}

// unnest writes UNNEST(…) [WITH ORDINALITY].
func (s *skeleton) unnest() {
	p := s.p
	u := &ast.Unnest{Pos: p.pos()}
	p.expect("UNNEST")
	p.open()
	u.Exprs = p.exprList()
	p.expect(")")
	u.Ordinality = p.acceptWords("WITH", "ORDINALITY")
	s.table("unnest", u)
}
