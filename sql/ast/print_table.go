package ast

func (p *printer) table(t TableRef) {
	switch t := t.(type) {
	case *NamedTable:
		p.name(t.Name)
		p.hints(t.Hints, " ", "")
		if t.AsOf != nil {
			p.print(" FOR SYSTEM_TIME AS OF ")
			p.expr(t.AsOf, 0)
		}
		p.alias(t.Alias)
	case *DerivedTable:
		p.when(t.Lateral, "LATERAL ")
		p.print("(")
		p.query(t.Query)
		p.print(")")
		p.alias(t.Alias)
	case *TableFunction:
		p.when(t.Lateral, "LATERAL ")
		p.print("TABLE(")
		p.call(t.Call)
		p.print(")")
		p.alias(t.Alias)
	case *Unnest:
		p.print("UNNEST(")
		p.exprs(t.Exprs)
		p.print(")")
		p.when(t.Ordinality, " WITH ORDINALITY")
		p.alias(t.Alias)
	case *Join:
		p.join(t)
	}
}

func (p *printer) join(j *Join) {
	p.table(j.Left)
	if j.Comma {
		p.print(", ")
		p.table(j.Right)
		return
	}
	p.print(" ")
	p.when(j.Natural, "NATURAL ")
	p.print(j.Kind.String(), " ")
	// Joins lean to the left: one on the right was written in parentheses.
	if _, ok := j.Right.(*Join); ok {
		p.print("(")
		p.table(j.Right)
		p.print(")")
	} else {
		p.table(j.Right)
	}
	if j.On != nil {
		p.print(" ON ")
		p.expr(j.On, 0)
	}
	if len(j.Using) > 0 {
		p.print(" USING ")
		p.idents(j.Using)
	}
}

func (p *printer) alias(a TableAlias) {
	if a.Name.IsZero() {
		return
	}
	p.print(" AS ")
	p.ident(a.Name)
	if len(a.Columns) > 0 {
		p.print(" ")
		p.idents(a.Columns)
	}
}

func (p *printer) hints(hints []Hint, before, after string) {
	if len(hints) == 0 {
		return
	}
	p.print(before, "/*+ ")
	p.list(len(hints), func(i int) {
		h := hints[i]
		p.ident(h.Name)
		if len(h.Args) == 0 {
			return
		}
		p.print("(")
		p.list(len(h.Args), func(i int) {
			p.text(h.Args[i].Key)
			if h.Args[i].HasValue {
				p.print(" = ")
				p.text(h.Args[i].Value)
			}
		})
		p.print(")")
	})
	p.print(" */", after)
}
