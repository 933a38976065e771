package ast

import "strings"

func (p *printer) call(e *Call) {
	p.name(e.Name)
	if !e.NoParens {
		p.print("(")
		p.when(e.Distinct, "DISTINCT ")
		p.args(e)
		if len(e.OrderBy) > 0 {
			p.print(" ORDER BY ")
			p.orderItems(e.OrderBy)
		}
		for _, o := range e.Options {
			if o.Name != "NULLS" {
				p.option(o)
			}
		}
		p.print(")")
	}
	if len(e.WithinGroup) > 0 {
		p.print(" WITHIN GROUP (ORDER BY ")
		p.orderItems(e.WithinGroup)
		p.print(")")
	}
	for _, o := range e.Options {
		if o.Name == "NULLS" {
			p.print(" ", o.Word, " NULLS")
		}
	}
	if e.Filter != nil {
		p.print(" FILTER (WHERE ")
		p.expr(e.Filter, 0)
		p.print(")")
	}
	if e.Over != nil {
		p.print(" OVER ")
		p.window(e.Over)
	}
}

// args prints the arguments, those of special syntax with its words.
func (p *printer) args(e *Call) {
	name := ""
	if len(e.Name.Parts) == 1 && !e.Name.Parts[0].Quoted {
		name = strings.ToUpper(e.Name.Parts[0].Name)
	}
	var words []string // what stands before each argument
	switch {
	case name == "EXTRACT" && len(e.Args) == 2:
		words = []string{"", " FROM "}
	case name == "TRIM" && len(e.Args) == 3:
		words = []string{"", " ", " FROM "}
	case name == "POSITION" && len(e.Args) >= 2:
		p.expr(e.Args[0], PrecRange+1)
		p.print(" IN ")
		p.expr(e.Args[1], 0)
		if len(e.Args) == 3 {
			p.print(" FROM ")
			p.expr(e.Args[2], 0)
		}
		return
	case name == "OVERLAY" && len(e.Args) >= 3:
		words = []string{"", " PLACING ", " FROM ", " FOR "}
	case (name == "CEIL" || name == "CEILING" || name == "FLOOR") && len(e.Args) == 2:
		if _, ok := e.Args[1].(*Symbol); ok {
			words = []string{"", " TO "}
		}
	case name == "JSON_OBJECT" || name == "JSON_OBJECTAGG":
		for i := 0; i+1 < len(e.Args); i += 2 {
			p.when(i > 0, ", ")
			p.jsonKey(e.Args[i])
			p.print(" VALUE ")
			p.expr(e.Args[i+1], 0)
		}
		return
	}
	for i, a := range e.Args {
		switch {
		case i < len(words):
			p.print(words[i])
		case i > 0:
			p.print(", ")
		}
		p.expr(a, 0)
	}
}

// jsonKey prints a key of JSON_OBJECT. KEY and VALUE may be names too, so that
// a bare path goes without KEY, and what might start with such a name stands
// in parentheses.
func (p *printer) jsonKey(e Expr) {
	switch e.(type) {
	case *ColumnRef:
		p.expr(e, 0)
	case *Literal, *Call:
		p.print("KEY ")
		p.expr(e, 0)
	default:
		p.print("KEY (")
		p.expr(e, 0)
		p.print(")")
	}
}

func (p *printer) option(o CallOption) {
	switch o.Name {
	case "RETURNING":
		p.print(" RETURNING ")
		p.dataType(o.Type)
	case "WRAPPER":
		p.print(" ", o.Word, " ARRAY WRAPPER")
	default:
		p.print(" ", o.Word)
		if o.Value != nil {
			p.print(" ")
			p.expr(o.Value, 0)
		}
		p.print(" ", o.Name)
	}
}

func (p *printer) window(w *Window) {
	if w.Bare {
		p.ident(w.Ref)
		return
	}
	var parts []func()
	if !w.Ref.IsZero() {
		parts = append(parts, func() { p.ident(w.Ref) })
	}
	if len(w.PartitionBy) > 0 {
		parts = append(parts, func() {
			p.print("PARTITION BY ")
			p.exprs(w.PartitionBy)
		})
	}
	if len(w.OrderBy) > 0 {
		parts = append(parts, func() {
			p.print("ORDER BY ")
			p.orderItems(w.OrderBy)
		})
	}
	if w.Frame != nil {
		parts = append(parts, func() { p.frame(w.Frame) })
	}
	p.print("(")
	for i, part := range parts {
		p.when(i > 0, " ")
		part()
	}
	p.print(")")
}

func (p *printer) frame(f *Frame) {
	if f.Rows {
		p.print("ROWS ")
	} else {
		p.print("RANGE ")
	}
	if f.End.Kind == 0 {
		p.bound(f.Start)
		return
	}
	p.print("BETWEEN ")
	p.bound(f.Start)
	p.print(" AND ")
	p.bound(f.End)
}

func (p *printer) bound(b FrameBound) {
	switch b.Kind {
	case UnboundedPreceding:
		p.print("UNBOUNDED PRECEDING")
	case UnboundedFollowing:
		p.print("UNBOUNDED FOLLOWING")
	case CurrentRow:
		p.print("CURRENT ROW")
	case Preceding:
		p.expr(b.Offset, PrecAdd)
		p.print(" PRECEDING")
	case Following:
		p.expr(b.Offset, PrecAdd)
		p.print(" FOLLOWING")
	}
}

func (p *printer) orderItems(items []OrderItem) {
	p.list(len(items), func(i int) {
		o := items[i]
		p.expr(o.Expr, 0)
		p.when(o.Desc, " DESC")
		p.when(o.Nulls == NullsFirst, " NULLS FIRST")
		p.when(o.Nulls == NullsLast, " NULLS LAST")
	})
}
