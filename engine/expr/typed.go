package expr

import (
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/types"
)

// intFn and bytesFn are closures for values of PhysInt and PhysBytes. A Datum has six words: more than Go
// keeps in registers, so that each closure that returns one stores it, and copies it in units that the
// processor cannot forward from those stores. Two results in registers take a third of the time, which
// counts for conditions, the commonest of expressions. A NULL has the value 0 or nil.
type (
	intFn   func(c *Ctx, r row.Row) (v int64, null bool)
	bytesFn func(c *Ctx, r row.Row) (b []byte, null bool)
)

// compileInt is Compile for an expression of PhysInt.
func compileInt(e Expr) (intFn, error) {
	switch e := e.(type) {
	case *Column:
		i := e.Index
		return func(_ *Ctx, r row.Row) (int64, bool) {
			return r.Int64(i), r.IsNull(i) // the slot of a NULL is zero
		}, nil
	case *Const:
		v, null := e.Value.I, e.Value.Null
		return func(*Ctx, row.Row) (int64, bool) { return v, null }, nil
	case *Call:
		if e.Fn.ints != nil {
			if f, err := e.Fn.ints(e); f != nil || err != nil {
				return f, err
			}
		}
	}
	f, err := Compile(e)
	if err != nil {
		return nil, err
	}
	return func(c *Ctx, r row.Row) (int64, bool) {
		d := f(c, r)
		return d.I, d.Null
	}, nil
}

// compileBytes is Compile for an expression of PhysBytes.
func compileBytes(e Expr) (bytesFn, error) {
	switch e := e.(type) {
	case *Column:
		i := e.Index
		return func(_ *Ctx, r row.Row) ([]byte, bool) {
			if r.IsNull(i) {
				return nil, true
			}
			return r.Bytes(i), false
		}, nil
	case *Const:
		v, null := e.Value.B, e.Value.Null
		return func(*Ctx, row.Row) ([]byte, bool) { return v, null }, nil
	case *Call:
		if e.Fn.bytes != nil {
			if f, err := e.Fn.bytes(e); f != nil || err != nil {
				return f, err
			}
		}
	}
	f, err := Compile(e)
	if err != nil {
		return nil, err
	}
	return func(c *Ctx, r row.Row) ([]byte, bool) {
		d := f(c, r)
		return d.B, d.Null
	}, nil
}

// compileTyped makes a Fn from the typed closure of a call; nil when the call has none.
func compileTyped(e *Call) (Fn, error) {
	if e.Fn.ints != nil {
		f, err := e.Fn.ints(e)
		if err != nil {
			return nil, err
		}
		if f != nil {
			return func(c *Ctx, r row.Row) row.Datum {
				v, null := f(c, r)
				return row.Datum{I: v, Null: null}
			}, nil
		}
	}
	if e.Fn.bytes != nil {
		f, err := e.Fn.bytes(e)
		if err != nil {
			return nil, err
		}
		if f != nil {
			return func(c *Ctx, r row.Row) row.Datum {
				b, null := f(c, r)
				return row.Datum{B: b, Null: null}
			}, nil
		}
	}
	return nil, nil
}

// The builders below make strict functions of typed arguments.

// bytesOfBytes builds a function of one string that gives a string.
func bytesOfBytes(f func(c *Ctx, b []byte) []byte) func(*Call) (bytesFn, error) {
	return func(call *Call) (bytesFn, error) {
		a, err := compileBytes(call.Args[0])
		if err != nil {
			return nil, err
		}
		return func(c *Ctx, r row.Row) ([]byte, bool) {
			b, null := a(c, r)
			if null {
				return nil, true
			}
			return f(c, b), false
		}, nil
	}
}

// intOfBytes builds a function of one string that gives an integer.
func intOfBytes(f func(b []byte) int64) func(*Call) (intFn, error) {
	return func(call *Call) (intFn, error) { return intOf(call.Args[0], f) }
}

func intOf(arg Expr, f func(b []byte) int64) (intFn, error) {
	a, err := compileBytes(arg)
	if err != nil {
		return nil, err
	}
	return func(c *Ctx, r row.Row) (int64, bool) {
		b, null := a(c, r)
		if null {
			return 0, true
		}
		return f(b), false
	}, nil
}

// intOfBytes2 builds a function of two strings that gives an integer.
func intOfBytes2(f func(a, b []byte) int64) func(*Call) (intFn, error) {
	return func(call *Call) (intFn, error) {
		x, y, err := compileBytes2(call)
		if err != nil {
			return nil, err
		}
		return func(c *Ctx, r row.Row) (int64, bool) {
			a, null := x(c, r)
			if null {
				return 0, true
			}
			b, null := y(c, r)
			if null {
				return 0, true
			}
			return f(a, b), false
		}, nil
	}
}

func compileBytes2(call *Call) (a, b bytesFn, err error) {
	if a, err = compileBytes(call.Args[0]); err != nil {
		return nil, nil, err
	}
	b, err = compileBytes(call.Args[1])
	return a, b, err
}

func compileInt2(call *Call) (a, b intFn, err error) {
	if a, err = compileInt(call.Args[0]); err != nil {
		return nil, nil, err
	}
	b, err = compileInt(call.Args[1])
	return a, b, err
}

func compileInts(es []Expr) ([]intFn, error) {
	fs := make([]intFn, len(es))
	for i, e := range es {
		var err error
		if fs[i], err = compileInt(e); err != nil {
			return nil, err
		}
	}
	return fs, nil
}

func boolInt(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// compileNull tells whether an expression is NULL.
func compileNull(e Expr) (func(c *Ctx, r row.Row) bool, error) {
	if col, ok := e.(*Column); ok {
		i := col.Index
		return func(_ *Ctx, r row.Row) bool { return r.IsNull(i) }, nil
	}
	switch e.Type().Phys() {
	case types.PhysBytes:
		f, err := compileBytes(e)
		return func(c *Ctx, r row.Row) bool { _, null := f(c, r); return null }, err
	case types.PhysInt:
		f, err := compileInt(e)
		return func(c *Ctx, r row.Row) bool { _, null := f(c, r); return null }, err
	}
	f, err := Compile(e)
	return func(c *Ctx, r row.Row) bool { return f(c, r).Null }, err
}
