package parser

import (
	"github.com/sluicesql/sluice/sql/ast"
)

// create reads CREATE TABLE and CREATE VIEW.
func (p *parser) create() ast.Statement {
	pos := p.pos()
	p.expect("CREATE")
	temporary := p.accept("TEMPORARY")
	if p.objectKind("CREATE") == "VIEW" {
		return p.createView(pos, temporary)
	}
	s := &ast.CreateTable{Pos: pos, Temporary: temporary}
	s.IfNotExists = p.ifWords("NOT", "EXISTS")
	s.Name = p.objectName("the name of the table")
	if p.is("(") {
		p.tableElements(s)
	}
	s.Comment = p.comment()
	if t := p.cur(); t.kw == "DISTRIBUTED" {
		p.unsupported(t, "", "DISTRIBUTED BY is not supported")
	}
	if p.acceptWords("PARTITIONED", "BY") {
		s.PartitionedBy = p.identList("a column name")
	}
	if p.accept("WITH") {
		s.Options = p.options()
	}
	if p.is("LIKE") {
		s.Like = p.likeTable()
	}
	if p.accept("AS") {
		if !p.startsQuery(0) {
			p.unexpected("a query", "SELECT", "WITH", "VALUES")
		}
		s.As = p.query()
	}
	if !p.atEnd() && len(s.Options) == 0 && s.Like == nil && s.As == nil {
		p.unexpected("WITH (…) with the table's options, or LIKE", "WITH", "LIKE", "COMMENT", "PARTITIONED")
	}
	return s
}

// tableElements reads what stands in the parentheses of CREATE TABLE.
func (p *parser) tableElements(s *ast.CreateTable) {
	p.open()
	if p.is(")") {
		p.unexpected("a column")
	}
	p.commaList(func() {
		switch {
		case p.is("WATERMARK") && p.isAt(1, "FOR"):
			if s.Watermark != nil {
				p.failTok(p.cur(), "", "a table has one WATERMARK; the other is at %s", short(s.Watermark.Pos))
			}
			s.Watermark = p.watermark()
		case p.is("PRIMARY"), p.is("CONSTRAINT") && p.isAt(2, "PRIMARY"):
			p.setKey(s, p.tableKey())
		case p.is("UNIQUE") && (p.isAt(1, "(") || p.isAt(1, "KEY")), p.is("CONSTRAINT") && p.isAt(2, "UNIQUE"):
			p.unsupported(p.cur(), "declare a PRIMARY KEY … NOT ENFORCED", "UNIQUE is not supported")
		default:
			p.column(s)
		}
	})
	p.expect(")")
}

// short is a position without the file, for the middle of a message.
func short(pos ast.Pos) string {
	pos.File = ""
	return pos.String()
}

func (p *parser) setKey(s *ast.CreateTable, k *ast.PrimaryKey) {
	if s.PrimaryKey != nil {
		p.fail(k.Pos, "for a key of several columns write PRIMARY KEY (a, b) NOT ENFORCED",
			"a table has one PRIMARY KEY; the other is at %s", short(s.PrimaryKey.Pos))
	}
	s.PrimaryKey = k
}

// watermark reads WATERMARK FOR path AS expr.
func (p *parser) watermark() *ast.Watermark {
	w := &ast.Watermark{Pos: p.pos()}
	p.expectWords("WATERMARK", "FOR")
	w.Column = []ast.Ident{p.ident("a column name")}
	for p.accept(".") {
		w.Column = append(w.Column, p.fieldIdent())
	}
	p.expect("AS")
	w.Expr = p.expr()
	return w
}

// tableKey reads [CONSTRAINT name] PRIMARY KEY (columns) NOT ENFORCED.
func (p *parser) tableKey() *ast.PrimaryKey {
	k := &ast.PrimaryKey{}
	if p.accept("CONSTRAINT") {
		k.Constraint = p.ident("a constraint's name")
	}
	k.Pos = p.pos()
	p.expectWords("PRIMARY", "KEY")
	k.Columns = p.identList("a column name")
	seen := map[string]bool{}
	for _, c := range k.Columns {
		if seen[c.Name] {
			p.fail(c.Pos, "", "the column %q is twice in the PRIMARY KEY", c.Name)
		}
		seen[c.Name] = true
	}
	p.notEnforced(k)
	return k
}

// notEnforced wants NOT ENFORCED: Flink knows no other key, since a table
// over a connector can't be held to one.
func (p *parser) notEnforced(k *ast.PrimaryKey) {
	if p.acceptWords("NOT", "ENFORCED") {
		return
	}
	p.misspelt()
	if p.is("NOT") || p.cur().kind == tError {
		p.expectWords("NOT", "ENFORCED")
	}
	p.fail(k.Pos, "write PRIMARY KEY … NOT ENFORCED", "a PRIMARY KEY is not checked by the engine and has to say so")
}

// column reads one column of CREATE TABLE.
func (p *parser) column(s *ast.CreateTable) {
	c := &ast.Column{Name: p.ident("a column name"), Kind: ast.PhysicalColumn}
	for _, other := range s.Columns {
		if other.Name.Name == c.Name.Name {
			p.fail(c.Name.Pos, "", "the column %q is declared twice; first at %s", c.Name.Name, short(other.Name.Pos))
		}
	}
	s.Columns = append(s.Columns, c)
	if p.accept("AS") {
		c.Kind = ast.ComputedColumn
		c.Expr = p.expr()
		c.Comment = p.comment()
		return
	}
	c.Type = p.dataType()
	if p.is("METADATA") {
		p.metadata(c)
	}
	p.columnConstraints(s, c)
	c.Comment = p.comment()
	p.columnConstraints(s, c)
	if t := p.cur(); t.kw == "DEFAULT" || t.kw == "CHECK" || t.kw == "UNIQUE" || t.kw == "REFERENCES" || t.kw == "AUTO_INCREMENT" {
		p.unsupported(t, "", "%s is not supported on a column", t.kw)
	}
	if !p.is(",") && !p.is(")") {
		p.unexpected(`"," or ")" after the column`, "METADATA", "COMMENT", "PRIMARY", "NOT", "VIRTUAL")
	}
}

// columnConstraints reads [CONSTRAINT name] PRIMARY KEY NOT ENFORCED after a
// column.
func (p *parser) columnConstraints(s *ast.CreateTable, c *ast.Column) {
	if !p.is("PRIMARY") && !p.is("CONSTRAINT") {
		return
	}
	k := &ast.PrimaryKey{Columns: []ast.Ident{c.Name}}
	if p.accept("CONSTRAINT") {
		k.Constraint = p.ident("a constraint's name")
	}
	k.Pos = p.pos()
	p.expectWords("PRIMARY", "KEY")
	p.notEnforced(k)
	p.setKey(s, k)
}

// metadata reads METADATA [FROM 'key'] [VIRTUAL].
func (p *parser) metadata(c *ast.Column) {
	c.Kind = ast.MetadataColumn
	p.expect("METADATA")
	if p.accept("FROM") {
		c.MetadataKeyPos = p.pos()
		c.MetadataKey = p.stringText("a metadata key")
	}
	c.Virtual = p.accept("VIRTUAL")
}

// comment reads COMMENT 'text', or nothing.
func (p *parser) comment() string {
	if !p.is("COMMENT") || p.isAt(1, ",") || p.isAt(1, ")") {
		return ""
	}
	p.next()
	return p.stringText("a comment")
}

// options reads ('key' = 'value', …).
func (p *parser) options() []ast.Option {
	p.open()
	var opts []ast.Option
	first := map[string]ast.Pos{}
	p.commaList(func() {
		o := ast.Option{KeyPos: p.pos(), Key: p.stringText("an option's name")}
		p.expect("=")
		o.ValuePos = p.pos()
		if t := p.cur(); t.kind == tInt || t.kind == tDecimal || t.kind == tDouble || t.kw == "TRUE" || t.kw == "FALSE" {
			p.failTok(t, "write '"+t.text+"'", "the value %s of an option has to stand in quotes", t.text)
		}
		o.Value = p.stringText("an option's value")
		if at, ok := first[o.Key]; ok {
			p.fail(o.KeyPos, "", "the option '%s' is set twice; first at %s", o.Key, short(at))
		}
		first[o.Key] = o.KeyPos
		opts = append(opts, o)
		if !p.is(",") && !p.is(")") {
			if p.cur().isString() {
				p.failTok(p.cur(), "", `expected "," before the option %s`, quoteText(shorten(p.cur().text)))
			}
			p.unexpected(`"," or ")" after the option`)
		}
	})
	p.expect(")")
	return opts
}

// likeWhat says for every feature of LIKE how it may be merged.
var likeWhat = map[string][]string{
	"ALL":          {"INCLUDING", "EXCLUDING"},
	"CONSTRAINTS":  {"INCLUDING", "EXCLUDING"},
	"DISTRIBUTION": {"INCLUDING", "EXCLUDING"},
	"PARTITIONS":   {"INCLUDING", "EXCLUDING"},
	"GENERATED":    {"INCLUDING", "EXCLUDING", "OVERWRITING"},
	"METADATA":     {"INCLUDING", "EXCLUDING", "OVERWRITING"},
	"OPTIONS":      {"INCLUDING", "EXCLUDING", "OVERWRITING"},
	"WATERMARKS":   {"INCLUDING", "EXCLUDING", "OVERWRITING"},
}

// likeTable reads LIKE name [(options)].
func (p *parser) likeTable() *ast.LikeTable {
	l := &ast.LikeTable{Pos: p.pos()}
	p.expect("LIKE")
	l.Table = p.objectName("the name of a table")
	if !p.is("(") {
		return l
	}
	p.open()
	for {
		o := ast.LikeOption{Pos: p.pos()}
		o.Merge = p.expectOneOf("INCLUDING", "EXCLUDING", "OVERWRITING")
		t := p.cur()
		o.What = p.expectOneOf("ALL", "CONSTRAINTS", "DISTRIBUTION", "GENERATED", "METADATA", "OPTIONS", "PARTITIONS", "WATERMARKS")
		if !contains(likeWhat[o.What], o.Merge) {
			p.failTok(t, "", "%s can't be combined with %s", o.Merge, o.What)
		}
		l.Options = append(l.Options, o)
		if p.accept(")") {
			return l
		}
	}
}

// createView reads what follows CREATE [TEMPORARY] VIEW.
func (p *parser) createView(pos ast.Pos, temporary bool) ast.Statement {
	s := &ast.CreateView{Pos: pos, Temporary: temporary}
	s.IfNotExists = p.ifWords("NOT", "EXISTS")
	s.Name = p.objectName("the name of the view")
	if p.is("(") {
		p.open()
		p.commaList(func() {
			c := ast.ViewColumn{Name: p.ident("a column name")}
			c.Comment = p.comment()
			s.Columns = append(s.Columns, c)
		})
		p.expect(")")
	}
	s.Comment = p.comment()
	p.expect("AS")
	if !p.startsQuery(0) {
		p.unexpected("a query", "SELECT", "WITH", "VALUES")
	}
	s.Query = p.query()
	return s
}
