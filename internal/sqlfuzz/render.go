package sqlfuzz

import (
	"fmt"
	"strconv"
	"strings"
)

// writer writes a query in a dialect.
type writer struct {
	strings.Builder
	d dialect
}

func render(d dialect, e *expr) string {
	w := &writer{d: d}
	w.expr(e)
	return w.String()
}

// text is a query in a dialect.
func (q *query) text(d dialect) string {
	w := &writer{d: d}
	w.query(q)
	return w.String()
}

func (w *writer) query(q *query) {
	for i, c := range q.with {
		w.WriteString([]string{"WITH ", ", "}[min(i, 1)])
		w.WriteString(c.name + " AS (")
		w.query(c.q)
		w.WriteByte(')')
	}
	if len(q.with) > 0 {
		w.WriteByte(' ')
	}
	if q.sel != nil {
		w.selection(q.sel)
	} else {
		w.arm(q.left)
		w.WriteString(" " + q.setOp + " ")
		w.arm(q.right)
	}
	w.order(" ORDER BY ", q.order)
	if q.limit > 0 {
		fmt.Fprintf(w, " LIMIT %d", q.limit)
	}
	if q.offset > 0 {
		fmt.Fprintf(w, " OFFSET %d", q.offset)
	}
}

// arm writes one side of a set operation. SQLite takes no parentheses there.
func (w *writer) arm(q *query) {
	simple := len(q.with) == 0 && q.sel != nil && len(q.order) == 0
	switch {
	case simple:
		w.query(q)
	case w.d == sqlite:
		w.WriteString("SELECT * FROM (")
		w.query(q)
		w.WriteByte(')')
	default:
		w.WriteByte('(')
		w.query(q)
		w.WriteByte(')')
	}
}

func (w *writer) list(es []*expr) {
	for i, e := range es {
		if i > 0 {
			w.WriteString(", ")
		}
		w.expr(e)
	}
}

// order writes ORDER BY. NULL is below every value, as in SQLite; DuckDB puts it last.
func (w *writer) order(before string, os []*orderItem) {
	for _, o := range os {
		w.WriteString(before)
		w.expr(o.e)
		if o.desc {
			w.WriteString(" DESC")
		}
		switch {
		case o.nulls != "":
			w.WriteString(" NULLS " + o.nulls)
		case w.d == duckdb && o.desc:
			w.WriteString(" NULLS LAST")
		case w.d == duckdb:
			w.WriteString(" NULLS FIRST")
		}
		before = ", "
	}
}

func (w *writer) selection(s *selection) {
	w.WriteString("SELECT ")
	if s.distinct {
		w.WriteString("DISTINCT ")
	}
	for i, it := range s.items {
		if i > 0 {
			w.WriteString(", ")
		}
		w.expr(it.e)
		w.WriteString(" AS " + it.name)
	}
	w.WriteString(" FROM ")
	w.from(s.from)
	w.clause(" WHERE ", s.where)
	switch {
	case s.sets == "GROUPING SETS":
		w.WriteString(" GROUP BY GROUPING SETS (")
		for i, set := range s.setList {
			if i > 0 {
				w.WriteString(", ")
			}
			w.WriteByte('(')
			for j, g := range set {
				if j > 0 {
					w.WriteString(", ")
				}
				w.expr(s.group[g])
			}
			w.WriteByte(')')
		}
		w.WriteByte(')')
	case s.sets != "":
		w.WriteString(" GROUP BY " + s.sets + " (")
		w.list(s.group)
		w.WriteByte(')')
	case len(s.group) > 0:
		w.WriteString(" GROUP BY ")
		w.list(s.group)
	}
	w.clause(" HAVING ", s.having)
	w.clause(" QUALIFY ", s.qualify)
}

func (w *writer) clause(word string, e *expr) {
	if e != nil {
		w.WriteString(word)
		w.expr(e)
	}
}

func (w *writer) from(f *from) {
	switch {
	case f.join != "":
		w.from(f.l)
		w.WriteString(" " + f.join + " ")
		if f.r.join != "" {
			w.WriteByte('(')
		}
		w.from(f.r)
		if f.r.join != "" {
			w.WriteByte(')')
		}
		w.clause(" ON ", f.on)
		if f.using != "" {
			w.WriteString(" USING (" + f.using + ")")
		}
		return
	case f.values != nil:
		w.WriteString("(VALUES ")
		for i, row := range f.values {
			if i > 0 {
				w.WriteString(", ")
			}
			w.WriteByte('(')
			w.list(row)
			w.WriteByte(')')
		}
		w.WriteByte(')')
	case f.unnest != nil:
		w.WriteString("UNNEST(")
		w.expr(f.unnest)
		w.WriteByte(')')
	case f.sub != nil:
		if f.lateral {
			w.WriteString("LATERAL ")
		}
		w.WriteByte('(')
		w.query(f.sub)
		w.WriteByte(')')
	default:
		w.WriteString(f.table)
	}
	w.WriteString(" AS " + f.alias)
	if f.values != nil || f.unnest != nil {
		for i, c := range f.cols {
			w.WriteString([]string{" (", ", "}[min(i, 1)] + c.name)
		}
		w.WriteByte(')')
	}
}

// expr fills an expression's template.
func (w *writer) expr(e *expr) {
	t := e.form.in(w.d)
	for {
		i := strings.IndexByte(t, '$')
		if i < 0 {
			w.WriteString(t)
			return
		}
		w.WriteString(t[:i])
		w.hole(t[i+1], e)
		t = t[i+2:]
	}
}

func (w *writer) hole(c byte, e *expr) {
	switch c {
	case 't':
		w.WriteString(e.text)
	case 'q':
		w.query(e.sub)
	case 'd':
		if e.agg.distinct {
			w.WriteString("DISTINCT ")
		}
	case 'f':
		if e.agg.filter != nil {
			w.WriteString(" FILTER (WHERE ")
			w.expr(e.agg.filter)
			w.WriteByte(')')
		}
	case 'w':
		w.window(e.window)
	default:
		n, err := strconv.Atoi(string(c))
		if err != nil {
			panic("sqlfuzz: template with $" + string(c))
		}
		w.expr(e.args[n-1])
	}
}

func (w *writer) window(win *window) {
	if len(win.partition) > 0 {
		w.WriteString("PARTITION BY ")
		w.list(win.partition)
		w.WriteByte(' ')
	}
	w.order("ORDER BY ", win.order)
	if win.frame != "" {
		w.WriteString(" " + win.frame)
	}
}
