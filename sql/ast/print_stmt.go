package ast

func (p *printer) statement(s Statement) {
	switch s := s.(type) {
	case *QueryStatement:
		p.query(s.Query)
	case *Insert:
		p.insert(s)
	case *CreateTable:
		p.createTable(s)
	case *CreateView:
		p.createView(s)
	case *Drop:
		p.print("DROP ")
		p.when(s.Temporary, "TEMPORARY ")
		if s.View {
			p.print("VIEW ")
		} else {
			p.print("TABLE ")
		}
		p.when(s.IfExists, "IF EXISTS ")
		p.name(s.Name)
	case *Set:
		p.print("SET")
		if s.Key != "" {
			p.print(" ")
			p.text(s.Key)
			p.print(" = ")
			p.text(s.Value)
		}
	case *Reset:
		p.print("RESET")
		if s.Key != "" {
			p.print(" ")
			p.text(s.Key)
		}
	case *Explain:
		p.print("EXPLAIN ")
		p.list(len(s.Details), func(i int) { p.print(s.Details[i].Name) })
		p.when(len(s.Details) > 0, " ")
		p.statement(s.Statement)
	case *StatementSet:
		if s.Old {
			p.print("BEGIN STATEMENT SET; ")
		} else {
			p.print("EXECUTE STATEMENT SET BEGIN ")
		}
		for _, i := range s.Inserts {
			p.insert(i)
			p.print("; ")
		}
		p.print("END")
	default:
		p.command(s)
	}
}

// command prints the statements that ask or tell the engine something.
func (p *printer) command(s Statement) {
	switch s := s.(type) {
	case *Show:
		p.print("SHOW ", s.What)
		if len(s.Name.Parts) > 0 {
			p.print(" ")
			p.name(s.Name)
		}
		if s.Pattern != nil {
			p.when(s.Not, " NOT")
			p.print(" LIKE ")
			p.text(s.Pattern.Text)
		}
	case *Describe:
		p.print("DESCRIBE ")
		p.when(s.Extended, "EXTENDED ")
		p.name(s.Name)
	case *Use:
		p.print("USE ")
		p.when(s.Catalog, "CATALOG ")
		p.name(s.Name)
	case *StopJob:
		p.print("STOP JOB ")
		p.text(s.ID)
		p.when(s.WithSavepoint, " WITH SAVEPOINT")
		p.when(s.WithDrain, " WITH DRAIN")
	}
}

func (p *printer) insert(s *Insert) {
	p.print("INSERT INTO ")
	p.name(s.Table)
	p.hints(s.Hints, " ", "")
	if len(s.Columns) > 0 {
		p.print(" ")
		p.idents(s.Columns)
	}
	p.print(" ")
	p.query(s.Query)
}

func (p *printer) createTable(s *CreateTable) {
	p.print("CREATE ")
	p.when(s.Temporary, "TEMPORARY ")
	p.print("TABLE ")
	p.when(s.IfNotExists, "IF NOT EXISTS ")
	p.name(s.Name)
	p.elements(s)
	p.comment(s.Comment)
	if len(s.PartitionedBy) > 0 {
		p.print(" PARTITIONED BY ")
		p.idents(s.PartitionedBy)
	}
	if len(s.Options) > 0 {
		p.print(" WITH (")
		p.list(len(s.Options), func(i int) {
			p.text(s.Options[i].Key)
			p.print(" = ")
			p.text(s.Options[i].Value)
		})
		p.print(")")
	}
	if l := s.Like; l != nil {
		p.print(" LIKE ")
		p.name(l.Table)
		for i, o := range l.Options {
			if i == 0 {
				p.print(" (")
			} else {
				p.print(" ")
			}
			p.print(o.Merge, " ", o.What)
		}
		p.when(len(l.Options) > 0, ")")
	}
	if s.As != nil {
		p.print(" AS ")
		p.query(s.As)
	}
}

// elements prints the columns, the watermark and the key of a table.
func (p *printer) elements(s *CreateTable) {
	var parts []func()
	for _, c := range s.Columns {
		parts = append(parts, func() { p.column(c) })
	}
	if w := s.Watermark; w != nil {
		parts = append(parts, func() {
			p.print("WATERMARK FOR ")
			p.path(w.Column)
			p.print(" AS ")
			p.expr(w.Expr, 0)
		})
	}
	if k := s.PrimaryKey; k != nil {
		parts = append(parts, func() {
			if !k.Constraint.IsZero() {
				p.print("CONSTRAINT ")
				p.ident(k.Constraint)
				p.print(" ")
			}
			p.print("PRIMARY KEY ")
			p.idents(k.Columns)
			p.print(" NOT ENFORCED")
		})
	}
	if len(parts) == 0 {
		return
	}
	p.print(" (")
	p.list(len(parts), func(i int) { parts[i]() })
	p.print(")")
}

func (p *printer) column(c *Column) {
	p.ident(c.Name)
	if c.Kind == ComputedColumn {
		p.print(" AS ")
		p.expr(c.Expr, 0)
	} else {
		p.print(" ")
		p.dataType(c.Type)
	}
	if c.Kind == MetadataColumn {
		p.print(" METADATA")
		if c.MetadataKey != "" {
			p.print(" FROM ")
			p.text(c.MetadataKey)
		}
		p.when(c.Virtual, " VIRTUAL")
	}
	p.comment(c.Comment)
}

func (p *printer) comment(text string) {
	if text != "" {
		p.print(" COMMENT ")
		p.text(text)
	}
}

func (p *printer) createView(s *CreateView) {
	p.print("CREATE ")
	p.when(s.Temporary, "TEMPORARY ")
	p.print("VIEW ")
	p.when(s.IfNotExists, "IF NOT EXISTS ")
	p.name(s.Name)
	if len(s.Columns) > 0 {
		p.print(" (")
		p.list(len(s.Columns), func(i int) {
			p.ident(s.Columns[i].Name)
			p.comment(s.Columns[i].Comment)
		})
		p.print(")")
	}
	p.comment(s.Comment)
	p.print(" AS ")
	p.query(s.Query)
}
