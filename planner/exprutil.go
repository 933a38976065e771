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
	case "CAST":
		if !totalCast(c.Args[0].Type(), c.T) {
			return false
		}
	case "ATTEMPT", "FAILURE":
		return true
	case "LIKE":
		// A pattern that is no constant may be malformed.
		if slices.ContainsFunc(c.Args[1:], func(a expr.Expr) bool { return !isConst(a) }) {
			return false
		}
	default:
		if !totalFunctions[c.Fn.Name] {
			return false
		}
	}
	return !slices.ContainsFunc(c.Args, func(a expr.Expr) bool { return !total(a) })
}

// totalFunctions are functions that have a value, or NULL, for any arguments.
var totalFunctions = map[string]bool{
	"AND": true, "OR": true, "NOT": true, "=": true, "<>": true, "<": true, "<=": true, ">": true, ">=": true, "BETWEEN": true, "IN": true,
	"IS NULL": true, "IS NOT NULL": true, "IS TRUE": true, "IS NOT TRUE": true, "IS FALSE": true, "IS NOT FALSE": true,
	"IS UNKNOWN": true, "IS NOT UNKNOWN": true, "IS DISTINCT FROM": true, "IS NOT DISTINCT FROM": true,
	"CASE": true, "COALESCE": true, "NULLIF": true, "TRY_CAST": true, "FIELD": true,
	"UPPER": true, "LOWER": true, "CHAR_LENGTH": true, "||": true, "CONCAT": true, "SUBSTRING": true, "TRIM": true, "POSITION": true,
}

// totalCast reports whether a CAST between the types never fails: to the same or a wider type, of numbers, times and
// truth values to text, and between dates and timestamps.
// factored takes out of an OR what all its branches ask for: (a AND b) OR (a AND c) is a AND (b OR c), and a may be the
// equality that a join needs. What can fail stays where the branches guard it.
func factored(conds []expr.Expr) []expr.Expr {
	var out []expr.Expr
	for _, c := range conds {
		branches := operands("OR", c)
		if len(branches) == 1 {
			out = append(out, c)
			continue
		}
		parts := make([][]expr.Expr, len(branches))
		for i, e := range branches {
			parts[i] = expr.Conjuncts(e)
		}
		var common []expr.Expr
		for _, e := range parts[0] {
			if total(e) && !slices.ContainsFunc(parts[1:], func(p []expr.Expr) bool { return !holds(p, e) }) {
				common = append(common, e)
			}
		}
		if len(common) == 0 {
			out = append(out, c)
			continue
		}
		out = append(out, common...)
		var rest []expr.Expr
		for i := range parts {
			parts[i] = slices.DeleteFunc(parts[i], func(e expr.Expr) bool { return holds(common, e) })
			if len(parts[i]) > 0 {
				rest = append(rest, expr.And(parts[i]...))
			}
		}
		if len(rest) == len(parts) { // or a branch asks for nothing else
			out = append(out, factored([]expr.Expr{mustCall("OR", rest...)})...)
		}
	}
	return out
}

// operands are what a function joins in e, however it is nested: e itself where it is another.
func operands(name string, e expr.Expr) []expr.Expr {
	c, ok := e.(*expr.Call)
	if !ok || c.Fn.Name != name {
		return []expr.Expr{e}
	}
	var out []expr.Expr
	for _, a := range c.Args {
		out = append(out, operands(name, a)...)
	}
	return out
}

// holds reports whether e is one of es.
func holds(es []expr.Expr, e expr.Expr) bool {
	return slices.ContainsFunc(es, func(x expr.Expr) bool { return expr.Equal(x, e) })
}

func totalCast(from, to types.Type) bool {
	switch {
	case widens(from, to):
		return true
	case from.IsNumeric():
		return to.IsString() || (to.Kind == types.Decimal || to.IsApprox()) && exactly(from, to)
	case from.Kind == types.Boolean:
		return to.IsString()
	case from.Kind == types.Date || from.Kind == types.Timestamp:
		return to.IsString() || to.Kind == types.Date
	}
	return false
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
