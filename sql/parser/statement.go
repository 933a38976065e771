package parser

import (
	"strings"

	"github.com/sluicesql/sluice/internal/near"
	"github.com/sluicesql/sluice/sql/ast"
)

// statement reads one statement, without its semicolon.
func (p *parser) statement() ast.Statement {
	t := p.cur()
	if t.kind == tOp && t.text == "(" {
		return &ast.QueryStatement{Pos: p.posOf(t), Query: p.query()}
	}
	if t.kind != tWord {
		p.unexpected("a statement")
	}
	switch t.kw {
	case "SELECT", "WITH", "VALUES", "TABLE":
		return &ast.QueryStatement{Pos: p.posOf(t), Query: p.query()}
	case "INSERT":
		return p.insert()
	case "CREATE":
		return p.create()
	case "DROP":
		return p.drop()
	case "SET":
		return p.set()
	case "RESET":
		return p.reset()
	case "EXPLAIN":
		return p.explain()
	case "EXECUTE", "BEGIN":
		return p.statementSet()
	case "SHOW":
		return p.show()
	case "DESCRIBE", "DESC":
		return p.describe()
	case "USE":
		return p.use()
	case "STOP":
		return p.stopJob()
	case "END":
		p.failTok(t, "", "END closes no statement set")
	}
	if hint, ok := foreignStatements[t.kw]; ok {
		p.unsupported(t, hint, "%s is not supported", t.kw)
	}
	hint := "a statement starts with " + oneOf(statementWords)
	if known := near.Name(t.text, statementWords); known != "" && !reserved[t.kw] {
		hint = "did you mean " + known + "?"
	}
	p.failTok(t, hint, "unknown statement %s", t.describe())
	return nil
}

// insert reads INSERT INTO t [hints] [(columns)] query.
func (p *parser) insert() *ast.Insert {
	s := &ast.Insert{Pos: p.pos()}
	p.expect("INSERT")
	if t := p.cur(); t.kw == "OVERWRITE" {
		p.unsupported(t, "write INSERT INTO", "INSERT OVERWRITE is not supported")
	}
	p.expect("INTO")
	s.Table = p.objectName("the name of a table")
	s.Hints = p.hints()
	if t := p.cur(); t.kw == "PARTITION" {
		p.unsupported(t, "select the partition's columns like any other", "INSERT INTO … PARTITION is not supported")
	}
	if p.is("(") && !p.startsQuery(0) {
		s.Columns = p.identList("a column name")
	}
	if !p.startsQuery(0) {
		p.unexpected("SELECT, VALUES or WITH", "SELECT", "VALUES", "WITH")
	}
	s.Query = p.query()
	return s
}

// drop reads DROP [TEMPORARY] TABLE|VIEW [IF EXISTS] name.
func (p *parser) drop() *ast.Drop {
	s := &ast.Drop{Pos: p.pos()}
	p.expect("DROP")
	s.Temporary = p.accept("TEMPORARY")
	s.View = p.objectKind("DROP") == "VIEW"
	s.IfExists = p.ifWords("EXISTS")
	s.Name = p.objectName("the name of what is dropped")
	return s
}

// objectKind reads TABLE or VIEW after CREATE or DROP.
func (p *parser) objectKind(verb string) string {
	t := p.cur()
	switch t.kw {
	case "CATALOG", "DATABASE", "FUNCTION", "MATERIALIZED", "MODEL", "SYSTEM", "INDEX", "CONNECTION":
		p.unsupported(t, "", "%s %s is not supported", verb, t.kw)
	}
	if t.kw == "OR" {
		p.unsupported(t, "drop it first, or write IF NOT EXISTS", "%s OR REPLACE is not supported", verb)
	}
	return p.expectOneOf("TABLE", "VIEW")
}

// ifWords reads IF and the words, or nothing.
func (p *parser) ifWords(words ...string) bool {
	if !p.accept("IF") {
		return false
	}
	p.expectWords(words...)
	return true
}

// set reads SET ['key' = 'value'].
func (p *parser) set() *ast.Set {
	s := &ast.Set{Pos: p.pos()}
	p.expect("SET")
	if p.atEnd() {
		return s
	}
	s.KeyPos, s.Key = p.pos(), p.sessionKey()
	p.expect("=")
	s.ValuePos = p.pos()
	s.Value = p.sessionValue()
	return s
}

// reset reads RESET ['key'].
func (p *parser) reset() *ast.Reset {
	s := &ast.Reset{Pos: p.pos()}
	p.expect("RESET")
	if p.atEnd() {
		return s
	}
	s.KeyPos, s.Key = p.pos(), p.sessionKey()
	return s
}

func (p *parser) atEnd() bool { return p.cur().kind == tEOF || p.is(";") }

// sessionKey reads the key of a session option, which Flink's older texts
// write without quotes.
func (p *parser) sessionKey() string {
	if !p.cur().isString() && p.cur().kind == tWord {
		text := p.bareText(func(t *token) bool { return t.isOp("=") })
		p.fail(p.pos(), "write '"+text+"'", "the option %s has to stand in quotes", text)
	}
	key := p.stringText("the name of an option")
	if key == "" {
		p.failTok(&p.toks[p.i-1], "", "the name of an option is empty")
	}
	return key
}

// sessionValue reads the value of a session option.
func (p *parser) sessionValue() string {
	if !p.cur().isString() && !p.atEnd() && p.cur().kind != tError {
		text := p.bareText(func(*token) bool { return false })
		p.fail(p.pos(), "write '"+text+"'", "the value %s has to stand in quotes", text)
	}
	return p.stringText("a value")
}

// bareText is the text from here to the end of the statement, or to a token
// that stop tells.
func (p *parser) bareText(stop func(*token) bool) string {
	var b strings.Builder
	end := p.cur().off
	for n := 0; ; n++ {
		t := p.at(n)
		if t.kind == tEOF || t.kind == tError || t.isOp(";") || stop(t) {
			return shorten(b.String())
		}
		if t.off > end {
			b.WriteByte(' ')
		}
		b.WriteString(t.text)
		end = t.end
	}
}

// explainDetails are the details that EXPLAIN can be asked for.
var explainDetails = []string{"ESTIMATED_COST", "CHANGELOG_MODE", "PLAN_ADVICE", "JSON_EXECUTION_PLAN", "ANALYZE"}

// explain reads EXPLAIN [details | PLAN FOR] statement.
func (p *parser) explain() *ast.Explain {
	s := &ast.Explain{Pos: p.pos()}
	p.expect("EXPLAIN")
	if p.accept("PLAN") {
		p.expect("FOR")
	} else if p.cur().kind == tWord && p.cur().isName() && !p.isOneOf("EXECUTE", "BEGIN", "STATEMENT") {
		p.commaList(func() {
			t := p.cur()
			if !p.isOneOf(explainDetails...) {
				p.unexpected("a statement, or one of "+oneOf(explainDetails),
					append([]string{"SELECT", "INSERT", "PLAN", "STATEMENT", "EXECUTE"}, explainDetails...)...)
			}
			p.next()
			s.Details = append(s.Details, ast.ExplainDetail{Pos: p.posOf(t), Name: t.kw})
		})
	}
	switch {
	case p.is("INSERT"):
		s.Statement = p.insert()
	case p.isOneOf("EXECUTE", "BEGIN", "STATEMENT"):
		s.Statement = p.statementSet()
	case p.startsQuery(0):
		s.Statement = &ast.QueryStatement{Pos: p.pos(), Query: p.query()}
	default:
		p.unexpected("a query, INSERT or STATEMENT SET", "SELECT", "INSERT", "STATEMENT", "EXECUTE")
	}
	return s
}

// statementSet reads EXECUTE STATEMENT SET BEGIN …; END, the older BEGIN
// STATEMENT SET; …; END, and, after EXPLAIN, STATEMENT SET BEGIN …; END.
func (p *parser) statementSet() *ast.StatementSet {
	start := p.cur()
	s := &ast.StatementSet{Pos: p.pos()}
	switch {
	case p.accept("BEGIN"):
		p.expectWords("STATEMENT", "SET")
		p.expect(";")
		s.Old = true
	default:
		p.accept("EXECUTE")
		p.expectWords("STATEMENT", "SET")
		p.expect("BEGIN")
	}
	for !p.accept("END") {
		if p.cur().kind == tEOF {
			p.failTok(start, "end it with END;", "the statement set is never closed")
		}
		if !p.is("INSERT") {
			p.unexpected("INSERT INTO or END in the statement set", "INSERT", "END")
		}
		at := p.i
		s.Inserts = append(s.Inserts, p.insert())
		if p.is("END") || p.is("INSERT") {
			p.failTok(p.cur(), "end the statement that starts at "+place(&p.toks[at])+` with ";"`,
				`expected ";" before %s`, p.cur().kw)
		}
		if p.cur().kind != tEOF {
			if !p.is(";") {
				p.unexpected(`the end of the statement`, clauseWords...)
			}
			p.next()
		}
	}
	if len(s.Inserts) == 0 {
		p.failTok(start, "", "the statement set is empty")
	}
	return s
}

// showWhat are the plain forms of SHOW.
var showWhat = []string{"TABLES", "VIEWS", "FUNCTIONS", "JOBS", "CATALOGS", "DATABASES"}

// show reads SHOW what [[NOT] LIKE 'pattern'], or SHOW CREATE TABLE|VIEW name.
func (p *parser) show() *ast.Show {
	s := &ast.Show{Pos: p.pos()}
	p.expect("SHOW")
	switch {
	case p.accept("CREATE"):
		s.What = "CREATE " + p.expectOneOf("TABLE", "VIEW")
		s.Name = p.objectName("a name")
		return s
	case p.accept("CURRENT"):
		s.What = "CURRENT " + p.expectOneOf("CATALOG", "DATABASE")
		return s
	}
	if !p.isOneOf(showWhat...) {
		if t := p.cur(); t.kw == "COLUMNS" {
			p.unsupported(t, "write DESCRIBE table", "SHOW COLUMNS is not supported")
		}
		p.unexpected(oneOf(append(showWhat, "CREATE TABLE")), append(showWhat, "CREATE")...)
	}
	s.What = p.next().kw
	s.Not = p.accept("NOT")
	if s.Not || p.is("LIKE") {
		p.expect("LIKE")
		pos := p.pos()
		s.Pattern = &ast.Literal{Pos: pos, Kind: ast.StringLiteral, Text: p.stringText("a pattern"), TextPos: pos}
	}
	return s
}

// describe reads DESCRIBE|DESC [EXTENDED] name.
func (p *parser) describe() *ast.Describe {
	s := &ast.Describe{Pos: p.pos()}
	p.next()
	if p.is("EXTENDED") && p.at(1).isName() {
		p.next()
		s.Extended = true
	}
	s.Name = p.objectName("the name of a table or view")
	return s
}

// use reads USE [CATALOG] name.
func (p *parser) use() *ast.Use {
	s := &ast.Use{Pos: p.pos()}
	p.expect("USE")
	if p.is("CATALOG") && p.at(1).isName() {
		p.next()
		s.Catalog = true
	}
	s.Name = p.objectName("a name")
	return s
}

// stopJob reads STOP JOB 'id' [WITH SAVEPOINT] [WITH DRAIN].
func (p *parser) stopJob() *ast.StopJob {
	s := &ast.StopJob{Pos: p.pos()}
	p.expectWords("STOP", "JOB")
	s.IDPos = p.pos()
	s.ID = p.stringText("the job's id")
	s.WithSavepoint = p.acceptWords("WITH", "SAVEPOINT")
	s.WithDrain = p.acceptWords("WITH", "DRAIN")
	return s
}
