package planner

import (
	"slices"

	"github.com/sluicesql/sluice/engine/expr"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/types"
	"github.com/sluicesql/sluice/sql/ast"
)

// orderJoins makes of each join of many inputs a left-deep tree of joins of two, in the order as written
// but for inputs that wait: those that have no equality with those before them, and those that would multiply rows.
func (j *logicalJob) orderJoins() error {
	var order func(rel) (rel, error)
	order = func(r rel) (rel, error) {
		if err := mapInputs(r, order); err != nil {
			return nil, err
		}
		switch r := r.(type) {
		case *relJoin:
			return j.orderJoin(r)
		case *relOuter:
			return r, j.orderOuter(r)
		}
		return r, nil
	}
	return j.rewrite(order)
}

func (j *logicalJob) orderJoin(jn *relJoin) (rel, error) {
	cur, rest, conds, crosses := jn.inputs[0].rel, slices.Clone(jn.inputs[1:]), jn.conds, jn.crosses
	ttl := jn.inputs[0].ttl
	for len(rest) > 0 {
		next, early := nextInput(cur, rest, conds)
		if next < 0 {
			if next = crossInput(cur, rest); next < 0 {
				if crosses == 0 {
					return nil, noEquality(cur, rest[0], conds)
				}
				crosses--
				next = 0
			}
		}
		in := rest[next]
		rest = slices.Delete(rest, next, next+1)
		cur, conds = j.joinTwo(joinInput{rel: cur, ttl: ttl}, in, conds, early)
		ttl = nil
	}
	return filtered(cur, conds), nil
}

// nextInput is the input to join next by an equality, −1 where none has one: the first as written, unless that would
// multiply rows and a later one would not, which is early then.
func nextInput(cur rel, rest []joinInput, conds []expr.Expr) (next int, early bool) {
	next = -1
	for i, in := range rest {
		l, r := keysBetween(cur, in.rel, conds)
		switch {
		case len(l) == 0:
		case next < 0:
			next = i
			if !multiplies(cur, in.rel, l, r) || sameKey(cur, l) {
				return next, false
			}
		case !multiplies(cur, in.rel, l, r):
			return i, true
		}
	}
	return next, false
}

// keysBetween are the keys by which two inputs would be joined.
func keysBetween(cur, in rel, conds []expr.Expr) (l, r []expr.Expr) {
	for _, c := range nullSafe(conds, cur.out(), in.out()) {
		if a, b, ok := joinKey(c, cur.out(), in.out()); ok {
			l, r = append(l, a), append(r, b)
		}
	}
	return l, r
}

// multiplies reports whether a join may give more rows than each of its inputs has: no side's key is unique, so that
// many rows may meet many.
func multiplies(cur, in rel, l, r []expr.Expr) bool {
	return !factsOf(cur).isKey(plainColumns(l)) && !factsOf(in).isKey(plainColumns(r))
}

// sameKey reports whether a join of cur by the keys l is by the key of the join that cur is: nothing is kept of what
// that gives.
func sameKey(cur rel, l []expr.Expr) bool {
	j, ok := cur.(*relJoin)
	if !ok || len(j.conds) > 0 || len(j.keyL) != len(l) {
		return false
	}
	known, cols := factsOf(cur), plainColumns(l)
	return len(cols) == len(l) && !slices.ContainsFunc(j.keyL, func(k int) bool {
		return !slices.ContainsFunc(cols, func(c int) bool { return known.same(c, k) })
	})
}

// plainColumns are the columns among es.
func plainColumns(es []expr.Expr) []int {
	var out []int
	for _, e := range es {
		if c, ok := e.(*expr.Column); ok {
			out = append(out, c.Index)
		}
	}
	return out
}

// crossInput is the first input that may be joined without an equality, since one side is small.
func crossInput(cur rel, rest []joinInput) int {
	if small(cur) {
		return 0
	}
	return slices.IndexFunc(rest, func(in joinInput) bool { return small(in.rel) })
}

// small reports whether r has few rows whatever the tables hold: one at most, or those of VALUES.
func small(r rel) bool {
	switch r := r.(type) {
	case *relValues:
		return true
	case *relFilter:
		return small(r.in) || singleRow(r)
	case *relExtend:
		return small(r.in)
	}
	return singleRow(r)
}

// noEquality refuses a join that would be a cross product nobody asked for.
func noEquality(cur rel, in joinInput, conds []expr.Expr) error {
	for _, c := range conds {
		a, b, ok := equality(c)
		l, r := cur.out(), in.rel.out()
		meets := ok && (within(a, l) && within(b, r) || within(b, l) && within(a, r))
		if !meets {
			continue
		}
		if k := a.Type().Kind; k == types.Array || k == types.Map || k == types.Row {
			return hint(errAt(in.pos, "%s cannot be made by the equality %s: values of %s cannot be a join key", in.kind, c, a.Type().Nullable()).Coded(ast.CodeJoinEquality),
				"join by their parts")
		}
	}
	return hint(errAt(in.pos, "%s has no equality between its two sides, so that every row would meet every other", in.kind).Coded(ast.CodeJoinEquality),
		"add a condition such as a.id = b.a_id to ON or WHERE, or write CROSS JOIN to ask for all pairs")
}

// joinKey splits an equality into the key of the left and of the right side, brought to one encoding.
func joinKey(c expr.Expr, left, right []int) (l, r expr.Expr, ok bool) {
	a, b, ok := equality(c)
	if !ok {
		return nil, nil, false
	}
	if sa, sb := stripCast(a), stripCast(b); sameForm(sa.Type(), sb.Type()) {
		a, b = sa, sb
	} else if a, b, ok = commonForm(a, b); !ok {
		return nil, nil, false
	}
	switch {
	case within(a, left) && within(b, right):
		return a, b, true
	case within(b, left) && within(a, right):
		return b, a, true
	}
	return nil, nil, false
}

// commonForm brings two keys of different types to one in which equal values are equal and unequal ones unequal.
func commonForm(a, b expr.Expr) (x, y expr.Expr, ok bool) {
	ta, tb := a.Type(), b.Type()
	t, ok := expr.CommonType(ta, tb)
	switch {
	case sameForm(ta, tb):
		return a, b, true
	case !ok:
		return nil, nil, false
	case !ta.IsNumeric() || !tb.IsNumeric():
	case ta.IsApprox() || tb.IsApprox():
		t = types.Of(types.Double) // as = compares them
	case !exactly(ta, t) || !exactly(tb, t):
		if ta.Scale > tb.Scale {
			y, x, ok = smallerScale(b, a)
		} else {
			x, y, ok = smallerScale(a, b)
		}
		return x, y, ok
	}
	if x, ok = toForm(a, t); !ok {
		return nil, nil, false
	}
	if y, ok = toForm(b, t); !ok || !sameForm(x.Type(), y.Type()) {
		return nil, nil, false
	}
	return x, y, true
}

// smallerScale brings two exact numbers that no DECIMAL holds both of to the type of a, which has the smaller scale and
// so more digits before the point than b: a value of b that has more digits behind it equals none of a's, and becomes
// NULL, as which it matches nothing.
func smallerScale(a, b expr.Expr) (x, y expr.Expr, ok bool) {
	t := types.DecimalOf(integerDigits(a.Type()), 0)
	if a.Type().Kind == types.Decimal {
		t = a.Type().Nullable()
	}
	if x, ok = toForm(a, t); !ok {
		return nil, nil, false
	}
	rounded, err := expr.Cast(b, t, false)
	if err != nil {
		return nil, nil, false
	}
	return x, mustCall("CASE", mustCall("=", b, rounded), rounded, expr.NullConst(t)), true
}

// toForm casts e to t, unless its encoding is that of t already.
func toForm(e expr.Expr, t types.Type) (expr.Expr, bool) {
	if sameForm(e.Type(), t) {
		return e, true
	}
	c, err := expr.Cast(e, t, false)
	return c, err == nil
}

// exactly reports whether t holds every value of from, each as a value of its own.
func exactly(from, t types.Type) bool {
	switch {
	case from.IsNumeric() && t.Kind == types.Decimal:
		digits, scale := integerDigits(from), 0
		if from.Kind == types.Decimal {
			digits, scale = from.Precision-from.Scale, from.Scale
		}
		return !from.IsApprox() && scale <= t.Scale && digits <= t.Precision-t.Scale
	case from.IsNumeric() && t.IsApprox():
		return from.IsApprox() || from.IsInteger() && from.Kind <= types.Int && t.Kind == types.Double
	}
	return true
}

// within reports whether e has columns, and all of them are among cols.
func within(e expr.Expr, cols []int) bool {
	used := expr.ColumnsOf(e)
	return len(used) > 0 && !slices.ContainsFunc(used, func(c int) bool { return !slices.Contains(cols, c) })
}

// joinTwo joins cur with in by all equalities between them, and returns the conditions that are left.
func (j *logicalJob) joinTwo(cur, in joinInput, conds []expr.Expr, early bool) (rel, []expr.Expr) {
	l, r := &relExtend{in: cur.rel}, &relExtend{in: in.rel}
	jn := &relJoin{ordered: true, early: early}
	var rest, later []expr.Expr
	jn.keyL, jn.keyR, rest = j.joinKeys(l, r, conds)
	for _, c := range rest {
		if within(c, slices.Concat(cur.rel.out(), in.rel.out())) {
			jn.conds = append(jn.conds, c)
		} else {
			later = append(later, c)
		}
	}
	cur.rel, in.rel = bare(l), bare(r)
	jn.inputs = []joinInput{cur, in}
	return jn, later
}

// orderOuter takes the keys of a join from its conditions.
func (j *logicalJob) orderOuter(o *relOuter) error {
	l, r := &relExtend{in: o.left.rel}, &relExtend{in: o.right.rel}
	keyL, keyR, rest := j.joinKeys(l, r, o.conds)
	if len(keyL) == 0 && !o.asked && !small(l.in) && !small(r.in) {
		return noEquality(l.in, joinInput{rel: r.in, pos: o.place().pos, kind: o.place().kind}, o.conds)
	}
	o.ordered, o.keyL, o.keyR, o.conds = true, keyL, keyR, rest
	o.left.rel, o.right.rel = bare(l), bare(r)
	return nil
}

// place is where the join is written.
func (o *relOuter) place() joinInput {
	if o.left.pos.Line > o.right.pos.Line || o.left.pos.Line == o.right.pos.Line && o.left.pos.Col > o.right.pos.Col {
		return o.left
	}
	return o.right
}

// joinKeys splits the equalities between two inputs off as keys, of which computed ones are added to the inputs.
func (j *logicalJob) joinKeys(l, r *relExtend, conds []expr.Expr) (keyL, keyR []int, rest []expr.Expr) {
	among := func(known *facts, keys []int, key int) bool {
		return slices.ContainsFunc(keys, func(k int) bool { return known.same(k, key) })
	}
	factsL, factsR := factsOf(l.in), factsOf(r.in)
	for _, c := range nullSafe(conds, l.in.out(), r.in.out()) {
		if a, b, ok := joinKey(c, l.in.out(), r.in.out()); ok {
			ka, kb := j.keyColumn(l, a), j.keyColumn(r, b)
			// A second equality with the same column of either side is no further key, but a condition.
			if !among(factsL, keyL, ka) && !among(factsR, keyR, kb) {
				keyL, keyR = append(keyL, ka), append(keyR, kb)
				continue
			}
		}
		rest = append(rest, c)
	}
	return keyL, keyR, rest
}

// nullSafe writes each IS NOT DISTINCT FROM between the two inputs as equalities, which can be join keys: whether
// the values are NULL is equal, and so are the values with another in place of NULL.
func nullSafe(conds []expr.Expr, left, right []int) []expr.Expr {
	var out []expr.Expr
	for _, c := range conds {
		call, ok := c.(*expr.Call)
		if !ok || call.Fn.Name != "IS NOT DISTINCT FROM" {
			out = append(out, c)
			continue
		}
		a, b := call.Args[0], call.Args[1]
		across := within(a, left) && within(b, right) || within(b, left) && within(a, right)
		if !across || !sameForm(a.Type(), b.Type()) {
			out = append(out, c)
			continue
		}
		if a.Type().NotNull && b.Type().NotNull {
			out = append(out, mustCall("=", a, b))
			continue
		}
		out = append(out, mustCall("=", mustCall("IS NULL", a), mustCall("IS NULL", b)), mustCall("=", orZero(a), orZero(b)))
	}
	return out
}

// orZero is e with some value of its type in place of NULL.
func orZero(e expr.Expr) expr.Expr {
	if e.Type().NotNull {
		return e
	}
	return mustCall("COALESCE", e, &expr.Const{Value: row.Datum{B: []byte{}}, T: e.Type().Required()})
}

// mustCall is a call that is known to be well typed.
func mustCall(name string, args ...expr.Expr) expr.Expr {
	e, err := expr.Resolve(name, args)
	if err != nil {
		panic("planner: " + err.Error())
	}
	return e
}

// keyColumn is the column that holds a join key: the plain column itself, or a computed one.
func (j *logicalJob) keyColumn(x *relExtend, e expr.Expr) int {
	return j.columns.holding(&x.items, e, "$key")
}

func bare(x *relExtend) rel {
	if len(x.items) == 0 {
		return x.in
	}
	return x
}
