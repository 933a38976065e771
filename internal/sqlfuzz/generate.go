package sqlfuzz

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/sluicesql/sluice/internal/oracle"
)

// generator makes the queries of one case.
type generator struct {
	rng      *rand.Rand
	has      Features
	tables   []relation // tables, views and common table expressions in reach
	names    int
	budget   int // of tables named in the query
	subquery int // how deep inside of subqueries in expressions
	scalars  []written
}

// relation is what FROM can name.
type relation struct {
	name string
	cols []column
}

// scope is the columns that an expression may use, and those around a subquery.
type scope struct {
	cols  []*expr
	outer *scope
}

func (g *generator) chance(percent int) bool { return g.rng.IntN(100) < percent }

// with tells whether to use a feature, by a chance in percent.
func (g *generator) with(f Feature, percent int) bool { return g.chance(percent) && g.has[f] }

func pick[T any](g *generator, list ...T) T { return list[g.rng.IntN(len(list))] }

func (g *generator) name(prefix string) string {
	g.names++
	return fmt.Sprintf("%s%d", prefix, g.names)
}

func tableRelation(t oracle.Table) relation {
	r := relation{name: t.Name}
	for _, c := range t.Columns {
		r.cols = append(r.cols, column{c.Name, kindOf(c.Type), maxValue})
	}
	return r
}

// query makes a query whose result has the wanted kinds, or any when want is nil.
func (g *generator) query(depth int, outer *scope, want []kind) *query {
	known := len(g.tables)
	var ctes []*cte
	if depth > 0 && outer == nil && g.with(With, 15) {
		for range 1 + g.rng.IntN(2) {
			w := &cte{g.name("w"), g.query(depth-1, nil, nil)}
			ctes = append(ctes, w)
			g.tables = append(g.tables, relation{w.name, w.q.cols}, relation{w.name, w.q.cols}) // twice: it shall be used
		}
	}
	q := g.body(depth, outer, want)
	q.with = append(ctes, q.with...)
	g.tables = g.tables[:known]
	return q
}

func (g *generator) body(depth int, outer *scope, want []kind) *query {
	if depth > 0 && outer == nil {
		switch {
		case g.with(UnionAll, 8):
			return g.setOperation(depth, want, "UNION ALL")
		case g.with(SetOps, 12):
			return g.setOperation(depth, want, pick(g, "UNION", "INTERSECT", "EXCEPT"))
		case g.with(SetOpsAll, 6):
			return g.setOperation(depth, want, pick(g, "INTERSECT ALL", "EXCEPT ALL"))
		case g.with(Limit, 8):
			return g.limited(depth, want)
		case g.with(TopN, 12):
			return g.ranked(depth, want, ranks[0])
		case g.with(Rank, 6):
			return g.ranked(depth, want, pick(g, ranks[1:]...))
		}
	}
	return g.selection(depth, outer, want)
}

func (g *generator) setOperation(depth int, want []kind, op string) *query {
	left := g.query(depth-1, nil, want)
	var same []kind
	for _, c := range left.cols {
		same = append(same, c.kind)
	}
	right := g.query(depth-1, nil, same)
	q := &query{setOp: op, left: left, right: right, cols: slices.Clone(left.cols)}
	for i, c := range right.cols {
		q.cols[i].max = max(c.max, left.cols[i].max)
	}
	return q
}

// star is SELECT of all columns of a derived table.
func (g *generator) star(q *query) (*selection, []*expr) {
	f := &from{sub: q, alias: g.name("a"), cols: q.cols}
	sel := &selection{from: f}
	cols := columnsOf(f.alias, q.cols)
	for i, c := range cols {
		sel.items = append(sel.items, item{c.clone(), q.cols[i].name})
	}
	return sel, cols
}

func columnsOf(alias string, cols []column) []*expr {
	var es []*expr
	for _, c := range cols {
		name := c.name
		if alias != "" {
			name = alias + "." + name
		}
		es = append(es, &expr{kind: c.kind, form: columnForm, text: name, max: c.max})
	}
	return es
}

// limited orders by all columns: rows that tie are equal then, whichever an engine takes.
func (g *generator) limited(depth int, want []kind) *query {
	inner := g.query(depth-1, nil, want)
	sel, cols := g.star(inner)
	q := &query{sel: sel, cols: inner.cols, limit: 1 + g.rng.IntN(5), order: g.totalOrder(cols)}
	if g.chance(30) {
		q.offset = 1 + g.rng.IntN(3)
	}
	return q
}

func (g *generator) totalOrder(cols []*expr) []*orderItem {
	order := g.order(cols)
	g.rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	return order
}

func (g *generator) order(cols []*expr) []*orderItem {
	var order []*orderItem
	for _, c := range cols {
		o := &orderItem{e: c.clone(), desc: g.chance(40)}
		if g.chance(20) {
			o.nulls = pick(g, "FIRST", "LAST")
		}
		order = append(order, o)
	}
	return order
}

// ranked takes the first rows of each partition.
func (g *generator) ranked(depth int, want []kind, f *form) *query {
	inner := g.query(depth-1, nil, want)
	numbered, cols := g.star(inner)
	w := &window{}
	rest := slices.Clone(cols)
	g.rng.Shuffle(len(rest), func(i, j int) { rest[i], rest[j] = rest[j], rest[i] })
	for len(rest) > 1 && len(w.partition) < 2 && g.chance(60) {
		w.partition = append(w.partition, rest[0].clone())
		rest = rest[1:]
	}
	if f != ranks[0] {
		rest = rest[:1+g.rng.IntN(len(rest))] // ties are what RANK is about
	}
	w.order = g.order(rest)
	n := column{g.name("n"), kindInt, maxGroup}
	number := &expr{kind: kindInt, form: f, window: w, max: maxGroup}
	numbered.items = append(numbered.items, item{number, n.name})
	bound := &expr{kind: kindInt, form: literalForm, text: fmt.Sprint(1 + g.rng.IntN(3))}
	if g.with(Qualify, 25) {
		numbered.items = numbered.items[:len(numbered.items)-1]
		numbered.qualify = &expr{kind: kindBool, form: atMost, args: []*expr{number, bound}}
		return &query{sel: numbered, cols: inner.cols}
	}
	sel, all := g.star(&query{sel: numbered, cols: append(slices.Clone(inner.cols), n)})
	row := all[len(all)-1].clone()
	switch {
	case g.chance(40):
		bound.text = "1"
		sel.where = &expr{kind: kindBool, form: equals, args: []*expr{row, bound}}
	case g.chance(20):
		two := &expr{kind: kindInt, form: literalForm, text: "2"}
		bound.text = "3"
		sel.where = &expr{kind: kindBool, form: between, args: []*expr{row, two, bound}}
	default:
		sel.where = &expr{kind: kindBool, form: atMost, args: []*expr{row, bound}}
	}
	if want != nil || g.chance(60) {
		sel.items = sel.items[:len(sel.items)-1] // the number is not shown
		return &query{sel: sel, cols: inner.cols}
	}
	return &query{sel: sel, cols: append(slices.Clone(inner.cols), n)}
}

func (g *generator) selection(depth int, outer *scope, want []kind) *query {
	s := &selection{}
	var cols []*expr
	s.from, cols = g.from(depth)
	sc := &scope{cols, outer}
	if g.chance(50) {
		s.where = g.expr(kindBool, 2, sc)
	}
	if want == nil {
		for range 1 + g.rng.IntN(4) {
			want = append(want, g.anyKind(cols))
		}
	}
	q := &query{sel: s}
	switch {
	case outer == nil && g.with(Aggregates, 40):
		sc = g.group(s, &scope{cols: cols})
	default:
		s.distinct = g.with(Distinct, 20)
		if outer == nil && g.with(Over, 15) {
			sc = &scope{cols: append(slices.Clone(cols), g.overs(cols)...)}
			if !g.has[WindowSubquery] {
				g.subquery++
				defer func() { g.subquery-- }()
			}
		}
	}
	for _, k := range want {
		e := g.expr(k, 2, &scope{cols: sc.cols}) // correlation stays in WHERE
		c := column{g.name("c"), k, e.max}
		s.items = append(s.items, item{e, c.name})
		q.cols = append(q.cols, c)
	}
	return q
}

// anyKind is the kind of a column in reach, mostly.
func (g *generator) anyKind(cols []*expr) kind {
	if g.chance(90) {
		return pick(g, cols...).kind
	}
	return pick(g, kindInt, kindString, kindBool)
}

// group groups a selection, and returns what its items and HAVING may use.
func (g *generator) group(s *selection, sc *scope) *scope {
	if !g.with(GroupSubquery, 40) {
		g.subquery++
		defer func() { g.subquery-- }()
	}
	for range g.rng.IntN(3) {
		e := pick(g, sc.cols...).clone()
		if g.chance(20) {
			e = g.expr(e.kind, 1, sc)
		}
		if e.looks() && !slices.ContainsFunc(s.group, func(o *expr) bool { return g.same(o, e) }) {
			s.group = append(s.group, e)
		}
	}
	if len(s.group) > 0 && g.with(GroupingSets, 15) {
		s.sets = pick(g, "ROLLUP", "CUBE", "GROUPING SETS")
		if s.sets == "GROUPING SETS" {
			s.setList = [][]int{{}, {0}}
			if len(s.group) > 1 {
				s.setList = [][]int{{0, 1}, {1}}
			}
		}
	}
	out := &scope{cols: cloneExprs(s.group)}
	for range 1 + g.rng.IntN(3) {
		out.cols = append(out.cols, g.aggregate(sc))
	}
	if s.sets != "" && g.chance(40) {
		out.cols = append(out.cols, &expr{kind: kindInt, form: groupingForm, args: []*expr{pick(g, s.group...).clone()}, max: 1})
	}
	if len(s.group) > 0 && g.chance(20) {
		s.having = g.expr(kindBool, 1, out)
	}
	return out
}

func (g *generator) same(a, b *expr) bool {
	return render(sluice, a) == render(sluice, b)
}

func (g *generator) aggregate(sc *scope) *expr {
	f := g.lively(aggregates, sc, func(*form) bool { return true })
	e := &expr{kind: f.out, form: f, agg: &aggregate{}}
	inner := &scope{cols: sc.cols}
	var ms []int64
	for _, k := range f.args {
		a := g.expr(k, g.rng.IntN(2), inner)
		e.args = append(e.args, a)
		ms = append(ms, a.max)
	}
	e.max = f.bound(ms)
	if e.max > maxInt { // a sum of products
		return g.aggregate(&scope{cols: sc.cols})
	}
	e.agg.distinct = g.with(DistinctAgg, 20)
	if g.with(FilterAgg, 20) {
		e.agg.filter = g.expr(kindBool, 1, inner)
	}
	return e
}

func (g *generator) overs(cols []*expr) []*expr {
	var out []*expr
	var tied *window // the first in which rows that are equal in all columns get different values
	for range 1 + g.rng.IntN(2) {
		list, framed := overs, true
		if g.chance(30) {
			list, framed = ranks, false
		} else if g.with(Neighbours, 20) {
			list, framed = neighbours, false
		}
		f := pick(g, list...)
		w := &window{}
		if g.chance(70) {
			w.partition = []*expr{pick(g, cols...).clone()}
		}
		w.order = g.totalOrder(cols)
		if framed {
			w.frame = pick(g, frames...)
			if g.chance(25) {
				w.order, w.frame = w.order[:1], "" // RANGE, with ties
			}
		}
		if !framed || w.frame != "" {
			if tied == nil {
				tied = w
			} else {
				// Which value of one goes with which of the other is only determined where both go through equal rows alike.
				w.partition, w.order = cloneExprs(tied.partition), cloneOrder(tied.order)
			}
		}
		e := &expr{kind: f.out, form: f, window: w}
		var ms []int64
		for _, k := range f.args {
			a := g.leaf(k, &scope{cols: cols})
			e.args = append(e.args, a)
			ms = append(ms, a.max)
		}
		if e.max = f.bound(ms); e.max <= maxInt {
			out = append(out, e)
		}
	}
	return out
}
