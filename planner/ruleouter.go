package planner

import (
	"slices"

	"github.com/sluicesql/sluice/engine/expr"
)

// pushOuter applies conds to an outer, semi or anti join. Where they fail for the rows that the join fills up with
// NULLs, it need not make those: a full join becomes a left join, a left join an inner one.
func pushOuter(o *relOuter, conds []expr.Expr) rel {
	if o.kind == MarkJoin {
		if r, rest, above := unmarked(o, conds); r != nil {
			return filtered(push(r, rest), above)
		}
	}
	if r := simplified(o, conds); r != nil {
		return push(r, conds)
	}
	l, r := o.left.rel.out(), o.right.rel.out()
	left, above := divide(conds, func(c expr.Expr) (expr.Expr, bool) {
		marked := o.kind == MarkJoin && meets(c, []int{o.mark})
		return c, o.kind != FullJoin && expr.Deterministic(c) && !meets(c, r) && !marked
	})
	right, on := divide(slices.Concat(o.conds, derivedOuter(o, slices.Concat(left, o.conds))), func(c expr.Expr) (expr.Expr, bool) {
		return c, o.kind != FullJoin && expr.Deterministic(c) && !meets(c, l)
	})
	if o.kind == SemiJoin {
		var more []expr.Expr
		more, on = divide(on, func(c expr.Expr) (expr.Expr, bool) {
			return c, expr.Deterministic(c) && !meets(c, r) && (total(c) || len(right) == 0)
		})
		left = append(left, more...)
	}
	n := *o
	n.conds = on
	n.left.rel, n.right.rel = push(o.left.rel, left), push(o.right.rel, right)
	return filtered(&n, above)
}

// derivedOuter are the conditions on one side alone that follow from others and that the side's filter may use: a
// right row that matches none of the left rows that are left over is not missed, nor is, in a semi join, a left row
// that has no match.
func derivedOuter(o *relOuter, known []expr.Expr) []expr.Expr {
	if o.kind == FullJoin || !allDeterministic(known) {
		return nil
	}
	return slices.DeleteFunc(derived(known), func(c expr.Expr) bool {
		return meets(c, o.left.rel.out()) && (o.kind != SemiJoin || meets(c, o.right.rel.out()))
	})
}

// surelySingle reports whether the rows of right that a left row meets under conds are one at most, so that nothing has to
// be checked.
func surelySingle(conds []expr.Expr, right rel) bool {
	var key []int
	own := right.out()
	for _, c := range conds {
		a, b, ok := equality(c)
		if !ok {
			continue
		}
		for _, p := range [2][2]expr.Expr{{a, b}, {b, a}} {
			if col, ok := stripCast(p[0]).(*expr.Column); ok && slices.Contains(own, col.Index) && !meets(p[1], own) {
				key = append(key, col.Index)
			}
		}
	}
	return factsOf(right).isKey(key)
}

// simplified is the simpler join that gives the same rows under conds; nil when there is none.
func simplified(o *relOuter, conds []expr.Expr) rel {
	if o.single != "" && !surelySingle(o.conds, o.right.rel) {
		return nil
	}
	noLeft := slices.ContainsFunc(conds, func(c expr.Expr) bool { return rejects(c, o.left.rel.out()) })
	noRight := slices.ContainsFunc(conds, func(c expr.Expr) bool { return rejects(c, o.right.rel.out()) })
	n := *o
	n.kind = LeftJoin
	switch {
	case o.kind == FullJoin && noLeft && noRight, o.kind == LeftJoin && noRight:
		j := &relJoin{inputs: []joinInput{o.left, o.right}, conds: o.conds}
		if keys, _ := keysBetween(o.left.rel, o.right.rel, o.conds); o.asked && len(keys) == 0 {
			j.crosses = 1
		}
		return j
	case o.kind == FullJoin && noLeft:
		return &n
	case o.kind == FullJoin && noRight:
		n.left, n.right = o.right, o.left
		return &n
	}
	return nil
}

// unmarked is the semi or anti join that gives the same rows as a mark join under conds, the conditions that are left,
// and those that have to stay above it, since they can fail for rows that it leaves out; the mark is a constant then. It
// returns nil where rows with either mark are kept.
func unmarked(o *relOuter, conds []expr.Expr) (r rel, rest, above []expr.Expr) {
	n := *o
	for i, c := range conds {
		marked := true
		if call, ok := c.(*expr.Call); ok && call.Fn.Name == "NOT" {
			c, marked = call.Args[0], false
		}
		if col, ok := c.(*expr.Column); !ok || col.Index != o.mark {
			continue
		}
		n.kind = AntiJoin
		if marked {
			n.kind = SemiJoin
		}
		x := &relExtend{in: &n, items: []extendItem{{o.mark, expr.BoolConst(marked)}}}
		rest = slices.Clone(conds[:i])
		for _, c := range conds[i+1:] {
			if total(c) {
				rest = append(rest, c)
			} else {
				above = append(above, c)
			}
		}
		return x, rest, above
	}
	return nil, nil, nil
}

// meets reports whether e reads any of cols.
func meets(e expr.Expr, cols []int) bool {
	return slices.ContainsFunc(expr.ColumnsOf(e), func(c int) bool { return slices.Contains(cols, c) })
}

// rejects reports whether e is surely not TRUE where all of cols are NULL.
func rejects(e expr.Expr, cols []int) bool {
	if nullWith(e, cols) {
		return true
	}
	c, ok := e.(*expr.Call)
	if !ok {
		return false
	}
	of := func(e expr.Expr) bool { return rejects(e, cols) }
	switch c.Fn.Name {
	case "AND":
		return slices.ContainsFunc(c.Args, of)
	case "OR":
		return !slices.ContainsFunc(c.Args, func(e expr.Expr) bool { return !of(e) })
	case "IS NOT NULL":
		return nullWith(c.Args[0], cols)
	case "IS TRUE":
		return of(c.Args[0])
	}
	return false
}

// strict are functions that give NULL when an argument is NULL.
var strict = map[string]bool{
	"=": true, "<>": true, "<": true, "<=": true, ">": true, ">=": true, "NOT": true, "+": true, "-": true, "*": true, "/": true, "%": true,
	"CAST": true, "LIKE": true, "||": true, "FIELD": true, "UPPER": true, "LOWER": true, "ABS": true, "CHAR_LENGTH": true,
}

// nullWith reports whether e is surely NULL where all of cols are.
func nullWith(e expr.Expr, cols []int) bool {
	switch e := e.(type) {
	case *expr.Column:
		return slices.Contains(cols, e.Index)
	case *expr.Const:
		return e.Value.Null
	case *expr.Call:
		return strict[e.Fn.Name] && slices.ContainsFunc(e.Args, func(a expr.Expr) bool { return nullWith(a, cols) })
	}
	return false
}
