package ast

// Inspect calls f for e and, where f returns true, for the expressions that it is made of, in the order in
// which they are written. Queries within expressions are not entered.
func Inspect(e Expr, f func(Expr) bool) {
	if e == nil || !f(e) {
		return
	}
	for _, p := range parts(e) {
		Inspect(p, f)
	}
}

// parts are the expressions that e is directly made of; some may be nil.
func parts(e Expr) []Expr {
	switch e := e.(type) {
	case *FieldAccess:
		return []Expr{e.Expr}
	case *ElementAccess:
		return []Expr{e.Expr, e.Index}
	case *Unary:
		return []Expr{e.Expr}
	case *Binary:
		return []Expr{e.Left, e.Right}
	case *Is:
		return []Expr{e.Expr}
	case *Between:
		return []Expr{e.Expr, e.Low, e.High}
	case *In:
		return append([]Expr{e.Expr}, e.List...)
	case *Quantified:
		return append([]Expr{e.Left}, e.List...)
	case *Like:
		return []Expr{e.Expr, e.Pattern, e.Escape}
	case *Case:
		p := []Expr{e.Operand}
		for _, w := range e.Whens {
			p = append(p, w.Cond, w.Then)
		}
		return append(p, e.Else)
	case *Cast:
		return []Expr{e.Expr}
	case *Row:
		return e.Items
	case *Array:
		return e.Items
	case *Map:
		return e.Items
	case *NamedArg:
		return []Expr{e.Value}
	case *Call:
		return callParts(e)
	}
	return nil
}

func callParts(c *Call) []Expr {
	p := append([]Expr(nil), c.Args...)
	for _, o := range c.Options {
		p = append(p, o.Value)
	}
	for _, list := range [][]OrderItem{c.OrderBy, c.WithinGroup} {
		for _, it := range list {
			p = append(p, it.Expr)
		}
	}
	p = append(p, c.Filter)
	if c.Over != nil {
		p = append(p, c.Over.PartitionBy...)
		for _, it := range c.Over.OrderBy {
			p = append(p, it.Expr)
		}
	}
	return p
}
