package planner

import (
	"slices"

	"github.com/sluicesql/sluice/engine/expr"
	"github.com/sluicesql/sluice/sql/ast"
)

// join binds a join of FROM.
func (b *binder) join(t *ast.Join) (rel, *scope, error) {
	l, ls, err := b.from(t.Left)
	if err != nil {
		return nil, nil, err
	}
	if lateral(t.Right) {
		return b.lateralJoin(t, l, ls)
	}
	r, rs, err := b.from(t.Right)
	if err != nil {
		return nil, nil, err
	}
	if err := twoNames(t, ls, rs); err != nil {
		return nil, nil, err
	}
	using := t.Using
	if t.Natural {
		if using, err = commonColumns(t, ls, rs); err != nil {
			return nil, nil, err
		}
	}
	shared, conds, err := b.usingConditions(using, ls, rs)
	if err != nil {
		return nil, nil, err
	}
	both := &scope{parent: b.outer, cols: slices.Concat(ls.cols, rs.cols), changing: ls.changing || rs.changing}
	if t.On != nil {
		if t.Kind == ast.InnerJoin {
			both.subs = &subqueries{}
		}
		if conds, err = b.condition(t.On, both, "ON"); err != nil {
			return nil, nil, err
		}
	}
	left := joinInput{rel: l, pos: t.Left.Position(), kind: joinText(t), ttl: b.ttls.of(t.Left)}
	right := joinInput{rel: r, pos: t.Pos, kind: joinText(t), ttl: b.ttls.of(t.Right)}
	asked := both.subs.asked(&conds)
	joined := b.joined(t, left, right, conds)
	if len(asked) > 0 {
		joined = filtered(both.subs.attach(joined), asked)
	}
	sc := &scope{changing: changing(joined)}
	if len(shared) == 0 {
		sc.cols = slices.Concat(ls.cols, rs.cols)
		return joined, sc, nil
	}
	x := &relExtend{in: joined}
	if err := b.usingScope(t, sc, x, ls, rs, shared); err != nil {
		return nil, nil, err
	}
	return bare(x), sc, nil
}

// twoNames refuses a table name that both sides of a join have.
func twoNames(t *ast.Join, ls, rs *scope) error {
	for _, a := range rs.tables() {
		if ls.hasTable(a) {
			return hint(errAt(t.Right.Position(), "the table name %q occurs twice in FROM", a).Coded(ast.CodeAmbiguousName), "give one of them an alias: %s AS a", a)
		}
	}
	return nil
}

// joinText is how a join is called in errors.
func joinText(t *ast.Join) string {
	switch {
	case t.Comma:
		return "this comma join"
	case t.Kind == ast.InnerJoin:
		return "this JOIN"
	}
	return "this " + t.Kind.String()
}

// joined makes the join of two inputs. The columns that an outer join fills up with NULLs can be NULL from here on.
func (b *binder) joined(t *ast.Join, left, right joinInput, conds []expr.Expr) rel {
	switch t.Kind {
	case ast.LeftJoin:
		return &relOuter{kind: LeftJoin, left: left, right: right, conds: conds, solid: b.loosen(right.rel)}
	case ast.RightJoin:
		return &relOuter{kind: LeftJoin, left: right, right: left, conds: conds, solid: b.loosen(left.rel)}
	case ast.FullJoin:
		solid := b.loosen(left.rel)
		for id := range b.loosen(right.rel) {
			solid[id] = true
		}
		return &relOuter{kind: FullJoin, left: left, right: right, conds: conds, solid: solid}
	}
	j := &relJoin{inputs: []joinInput{left, right}, conds: conds}
	if t.Kind == ast.CrossJoin && !t.Comma {
		j.crosses = 1
	}
	return j
}

// loosen makes r's columns nullable and returns those that were not.
func (b *binder) loosen(r rel) colSet {
	solid := colSet{}
	for _, id := range r.out() {
		if c := &b.columns.list[id]; c.typ.NotNull {
			solid[id] = true
			c.typ, c.solid = c.typ.Nullable(), true
		}
	}
	return solid
}

// commonColumns are the columns that NATURAL joins by.
func commonColumns(t *ast.Join, ls, rs *scope) ([]ast.Ident, error) {
	var out []ast.Ident
	for _, n := range ls.names("") {
		if len(ls.find("", n)) > 0 && len(rs.find("", n)) > 0 {
			out = append(out, ast.Ident{Pos: t.Pos, Name: n})
		}
	}
	if len(out) == 0 {
		return nil, hint(errAt(t.Pos, "NATURAL JOIN finds no column that both sides have"), "write JOIN … ON")
	}
	return out, nil
}

// usingPair are the columns of both sides that USING or NATURAL makes one.
type usingPair struct {
	id          ast.Ident
	left, right scopeColumn
}

// usingConditions are the equalities of USING and NATURAL.
func (b *binder) usingConditions(using []ast.Ident, ls, rs *scope) ([]usingPair, []expr.Expr, error) {
	var shared []usingPair
	var conds []expr.Expr
	for _, id := range using {
		lc, _, err := ls.resolve([]ast.Ident{id})
		if err != nil {
			return nil, nil, err
		}
		rc, _, err := rs.resolve([]ast.Ident{id})
		if err != nil {
			return nil, nil, err
		}
		eq, err := b.call(id.Pos, "=", b.column(lc), b.column(rc))
		if err != nil {
			return nil, nil, err
		}
		shared, conds = append(shared, usingPair{id, lc, rc}), append(conds, eq)
	}
	return shared, conds, nil
}

// usingScope makes the scope of a join with USING or NATURAL: a shared column stands once, first, with the value of
// the side that has one. With its table's name each side's own is still found.
func (b *binder) usingScope(t *ast.Join, sc *scope, x *relExtend, ls, rs *scope, shared []usingPair) error {
	hidden := map[scopeColumn]bool{} // not by id: columns with one expression have one
	for _, u := range shared {
		hidden[u.left], hidden[u.right] = true, true
		switch t.Kind {
		case ast.RightJoin:
			sc.cols = append(sc.cols, u.right)
		case ast.FullJoin:
			e, err := b.call(u.id.Pos, "COALESCE", b.column(u.left), b.column(u.right))
			if err != nil {
				return err
			}
			id := b.columns.add(u.id.Name, u.id.Name, e.Type())
			x.items = append(x.items, extendItem{id, e})
			sc.cols = append(sc.cols, scopeColumn{name: u.id.Name, id: id, label: u.id.Name})
		default:
			sc.cols = append(sc.cols, u.left)
		}
	}
	for _, c := range slices.Concat(ls.cols, rs.cols) {
		if slices.Contains(sc.cols[:len(shared)], c) {
			continue
		}
		c.merged = c.merged || hidden[c]
		sc.cols = append(sc.cols, c)
	}
	return nil
}
