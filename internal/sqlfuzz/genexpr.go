package sqlfuzz

import (
	"fmt"
	"slices"

	"github.com/sluicesql/sluice/engine/types"
)

// Bounds on integers: those of the tables' values, and one far from INT's, so that no engine overflows.
const (
	maxValue = 12
	maxInt   = 1 << 30
)

func kindOf(t types.Type) kind {
	switch {
	case t.IsInteger():
		return kindInt
	case t.IsString():
		return kindString
	case t.IsApprox():
		return kindDouble
	case t.Kind == types.Decimal:
		return kindDecimal
	case t.Kind == types.Date:
		return kindDate
	default:
		return kindBool
	}
}

// bound is the largest distance from zero of a form's result.
func (f *form) bound(args []int64) int64 {
	if f.max != nil {
		return f.max(args)
	}
	var m int64
	for i, k := range f.args {
		if k == kindInt {
			m = max(m, args[i])
		}
	}
	return m
}

// form is one of a list that a condition and the features allow.
func (g *generator) form(list []*form, fits func(*form) bool) *form {
	var ok []*form
	for _, f := range list {
		if g.has[f.need] && fits(f) {
			ok = append(ok, f)
		}
	}
	if len(ok) == 0 {
		return nil
	}
	return pick(g, ok...)
}

// lively is a form of a kind for which there are columns in reach, mostly: what computes with literals alone tells
// little.
func (g *generator) lively(list []*form, sc *scope, fits func(*form) bool) *form {
	if g.chance(90) {
		f := g.form(list, func(f *form) bool {
			return fits(f) && !slices.ContainsFunc(f.args, func(k kind) bool { return k != kindBool && g.column(k, sc.cols) == nil })
		})
		if f != nil {
			return f
		}
	}
	return g.form(list, fits)
}

// expr makes an expression of a kind.
func (g *generator) expr(k kind, depth int, sc *scope) *expr {
	if k == kindBool && depth > 0 && g.subquery == 0 && g.budget > 0 {
		if e := g.predicateSubquery(sc); e != nil {
			return e
		}
	}
	if depth == 0 || k != kindBool && g.chance(45) {
		return g.leaf(k, sc)
	}
	if k == kindInt && g.subquery == 0 && g.budget > 0 && g.with(Scalar, 4) {
		return g.scalar(k, sc)
	}
	if (k == kindInt || k == kindBool) && g.subquery == 0 && g.budget > 0 && g.with(Scalar, 3) {
		return g.operand(k, sc)
	}
	if k == kindInt && g.subquery == 0 && g.budget > 0 && g.with(Branches, 3) {
		return g.untaken(sc)
	}
	f := g.lively(scalars, sc, func(f *form) bool { return f.out == k })
	e := &expr{kind: k, form: f}
	var ms []int64
	for i, ak := range f.args {
		a := g.expr(ak, depth-1, sc)
		if f.literal && i == len(f.args)-1 {
			a = &expr{kind: kindInt, form: literalForm, text: pick(g, "2", "3", "-2", "5"), max: 5}
		}
		e.args = append(e.args, a)
		ms = append(ms, a.max)
	}
	if e.max = f.bound(ms); e.max > maxInt {
		return g.leaf(k, sc)
	}
	return e
}

// leaf is a column in reach or a literal.
func (g *generator) leaf(k kind, sc *scope) *expr {
	if g.chance(85) {
		if c := g.column(k, sc.cols); c != nil {
			return c.clone()
		}
	}
	return g.literal(k)
}

// dateLiteral is written without the word DATE for SQLite, where dates are texts.
var dateLiteral = &form{sluice: "DATE '$t'", sqlite: "'$t'"}

func (g *generator) literal(k kind) *expr {
	e := &expr{kind: k, form: literalForm}
	if g.chance(8) {
		return null(k)
	}
	switch k {
	case kindInt:
		e.text, e.max = fmt.Sprint(g.rng.IntN(8)), 8
	case kindString:
		e.text = "'" + pick(g, stringValues...) + "'"
	case kindBool:
		e.text = pick(g, "TRUE", "FALSE")
	case kindDecimal:
		e.text = pick(g, "0.25", "1.50", "3.75")
	case kindDouble:
		e.text = pick(g, "0.5E0", "2E0", "15E-1")
	case kindDate:
		e.form, e.text = dateLiteral, pick(g, dateValues...)
	}
	return e
}

// predicateSubquery is IN or EXISTS, or nil.
func (g *generator) predicateSubquery(sc *scope) *expr {
	var e *expr
	switch {
	case g.with(In, 8):
		f := pick(g, inForm, inForm, notInForm, anyForm, allForm)
		arg := g.leaf(g.anyKind(sc.cols), sc)
		e = &expr{kind: kindBool, form: f, args: []*expr{arg}}
		e.sub = g.inner(sc, []kind{arg.kind}, 25)
	case g.with(Exists, 8):
		e = &expr{kind: kindBool, form: pick(g, existsForm, notExistsForm)}
		e.sub = g.inner(sc, nil, 80)
	default:
		return nil
	}
	return e
}

// inner is a subquery of an expression; correlated by a chance in percent.
func (g *generator) inner(sc *scope, want []kind, correlated int) *query {
	g.subquery++
	defer func() { g.subquery-- }()
	if !g.with(Correlated, correlated) {
		return g.query(1, nil, want)
	}
	q := g.selection(0, &scope{}, want)
	g.correlate(q.sel, sc, !q.sel.groups())
	return q
}

// correlate adds a comparison of a column inside with one outside to WHERE: an equality, or also another where all may
// meet all.
func (g *generator) correlate(s *selection, sc *scope, pairs bool) {
	inside := s.from.columns()
	for range 8 {
		out := pick(g, sc.cols...)
		in := g.column(out.kind, inside)
		if in == nil || out.form != columnForm || out.kind == kindDouble {
			continue
		}
		c := &expr{kind: kindBool, form: equals, args: []*expr{in.clone(), out.clone()}}
		if pairs && g.with(NonEqui, 25) {
			c.form = pick(g, compares...)
		}
		if s.where != nil {
			c = &expr{kind: kindBool, form: andForm, args: []*expr{c, s.where}}
		}
		s.where = c
		return
	}
}

// scalar is a subquery of one value; now and then one that was written before over the same columns.
func (g *generator) scalar(k kind, sc *scope) *expr {
	for _, m := range g.scalars {
		if m.e.kind == k && len(m.cols) == len(sc.cols) && &m.cols[0] == &sc.cols[0] && g.chance(50) {
			return m.e.clone()
		}
	}
	e := g.scalarSubquery(k, sc)
	if g.with(Correlated, 25) {
		e = g.firstOf(k, sc)
	}
	g.scalars = append(g.scalars, written{e, sc.cols})
	return e
}

// written is a subquery with the columns that it can look at.
type written struct {
	e    *expr
	cols []*expr
}

// operand is an expression that looks at the value of a subquery several times.
func (g *generator) operand(k kind, sc *scope) *expr {
	f := g.form(operands, func(f *form) bool { return f.out == k })
	e := &expr{kind: k, form: f}
	var ms []int64
	for i, ak := range f.args {
		a := g.leaf(ak, sc)
		if i == 0 {
			a = g.scalar(ak, sc)
		}
		e.args, ms = append(e.args, a), append(ms, a.max)
	}
	e.max = f.bound(ms)
	return e
}

// firstOf is a column of the first row of those that are equal to the row around.
func (g *generator) firstOf(k kind, sc *scope) *expr {
	g.subquery++
	defer func() { g.subquery-- }()
	q := g.selection(0, &scope{}, []kind{k})
	g.correlate(q.sel, sc, false)
	q.order, q.limit = g.totalOrder(columnsOf("", q.cols)), 1
	return &expr{kind: k, form: scalarForm, max: q.cols[0].max, sub: q}
}

// scalarSubquery is an aggregate of all rows: exactly one.
func (g *generator) scalarSubquery(k kind, sc *scope) *expr {
	g.subquery++
	defer func() { g.subquery-- }()
	s := &selection{}
	var cols []*expr
	s.from, cols = g.from(0)
	if g.chance(40) {
		s.where = g.expr(kindBool, 1, &scope{cols: cols})
	}
	var a *expr
	for a == nil || a.kind != k {
		a = g.aggregate(&scope{cols: cols})
	}
	s.items = []item{{a, g.name("c")}}
	if g.with(Correlated, 40) {
		g.correlate(s, sc, false)
	}
	return &expr{kind: k, form: scalarForm, max: a.max, sub: &query{sel: s, cols: []column{{s.items[0].name, k, a.max}}}}
}

// untaken has a subquery of any number of rows, which divides by what it finds, in a branch that no row takes.
func (g *generator) untaken(sc *scope) *expr {
	g.subquery++
	defer func() { g.subquery-- }()
	s := &selection{}
	var cols []*expr
	s.from, cols = g.from(0)
	divisor := g.leaf(kindInt, &scope{cols: cols})
	value := &expr{kind: kindInt, form: quotient, args: []*expr{divisor}}
	if g.chance(40) {
		s.where = &expr{kind: kindBool, form: pick(g, compares...), args: []*expr{value.clone(), g.leaf(kindInt, &scope{cols: cols})}}
	}
	if g.with(Aggregates, 40) {
		sums := &form{sluice: "SUM($1)", out: kindInt}
		value = &expr{kind: kindInt, form: sums, args: []*expr{value}}
	}
	s.items = []item{{value, g.name("c")}}
	if g.with(Correlated, 50) {
		g.correlate(s, sc, value.form == quotient)
	}
	taken := g.leaf(kindInt, sc)
	return &expr{
		kind: kindInt, form: pick(g, untakenForms...), args: []*expr{taken, g.expr(kindBool, 1, sc)}, max: taken.max,
		sub: &query{sel: s, cols: []column{{s.items[0].name, kindInt, 100}}},
	}
}
