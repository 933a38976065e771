package ast

func (p *printer) query(q *Query) {
	if q.With != nil {
		p.print("WITH ")
		p.list(len(q.With.CTEs), func(i int) {
			c := q.With.CTEs[i]
			p.ident(c.Name)
			if len(c.Columns) > 0 {
				p.print(" ")
				p.idents(c.Columns)
			}
			p.print(" AS (")
			p.query(c.Query)
			p.print(")")
		})
		p.print(" ")
	}
	if inner, ok := q.Body.(*Query); ok {
		p.parens(inner)
	} else {
		p.body(q.Body)
	}
	if len(q.OrderBy) > 0 {
		p.print(" ORDER BY ")
		p.orderItems(q.OrderBy)
	}
	if q.Limit != nil {
		p.print(" LIMIT ")
		p.expr(q.Limit, 0)
	}
	if q.Offset != nil {
		p.print(" OFFSET ")
		p.expr(q.Offset, 0)
	}
}

func (p *printer) parens(b QueryBody) {
	p.print("(")
	p.body(b)
	p.print(")")
}

func (p *printer) body(b QueryBody) {
	switch b := b.(type) {
	case *Query:
		p.query(b)
	case *Select:
		p.selectCore(b)
	case *SetOp:
		p.setOp(b)
	case *Values:
		p.print("VALUES ")
		p.list(len(b.Rows), func(i int) {
			p.print("(")
			p.exprs(b.Rows[i].Items)
			p.print(")")
		})
	case *TableQuery:
		p.print("TABLE ")
		p.name(b.Name)
	}
}

// setOp prints a set operation. INTERSECT binds tighter than the others, and
// all lean to the left.
func (p *printer) setOp(b *SetOp) {
	prec := func(k SetOpKind) int {
		if k == Intersect {
			return 1
		}
		return 0
	}
	operand := func(x QueryBody, least int) {
		switch o := x.(type) {
		case *Query:
			p.parens(x)
		case *SetOp:
			if prec(o.Kind) < least {
				p.parens(x)
			} else {
				p.body(x)
			}
		default:
			p.body(x)
		}
	}
	operand(b.Left, prec(b.Kind))
	p.print(" ", string(b.Kind), " ")
	p.when(b.All, "ALL ")
	operand(b.Right, prec(b.Kind)+1)
}

func (p *printer) selectCore(s *Select) {
	p.print("SELECT ")
	p.hints(s.Hints, "", " ")
	p.when(s.Distinct, "DISTINCT ")
	p.list(len(s.Items), func(i int) { p.item(s.Items[i]) })
	if s.From != nil {
		p.print(" FROM ")
		p.table(s.From)
	}
	if s.Where != nil {
		p.print(" WHERE ")
		p.expr(s.Where, 0)
	}
	if len(s.GroupBy) > 0 {
		p.print(" GROUP BY ")
		p.groupItems(s.GroupBy)
	}
	if s.Having != nil {
		p.print(" HAVING ")
		p.expr(s.Having, 0)
	}
	if len(s.Windows) > 0 {
		p.print(" WINDOW ")
		p.list(len(s.Windows), func(i int) {
			p.ident(s.Windows[i].Name)
			p.print(" AS ")
			p.window(s.Windows[i].Window)
		})
	}
	if s.Qualify != nil {
		p.print(" QUALIFY ")
		p.expr(s.Qualify, 0)
	}
}

func (p *printer) item(i SelectItem) {
	if i.Star {
		for _, q := range i.Qualifier {
			p.ident(q)
			p.print(".")
		}
		p.print("*")
		return
	}
	p.expr(i.Expr, 0)
	if !i.Alias.IsZero() {
		p.print(" AS ")
		p.ident(i.Alias)
	}
}

func (p *printer) groupItems(items []GroupItem) {
	p.list(len(items), func(i int) {
		switch g := items[i]; g.Kind {
		case GroupExpr:
			p.exprs(g.Exprs)
			return
		case GroupList:
			p.print("(")
			p.exprs(g.Exprs)
			p.print(")")
			return
		case GroupRollup:
			p.print("ROLLUP (")
		case GroupCube:
			p.print("CUBE (")
		case GroupSets:
			p.print("GROUPING SETS (")
		}
		p.groupItems(items[i].Items)
		p.print(")")
	})
}
