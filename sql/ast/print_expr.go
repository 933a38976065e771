package ast

// expr prints an expression, in parentheses where its operator binds looser
// than least.
func (p *printer) expr(e Expr, least int) {
	if precedence(e) < least {
		p.print("(")
		p.operator(e)
		p.print(")")
		return
	}
	p.operator(e)
}

func (p *printer) exprs(list []Expr) {
	p.list(len(list), func(i int) { p.expr(list[i], 0) })
}

// operator prints an expression with an operator outermost; others it hands
// on.
func (p *printer) operator(e Expr) {
	switch e := e.(type) {
	case *Unary:
		p.unary(e)
	case *Binary:
		prec := e.Op.Precedence()
		p.expr(e.Left, prec)
		p.print(" ", string(e.Op), " ")
		p.expr(e.Right, prec+1)
	case *Is:
		p.expr(e.Expr, PrecIs)
		p.print(" IS ")
		p.when(e.Not, "NOT ")
		p.print(string(e.Kind))
	case *Between:
		p.expr(e.Expr, PrecRange)
		p.when(e.Not, " NOT")
		p.print(" BETWEEN ")
		p.when(e.Symmetric, "SYMMETRIC ")
		p.expr(e.Low, PrecRange+1)
		p.print(" AND ")
		p.expr(e.High, PrecRange+1)
	case *In:
		p.expr(e.Expr, PrecRange)
		p.when(e.Not, " NOT")
		p.print(" IN (")
		p.listOrQuery(e.List, e.Query)
	case *Quantified:
		p.expr(e.Left, PrecCompare)
		p.print(" ", string(e.Op), " ")
		if e.All {
			p.print("ALL (")
		} else {
			p.print("ANY (")
		}
		p.listOrQuery(e.List, e.Query)
	case *Like:
		p.expr(e.Expr, PrecRange)
		p.when(e.Not, " NOT")
		if e.Similar {
			p.print(" SIMILAR TO ")
		} else {
			p.print(" LIKE ")
		}
		p.expr(e.Pattern, PrecRange+1)
		if e.Escape != nil {
			p.print(" ESCAPE ")
			p.expr(e.Escape, PrecRange+1)
		}
	default:
		p.primary(e)
	}
}

func (p *printer) unary(e *Unary) {
	if e.Op == OpNot {
		p.print("NOT ")
		p.expr(e.Expr, PrecNot)
		return
	}
	p.print(string(e.Op))
	// A sign after a sign stands in parentheses, since -- starts a comment.
	p.expr(e.Expr, PrecSign+1)
}

func (p *printer) listOrQuery(list []Expr, q *Query) {
	if q != nil {
		p.query(q)
	} else {
		p.exprs(list)
	}
	p.print(")")
}

// primary prints an expression without an operator outermost.
func (p *printer) primary(e Expr) {
	switch e := e.(type) {
	case *ColumnRef:
		p.path(e.Parts)
	case *FieldAccess:
		p.container(e.Expr, false)
		p.print(".")
		p.ident(e.Field)
	case *ElementAccess:
		p.container(e.Expr, true)
		p.print("[")
		p.expr(e.Index, 0)
		p.print("]")
	case *Literal:
		p.literal(e)
	case *Interval:
		p.print("INTERVAL ")
		p.when(e.Negative, "-")
		p.text(e.Text)
		p.print(" ")
		p.intervalRange(&e.Range)
	case *Case:
		p.caseExpr(e)
	case *Cast:
		if e.Try {
			p.print("TRY_")
		}
		p.print("CAST(")
		p.expr(e.Expr, 0)
		p.print(" AS ")
		p.dataType(e.Type)
		p.print(")")
	case *Row:
		p.when(e.Explicit, "ROW")
		p.print("(")
		p.exprs(e.Items)
		p.print(")")
	case *Array:
		p.print("ARRAY[")
		p.exprs(e.Items)
		p.print("]")
	case *Map:
		p.print("MAP[")
		p.exprs(e.Items)
		p.print("]")
	case *Exists:
		p.print("EXISTS (")
		p.query(e.Query)
		p.print(")")
	case *Subquery:
		p.print("(")
		p.query(e.Query)
		p.print(")")
	case *Call:
		p.call(e)
	default:
		p.argument(e)
	}
}

// argument prints what occurs only as an argument.
func (p *printer) argument(e Expr) {
	switch e := e.(type) {
	case *Symbol:
		p.print(e.Name)
	case *Star:
		p.print("*")
	case *NamedArg:
		p.ident(e.Name)
		p.print(" => ")
		p.expr(e.Value, 0)
	case *TableArg:
		p.print("TABLE ")
		p.table(e.Table)
		if len(e.PartitionBy) > 0 {
			p.print(" PARTITION BY (")
			p.exprs(e.PartitionBy)
			p.print(")")
		}
		if len(e.OrderBy) > 0 {
			p.print(" ORDER BY (")
			p.orderItems(e.OrderBy)
			p.print(")")
		}
	case *Descriptor:
		p.print("DESCRIPTOR")
		p.idents(e.Columns)
	}
}

// container prints what stands before [index] or .field. A path before a
// point stands in parentheses, or the field would become a part of it.
func (p *printer) container(e Expr, element bool) {
	bare := false
	switch e := e.(type) {
	case *ColumnRef:
		bare = element
	case *Call:
		bare = e.Over == nil && e.Filter == nil && len(e.WithinGroup) == 0 && !e.NoParens && len(e.Options) == 0
	case *FieldAccess, *ElementAccess, *Array, *Map, *Cast:
		bare = true
	}
	if bare {
		p.primary(e)
		return
	}
	p.print("(")
	p.expr(e, 0)
	p.print(")")
}

func (p *printer) literal(e *Literal) {
	switch e.Kind {
	case NullLiteral:
		p.print("NULL")
	case StringLiteral:
		p.text(e.Text)
	case BinaryLiteral:
		p.print("x")
		p.text(e.Text)
	case DateLiteral:
		p.print("DATE ")
		p.text(e.Text)
	case TimeLiteral:
		p.print("TIME ")
		p.text(e.Text)
	case TimestampLiteral:
		p.print("TIMESTAMP ")
		p.text(e.Text)
	case TimestampLTZLiteral:
		p.print("TIMESTAMP_LTZ ")
		p.text(e.Text)
	default:
		p.print(e.Text)
	}
}

func (p *printer) caseExpr(e *Case) {
	p.print("CASE")
	if e.Operand != nil {
		p.print(" ")
		p.expr(e.Operand, 0)
	}
	for _, w := range e.Whens {
		p.print(" WHEN ")
		p.expr(w.Cond, 0)
		p.print(" THEN ")
		p.expr(w.Then, 0)
	}
	if e.Else != nil {
		p.print(" ELSE ")
		p.expr(e.Else, 0)
	}
	p.print(" END")
}
