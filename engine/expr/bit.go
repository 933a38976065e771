package expr

import (
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/types"
)

// bitFunctions work on the two's complement of integers, of the wider type of the two.
func bitFunctions() []*Function {
	two := func(name, help string, f func(a, b int64) int64, examples ...Example) *Function {
		return &Function{
			Name: name, Category: Arithmetic, Signature: name + "(integer1, integer2)", Help: help, Examples: examples,
			bind: sig{params: []param{anInt, anInt}, ret: func(args []Expr) types.Type {
				return types.Of(max(args[0].Type().Kind, args[1].Type().Kind))
			}}.bind,
			ints: func(call *Call) (intFn, error) {
				x, y, err := compileInt2(call)
				return func(c *Ctx, r row.Row) (int64, bool) {
					a, null := x(c, r)
					if null {
						return 0, true
					}
					b, null := y(c, r)
					return f(a, b), null
				}, err
			},
		}
	}
	return []*Function{
		two("BITAND", "The bits that both have.", func(a, b int64) int64 { return a & b }, ex("8", 12, 10), ex("-4", -1, -4)),
		two("BITOR", "The bits that one or both have.", func(a, b int64) int64 { return a | b }, ex("14", 12, 10)),
		two("BITXOR", "The bits that just one has.", func(a, b int64) int64 { return a ^ b }, ex("6", 12, 10), ex("-1", int64(1)<<62, -1-int64(1)<<62)),
		{
			Name: "BITNOT", Category: Arithmetic, Signature: "BITNOT(integer)", Help: "Every bit reversed.", Examples: []Example{ex("-1", 0), ex("-13", 12)},
			bind: sig{params: []param{anInt}, ret: returnsArg(0)}.bind, build: eval1(func(_ *Ctx, a row.Datum) row.Datum { return row.Int(^a.I) }),
		},
	}
}
