package planner

import (
	"slices"

	"github.com/sluicesql/sluice/engine/expr"
	"github.com/sluicesql/sluice/engine/types"
)

// equality splits a = b.
func equality(e expr.Expr) (a, b expr.Expr, ok bool) {
	c, ok := e.(*expr.Call)
	if !ok || c.Fn.Name != "=" || len(c.Args) != 2 {
		return nil, nil, false
	}
	return c.Args[0], c.Args[1], true
}

// stripCast takes off casts that leave every value as it is.
func stripCast(e expr.Expr) expr.Expr {
	for {
		c, ok := e.(*expr.Call)
		if !ok || c.Fn.Name != "CAST" || len(c.Args) != 1 || !widens(c.Args[0].Type(), c.T) {
			return e
		}
		e = c.Args[0]
	}
}

// widens reports whether every value of from is the same value of to, in the same encoding.
func widens(from, to types.Type) bool {
	if !sameForm(from, to) {
		return false
	}
	if from.IsInteger() || from.IsApprox() {
		return from.Kind <= to.Kind
	}
	return from.Precision <= to.Precision
}

// total reports whether e surely has a value, or NULL, whatever its columns hold, and is never an error.
func total(e expr.Expr) bool {
	c, ok := e.(*expr.Call)
	if !ok {
		return true
	}
	switch c.Fn.Name {
	case "AND", "OR", "NOT", "=", "<>", "<", "<=", ">", ">=", "BETWEEN", "IN", "IS NULL", "IS NOT NULL", "IS TRUE", "IS NOT TRUE", "IS FALSE",
		"IS NOT FALSE", "IS UNKNOWN", "IS NOT UNKNOWN", "IS DISTINCT FROM", "IS NOT DISTINCT FROM", "CASE", "COALESCE", "UPPER", "LOWER", "CHAR_LENGTH", "TRY_CAST":
	case "CAST":
		from := c.Args[0].Type()
		if wider := c.T.Kind == types.Decimal || c.T.IsApprox(); !widens(from, c.T) && (!from.IsNumeric() || !wider || !exactly(from, c.T)) {
			return false
		}
	default:
		return false
	}
	return !slices.ContainsFunc(c.Args, func(a expr.Expr) bool { return !total(a) })
}

// sameForm reports whether equal values of the two types have equal encodings as keys, and unequal ones
// unequal. It is the condition for a join key, and for two columns to stand for each other.
func sameForm(a, b types.Type) bool {
	switch {
	case a.IsInteger() && b.IsInteger(), a.IsApprox() && b.IsApprox():
		return true
	case a.IsString() && b.IsString():
		return true
	case a.IsBinary() && b.IsBinary():
		return true
	case a.Kind != b.Kind:
		return false
	}
	switch a.Kind {
	case types.Decimal:
		return a.Scale == b.Scale && a.Phys() == b.Phys()
	case types.Timestamp, types.TimestampLTZ:
		return a.Phys() == b.Phys()
	case types.Time:
		return true
	case types.Array, types.Map, types.Row:
		// Inside, a NULL is equal to nothing, zeros have signs, and a map's entries have an order: bytes don't
		// tell whether two values are equal.
		return false
	}
	return a.SameIgnoringNull(b)
}

func isConst(e expr.Expr) bool {
	c, ok := e.(*expr.Const)
	return ok && !c.Value.Null
}

func isTrue(e expr.Expr) bool {
	c, ok := e.(*expr.Const)
	return ok && c.T.Kind == types.Boolean && !c.Value.Null && c.Value.I != 0
}

// volatileFunction is the name of a non-deterministic function in e; empty without one.
func volatileFunction(e expr.Expr) string {
	name := ""
	expr.Walk(e, func(e expr.Expr) bool {
		if c, ok := e.(*expr.Call); ok && c.Fn.Volatile && name == "" {
			name = c.Fn.Name
		}
		return name == ""
	})
	return name
}

// castable reports whether CAST is defined from one type to another.
func castable(from, to types.Type) bool {
	_, err := expr.Cast(&expr.Column{T: from}, to, false)
	return err == nil
}
