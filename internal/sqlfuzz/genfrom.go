package sqlfuzz

import "slices"

// from makes a FROM clause, and returns the columns it offers.
func (g *generator) from(depth int) (*from, []*expr) {
	f, cols := g.factor(depth)
	for g.budget > 0 && g.chance(50) {
		r, rcols := g.factor(depth)
		if g.budget > 0 && g.chance(10) { // a JOIN within the right side
			r2, r2cols := g.factor(depth)
			r, rcols = g.join(r, rcols, r2, r2cols)
		}
		f, cols = g.join(f, cols, r, rcols)
	}
	if g.column(kindInt, cols) != nil && g.with(Unnest, 6) {
		u := &from{unnest: g.array(cols), alias: g.name("a")}
		u.cols = []column{{g.name("c"), kindInt, u.unnest.max}}
		f, cols = &from{join: "CROSS JOIN", l: f, r: u}, append(cols, columnsOf(u.alias, u.cols)...)
	}
	if g.subquery == 0 && g.budget > 0 && g.with(Lateral, 8) {
		return g.lateral(f, cols)
	}
	return f, cols
}

// lateral joins with a query that compares with the rows on its left: all of its rows, the first ones, or an aggregate.
func (g *generator) lateral(l *from, lcols []*expr) (*from, []*expr) {
	g.subquery++
	defer func() { g.subquery-- }()
	around := &scope{cols: lcols}
	r := &from{lateral: true, alias: g.name("a")}
	if g.with(Aggregates, 30) {
		r.sub = g.scalarSubquery(kindInt, around).sub
	} else {
		r.sub = g.selection(0, &scope{}, nil)
		first := g.with(Limit, 50)
		g.correlate(r.sub.sel, around, !first && !r.sub.sel.groups())
		if first {
			r.sub.order, r.sub.limit = g.totalOrder(columnsOf("", r.sub.cols)), 1+g.rng.IntN(3)
		}
	}
	r.cols = r.sub.cols
	j := &from{join: "CROSS JOIN", l: l, r: r}
	if g.with(OuterJoins, 50) {
		j.join, j.on = "LEFT JOIN", &expr{kind: kindBool, form: literalForm, text: "TRUE"}
	}
	return j, append(slices.Clone(lcols), columnsOf(r.alias, r.cols)...)
}

// factor is a table, a view, a common table expression, or a derived table.
func (g *generator) factor(depth int) (*from, []*expr) {
	g.budget--
	alias := g.name("a")
	if depth > 0 && g.budget > 0 && g.chance(25) {
		q := g.query(depth-1, nil, nil)
		return &from{sub: q, alias: alias, cols: q.cols}, columnsOf(alias, q.cols)
	}
	if g.with(Values, 6) {
		f := g.values(alias)
		return f, columnsOf(alias, f.cols)
	}
	t := pick(g, g.tables...)
	return &from{table: t.name, alias: alias, cols: t.cols}, columnsOf(alias, t.cols)
}

// values are a few constant rows.
func (g *generator) values(alias string) *from {
	f := &from{alias: alias}
	for range 1 + g.rng.IntN(3) {
		f.cols = append(f.cols, column{g.name("c"), pick(g, kindInt, kindInt, kindString), maxValue})
	}
	for range 1 + g.rng.IntN(4) {
		var row []*expr
		for _, c := range f.cols {
			row = append(row, g.literal(c.kind))
		}
		f.values = append(f.values, row)
	}
	return f
}

// array is an array of columns and literals.
func (g *generator) array(cols []*expr) *expr {
	a := &expr{form: arrayForms[g.rng.IntN(len(arrayForms))]}
	for range a.form.args {
		e := g.leaf(kindInt, &scope{cols: cols})
		a.args, a.max = append(a.args, e), max(a.max, e.max)
	}
	return a
}

// named makes of j a join by columns of equal names, if two tables have such that can be equal.
func (g *generator) named(j *from) bool {
	if j.l.join != "" || j.r.join != "" {
		return false
	}
	natural := true
	var common []string
	for _, a := range j.l.cols {
		for _, b := range j.r.cols {
			if a.name != b.name {
				continue
			}
			if a.kind == b.kind && a.kind != kindDouble {
				common = append(common, a.name)
			} else {
				natural = false
			}
		}
	}
	if len(common) == 0 {
		return false
	}
	if natural && g.chance(40) {
		j.join = "NATURAL " + j.join
	} else {
		j.using = pick(g, common...)
	}
	return true
}

// columns are those that a FROM clause offers.
func (f *from) columns() []*expr {
	if f.join == "" {
		return columnsOf(f.alias, f.cols)
	}
	return append(f.l.columns(), f.r.columns()...)
}

func (g *generator) join(l *from, lcols []*expr, r *from, rcols []*expr) (*from, []*expr) {
	g.subquery++ // subqueries have no place in ON
	defer func() { g.subquery-- }()
	cols := append(append([]*expr(nil), lcols...), rcols...)
	j := &from{join: "JOIN", l: l, r: r}
	if g.with(CrossJoins, 5) {
		j.join = "CROSS JOIN"
		return j, cols
	}
	if g.with(OuterJoins, 45) {
		j.join = pick(g, "LEFT JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN")
	}
	if g.with(Using, 15) && g.named(j) {
		return j, cols
	}
	nonEqui := j.join == "JOIN" && g.with(NonEqui, 8)
	for i := range 3 { // an equality of columns, if they have kinds in common
		a := pick(g, lcols...)
		if before := l.key(); i == 0 && before != nil && g.chance(40) { // several joins by one key
			a = before
		}
		if b := g.column(a.kind, rcols); b != nil && a.kind != kindDouble {
			form := equals
			if nonEqui {
				form = pick(g, compares...)
			} else if g.chance(12) {
				form = same
			}
			args := []*expr{a.clone(), b.clone()}
			if g.chance(10) {
				if e := g.expr(a.kind, 1, &scope{cols: lcols}); e.looks() {
					args[0] = e
				}
			}
			if g.chance(30) {
				args[0], args[1] = args[1], args[0]
			}
			j.on = &expr{kind: kindBool, form: form, args: args}
			break
		}
	}
	if j.on == nil { // nothing that can be equal
		if g.has[CrossJoins] {
			j.join = "CROSS JOIN"
			return j, cols
		}
		return l, lcols
	}
	if a := pick(g, lcols...); a.kind != kindDouble && g.chance(20) {
		if b := g.column(a.kind, rcols); b != nil {
			more := &expr{kind: kindBool, form: pick(g, equals, equals, same), args: []*expr{a.clone(), b.clone()}}
			j.on = &expr{kind: kindBool, form: andForm, args: []*expr{j.on, more}}
		}
	}
	if g.chance(25) {
		residual := g.expr(kindBool, 1, &scope{cols: cols})
		j.on = &expr{kind: kindBool, form: andForm, args: []*expr{j.on, residual}}
	}
	return j, cols
}

// key is a column by which the join joins its left side, or nil.
func (f *from) key() *expr {
	on := f.on
	for on != nil && on.form == andForm {
		on = on.args[0]
	}
	if on == nil || on.form != equals || on.args[0].form != columnForm {
		return nil
	}
	return on.args[0]
}

// column is a column of a kind, or nil.
func (g *generator) column(k kind, cols []*expr) *expr {
	var fit []*expr
	for _, c := range cols {
		if c.kind == k {
			fit = append(fit, c)
		}
	}
	if len(fit) == 0 {
		return nil
	}
	return pick(g, fit...)
}

// looks tells whether an expression looks at a column.
func (e *expr) looks() bool {
	return e.form == columnForm || slices.ContainsFunc(e.args, (*expr).looks)
}
