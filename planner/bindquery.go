package planner

import (
	"fmt"
	"slices"
	"time"

	"github.com/sluicesql/sluice/engine/expr"
	"github.com/sluicesql/sluice/engine/types"
	"github.com/sluicesql/sluice/sql/ast"
)

// binder binds the queries of one job: names become columns, calls become typed expressions.
type binder struct {
	s       *Session
	columns *columnTable
	ctes    *cteScope
	// expanding are the views whose queries are being bound, outermost first.
	expanding []*View
	// expansions counts the references to views that were expanded.
	expansions int
	// outer is the scope of the query around the one that is being bound; nil without one.
	outer *scope
	// hinted are the tables to which hints gave options of their own.
	hinted map[hintedKey]*Table
	// result is the query whose result is shown; nil in an INSERT.
	result *ast.Query
	// ttls are the STATE_TTL hints of the query that is being bound; nil without.
	ttls *ttlHints
}

// field is a column of a query's result.
type field struct {
	name     string
	id       int
	volatile string // see scopeColumn
}

// boundQuery is a query's tree and its result columns.
type boundQuery struct {
	rel    rel
	fields []field
	// order are the columns of ORDER BY, where the query's body was bound with them.
	order []orderKey
}

// query binds a whole query.
func (b *binder) query(q *ast.Query) (*boundQuery, error) {
	defer func(c *cteScope) { b.ctes = c }(b.ctes)
	if q.With != nil {
		if err := b.with(q.With); err != nil {
			return nil, err
		}
	}
	if len(q.OrderBy) > 0 && q.Limit == nil && q.Offset == nil && (q != b.result || !b.s.showsTables()) {
		help := "the rows of a result that is kept up to date have no order; leave it out, or add LIMIT n to keep the first n rows"
		if q == b.result {
			help += "; a table that is shown has one: SET '" + OptResultMode + "' = 'table'"
		}
		return nil, notAvailable(q.OrderBy[0].Pos, "ORDER BY without LIMIT", help)
	}
	var res *boundQuery
	var err error
	if sel, ok := q.Body.(*ast.Select); ok {
		res, err = b.selectBody(sel, q.OrderBy)
	} else if res, err = b.body(q.Body); err == nil {
		err = b.orderFields(res, q.OrderBy)
	}
	if err != nil || q.Limit == nil && q.Offset == nil {
		return res, err
	}
	return res, b.limit(res, q)
}

// with enters the WITH items, each seeing those before it.
func (b *binder) with(w *ast.With) error {
	own := &cteScope{parent: b.ctes}
	for i := range w.CTEs {
		c := &w.CTEs[i]
		for _, v := range own.views {
			if v.Name == c.Name.Name {
				return errAt(c.Name.Pos, "WITH names %q twice", c.Name.Name).Coded(ast.CodeDuplicateName)
			}
		}
		v := &View{Name: c.Name.Name, Columns: c.Columns, Query: c.Query}
		v.scope = &cteScope{parent: b.ctes, views: slices.Clone(own.views)}
		// An item is checked even when nothing uses it.
		if _, err := b.viewBody(v); err != nil {
			return err
		}
		own.views = append(own.views, v)
	}
	b.ctes = own
	return nil
}

func (b *binder) body(q ast.QueryBody) (*boundQuery, error) {
	switch q := q.(type) {
	case *ast.Query:
		return b.query(q)
	case *ast.Select:
		return b.selectBody(q, nil)
	case *ast.Values:
		return b.values(q)
	case *ast.TableQuery:
		r, fields, err := b.relation(&ast.NamedTable{Pos: q.Pos, Name: q.Name})
		return &boundQuery{rel: r, fields: fields}, err
	case *ast.SetOp:
		return b.setOp(q)
	}
	panic("planner: unknown query body")
}

// selectBody binds a SELECT; order is the ORDER BY behind it, whose expressions may be over its input.
func (b *binder) selectBody(q *ast.Select, order []ast.OrderItem) (*boundQuery, error) {
	hints, err := selectHints(q.Hints)
	if err != nil {
		return nil, err
	}
	defer func(around *ttlHints) { b.ttls = around }(b.ttls)
	b.ttls = hints
	// Without FROM there is one row, of no columns.
	var r rel = &relValues{rows: [][]expr.Expr{{}}}
	sc := &scope{}
	if q.From != nil {
		if r, sc, err = b.from(q.From); err != nil {
			return nil, err
		}
	}
	var groupTTL *time.Duration
	if len(q.GroupBy) > 0 || q.Distinct {
		groupTTL = hints.of(q.From)
	}
	if err := hints.check(sc); err != nil {
		return nil, err
	}
	sc.parent, sc.subs, sc.selected = b.outer, &subqueries{}, q.Items
	sc.changing = sc.changing || hasSubquery(q)
	if q.Where != nil {
		conds, err := b.condition(q.Where, sc, "WHERE")
		if err != nil {
			return nil, err
		}
		r = &relFilter{in: sc.subs.attach(r), conds: conds}
	}
	var having []expr.Expr
	if groups(q, order) {
		if sc, err = b.groupBy(q, sc); err != nil {
			return nil, err
		}
		sc.group.ttl = groupTTL
		if q.Having != nil {
			if having, err = b.condition(q.Having, sc, "HAVING"); err != nil {
				return nil, err
			}
		}
	}
	over := *sc
	over.windows = &windowScope{named: q.Windows}
	sc = &over
	var fields []field
	var items []extendItem
	for i := range q.Items {
		it := &q.Items[i]
		if it.Star {
			fs, is, err := b.star(it, sc)
			if err != nil {
				return nil, err
			}
			fields, items = append(fields, fs...), append(items, is...)
			continue
		}
		e, err := b.expr(it.Expr, sc)
		if err != nil {
			return nil, err
		}
		name := it.Alias.Name
		if name == "" {
			name = defaultName(it.Expr, i)
		}
		f, item := b.output(name, e)
		fields = append(fields, f)
		if item != nil {
			items = append(items, *item)
		}
	}
	var qualify []expr.Expr
	if q.Qualify != nil {
		over.aliases = q.Items
		qualify, err = b.condition(q.Qualify, sc, "QUALIFY")
		if over.aliases = nil; err != nil {
			return nil, err
		}
	}
	keys, err := b.orderBy(order, q, sc, fields, &items)
	if err != nil {
		return nil, err
	}
	if sc.group != nil {
		r = sc.group.rel(b, r)
	}
	late := sc.subs.above(sc.windows.windows)
	if r = filtered(sc.subs.attach(r), having); len(sc.windows.windows) > 0 {
		if err := stable(q, items, qualify); err != nil {
			return nil, err
		}
		r = late.attach(sc.windows.rel(r))
	} else if q.Qualify != nil {
		return nil, hint(errAt(q.Qualify.Position(), "QUALIFY needs a window function").Coded(ast.CodeMisplaced), "write the condition in WHERE or HAVING")
	}
	if r = filtered(r, qualify); len(items) > 0 {
		r = &relExtend{in: r, items: items}
	}
	if q.Distinct {
		r = b.distinct(r, fields, groupTTL)
	}
	return &boundQuery{rel: r, fields: fields, order: keys}, nil
}

// distinct is r with each row of the fields once.
func (b *binder) distinct(r rel, fields []field, ttl *time.Duration) rel {
	a := &relAggregate{in: r, ttl: ttl}
	for _, f := range fields {
		if !slices.Contains(a.keys, f.id) {
			a.keys = append(a.keys, f.id)
		}
	}
	return a
}

// output is a result column: a plain column keeps its number, anything else is computed.
func (b *binder) output(name string, e expr.Expr) (field, *extendItem) {
	if c, ok := e.(*expr.Column); ok {
		return field{name: name, id: c.Index}, nil
	}
	id := b.columns.add(name, name, e.Type())
	return field{name: name, id: id}, &extendItem{id, e}
}

// defaultName is the name of an item without an alias: the column's, or Flink's EXPR$n.
func defaultName(e ast.Expr, i int) string {
	switch e := e.(type) {
	case *ast.ColumnRef:
		return e.Parts[len(e.Parts)-1].Name
	case *ast.FieldAccess:
		return e.Field.Name
	}
	return fmt.Sprintf("EXPR$%d", i)
}

// star expands * and t.*, and r.* of a column of type ROW.
func (b *binder) star(it *ast.SelectItem, sc *scope) ([]field, []extendItem, error) {
	if len(sc.cols) == 0 {
		return nil, nil, errAt(it.Pos, "* needs a FROM clause")
	}
	if sc.group != nil {
		return nil, nil, errAt(it.Pos, "* cannot stand beside GROUP BY or an aggregate function; name the columns").Coded(ast.CodeMisplaced)
	}
	q := it.Qualifier
	if len(q) == 0 || len(q) == 1 && sc.hasTable(q[0].Name) {
		var fields []field
		for _, c := range sc.cols {
			if len(q) == 0 && c.merged || len(q) == 1 && c.table != q[0].Name {
				continue
			}
			if err := c.usable(it.Pos); err != nil {
				return nil, nil, err
			}
			fields = append(fields, field{name: c.name, id: c.id})
		}
		return fields, nil, nil
	}
	if len(q) == 1 && len(sc.find("", q[0].Name)) == 0 {
		return nil, nil, suggest(errAt(q[0].Pos, "unknown table %q", q[0].Name).Coded(ast.CodeUnknownTable), q[0].Name, sc.tables(), "tables")
	}
	row, err := b.columnRef(&ast.ColumnRef{Pos: q[0].Pos, Parts: q}, sc)
	if err != nil {
		return nil, nil, err
	}
	if row.Type().Kind != types.Row {
		return nil, nil, errAt(it.Pos, "%s.* needs a ROW, and %s is %s", row, row, row.Type()).Coded(ast.CodeTypeMismatch)
	}
	var fields []field
	var items []extendItem
	for _, rf := range row.Type().Fields {
		e, err := b.fieldOf(row, ast.Ident{Pos: it.Pos, Name: rf.Name})
		if err != nil {
			return nil, nil, err
		}
		f, item := b.output(rf.Name, e)
		fields, items = append(fields, f), append(items, *item)
	}
	return fields, items, nil
}

// condition binds a condition and splits it at its ANDs.
func (b *binder) condition(e ast.Expr, sc *scope, clause string) ([]expr.Expr, error) {
	if sc.subs != nil && holdsQuery(e) {
		return b.conjuncts(e, sc, clause)
	}
	return b.plainCondition(e, sc, clause)
}

// plainCondition binds a condition whose subqueries, if there are any, are values like others.
func (b *binder) plainCondition(e ast.Expr, sc *scope, clause string) ([]expr.Expr, error) {
	x, err := b.expr(e, sc)
	if err != nil {
		return nil, err
	}
	if k := x.Type().Kind; k != types.Boolean && k != types.Null {
		return nil, errAt(e.Position(), "%s needs a BOOLEAN, and this is %s", clause, x.Type()).Coded(ast.CodeTypeMismatch)
	}
	return factored(expr.Conjuncts(x)), nil
}

// uniqueNames gives result columns of one name a number, as Flink does: id, id0, id1.
func uniqueNames(fields []field) {
	seen := map[string]bool{}
	for _, f := range fields {
		seen[f.name] = true
	}
	used := map[string]bool{}
	for i := range fields {
		n := fields[i].name
		if used[n] {
			for k := 0; ; k++ {
				if c := fmt.Sprintf("%s%d", n, k); !seen[c] && !used[c] {
					n = c
					break
				}
			}
		}
		used[n] = true
		fields[i].name = n
	}
}
