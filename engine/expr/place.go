package expr

import (
	"errors"
	"fmt"
	"strings"

	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/text"
	"github.com/sluicesql/sluice/internal/fault"
)

// with is the call over other arguments of the same types.
func (c *Call) with(args []Expr) *Call {
	out := *c
	out.Args = args
	return &out
}

// SetPlace tells the calls of e that have no place yet where the SQL has them. It is for a new expression,
// which nothing else holds.
func SetPlace(e Expr, place string) {
	Walk(e, func(e Expr) bool {
		c, ok := e.(*Call)
		if !ok || c.Place != "" {
			return false
		}
		c.Place = place
		return true
	})
}

// Failing is the part of e whose evaluation over r fails: the innermost call that fails although its
// arguments do not. It is e itself where evaluating again does not tell. err is how e failed.
//
// Looking for the part afterwards costs the evaluation of rows that do not fail nothing.
func Failing(e Expr, c *Ctx, r row.Row, err error) Expr {
	call, ok := e.(*Call)
	if !ok {
		return e
	}
	for _, a := range call.Args {
		// The same message, for an argument that was not evaluated, as in a CASE, may fail in another way.
		if got := failure(a, c, r); got != nil && got.Error() == err.Error() {
			return Failing(a, c, r, err)
		}
	}
	return e
}

// failure is the error of evaluating e over r.
func failure(e Expr, c *Ctx, r row.Row) error {
	f, err := Compile(e)
	if err != nil {
		return nil // it has been compiled before
	}
	again := Ctx{Zone: c.Zone, Now: c.Now}
	f(&again, r)
	return again.Err
}

// EvalError says where in the SQL, in which part of e, and over which values of r, an evaluation with c failed.
func EvalError(err error, c *Ctx, e Expr, r row.Row) error {
	if known, ok := errors.AsType[*keptFailure](err); ok {
		return known
	}
	e = Failing(e, c, r, err)
	f := &fault.Error{Code: fault.RowValue}
	prefix := ""
	if call, ok := e.(*Call); ok && call.Place != "" {
		f.Place, prefix = call.Place, call.Place+": "
	}
	var values []string
	seen := map[int]bool{}
	Walk(e, func(part Expr) bool {
		if col, ok := part.(*Column); ok && !seen[col.Index] {
			seen[col.Index] = true
			v := text.Append(nil, col.T, r.Get(col.Index, col.T.Phys()), c.Zone)
			values = append(values, fmt.Sprintf("%s = %s", col.Name, v))
		}
		return true
	})
	where := ""
	if len(values) > 0 {
		where = ", where " + strings.Join(values, ", ")
	}
	f.Err = fmt.Errorf("%s%s%s: %w", prefix, e, where, err)
	return f
}
