package parser

import (
	"strconv"
	"strings"

	"github.com/sluicesql/sluice/sql/ast"
)

// skeleton is the text for sqlparser, while it's written, with the slots that
// its placeholders stand for.
type skeleton struct {
	p     *parser
	text  strings.Builder
	slots []slot
	// depth counts the parentheses that are open in the text.
	depth int
	// unionPos is the place of a UNION whose right operand comes next.
	unionPos ast.Pos
	// pos is where the query starts.
	pos ast.Pos
}

// slotKind says what a slot holds, and so where its placeholder may stand.
type slotKind int

const (
	slotItem  slotKind = iota + 1 // an item of SELECT
	slotBody                      // a whole operand that sqlparser can't read
	slotAlias                     // an alias of an item or a table
	slotTable                     // a table, or what our side read as one
	slotJoin                      // a join, in the place of its ON expression
	slotUsing                     // a column of USING
	slotExpr                      // WHERE or HAVING
	slotGroup                     // an item of GROUP BY
	slotOrder                     // an item of ORDER BY
	slotLimit                     // LIMIT, nil for a limit of ALL
	slotOffset
)

// slot is one thing that was read from the tokens.
type slot struct {
	kind slotKind
	// met says that lift has come to it.
	met bool

	item  ast.SelectItem
	sel   *selectParts
	body  ast.QueryBody
	alias ast.TableAlias
	table ast.TableRef
	join  *joinParts
	expr  ast.Expr
	group ast.GroupItem
	order ast.OrderItem
}

// selectParts is what belongs to a SELECT but not into its text. Every item of
// the SELECT leads to it.
type selectParts struct {
	pos     ast.Pos
	hints   []ast.Hint
	windows []ast.NamedWindow
	qualify ast.Expr
	// commas are the places of the commas in FROM.
	commas []ast.Pos
	// unionPos is the place of the UNION before the operand that starts with
	// this SELECT.
	unionPos ast.Pos
}

// joinParts is a join as it was written. sqlparser takes JOIN without ON for
// a cross join and CROSS JOIN … ON for an inner one, and lacks FULL JOIN: so
// the kind is recorded here, and every join goes in with an ON or a USING
// that leads to this record.
type joinParts struct {
	pos     ast.Pos
	kind    ast.JoinKind
	natural bool
	on      ast.Expr
	using   []ast.Ident
}

func newSkeleton(p *parser) *skeleton { return &skeleton{p: p, pos: p.pos()} }

// write adds a piece of sqlparser's own grammar. No text of the user ever
// comes here.
func (s *skeleton) write(grammar string) { s.text.WriteString(grammar) }

// put adds a placeholder for what sl holds. The label only makes the text
// readable; sqlparser takes what stands in backquotes for a name, whatever it
// is.
func (s *skeleton) put(label string, sl slot) {
	s.text.WriteByte('`')
	s.text.WriteString(strconv.Itoa(len(s.slots)))
	s.text.WriteByte(':')
	s.text.WriteString(strings.ReplaceAll(label, "`", "``"))
	s.text.WriteByte('`')
	s.slots = append(s.slots, sl)
}

// open and close write parentheses.
func (s *skeleton) open() {
	s.depth++
	s.write("(")
}

func (s *skeleton) close() {
	s.depth--
	s.write(")")
}

// query writes selects joined by UNION, and the clauses after them.
func (s *skeleton) query() {
	s.operand(s.p.unionFollows())
	for s.p.is("UNION") {
		t := s.p.next()
		s.p.grow(t)
		s.unionPos = s.p.posOf(t)
		s.write(" union ")
		if s.p.allOrDistinct() {
			s.write("all ")
		}
		s.operand(true)
	}
	var q ast.Query
	s.p.tail(&q)
	for i, o := range q.OrderBy {
		if i == 0 {
			s.write(" order by ")
		} else {
			s.write(", ")
		}
		s.put("order", slot{kind: slotOrder, order: o})
		if o.Desc {
			s.write(" desc")
		}
	}
	if q.Limit != nil || q.Offset != nil {
		// The grammar has no OFFSET without LIMIT: such a query gets a LIMIT
		// that holds nothing.
		s.write(" limit ")
		s.put("limit", slot{kind: slotLimit, expr: q.Limit})
	}
	if q.Offset != nil {
		s.write(" offset ")
		s.put("offset", slot{kind: slotOffset, expr: q.Offset})
	}
}

// unionFollows reports whether a UNION stands right after the parenthesis that
// starts here.
func (p *parser) unionFollows() bool {
	mate := p.cur().mate
	return mate >= 0 && matches(&p.toks[mate+1], "UNION")
}

// operand writes one operand of a UNION. Those that the grammar lacks are read
// by our side and go in as a SELECT of one placeholder. inUnion says that
// there is a UNION beside it, without which the grammar takes no query in
// parentheses.
func (s *skeleton) operand(inUnion bool) {
	p := s.p
	switch {
	case p.is("SELECT"):
		s.selectCore()
	case inUnion && p.is("(") && p.isAt(1, "SELECT") && s.nestable(1):
		saved := p.enter(p.open())
		s.open()
		s.query()
		s.close()
		p.leave(saved)
		p.expect(")")
	default:
		parts := s.newParts(p.pos())
		s.write("select ")
		s.put("query", slot{kind: slotBody, body: p.operand(), sel: parts})
	}
}

// nestable reports whether the query that starts n tokens ahead can be a part
// of this skeleton.
func (s *skeleton) nestable(n int) bool {
	if s.depth >= maxSkeletonNesting {
		return false
	}
	at := s.p.i
	s.p.i += n
	ok := s.p.is("SELECT") && s.p.isSkeleton()
	s.p.i = at
	return ok
}

func (s *skeleton) newParts(pos ast.Pos) *selectParts {
	parts := &selectParts{pos: pos, unionPos: s.unionPos}
	s.unionPos = ast.Pos{}
	return parts
}

// foreignModifiers are words after SELECT in other dialects; sqlparser takes
// some of them.
var foreignModifiers = wordSet(`SQL_CALC_FOUND_ROWS SQL_CACHE SQL_NO_CACHE HIGH_PRIORITY
	STRAIGHT_JOIN SQL_SMALL_RESULT SQL_BIG_RESULT SQL_BUFFER_RESULT DISTINCTROW`)

// selectCore writes a SELECT up to QUALIFY.
func (s *skeleton) selectCore() {
	p := s.p
	parts := s.newParts(p.pos())
	p.expect("SELECT")
	parts.hints = p.hints()
	s.write("select ")
	if p.accept("DISTINCT") {
		if t := p.cur(); t.kw == "ON" && p.at(1).isOp("(") {
			p.unsupported(t, "write QUALIFY ROW_NUMBER() OVER (PARTITION BY … ORDER BY …) = 1", "SELECT DISTINCT ON is not supported")
		}
		s.write("distinct ")
	} else {
		p.accept("ALL")
	}
	s.foreignSelect()
	s.items(parts)
	if p.accept("FROM") {
		s.write(" from ")
		s.from(parts)
		s.clauses(parts)
	} else if p.isOneOf("WHERE", "GROUP", "HAVING", "QUALIFY") {
		p.unexpected("FROM before "+p.cur().kw, "FROM")
	} else if p.cur().kind == tWord && !queryGoesOn[p.cur().kw] && !p.isOneOf(statementWords...) && !p.isOneOf("END", "FOR", "LOCK", "INTO") {
		p.unexpected(`"," or FROM`, "FROM")
	}
}

// foreignSelect refuses what other dialects take before the items.
func (s *skeleton) foreignSelect() {
	t, n := s.p.cur(), s.p.at(1)
	switch {
	case foreignModifiers[t.kw] && (n.isName() || n.kw == "DISTINCT" || n.isOp("*")):
		s.p.unsupported(t, "", "SELECT %s is not supported", t.kw)
	case (t.kw == "TOP" || t.kw == "NEXT") && n.kind == tInt:
		s.p.unsupported(t, "write LIMIT "+n.text+" after the query", "SELECT %s is not supported", t.kw)
	}
}

// items writes the items of a SELECT.
func (s *skeleton) items(parts *selectParts) {
	p := s.p
	first := true
	p.commaList(func() {
		if !first {
			s.write(", ")
		}
		first = false
		item := ast.SelectItem{Pos: p.pos()}
		if !s.star(&item) {
			item.Expr = p.expr()
		}
		var alias ast.Ident
		if !item.Star {
			alias = p.alias()
		}
		s.put("item", slot{kind: slotItem, item: item, sel: parts})
		if !alias.IsZero() {
			s.write(" as ")
			s.put(alias.Name, slot{kind: slotAlias, alias: ast.TableAlias{Name: alias}})
		}
	})
}

// star reads * and path.*; false is neither.
func (s *skeleton) star(item *ast.SelectItem) bool {
	p := s.p
	n := 0
	for (p.at(n).kind == tQuoted || p.at(n).kind == tWord && (n > 0 || p.at(n).isName())) && p.isAt(n+1, ".") {
		n += 2
	}
	if !p.isAt(n, "*") {
		return false
	}
	for p.cur().text != "*" || p.cur().kind != tOp {
		item.Qualifier = append(item.Qualifier, p.fieldIdent())
		p.next()
	}
	p.next()
	item.Star = true
	if t := p.cur(); t.isOp("(") || t.kw == "EXCEPT" && p.isAt(1, "(") && !p.startsQuery(1) || t.kw == "EXCLUDE" || t.kw == "REPLACE" {
		p.unsupported(t, "list the columns", "%s after * is not supported", t.describe())
	}
	return true
}

// alias reads [AS] name, or nothing.
func (p *parser) alias() ast.Ident {
	if p.accept("AS") {
		if t := p.cur(); t.isString() {
			p.failTok(t, "write `"+t.text+"`", "an alias is a name, not a string")
		}
		return p.ident("an alias")
	}
	if t := p.cur(); t.isName() && !noAlias[t.kw] {
		p.lastAlias = p.i
		return p.ident("an alias")
	}
	return ast.Ident{}
}

// clauses writes WHERE, GROUP BY and HAVING, and keeps WINDOW and QUALIFY.
func (s *skeleton) clauses(parts *selectParts) {
	p := s.p
	if p.accept("WHERE") {
		s.write(" where ")
		s.put("where", slot{kind: slotExpr, expr: p.expr()})
	}
	if p.is("GROUP") {
		p.next()
		p.expect("BY")
		if t := p.cur(); (t.kw == "DISTINCT" || t.kw == "ALL") && !p.isAt(1, ",") {
			p.unsupported(t, "", "GROUP BY %s is not supported", t.kw)
		}
		s.write(" group by ")
		first := true
		p.commaList(func() {
			if !first {
				s.write(", ")
			}
			first = false
			s.put("group", slot{kind: slotGroup, group: p.groupItem()})
		})
	}
	if p.accept("HAVING") {
		s.write(" having ")
		s.put("having", slot{kind: slotExpr, expr: p.expr()})
	}
	if p.is("WINDOW") && p.at(1).isName() && p.isAt(2, "AS") {
		p.next()
		p.commaList(func() {
			w := ast.NamedWindow{Name: p.ident("a window's name")}
			p.expect("AS")
			w.Window = p.window()
			parts.windows = append(parts.windows, w)
		})
	}
	if p.accept("QUALIFY") {
		parts.qualify = p.expr()
	}
	switch t := p.cur(); t.kw {
	case "WITH":
		p.unsupported(t, "write GROUP BY ROLLUP (…) or CUBE (…)", "WITH %s is not supported here", p.at(1).text)
	case "WHERE", "GROUP", "HAVING", "QUALIFY":
		p.failTok(t, "the order is WHERE, GROUP BY, HAVING, WINDOW, QUALIFY", "%s comes twice or too late", t.kw)
	}
}

// groupItem reads an item of GROUP BY.
func (p *parser) groupItem() ast.GroupItem {
	defer p.leave(p.enter(p.cur()))
	g := ast.GroupItem{Pos: p.pos(), Kind: ast.GroupExpr}
	switch {
	case p.is("ROLLUP") && p.isAt(1, "("):
		p.next()
		g.Kind = ast.GroupRollup
	case p.is("CUBE") && p.isAt(1, "("):
		p.next()
		g.Kind = ast.GroupCube
	case p.is("GROUPING") && p.isAt(1, "SETS"):
		p.i += 2
		g.Kind = ast.GroupSets
	case p.is("(") && p.isAt(1, ")"):
		p.i += 2
		g.Kind = ast.GroupList
		return g
	default:
		e := p.expr()
		if r, ok := e.(*ast.Row); ok && !r.Explicit {
			g.Kind, g.Exprs = ast.GroupList, r.Items
			return g
		}
		g.Exprs = []ast.Expr{e}
		return g
	}
	p.open()
	p.commaList(func() { g.Items = append(g.Items, p.groupItem()) })
	p.expect(")")
	return g
}
