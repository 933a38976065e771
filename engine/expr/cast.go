package expr

import (
	"fmt"

	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/text"
	"github.com/sluicesql/sluice/engine/types"
	"github.com/sluicesql/sluice/internal/fault"
)

// kernel converts one value that is not NULL. Its error says what is wrong, without value and types.
type kernel func(c *Ctx, d row.Datum) (row.Datum, error)

func castFunctions() []*Function {
	show := func(c *Call) string {
		return c.Fn.Name + "(" + c.Args[0].String() + " AS " + c.T.Nullable().String() + ")"
	}
	refuse := func(args []Expr) ([]Expr, types.Type, error) {
		return nil, types.Type{}, argErrorf(-1, "is not called by name")
	}
	return []*Function{
		{
			Name: "CAST", Category: Conversion, Signature: "CAST(value AS type)",
			Help: "The value converted; an error if it has no counterpart in the type.",
			bind: refuse, build: buildCast(false), show: show,
		},
		{
			Name: "TRY_CAST", Category: Conversion, Signature: "TRY_CAST(value AS type)",
			Help: "The value converted; NULL if it has no counterpart in the type.",
			bind: refuse, build: buildCast(true), show: show,
		},
	}
}

// Cast is CAST(e AS t), or TRY_CAST(e AS t). Whether t allows NULL does not matter: the result does exactly
// when e does, or when the cast may fail quietly. A pair of types without a conversion is an *ArgError.
func Cast(e Expr, t types.Type, try bool) (Expr, error) {
	from := e.Type()
	if from.Kind == types.Null {
		return NullConst(t), nil
	}
	if _, ok := castKernel(from, t); !ok {
		return nil, argErrorf(0, "cannot cast %s to %s%s", from.Nullable(), t.Nullable(), castRemedy(from, t))
	}
	name := "CAST"
	t.NotNull = from.NotNull
	if try {
		name, t.NotNull = "TRY_CAST", false
	}
	if from.Nullable().Equal(t.Nullable()) {
		return e, nil
	}
	return &Call{Fn: Lookup(name), Args: []Expr{e}, T: t}, nil
}

func castRemedy(from, to types.Type) string {
	switch {
	case from.IsNumeric() && to.Kind == types.TimestampLTZ, from.IsNumeric() && to.Kind == types.Timestamp:
		return "; write TO_TIMESTAMP_LTZ(value, 3) for milliseconds or TO_TIMESTAMP_LTZ(value, 0) for seconds since 1970"
	case from.IsTemporal() && to.IsNumeric():
		return "; write UNIX_TIMESTAMP(CAST(value AS STRING)) or EXTRACT"
	case from.IsNumeric() && to.IsBinary():
		return "; cast to STRING first"
	case to.Kind == types.Array || to.Kind == types.Map || to.Kind == types.Row:
		return "; write JSON functions to read text"
	}
	return ""
}

func buildCast(try bool) builder {
	return func(call *Call, args []Fn) (Fn, error) {
		from := call.Args[0].Type()
		k, ok := castKernel(from, call.T)
		if !ok {
			return nil, fmt.Errorf("no cast from %s to %s", from, call.T)
		}
		a := args[0]
		if k == nil {
			return a, nil
		}
		return func(c *Ctx, r row.Row) row.Datum {
			x := a(c, r)
			if x.Null {
				return x
			}
			y, err := k(c, x)
			if err == nil {
				return y
			}
			if try {
				return row.NullDatum
			}
			return c.fail(castError(c, from, call.T, x, err))
		}, nil
	}
}

func castError(c *Ctx, from, to types.Type, x row.Datum, err error) error {
	const most = 100
	s := text.Append(nil, from, x, c.Zone)
	if len(s) > most {
		s = append(s[:most], "…"...)
	}
	v := string(s)
	if from.IsString() {
		v = quote(s)
	}
	return fault.Errorf(fault.RowValue, "cannot cast %s of type %s to %s: %w", v, from.Nullable(), to.Nullable(), err).
		Fix("TRY_CAST gives NULL instead")
}

// castKernel is the conversion between two types; nil where the value stays as it is, false where there is
// none.
func castKernel(from, to types.Type) (k kernel, ok bool) {
	if from.Kind == types.Null || sameForm(from, to) {
		return nil, true
	}
	switch {
	case to.IsString():
		return toString(from, to), true
	case from.IsString() && to.IsBinary():
		return binaryLength(to), true
	case from.IsString():
		if to.Kind == types.Array || to.Kind == types.Map || to.Kind == types.Row {
			return nil, false
		}
		return func(c *Ctx, d row.Datum) (row.Datum, error) { return text.Parse(to, d.B, c.Zone) }, true
	case from.IsBinary() && to.IsBinary():
		return binaryLength(to), true
	case from.Kind == types.Boolean && to.IsNumeric():
		return castKernel(types.Of(types.Int), to)
	case from.IsNumeric() && to.Kind == types.Boolean:
		return toBoolean(from), true
	case from.IsNumeric() && to.IsNumeric():
		return castNumber(from, to), true
	case from.IsTemporal() && to.IsTemporal():
		return castTemporal(from, to)
	case from.Kind != to.Kind:
		return nil, false
	}
	switch from.Kind {
	case types.Array:
		return castArray(*from.Elem, *to.Elem)
	case types.Map:
		return castMap(from, to)
	case types.Row:
		return castRow(from.Fields, to.Fields)
	}
	return nil, true // intervals of one kind
}
