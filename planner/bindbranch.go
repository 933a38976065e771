package planner

import (
	"slices"

	"github.com/sluicesql/sluice/engine/expr"
	"github.com/sluicesql/sluice/sql/ast"
)

// A subquery in a branch of CASE, or behind the first argument of COALESCE, AND or OR, counts only for rows for which the
// branch is taken: two rows of it, or a division by zero in it, are no error of the others. As it is joined to the rows
// around, these keep what they join by from matching; what can fail within it is computed of the pairs, and where an
// aggregate lies between, failures are values up to there (tolerate).

// argument binds a, which the named function evaluates after those in before, or not at all.
func (b *binder) argument(pos ast.Pos, name string, before []expr.Expr, a ast.Expr, sc *scope) (expr.Expr, error) {
	if sc.subs == nil || !holdsQuery(a) {
		return b.expr(a, sc)
	}
	when, err := b.asked(pos, name, before)
	if err != nil {
		return nil, err
	}
	around := sc.subs.when
	sc.subs.when = slices.Concat(around, when)
	defer func() { sc.subs.when = around }()
	return b.expr(a, sc)
}

// asked are the conditions under which a function evaluates the argument behind those in before.
func (b *binder) asked(pos ast.Pos, name string, before []expr.Expr) ([]expr.Expr, error) {
	var test string
	var taken []expr.Expr
	switch name {
	case "AND":
		test = "IS NOT FALSE"
	case "OR":
		test = "IS NOT TRUE"
	case "COALESCE", "IFNULL":
		test = "IS NULL"
	case "CASE", "IF": // the conditions stand at the even places
		test = "IS NOT TRUE"
		var conds []expr.Expr
		for i := 0; i < len(before); i += 2 {
			conds = append(conds, before[i])
		}
		if n := len(conds); len(before)%2 != 0 {
			conds, taken = conds[:n-1], conds[n-1:]
		}
		before = conds
	default:
		return nil, nil
	}
	var out []expr.Expr
	for _, e := range before {
		x, err := b.call(pos, test, e)
		if err != nil {
			return nil, err
		}
		out = append(out, x)
	}
	return append(out, taken...), nil
}

// never reports whether no row asks for the value of a subquery that is bound now.
func (b *binder) never(s *subqueries) bool {
	if len(s.when) == 0 {
		return false
	}
	c, ok := expr.Fold(expr.And(s.when...), b.s.exprCtx()).(*expr.Const)
	return ok && !isTrue(c)
}

// limited are the conditions of the join with a subquery, such that rows that do not ask for its value match nothing
// where it matters: single says that two matches are an error.
func (b *binder) limited(pos ast.Pos, s *subqueries, right rel, conds []expr.Expr, single bool) ([]expr.Expr, error) {
	single = single && !surelySingle(conds, right)
	if len(s.when) == 0 || !single && !slices.ContainsFunc(conds, func(c expr.Expr) bool { return !total(c) }) {
		return conds, nil
	}
	when := expr.And(s.when...)
	only := func(e expr.Expr) (expr.Expr, error) { return b.call(pos, "CASE", when, e) }
	var out []expr.Expr
	own := right.out()
	for _, c := range conds {
		x, y, ok := equality(c)
		if ok && within(x, own) {
			x, y = y, x
		}
		var err error
		switch {
		case ok && within(y, own) && !meets(x, own): // it stays the join's key, which is NULL then
			if single || !total(c) {
				if x, err = only(x); err == nil {
					c, err = b.call(pos, "=", x, y)
				}
				single = false
			}
		case !total(c):
			c, err = only(c)
		}
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	if single {
		out = append(out, when)
	}
	return out, nil
}
