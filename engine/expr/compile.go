package expr

import (
	"fmt"

	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/types"
)

// builder makes a call's closure from the closures of its arguments.
type builder func(call *Call, args []Fn) (Fn, error)

// Compile turns an expression into a closure. The closure is safe for several goroutines, each with its own
// Ctx. Errors are constants that the implementation refuses, such as a malformed pattern.
func Compile(e Expr) (Fn, error) {
	switch e := e.(type) {
	case *Column:
		return compileColumn(e), nil
	case *Const:
		v := e.Value
		return func(*Ctx, row.Row) row.Datum { return v }, nil
	case *Call:
		if f, err := compileTyped(e); f != nil || err != nil {
			return f, err
		}
		args := make([]Fn, len(e.Args))
		for i, a := range e.Args {
			f, err := Compile(a)
			if err != nil {
				return nil, err
			}
			args[i] = f
		}
		return e.Fn.build(e, args)
	default:
		return nil, fmt.Errorf("expression of unknown kind %T", e)
	}
}

func compileColumn(e *Column) Fn {
	i := e.Index
	switch e.T.Phys() {
	case types.PhysBytes:
		return func(_ *Ctx, r row.Row) row.Datum {
			if r.IsNull(i) {
				return row.NullDatum
			}
			return row.Datum{B: r.Bytes(i)}
		}
	case types.PhysWide:
		return func(_ *Ctx, r row.Row) row.Datum { return r.Get(i, types.PhysWide) }
	default:
		return func(_ *Ctx, r row.Row) row.Datum {
			if r.IsNull(i) {
				return row.NullDatum
			}
			return row.Datum{I: r.Int64(i)}
		}
	}
}

// Predicate compiles a condition. The function is true where the condition is TRUE: not where it is FALSE or
// UNKNOWN. It resets c for every row.
func Predicate(e Expr) (func(c *Ctx, r row.Row) (bool, error), error) {
	if k := e.Type().Kind; k != types.Boolean && k != types.Null {
		return nil, argErrorf(-1, "a condition must be BOOLEAN, not %s", e.Type().Nullable())
	}
	f, err := compileInt(e)
	if err != nil {
		return nil, err
	}
	return func(c *Ctx, r row.Row) (bool, error) {
		c.Reset()
		v, null := f(c, r)
		if c.Err != nil {
			return false, c.Err
		}
		return v != 0 && !null, nil
	}, nil
}

// The builders below make strict functions: NULL when an argument is NULL, without a call of f.

func eval0(f func(c *Ctx) row.Datum) builder {
	return func(*Call, []Fn) (Fn, error) {
		return func(c *Ctx, _ row.Row) row.Datum { return f(c) }, nil
	}
}

func eval1(f func(c *Ctx, a row.Datum) row.Datum) builder {
	return func(_ *Call, args []Fn) (Fn, error) { return strict1(args[0], f), nil }
}

func strict1(a Fn, f func(c *Ctx, a row.Datum) row.Datum) Fn {
	return func(c *Ctx, r row.Row) row.Datum {
		x := a(c, r)
		if x.Null {
			return x
		}
		return f(c, x)
	}
}

func eval2(f func(c *Ctx, a, b row.Datum) row.Datum) builder {
	return func(_ *Call, args []Fn) (Fn, error) { return strict2(args[0], args[1], f), nil }
}

func strict2(a, b Fn, f func(c *Ctx, a, b row.Datum) row.Datum) Fn {
	return func(c *Ctx, r row.Row) row.Datum {
		x := a(c, r)
		if x.Null {
			return x
		}
		y := b(c, r)
		if y.Null {
			return y
		}
		return f(c, x, y)
	}
}

// evalN serves functions of any number of arguments. The slice is valid during the call only.
func evalN(f func(c *Ctx, args []row.Datum) row.Datum) builder {
	return func(_ *Call, args []Fn) (Fn, error) {
		return func(c *Ctx, r row.Row) row.Datum {
			base := len(c.args)
			for _, a := range args {
				x := a(c, r)
				if x.Null {
					c.args = c.args[:base]
					return x
				}
				c.args = append(c.args, x)
			}
			out := f(c, c.args[base:])
			c.args = c.args[:base]
			return out
		}, nil
	}
}

// evalNullN is evalN for functions that see their NULLs.
func evalNullN(f func(c *Ctx, args []row.Datum) row.Datum) builder {
	return func(_ *Call, args []Fn) (Fn, error) {
		return func(c *Ctx, r row.Row) row.Datum {
			base := len(c.args)
			for _, a := range args {
				x := a(c, r)
				c.args = append(c.args, x)
			}
			out := f(c, c.args[base:])
			c.args = c.args[:base]
			return out
		}, nil
	}
}
