package expr

import (
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/types"
	"github.com/sluicesql/sluice/internal/fault"
)

// What may fail and may not be needed is evaluated to two values: the result, and the failure as a text. They travel as
// others do, through an aggregate too, and where the result is needed the failure becomes an error again. No SQL names
// these functions.

// Attempt is the value of e, NULL where its evaluation fails.
func Attempt(e Expr) Expr { return &Call{Fn: &attempt, Args: []Expr{e}, T: e.Type().Nullable()} }

// Failure is how the evaluation of e fails, a STRING; NULL where it does not.
func Failure(e Expr) Expr { return &Call{Fn: &failureText, Args: []Expr{e}, T: types.String()} }

// OrFail is value where failure is NULL; elsewhere its evaluation fails with that text.
func OrFail(value, failure Expr) Expr {
	return &Call{Fn: &orFail, Args: []Expr{value, failure}, T: value.Type()}
}

// keptFailure is a failure that became an error again: it tells already where it comes from.
type keptFailure struct{ text string }

func (f *keptFailure) Error() string { return f.text }

// Fault implements fault.Coded.
func (f *keptFailure) Fault() (fault.Code, string) { return fault.RowValue, "" }

var (
	attempt = Function{Name: "ATTEMPT", build: func(_ *Call, args []Fn) (Fn, error) {
		f := args[0]
		return func(c *Ctx, r row.Row) row.Datum {
			if c.Err != nil {
				return row.NullDatum
			}
			d := f(c, r)
			if c.Err != nil {
				c.Err = nil
				return row.NullDatum
			}
			return d
		}, nil
	}}
	failureText = Function{Name: "FAILURE", build: func(call *Call, args []Fn) (Fn, error) {
		e, f := call.Args[0], args[0]
		return func(c *Ctx, r row.Row) row.Datum {
			if c.Err != nil {
				return row.NullDatum
			}
			f(c, r)
			if c.Err == nil {
				return row.NullDatum
			}
			text := EvalError(c.Err, c, e, r).Error()
			c.Err = nil
			return row.String(text)
		}, nil
	}}
	orFail = Function{Name: "OR_FAIL", build: func(_ *Call, args []Fn) (Fn, error) {
		value, failure := args[0], args[1]
		return func(c *Ctx, r row.Row) row.Datum {
			if d := failure(c, r); !d.Null {
				return c.fail(&keptFailure{string(d.B)})
			}
			return value(c, r)
		}, nil
	}}
)
