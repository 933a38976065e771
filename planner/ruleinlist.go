package planner

import "github.com/sluicesql/sluice/engine/expr"

// longList is how many values an IN list has at least that is looked up in a set.
const longList = 9

// inLists makes IN lists of the long runs c = 1 OR c = 2 OR … of a condition: those look a value up once. Neither can fail,
// and both are NULL where c is.
func inLists(e expr.Expr) expr.Expr {
	branches := operands("OR", e)
	var out []expr.Expr
	for i := 0; i < len(branches); {
		args, n := []expr.Expr(nil), i
		for ; n < len(branches); n++ {
			c, k := columnIs(branches[n])
			if c == nil || args != nil && !expr.Equal(args[0], c) {
				break
			}
			if args == nil {
				args = append(args, c)
			}
			args = append(args, k)
		}
		if n-i >= longList {
			out = append(out, mustCall("IN", args...))
		} else {
			n = max(n, i+1)
			out = append(out, branches[i:n]...)
		}
		i = n
	}
	switch len(out) {
	case len(branches):
		return e
	case 1:
		return out[0]
	}
	return mustCall("OR", out...)
}

// columnIs is the column and the constant of column = constant, of whole numbers or texts; nil where e is another.
func columnIs(e expr.Expr) (c *expr.Column, k *expr.Const) {
	a, b, ok := equality(e)
	if !ok {
		return nil, nil
	}
	if isConst(a) {
		a, b = b, a
	}
	c, isColumn := a.(*expr.Column)
	if !isColumn || !isConst(b) || !sameForm(c.T, b.Type()) || !c.T.IsInteger() && !c.T.IsString() {
		return nil, nil
	}
	return c, b.(*expr.Const)
}
