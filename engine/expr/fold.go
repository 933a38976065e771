package expr

import (
	"bytes"

	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/types"
)

// Fold computes the constant parts of an expression, with the time zone of c. A part whose evaluation fails
// stays as it is: it fails when a row reaches it, and only then. AND, OR and CASE with constant conditions
// shrink. The type of the whole stays the same, nullability of constants aside.
func Fold(e Expr, c *Ctx) Expr {
	call, ok := e.(*Call)
	if !ok {
		return e
	}
	args := make([]Expr, len(call.Args))
	constant, changed := !call.Fn.Volatile, false
	for i, a := range call.Args {
		args[i] = Fold(a, c)
		changed = changed || args[i] != a
		_, isConst := args[i].(*Const)
		constant = constant && isConst
	}
	if changed {
		call = call.with(args)
	}
	if constant {
		if v := evaluate(call, c); v != nil {
			return v
		}
		return call
	}
	switch call.Fn.Name {
	case "AND", "OR":
		return foldLogic(call)
	case "CASE":
		return foldCase(call)
	}
	return call
}

// evaluate computes a constant call; nil when that fails.
func evaluate(call *Call, c *Ctx) *Const {
	f, err := Compile(call)
	if err != nil {
		return nil
	}
	var own Ctx
	if c != nil {
		own.Zone, own.Now = c.Zone, c.Now
	}
	d := f(&own, nil)
	if own.Err != nil {
		return nil
	}
	d.B = bytes.Clone(d.B)
	t := call.T
	t.NotNull = !d.Null
	if d.Null {
		d = row.NullDatum
	}
	return &Const{Value: d, T: t}
}

// foldLogic drops TRUE from AND and FALSE from OR, and cuts off what follows FALSE or TRUE. What stands
// before it stays, for it may fail.
func foldLogic(call *Call) Expr {
	neutral := call.Fn.Name == "AND"
	var rest []Expr
	for _, a := range call.Args {
		k, ok := a.(*Const)
		if ok && !k.Value.Null && (k.Value.I != 0) == neutral {
			continue
		}
		rest = append(rest, a)
		if ok && !k.Value.Null {
			if len(rest) == 1 {
				return k
			}
			break
		}
	}
	switch len(rest) {
	case 0:
		return BoolConst(neutral)
	case 1:
		return rest[0]
	case len(call.Args):
		return call
	}
	return call.with(rest)
}

// foldCase drops branches whose condition is constant and not TRUE, and those after one that is TRUE.
func foldCase(call *Call) Expr {
	var rest []Expr
	i := 0
	for ; i+1 < len(call.Args); i += 2 {
		k, ok := call.Args[i].(*Const)
		if ok && (k.Value.Null || k.Value.I == 0) {
			continue
		}
		if ok {
			rest = append(rest, call.Args[i+1])
			break
		}
		rest = append(rest, call.Args[i], call.Args[i+1])
	}
	if i+1 == len(call.Args) {
		rest = append(rest, call.Args[i])
	}
	if len(rest) == 1 && rest[0].Type().Nullable().SameIgnoringNull(call.T.Nullable()) {
		return rest[0]
	}
	if len(rest) == len(call.Args) || len(rest) == 1 {
		return call
	}
	return call.with(rest)
}

// constant is the value of an argument that has to be known when the call is typed.
func constant(e Expr) (row.Datum, bool) {
	if ColumnsOf(e) != nil || !Deterministic(e) {
		return row.Datum{}, false
	}
	k, ok := Fold(e, nil).(*Const)
	if !ok {
		return row.Datum{}, false
	}
	return k.Value, true
}

// constString is constant for a character string that is not NULL.
func constString(e Expr) (string, bool) {
	d, ok := constant(e)
	return string(d.B), ok && !d.Null && e.Type().IsString()
}

// NullConst is NULL of a type.
func NullConst(t types.Type) *Const { return &Const{Value: row.NullDatum, T: t.Nullable()} }

// BoolConst is TRUE or FALSE.
func BoolConst(v bool) *Const {
	return &Const{Value: row.Bool(v), T: types.Of(types.Boolean).Required()}
}

// IntConst is a literal of type INT, or BIGINT where it needs that.
func IntConst(v int64) *Const {
	k := types.Int
	if int64(int32(v)) != v {
		k = types.BigInt
	}
	return &Const{Value: row.Int(v), T: types.Of(k).Required()}
}

// DoubleConst is a literal of type DOUBLE.
func DoubleConst(v float64) *Const {
	return &Const{Value: row.Float(v), T: types.Of(types.Double).Required()}
}

// StringConst is a literal of type CHAR(n), n being its number of characters.
func StringConst(s string) *Const {
	return &Const{Value: row.String(s), T: types.Type{Kind: types.Char, Precision: runeCount([]byte(s)), NotNull: true}}
}
