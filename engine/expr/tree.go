package expr

import (
	"bytes"
	"sort"
)

// Walk calls f for e and all of its parts, a call before its arguments; it leaves out the parts of those
// for which f returns false.
func Walk(e Expr, f func(Expr) bool) {
	if !f(e) {
		return
	}
	if c, ok := e.(*Call); ok {
		for _, a := range c.Args {
			Walk(a, f)
		}
	}
}

// Deterministic reports whether e's value follows from the row alone.
func Deterministic(e Expr) bool {
	ok := true
	Walk(e, func(e Expr) bool {
		if c, is := e.(*Call); is && c.Fn.Volatile {
			ok = false
		}
		return ok
	})
	return ok
}

// ColumnsOf is the sorted indexes of the columns that e reads; nil when it reads none.
func ColumnsOf(e Expr) []int {
	seen := map[int]bool{}
	var out []int
	Walk(e, func(e Expr) bool {
		if c, ok := e.(*Column); ok && !seen[c.Index] {
			seen[c.Index] = true
			out = append(out, c.Index)
		}
		return true
	})
	sort.Ints(out)
	return out
}

// Remap replaces each column c by f(c), which has the column's type. A nil from f keeps the column.
func Remap(e Expr, f func(c *Column) Expr) Expr {
	switch e := e.(type) {
	case *Column:
		if to := f(e); to != nil {
			return to
		}
		return e
	case *Call:
		var args []Expr
		for i, a := range e.Args {
			b := Remap(a, f)
			if b != a && args == nil {
				args = append(make([]Expr, 0, len(e.Args)), e.Args[:i]...)
			}
			if args != nil {
				args = append(args, b)
			}
		}
		if args == nil {
			return e
		}
		return e.with(args)
	default:
		return e
	}
}

// Equal reports whether a and b are one expression: same functions, columns, constants and types. Two
// calls of a volatile function are never equal.
func Equal(a, b Expr) bool {
	switch x := a.(type) {
	case *Column:
		y, ok := b.(*Column)
		return ok && x.Index == y.Index
	case *Const:
		y, ok := b.(*Const)
		return ok && x.Value.Null == y.Value.Null && x.Value.I == y.Value.I && x.Value.Hi == y.Value.Hi &&
			bytes.Equal(x.Value.B, y.Value.B) && x.T.Nullable().Equal(y.T.Nullable())
	case *Call:
		y, ok := b.(*Call)
		if !ok || x.Fn != y.Fn || x.Fn.Volatile || len(x.Args) != len(y.Args) || !x.T.SameIgnoringNull(y.T) {
			return false
		}
		for i := range x.Args {
			if !Equal(x.Args[i], y.Args[i]) {
				return false
			}
		}
		return true
	}
	return false
}

// Conjuncts are the conditions that AND joins in e, in order; nil for a nil e.
func Conjuncts(e Expr) []Expr {
	if e == nil {
		return nil
	}
	c, ok := e.(*Call)
	if !ok || c.Fn.Name != "AND" {
		return []Expr{e}
	}
	var out []Expr
	for _, a := range c.Args {
		out = append(out, Conjuncts(a)...)
	}
	return out
}

// And joins conditions; nil for none.
func And(conditions ...Expr) Expr {
	switch len(conditions) {
	case 0:
		return nil
	case 1:
		return conditions[0]
	}
	return must(Resolve("AND", conditions))
}
