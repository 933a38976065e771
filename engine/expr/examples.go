package expr

import (
	"fmt"

	"github.com/sluicesql/sluice/engine/text"
	"github.com/sluicesql/sluice/engine/types"
)

// ex is an example: its arguments are Go values or expressions.
func ex(want string, args ...any) Example {
	e := Example{Want: want, Args: make([]Expr, len(args))}
	for i, a := range args {
		e.Args[i] = toExpr(a)
	}
	return e
}

func toExpr(a any) Expr {
	switch a := a.(type) {
	case nil:
		return NullConst(types.Of(types.Null))
	case bool:
		return BoolConst(a)
	case int:
		return IntConst(int64(a))
	case int64:
		return &Const{Value: IntConst(a).Value, T: types.Of(types.BigInt).Required()}
	case float64:
		return DoubleConst(a)
	case string:
		return StringConst(a)
	case Expr:
		return a
	}
	panic(fmt.Sprintf("example with an argument of %T", a))
}

// lit is a literal of any type that has a string form.
func lit(t types.Type, s string) *Const {
	d, err := text.Parse(t, []byte(s), nil)
	if err != nil {
		panic(fmt.Sprintf("example with the %s %q: %v", t, s, err))
	}
	return &Const{Value: d, T: t.Required()}
}

func dec(s string, precision, scale int) *Const { return lit(types.DecimalOf(precision, scale), s) }

func date(s string) *Const { return lit(types.Of(types.Date), s) }

func timestamp(s string) *Const { return lit(types.TimestampOf(3), s) }

func days(s string) *Const { return lit(types.Of(types.IntervalDT), s) }

func months(s string) *Const { return lit(types.Of(types.IntervalYM), s) }
