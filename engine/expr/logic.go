package expr

import (
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/types"
)

func logicFunctions() []*Function {
	two := sig{params: []param{aBool}, min: 2, rest: true, ret: returnsBool}
	is := func(name, help string, test func(d row.Datum) bool, examples ...Example) *Function {
		return &Function{
			Name: name, Category: Logical, Signature: "boolean " + name, Help: help, Examples: examples,
			bind: required(sig{params: []param{aBool}, ret: returnsBool}), build: evalTest(test), show: showPostfix,
		}
	}
	null := func(name, help string, want bool, examples ...Example) *Function {
		return &Function{
			Name: name, Category: Comparison, Signature: "value " + name, Help: help, Examples: examples,
			bind: required(sig{params: []param{anything}, ret: returnsBool}), ints: testNull(want), show: showPostfix,
		}
	}
	return []*Function{
		{
			Name: "AND", Category: Logical, Signature: "boolean1 AND boolean2",
			Help:     "TRUE if both are TRUE, FALSE if one is FALSE, else NULL; what follows a FALSE is not evaluated.",
			Examples: []Example{ex("TRUE", true, true), ex("FALSE", nil, false), ex("NULL", nil, true), ex("FALSE", false, nil)},
			bind:     two.bind, ints: junction(0), show: showInfix,
		},
		{
			Name: "OR", Category: Logical, Signature: "boolean1 OR boolean2",
			Help:     "TRUE if one is TRUE, FALSE if both are FALSE, else NULL; what follows a TRUE is not evaluated.",
			Examples: []Example{ex("TRUE", nil, true), ex("NULL", nil, false), ex("FALSE", false, false)},
			bind:     two.bind, ints: junction(1), show: showInfix,
		},
		{
			Name: "NOT", Category: Logical, Signature: "NOT boolean", Help: "The opposite; NULL for NULL.",
			Examples: []Example{ex("FALSE", true), ex("NULL", nil)},
			bind:     sig{params: []param{aBool}, ret: returnsBool}.bind,
			ints:     buildNot, show: showInfix,
		},
		null("IS NULL", "TRUE if the value is NULL.", true, ex("TRUE", nil), ex("FALSE", 1)),
		null("IS NOT NULL", "TRUE if the value is not NULL.", false, ex("FALSE", nil), ex("TRUE", "")),
		is("IS TRUE", "TRUE if TRUE; FALSE for NULL.", isTrue, ex("FALSE", nil), ex("TRUE", true)),
		is("IS NOT TRUE", "TRUE if FALSE or NULL.", func(d row.Datum) bool { return !isTrue(d) }, ex("TRUE", nil)),
		is("IS FALSE", "TRUE if FALSE; FALSE for NULL.", isFalse, ex("FALSE", nil), ex("TRUE", false)),
		is("IS NOT FALSE", "TRUE if TRUE or NULL.", func(d row.Datum) bool { return !isFalse(d) }, ex("TRUE", nil)),
		is("IS UNKNOWN", "TRUE if the condition is NULL.", func(d row.Datum) bool { return d.Null }, ex("TRUE", nil), ex("FALSE", false)),
		is("IS NOT UNKNOWN", "TRUE if the condition is TRUE or FALSE.", func(d row.Datum) bool { return !d.Null }, ex("TRUE", false)),
	}
}

func isTrue(d row.Datum) bool { return !d.Null && d.I != 0 }

func isFalse(d row.Datum) bool { return !d.Null && d.I == 0 }

// required is the rule of a function that never returns NULL.
func required(s sig) func(args []Expr) ([]Expr, types.Type, error) {
	return func(args []Expr) ([]Expr, types.Type, error) {
		args, t, err := s.bind(args)
		return args, t.Required(), err
	}
}

func evalTest(test func(d row.Datum) bool) builder {
	return func(_ *Call, args []Fn) (Fn, error) {
		a := args[0]
		return func(c *Ctx, r row.Row) row.Datum { return row.Bool(test(a(c, r))) }, nil
	}
}

// testNull builds IS NULL and its opposite.
func testNull(want bool) func(*Call) (intFn, error) {
	return func(call *Call) (intFn, error) {
		f, err := compileNull(call.Args[0])
		return func(c *Ctx, r row.Row) (int64, bool) { return boolInt(f(c, r) == want), false }, err
	}
}

// junction builds AND (decided by 0) and OR (decided by 1).
func junction(decides int64) func(*Call) (intFn, error) {
	return func(call *Call) (intFn, error) {
		args, err := compileInts(call.Args)
		return func(c *Ctx, r row.Row) (int64, bool) {
			unknown := false
			for _, a := range args {
				v, null := a(c, r)
				if null {
					unknown = true
				} else if v == decides {
					return decides, false
				}
			}
			if unknown {
				return 0, true
			}
			return decides ^ 1, false
		}, err
	}
}

func buildNot(call *Call) (intFn, error) {
	a, err := compileInt(call.Args[0])
	return func(c *Ctx, r row.Row) (int64, bool) {
		v, null := a(c, r)
		if null {
			return 0, true
		}
		return v ^ 1, false
	}, err
}
