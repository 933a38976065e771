package sqlfuzz

import "slices"

// edits are the ways to make a case's query smaller, each to be called on a clone of its own. Many make it
// meaningless, which both engines then say.
func (c *generated) edits() []func() {
	e := &editor{}
	e.query(c.query, func(q *query) { c.query = q })
	for _, v := range c.views {
		e.query(v.q, func(q *query) { v.q = q })
	}
	return e.list
}

type editor struct{ list []func() }

func (e *editor) add(f func()) { e.list = append(e.list, f) }

// query offers to put a part in the whole's place, by set.
func (e *editor) query(q *query, set func(*query)) {
	for _, part := range q.parts() {
		e.add(func() { set(part) })
	}
	for i := range q.with {
		e.add(func() { q.with = slices.Delete(q.with, i, i+1) })
		e.query(q.with[i].q, func(n *query) { q.with[i].q = n })
	}
	if q.limit > 0 {
		e.add(func() { q.limit, q.offset, q.order = 0, 0, nil })
	}
	if q.offset > 0 {
		e.add(func() { q.offset = 0 })
	}
	if q.sel == nil {
		e.query(q.left, func(n *query) { q.left = n })
		e.query(q.right, func(n *query) { q.right = n })
		for i := range min(q.left.width(), q.right.width()) { // a column of both
			e.add(func() { q.left.dropColumn(i); q.right.dropColumn(i) })
		}
		return
	}
	e.selection(q.sel)
	e.order(&q.order)
}

// parts are queries in a query that could stand for it.
func (q *query) parts() []*query {
	var ps []*query
	if q.sel == nil {
		ps = append(ps, q.left, q.right)
	} else if q.sel.from.sub != nil {
		ps = append(ps, q.sel.from.sub)
	}
	return ps
}

func (q *query) width() int {
	if q.sel == nil {
		return q.left.width()
	}
	return len(q.sel.items)
}

func (q *query) dropColumn(i int) {
	if q.sel == nil {
		q.left.dropColumn(i)
		q.right.dropColumn(i)
	} else if i < len(q.sel.items) && len(q.sel.items) > 1 {
		q.sel.items = slices.Delete(q.sel.items, i, i+1)
	}
}

func (e *editor) selection(s *selection) {
	e.from(s.from, func(f *from) { s.from = f })
	for _, c := range []**expr{&s.where, &s.having, &s.qualify} {
		if *c != nil {
			e.add(func() { *c = nil })
			e.expr(*c, func(n *expr) { *c = n })
		}
	}
	if s.distinct {
		e.add(func() { s.distinct = false })
	}
	if s.sets != "" {
		e.add(func() { s.sets, s.setList = "", nil })
	}
	for i := range s.group {
		if s.setList == nil {
			e.add(func() { s.group = slices.Delete(s.group, i, i+1) })
		}
	}
	for i := range s.items {
		if len(s.items) > 1 {
			e.add(func() { s.items = slices.Delete(s.items, i, i+1) })
		}
		e.expr(s.items[i].e, func(n *expr) { s.items[i].e = n })
	}
}

func (e *editor) order(os *[]*orderItem) {
	for i, o := range *os {
		if len(*os) > 1 {
			e.add(func() { *os = slices.Delete(*os, i, i+1) })
		}
		if o.desc || o.nulls != "" {
			e.add(func() { o.desc, o.nulls = false, "" })
		}
	}
}

func (e *editor) from(f *from, set func(*from)) {
	if f.join != "" {
		e.add(func() { set(f.l) })
		e.add(func() { set(f.r) })
		if f.join != "JOIN" && f.on != nil {
			e.add(func() { f.join = "JOIN" })
		}
		e.from(f.l, func(n *from) { f.l = n })
		e.from(f.r, func(n *from) { f.r = n })
		if f.on != nil {
			e.expr(f.on, func(n *expr) { f.on = n })
		}
		return
	}
	switch {
	case f.sub != nil:
		e.query(f.sub, func(q *query) { f.sub = q })
	case f.values != nil:
		e.values(f)
	case f.unnest != nil:
		e.array(f.unnest)
	}
}

// values offers VALUES with a row less, and with a column less.
func (e *editor) values(f *from) {
	for i := range f.values {
		if len(f.values) > 1 {
			e.add(func() { f.values = slices.Delete(f.values, i, i+1) })
		}
	}
	for i := range f.cols {
		if len(f.cols) > 1 {
			e.add(func() {
				f.cols = slices.Delete(f.cols, i, i+1)
				for k := range f.values {
					f.values[k] = slices.Delete(f.values[k], i, i+1)
				}
			})
		}
	}
}

// array offers an array with an element less, and with less in its elements.
func (e *editor) array(a *expr) {
	for i := range a.args {
		if n := len(a.args); n > 1 {
			e.add(func() { a.args, a.form = slices.Delete(a.args, i, i+1), arrayForms[n-2] })
		}
		e.expr(a.args[i], func(n *expr) { a.args[i] = n })
	}
}

// null is NULL of a kind.
func null(k kind) *expr {
	return &expr{kind: k, form: literalForm, text: "CAST(NULL AS " + kinds[k].String() + ")"}
}

// expr offers arguments of the same kind, and NULL, in an expression's place.
func (e *editor) expr(x *expr, set func(*expr)) {
	for _, a := range x.args {
		if a.kind == x.kind {
			e.add(func() { set(a) })
		}
	}
	if x.form != literalForm {
		e.add(func() { set(null(x.kind)) })
	}
	for i := range x.args {
		e.expr(x.args[i], func(n *expr) { x.args[i] = n })
	}
	if x.sub != nil {
		e.query(x.sub, func(q *query) { x.sub = q })
	}
	if x.agg != nil {
		if x.agg.distinct {
			e.add(func() { x.agg.distinct = false })
		}
		if x.agg.filter != nil {
			e.add(func() { x.agg.filter = nil })
			e.expr(x.agg.filter, func(n *expr) { x.agg.filter = n })
		}
	}
	if x.window != nil {
		for i := range x.window.partition {
			e.add(func() { x.window.partition = slices.Delete(x.window.partition, i, i+1) })
		}
		e.order(&x.window.order)
	}
}
