package planner

import (
	"slices"

	"github.com/sluicesql/sluice/engine/expr"
	"github.com/sluicesql/sluice/engine/types"
	"github.com/sluicesql/sluice/sql/ast"
)

// A subquery becomes a join of the rows around it with the subquery's: of all rows with a mark that says
// whether there is a match (EXISTS, IN), or of all rows with the one value (a scalar subquery). Where WHERE
// keeps the marked rows or the others alone, a rule makes a semi or anti join of it.

// subqueries are the joins that the subqueries of a clause ask for, inner ones first.
type subqueries struct {
	joins []*relOuter
	// when are the conditions under which the value of the expression that is being bound is asked for: those of the
	// branches that it is in.
	when []expr.Expr
	// bound are the subqueries that were bound, by their text: one that is written twice, or stands in what is bound
	// twice (the operand of a CASE, an item of SELECT that another clause names), is joined once.
	bound map[string]boundSubquery
}

// boundSubquery is an expression that is a subquery, and the conditions under which its value is asked for.
type boundSubquery struct {
	x    expr.Expr
	when []expr.Expr
}

// subqueryText is how a subquery in an expression is called in errors.
const subqueryText = "this subquery"

// attach joins r with the subqueries of the clause that was bound, which its expressions now see.
func (s *subqueries) attach(r rel) rel {
	for _, o := range s.joins {
		o.left.rel = r
		r = o
	}
	s.joins = nil
	return r
}

// above takes out the subqueries that compare with a column that window functions give: they are joined above the
// windows, the others below, where window functions see them.
func (s *subqueries) above(windows []*relWindow) *subqueries {
	late := colSet{}
	for _, w := range windows {
		for i := range w.calls {
			late[w.calls[i].id] = true
		}
	}
	out := &subqueries{}
	var below []*relOuter
	for _, o := range s.joins {
		uses := colSet{}.addExprs(o.conds)
		if !slices.ContainsFunc(sortedInts(uses), func(id int) bool { return late[id] }) {
			below = append(below, o)
			continue
		}
		out.joins = append(out.joins, o)
		for _, id := range o.gives() { // it is above the windows too
			late[id] = true
		}
	}
	s.joins = below
	return out
}

// asked takes out of conds those that read what the subqueries give.
func (s *subqueries) asked(conds *[]expr.Expr) []expr.Expr {
	if s == nil || len(s.joins) == 0 {
		return nil
	}
	given := colSet{}
	for _, o := range s.joins {
		for _, id := range o.gives() {
			given[id] = true
		}
	}
	var own, asked []expr.Expr
	for _, c := range *conds {
		if slices.ContainsFunc(expr.ColumnsOf(c), func(id int) bool { return given[id] }) {
			asked = append(asked, c)
		} else {
			own = append(own, c)
		}
	}
	*conds = own
	return asked
}

// hasSubquery reports whether a SELECT has subqueries in its expressions.
func hasSubquery(q *ast.Select) bool {
	return holdsQuery(q.Where) || holdsQuery(q.Having) || holdsQuery(q.Qualify) || slices.ContainsFunc(q.Items, func(it ast.SelectItem) bool { return holdsQuery(it.Expr) })
}

// holdsQuery reports whether e holds a subquery.
func holdsQuery(e ast.Expr) bool {
	found := false
	ast.Inspect(e, func(e ast.Expr) bool {
		found = found || isQuery(e)
		return !found
	})
	return found
}

// isQuery reports whether e is a subquery, or asks one for a match.
func isQuery(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.Subquery, *ast.Exists:
		return true
	case *ast.In:
		return e.Query != nil
	case *ast.Quantified:
		return e.Query != nil
	}
	return false
}

// queryOnce binds what isQuery tells, unless that was done already for the same rows, or for more of them.
func (b *binder) queryOnce(e ast.Expr, sc *scope) (expr.Expr, error) {
	text := ast.String(e)
	if sc.subs != nil {
		if was, ok := sc.subs.bound[text]; ok && startsWith(sc.subs.when, was.when) {
			return was.x, nil
		}
	}
	x, err := b.queryValue(e, sc)
	if err != nil {
		return nil, err
	}
	if sc.subs.bound == nil {
		sc.subs.bound = map[string]boundSubquery{}
	}
	sc.subs.bound[text] = boundSubquery{x, sc.subs.when}
	return x, nil
}

// startsWith reports whether the conditions begin with those of first.
func startsWith(conds, first []expr.Expr) bool {
	return len(first) <= len(conds) && slices.EqualFunc(conds[:len(first)], first, expr.Equal)
}

func (b *binder) queryValue(e ast.Expr, sc *scope) (expr.Expr, error) {
	switch e := e.(type) {
	case *ast.Exists:
		return b.exists(e, sc)
	case *ast.Subquery:
		return b.scalar(e, sc)
	case *ast.Quantified:
		return b.quantified(e, sc)
	case *ast.In:
		m, err := b.in(e.Pos, e.Expr, e.Query, sc, false)
		if err != nil {
			return nil, err
		}
		x, err := m.value(b, e.Pos)
		return b.negated(e.Pos, e.Not, x, err)
	}
	panic("planner: no subquery")
}

// subquery binds a query that may refer to the columns of sc, and frees it of those references.
func (b *binder) subquery(q *ast.Query, sc *scope) (*lifted, []field, error) {
	if sc.subs == nil {
		return nil, nil, notAvailable(q.Pos, "a subquery at this place", "write it in WHERE, HAVING, SELECT or the ON of an inner join, or as a join")
	}
	outer := b.outer
	first := len(b.columns.list)
	b.outer = sc
	res, err := b.query(q)
	b.outer = outer
	if err != nil {
		return nil, nil, err
	}
	l := &lifter{b: b, first: first, pos: q.Pos, late: len(sc.subs.when) > 0}
	f, err := l.lift(res.rel)
	if err != nil {
		return nil, nil, err
	}
	return f, res.fields, f.stable(q.Pos)
}

// mark joins the rows around with r and returns the column that says whether a row has a match.
func (b *binder) mark(sc *scope, pos ast.Pos, r rel, conds []expr.Expr) (expr.Expr, error) {
	if b.never(sc.subs) {
		return expr.BoolConst(false), nil
	}
	on, err := b.limited(pos, sc.subs, r, conds, false)
	if err != nil {
		return nil, err
	}
	id := b.columns.add("$match", "match", types.Of(types.Boolean).Required())
	o := &relOuter{kind: MarkJoin, right: joinInput{rel: r, pos: pos, kind: subqueryText}, conds: on, mark: id, asked: true}
	sc.subs.joins = append(sc.subs.joins, o)
	return b.columns.ref(id), nil
}

// exists binds EXISTS.
func (b *binder) exists(e *ast.Exists, sc *scope) (expr.Expr, error) {
	q := *e.Query
	if n, ok := q.Limit.(*ast.Literal); q.Limit == nil || ok && n.Kind == ast.IntLiteral && n.Text != "0" && q.Offset == nil {
		q.OrderBy, q.Limit = nil, nil // any row will do
	}
	f, _, err := b.subquery(&q, sc)
	if err != nil {
		return nil, err
	}
	if f.agg != nil {
		return nil, hint(errAt(e.Pos, "this EXISTS asks for the row of an aggregate without GROUP BY, which is always there"), "compare the aggregate's value")
	}
	return b.mark(sc, e.Pos, f.rel, f.conds)
}

// membership is a bound IN.
type membership struct {
	match expr.Expr // a row of the subquery is equal
	null  expr.Expr // the subquery has a NULL; nil where it cannot have one
	// unknown says that the left side is NULL and the subquery has a row; nil where the left side cannot be
	// NULL.
	unknown expr.Expr
}

// in binds left IN (query). Only the match is wanted where a NULL is as good as FALSE.
func (b *binder) in(pos ast.Pos, left ast.Expr, q *ast.Query, sc *scope, matchOnly bool) (*membership, error) {
	parts := []ast.Expr{left}
	if r, ok := left.(*ast.Row); ok {
		parts = r.Items
	}
	var xs []expr.Expr
	for _, p := range parts {
		x, err := b.expr(p, sc)
		if err != nil {
			return nil, err
		}
		xs = append(xs, x)
	}
	f, fields, err := b.subquery(q, sc)
	if err != nil {
		return nil, err
	}
	if len(fields) != len(xs) {
		return nil, errAt(q.Pos, "the subquery of IN has %s, and its left side %d", count(len(fields), "column"), len(xs)).Coded(ast.CodeColumnCount)
	}
	if f.agg != nil {
		return nil, hint(notAvailable(q.Pos, "IN with a correlated aggregate", ""), "compare with the subquery's value by =")
	}
	conds := slices.Clone(f.conds)
	nullable := false
	for i, x := range xs {
		y := f.value(b, fields[i].id)
		eq, err := b.call(pos, "=", x, y)
		if err != nil {
			return nil, err
		}
		conds = append(conds, eq)
		nullable = nullable || !x.Type().NotNull || !y.Type().NotNull
	}
	if matchOnly || !nullable {
		match, err := b.mark(sc, pos, f.rel, conds)
		return &membership{match: match}, err
	}
	if len(xs) > 1 {
		return nil, hint(notAvailable(pos, "NOT IN of several columns of which some may be NULL", ""), "write NOT EXISTS")
	}
	return b.inNulls(pos, sc, f, xs[0], fields[0].id, conds)
}

// inNulls is IN where NULLs matter: the subquery is asked for a match, for a NULL, and for any row at all.
func (b *binder) inNulls(pos ast.Pos, sc *scope, f *lifted, x expr.Expr, y int, conds []expr.Expr) (*membership, error) {
	def := &sharedBody{name: "the subquery of IN", body: f.rel, ids: f.rel.out()}
	ref := func(conds []expr.Expr) (rel, []expr.Expr, func(expr.Expr) expr.Expr) {
		s := &relShared{def: def}
		fresh := map[int]int{}
		for _, id := range def.ids {
			if _, ok := fresh[id]; !ok {
				fresh[id] = b.columns.copy(id)
			}
			s.ids = append(s.ids, fresh[id])
		}
		own := func(e expr.Expr) expr.Expr {
			return expr.Remap(e, func(c *expr.Column) expr.Expr {
				if n, ok := fresh[c.Index]; ok {
					return &expr.Column{Index: n, Name: c.Name, T: c.T}
				}
				return c
			})
		}
		out := make([]expr.Expr, len(conds))
		for i, c := range conds {
			out[i] = own(c)
		}
		return s, out, own
	}
	m := &membership{}
	r, on, _ := ref(conds)
	var err error
	if m.match, err = b.mark(sc, pos, r, on); err != nil {
		return nil, err
	}
	value := f.value(b, y)
	if !value.Type().NotNull {
		r, on, own := ref(f.conds)
		isNull, err := b.call(pos, "IS NULL", own(value))
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(expr.ColumnsOf(value), func(c int) bool { return !slices.Contains(def.ids, c) }) {
			on = append(on, isNull)
		} else {
			r = &relFilter{in: r, conds: []expr.Expr{isNull}}
		}
		if m.null, err = b.mark(sc, pos, r, on); err != nil {
			return nil, err
		}
	}
	if !x.Type().NotNull {
		r, on, _ := ref(f.conds)
		isNull, err := b.call(pos, "IS NULL", x)
		if err != nil {
			return nil, err
		}
		some, err := b.mark(sc, pos, r, on)
		if err != nil {
			return nil, err
		}
		if m.unknown, err = b.call(pos, "AND", isNull, some); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// value is IN as an expression: TRUE, FALSE or NULL.
func (m *membership) value(b *binder, pos ast.Pos) (expr.Expr, error) {
	args := []expr.Expr{m.match, expr.BoolConst(true)}
	for _, u := range []expr.Expr{m.null, m.unknown} {
		if u != nil {
			args = append(args, u, expr.NullConst(types.Of(types.Boolean)))
		}
	}
	if len(args) == 2 {
		return m.match, nil
	}
	return b.call(pos, "CASE", append(args, expr.BoolConst(false))...)
}

// conjuncts binds a condition whose parts are joined by AND, of which a NULL is as good as FALSE.
func (b *binder) conjuncts(e ast.Expr, sc *scope, clause string) ([]expr.Expr, error) {
	switch e := e.(type) {
	case *ast.Binary:
		if e.Op == ast.OpAnd {
			l, err := b.conjuncts(e.Left, sc, clause)
			if err != nil {
				return nil, err
			}
			r, err := b.conjuncts(e.Right, sc, clause)
			return append(l, r...), err
		}
	case *ast.In:
		if e.Query != nil && sc.subs != nil {
			return b.inCondition(e.Pos, e.Expr, e.Query, e.Not, sc)
		}
	case *ast.Quantified:
		if not := e.All; e.Query != nil && sc.subs != nil && (e.Op == "=" && !not || e.Op == "<>" && not) {
			return b.inCondition(e.Pos, e.Left, e.Query, not, sc)
		}
	case *ast.Unary:
		if in, ok := e.Expr.(*ast.In); ok && e.Op == ast.OpNot && in.Query != nil && sc.subs != nil {
			return b.inCondition(in.Pos, in.Expr, in.Query, !in.Not, sc)
		}
	}
	return b.plainCondition(e, sc, clause)
}

// inCondition binds [NOT] IN as conditions that must all be TRUE.
func (b *binder) inCondition(pos ast.Pos, left ast.Expr, q *ast.Query, not bool, sc *scope) ([]expr.Expr, error) {
	m, err := b.in(pos, left, q, sc, !not)
	if err != nil {
		return nil, err
	}
	if !not {
		return []expr.Expr{m.match}, nil
	}
	var conds []expr.Expr
	for _, u := range []expr.Expr{m.match, m.null, m.unknown} {
		if u == nil {
			continue
		}
		c, err := b.call(pos, "NOT", u)
		if err != nil {
			return nil, err
		}
		conds = append(conds, c)
	}
	return conds, nil
}

// scalar binds a subquery that gives one value, NULL without a row.
func (b *binder) scalar(e *ast.Subquery, sc *scope) (expr.Expr, error) {
	f, fields, err := b.subquery(e.Query, sc)
	if err != nil {
		return nil, err
	}
	if len(fields) != 1 {
		return nil, errAt(e.Pos, "a subquery that stands for a value needs one column, and this one has %d", len(fields)).Coded(ast.CodeColumnCount)
	}
	xs, err := b.row(e.Pos, f, fields, sc)
	if err != nil {
		return nil, err
	}
	return xs[0], nil
}

// row joins the rows around with the one row of a subquery, and returns its values, NULLs without a row.
func (b *binder) row(pos ast.Pos, f *lifted, fields []field, sc *scope) ([]expr.Expr, error) {
	xs := make([]expr.Expr, len(fields))
	own := f.rel.out()
	beside := false // of the values alone one could not tell whether there is a row
	for i := range fields {
		xs[i] = f.value(b, fields[i].id)
		col, plain := xs[i].(*expr.Column)
		beside = beside || f.agg == nil && (!plain || !slices.Contains(own, col.Index))
	}
	if b.never(sc.subs) {
		for i := range xs {
			xs[i] = expr.NullConst(xs[i].Type())
		}
		return xs, nil
	}
	conds, err := b.limited(pos, sc.subs, f.rel, f.conds, true)
	if err != nil {
		return nil, err
	}
	o := &relOuter{
		kind: LeftJoin, right: joinInput{rel: f.rel, pos: pos, kind: subqueryText}, conds: conds,
		asked: true, single: "the subquery at " + pos.String(),
	}
	marker := -1
	if beside {
		marker = b.columns.add("$row", "row", types.Of(types.Boolean).Required())
		o.right.rel = &relExtend{in: f.rel, items: []extendItem{{marker, expr.BoolConst(true)}}}
	}
	o.solid = b.loosen(o.right.rel)
	sc.subs.joins = append(sc.subs.joins, o)
	seen := setOf(o.right.rel.out())
	for i, x := range xs {
		x = expr.Remap(x, func(c *expr.Column) expr.Expr {
			if seen[c.Index] {
				return b.columns.ref(c.Index)
			}
			return c
		})
		switch {
		case f.agg != nil:
			x, err = f.withoutRows(b, pos, x)
		case beside:
			var there expr.Expr
			if there, err = b.call(pos, "IS NOT NULL", b.columns.ref(marker)); err == nil {
				x, err = b.call(pos, "CASE", there, x, expr.NullConst(x.Type().Nullable()))
			}
		}
		if err != nil {
			return nil, err
		}
		xs[i] = x
	}
	return xs, nil
}
