package expr

import (
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/types"
)

// Expr is a typed scalar expression: *Column, *Const or *Call. Expressions are immutable once built, and
// may share parts.
type Expr interface {
	// Type is the type of the result.
	Type() types.Type
	// String writes the expression in SQL, for EXPLAIN and errors.
	String() string
}

// Column is a column of the input row.
type Column struct {
	Index int
	Name  string // for display
	T     types.Type
}

// Const is a literal, or what a constant expression folded to.
type Const struct {
	Value row.Datum
	T     types.Type
}

// Call is a function, operator or special form applied to arguments. Operators are functions named by
// their symbol or keyword: "+", "=", "AND", "IS NULL", "LIKE", "CASE", "CAST", …
type Call struct {
	Fn   *Function
	Args []Expr
	T    types.Type
	// Place is where the SQL has the call, as file:line:column, for errors of evaluation; empty where that
	// is not known.
	Place string
}

// Type implements Expr.
func (c *Column) Type() types.Type { return c.T }

// Type implements Expr.
func (c *Const) Type() types.Type { return c.T }

// Type implements Expr.
func (c *Call) Type() types.Type { return c.T }

// String implements Expr.
func (c *Column) String() string { return c.Name }

// Fn is a compiled expression. Bytes in the result point into r, into c's scratch memory or into a
// constant: they are valid until the next row is evaluated with c. After an error (c.Err) the result
// means nothing.
type Fn func(c *Ctx, r row.Row) row.Datum
