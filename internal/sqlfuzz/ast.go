package sqlfuzz

import (
	"slices"

	"github.com/sluicesql/sluice/engine/types"
)

// kind is the family of a type: what decides where an expression may stand.
type kind uint8

const (
	kindInt kind = iota // INT and BIGINT
	kindString
	kindBool
	kindDecimal
	kindDouble
	kindDate
)

// kinds are all of them, with the type of a column and of a NULL.
var kinds = []types.Type{
	kindInt:     types.Of(types.BigInt),
	kindString:  types.String(),
	kindBool:    types.Of(types.Boolean),
	kindDecimal: types.DecimalOf(8, 2),
	kindDouble:  types.Of(types.Double),
	kindDate:    types.Of(types.Date),
}

// query is a SELECT, a set operation, or VALUES, with what may stand around it.
type query struct {
	with        []*cte
	sel         *selection
	setOp       string // "UNION ALL" …, over left and right
	left, right *query
	order       []*orderItem
	limit       int // 0 for none
	offset      int
	cols        []column // the result's
}

type cte struct {
	name string
	q    *query
}

type column struct {
	name string
	kind kind
	max  int64 // of integers: no value is further from zero
}

type orderItem struct {
	e     *expr
	desc  bool
	nulls string // "", "FIRST" or "LAST"
}

type selection struct {
	distinct bool
	items    []item
	from     *from
	where    *expr
	group    []*expr
	sets     string // "", "ROLLUP", "CUBE" or "GROUPING SETS"
	setList  [][]int
	having   *expr
	qualify  *expr
}

type item struct {
	e    *expr
	name string
}

// from is a table (of the case, a view, or a common table expression), a derived table, or a join.
type from struct {
	table string
	sub   *query
	alias string
	cols  []column // of a table or derived table

	lateral bool // sub looks at what is on its left

	values [][]*expr // of VALUES
	unnest *expr     // an array; the elements are the one column

	join  string // "JOIN", "LEFT JOIN", "NATURAL JOIN" …
	l, r  *from
	on    *expr
	using string // the column's name
}

// expr is an expression: a form filled with its arguments.
type expr struct {
	kind   kind
	form   *form
	text   string // a literal, or a column's name
	args   []*expr
	sub    *query
	max    int64 // of integers: no value is further from zero
	agg    *aggregate
	window *window
}

type aggregate struct {
	distinct bool
	filter   *expr
}

type window struct {
	partition []*expr
	order     []*orderItem
	frame     string
}

func (q *query) clone() *query {
	if q == nil {
		return nil
	}
	c := *q
	c.with = nil
	for _, w := range q.with {
		c.with = append(c.with, &cte{w.name, w.q.clone()})
	}
	if q.sel != nil {
		c.sel = q.sel.clone()
	}
	c.left, c.right = q.left.clone(), q.right.clone()
	c.order = cloneOrder(q.order)
	c.cols = slices.Clone(q.cols)
	return &c
}

func cloneOrder(os []*orderItem) []*orderItem {
	var c []*orderItem
	for _, o := range os {
		c = append(c, &orderItem{o.e.clone(), o.desc, o.nulls})
	}
	return c
}

func (s *selection) clone() *selection {
	c := *s
	c.items = nil
	for _, i := range s.items {
		c.items = append(c.items, item{i.e.clone(), i.name})
	}
	c.from = s.from.clone()
	c.where, c.having, c.qualify = s.where.clone(), s.having.clone(), s.qualify.clone()
	c.group = cloneExprs(s.group)
	c.setList = slices.Clone(s.setList)
	return &c
}

// groups tells whether the rows are grouped.
func (s *selection) groups() bool {
	return s.distinct || len(s.group) > 0 || s.having != nil || slices.ContainsFunc(s.items, func(i item) bool { return i.e.aggregates() })
}

// aggregates tells whether an aggregate is in e.
func (e *expr) aggregates() bool {
	return e.agg != nil || slices.ContainsFunc(e.args, (*expr).aggregates)
}

func (f *from) clone() *from {
	if f == nil {
		return nil
	}
	c := *f
	c.sub, c.l, c.r, c.on = f.sub.clone(), f.l.clone(), f.r.clone(), f.on.clone()
	c.unnest, c.cols, c.values = f.unnest.clone(), slices.Clone(f.cols), nil
	for _, row := range f.values {
		c.values = append(c.values, cloneExprs(row))
	}
	return &c
}

func cloneExprs(es []*expr) []*expr {
	var c []*expr
	for _, e := range es {
		c = append(c, e.clone())
	}
	return c
}

func (e *expr) clone() *expr {
	if e == nil {
		return nil
	}
	c := *e
	c.args, c.sub = cloneExprs(e.args), e.sub.clone()
	if e.agg != nil {
		c.agg = &aggregate{e.agg.distinct, e.agg.filter.clone()}
	}
	if e.window != nil {
		c.window = &window{cloneExprs(e.window.partition), cloneOrder(e.window.order), e.window.frame}
	}
	return &c
}
