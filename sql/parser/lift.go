package parser

import (
	"strconv"
	"strings"

	"github.com/xwb1989/sqlparser"

	"github.com/sluicesql/sluice/sql/ast"
)

// lift gives the skeleton to sqlparser and turns what comes back into q.
//
// It names every node and field that may occur; anything else would be
// something that sqlparser accepts and the dialect doesn't know. The text is
// ours, so that this can't happen by a user's text: it would be a mistake of
// this package, and is reported as such instead of dropped.
func (s *skeleton) lift(q *ast.Query) {
	stmt, err := sqlparser.Parse(s.text.String())
	if err != nil {
		s.bad("refused the query's skeleton: " + err.Error())
	}
	sel, ok := stmt.(sqlparser.SelectStatement)
	if !ok {
		s.bad("read the query as another statement")
	}
	s.liftQuery(q, sel)
	for i := range s.slots {
		if !s.slots[i].met {
			s.bad("dropped the placeholder " + strconv.Itoa(i))
		}
	}
}

func (s *skeleton) bad(what string) {
	s.p.fail(s.pos, "please report the query", "internal error: sqlparser %s", what)
}

// allow reports a field that is set and must not be.
func (s *skeleton) allow(ok bool, field string) {
	if !ok {
		s.bad("set " + field)
	}
}

// meet gives the slot of a placeholder, which is met for the first time and
// is of one of the kinds.
func (s *skeleton) meet(name string, kinds ...slotKind) *slot {
	number, _, ok := strings.Cut(name, ":")
	i, err := strconv.Atoi(number)
	if !ok || err != nil || i < 0 || i >= len(s.slots) {
		s.bad("made up the name " + strconv.Quote(name))
	}
	sl := &s.slots[i]
	if sl.met {
		s.bad("doubled the placeholder " + strconv.Quote(name))
	}
	for _, k := range kinds {
		if sl.kind == k {
			sl.met = true
			return sl
		}
	}
	s.bad("misplaced the placeholder " + strconv.Quote(name))
	return nil
}

// meetExpr is meet for a placeholder in the place of an expression.
func (s *skeleton) meetExpr(e sqlparser.Expr, kinds ...slotKind) *slot {
	c, ok := e.(*sqlparser.ColName)
	if !ok {
		s.bad("made an expression of a placeholder: " + sqlparser.String(e))
	}
	s.allow(c.Metadata == nil && c.Qualifier.IsEmpty(), "the qualifier of a column")
	return s.meet(c.Name.String(), kinds...)
}

// liftQuery lifts a body with the clauses after it.
func (s *skeleton) liftQuery(q *ast.Query, stmt sqlparser.SelectStatement) *selectParts {
	var parts *selectParts
	q.Body, parts = s.liftBody(stmt)
	switch n := stmt.(type) {
	case *sqlparser.Select:
		s.liftTail(q, n.OrderBy, n.Limit)
	case *sqlparser.Union:
		s.liftTail(q, n.OrderBy, n.Limit)
	}
	return parts
}

func (s *skeleton) liftTail(q *ast.Query, order sqlparser.OrderBy, limit *sqlparser.Limit) {
	for _, o := range order {
		sl := s.meetExpr(o.Expr, slotOrder)
		s.allow(o.Direction == sqlparser.AscScr || o.Direction == sqlparser.DescScr, "an order's direction")
		s.allow(sl.order.Desc == (o.Direction == sqlparser.DescScr), "another direction")
		q.OrderBy = append(q.OrderBy, sl.order)
	}
	if limit == nil {
		return
	}
	q.Limit = s.meetExpr(limit.Rowcount, slotLimit).expr
	if limit.Offset != nil {
		q.Offset = s.meetExpr(limit.Offset, slotOffset).expr
	}
}

// liftBody lifts a body without the clauses after it, and gives the parts of
// its first SELECT.
func (s *skeleton) liftBody(stmt sqlparser.SelectStatement) (ast.QueryBody, *selectParts) {
	switch n := stmt.(type) {
	case *sqlparser.Select:
		return s.liftSelect(n)
	case *sqlparser.Union:
		return s.liftUnion(n)
	case *sqlparser.ParenSelect:
		q := &ast.Query{}
		parts := s.liftQuery(q, n.Select)
		q.Pos = parts.pos
		return unwrap(q), parts
	}
	s.bad("made a " + sqlparser.String(stmt))
	return nil, nil
}

func (s *skeleton) liftUnion(n *sqlparser.Union) (ast.QueryBody, *selectParts) {
	s.allow(n.Lock == "", "a lock")
	op := &ast.SetOp{Kind: ast.Union}
	switch n.Type {
	case sqlparser.UnionStr:
	case sqlparser.UnionAllStr:
		op.All = true
	default:
		s.bad("made a " + n.Type)
	}
	// A left operand that is a plain Select or Union has no clauses after it:
	// the grammar allows them, but our side doesn't write them.
	switch l := n.Left.(type) {
	case *sqlparser.Select:
		s.allow(l.OrderBy == nil && l.Limit == nil, "clauses before UNION")
	case *sqlparser.Union:
		s.allow(l.OrderBy == nil && l.Limit == nil, "clauses before UNION")
	}
	var first, right *selectParts
	op.Left, first = s.liftBody(n.Left)
	op.Right, right = s.liftBody(n.Right)
	op.Pos = right.unionPos
	return op, first
}

func (s *skeleton) liftSelect(n *sqlparser.Select) (ast.QueryBody, *selectParts) {
	s.allow(n.Cache == "", "a cache option")
	s.allow(len(n.Comments) == 0, "comments")
	s.allow(n.Hints == "", "hints")
	s.allow(n.Lock == "", "a lock")
	s.allow(n.Distinct == "" || n.Distinct == sqlparser.DistinctStr, "DISTINCT")
	sel := &ast.Select{Distinct: n.Distinct != ""}
	var parts *selectParts
	for _, e := range n.SelectExprs {
		a, ok := e.(*sqlparser.AliasedExpr)
		if !ok {
			s.bad("made " + sqlparser.String(e) + " of an item")
		}
		sl := s.meetExpr(a.Expr, slotItem, slotBody)
		parts = sl.sel
		if sl.kind == slotBody {
			s.allow(len(n.SelectExprs) == 1 && isDual(n.From) && n.Where == nil && n.GroupBy == nil &&
				n.Having == nil && a.As.IsEmpty(), "clauses of an operand")
			return sl.body, parts
		}
		item := sl.item
		if !a.As.IsEmpty() {
			item.Alias = s.meet(a.As.String(), slotAlias).alias.Name
		}
		sel.Items = append(sel.Items, item)
	}
	sel.Pos, sel.Hints, sel.Windows, sel.Qualify = parts.pos, parts.hints, parts.windows, parts.qualify
	if !isDual(n.From) {
		sel.From = s.liftFrom(n.From, parts)
	}
	sel.Where = s.liftWhere(n.Where, sqlparser.WhereStr)
	for _, e := range n.GroupBy {
		sel.GroupBy = append(sel.GroupBy, s.meetExpr(e, slotGroup).group)
	}
	sel.Having = s.liftWhere(n.Having, sqlparser.HavingStr)
	return sel, parts
}

func (s *skeleton) liftWhere(w *sqlparser.Where, kind string) ast.Expr {
	if w == nil {
		return nil
	}
	s.allow(w.Type == kind, "the clause "+w.Type)
	return s.meetExpr(w.Expr, slotExpr).expr
}

// isDual reports whether this is what sqlparser puts where there is no FROM.
// No table of ours is called so: their names have a number in front.
func isDual(from sqlparser.TableExprs) bool {
	if len(from) != 1 {
		return false
	}
	a, ok := from[0].(*sqlparser.AliasedTableExpr)
	if !ok {
		return false
	}
	n, ok := a.Expr.(sqlparser.TableName)
	return ok && n.Qualifier.IsEmpty() && n.Name.String() == "dual"
}

func (s *skeleton) liftFrom(from sqlparser.TableExprs, parts *selectParts) ast.TableRef {
	s.allow(len(from) == len(parts.commas)+1, "another number of tables")
	left := s.liftTable(from[0])
	for i, t := range from[1:] {
		left = &ast.Join{Pos: parts.commas[i], Kind: ast.CrossJoin, Comma: true, Left: left, Right: s.liftTable(t)}
	}
	return left
}

func (s *skeleton) liftTable(t sqlparser.TableExpr) ast.TableRef {
	switch n := t.(type) {
	case *sqlparser.AliasedTableExpr:
		return s.liftAliased(n)
	case *sqlparser.ParenTableExpr:
		s.allow(len(n.Exprs) == 1, "a comma in parentheses")
		return s.liftTable(n.Exprs[0])
	case *sqlparser.JoinTableExpr:
		return s.liftJoin(n)
	}
	s.bad("made a table of " + sqlparser.String(t))
	return nil
}

func (s *skeleton) liftAliased(n *sqlparser.AliasedTableExpr) ast.TableRef {
	s.allow(n.Hints == nil, "index hints")
	s.allow(n.Partitions == nil, "partitions")
	switch e := n.Expr.(type) {
	case sqlparser.TableName:
		s.allow(e.Qualifier.IsEmpty(), "the qualifier of a table")
		t := s.meet(e.Name.String(), slotTable).table
		if !n.As.IsEmpty() {
			setAlias(t, s.meet(n.As.String(), slotAlias).alias)
		}
		return t
	case *sqlparser.Subquery:
		d, ok := s.meet(n.As.String(), slotTable).table.(*ast.DerivedTable)
		if !ok {
			s.bad("exchanged two tables")
		}
		s.liftQuery(d.Query, e.Select)
		return d
	}
	s.bad("made a table of " + sqlparser.String(n))
	return nil
}

func setAlias(t ast.TableRef, a ast.TableAlias) {
	switch n := t.(type) {
	case *ast.NamedTable:
		n.Alias = a
	case *ast.DerivedTable:
		n.Alias = a
	case *ast.TableFunction:
		n.Alias = a
	case *ast.Unnest:
		n.Alias = a
	}
}

func (s *skeleton) liftJoin(n *sqlparser.JoinTableExpr) ast.TableRef {
	left := s.liftTable(n.LeftExpr)
	right := s.liftTable(n.RightExpr)
	var j *joinParts
	switch c := n.Condition; {
	case c.On != nil && c.Using == nil:
		j = s.meetExpr(c.On, slotJoin).join
	case c.On == nil && c.Using != nil:
		for _, col := range c.Using {
			j = s.meet(col.String(), slotUsing).join
		}
		s.allow(len(c.Using) == len(j.using), "another number of columns in USING")
	default:
		s.bad("dropped a join's condition")
	}
	var want string
	switch j.kind {
	case ast.InnerJoin, ast.CrossJoin:
		want = sqlparser.JoinStr
	case ast.LeftJoin, ast.FullJoin:
		want = sqlparser.LeftJoinStr
	case ast.RightJoin:
		want = sqlparser.RightJoinStr
	}
	s.allow(n.Join == want, "the join "+n.Join)
	return &ast.Join{Pos: j.pos, Kind: j.kind, Natural: j.natural, Left: left, Right: right, On: j.on, Using: j.using}
}
