package expr

import (
	"fmt"
	"slices"

	"github.com/sluicesql/sluice/engine/types"
)

// param is what an argument may be.
type param struct {
	what string                // "a character string"
	ok   func(types.Type) bool // the types taken as they are
	to   types.Type            // when valid, arguments are converted to it; also the type of an untyped NULL
}

// The usual parameters. Integers of all sizes have one physical form, so do FLOAT and DOUBLE, CHAR and
// VARCHAR: these need no conversion.
var (
	aString  = param{"a character string", types.Type.IsString, types.Type{}}
	anInt    = param{"an integer", types.Type.IsInteger, types.Type{}}
	aNumber  = param{"a number", types.Type.IsNumeric, types.Type{}}
	aDouble  = param{"a number", types.Type.IsNumeric, types.Of(types.Double)}
	aBool    = param{"a BOOLEAN", func(t types.Type) bool { return t.Kind == types.Boolean }, types.Type{}}
	anything = param{"a value", func(types.Type) bool { return true }, types.Type{}}
	aText    = param{"a character or binary string", func(t types.Type) bool { return t.IsString() || t.IsBinary() }, types.Type{}}
)

// nullType is the type that an untyped NULL takes for the parameter.
func (p param) nullType() types.Type {
	for _, t := range []types.Type{p.to, types.String(), types.Of(types.Int), types.Of(types.Boolean), types.Bytes(),
		types.Of(types.Date), types.TimestampOf(3), types.ArrayOf(types.String()), types.MapOf(types.String(), types.String())} {
		if t.Kind != types.Invalid && p.ok(t) {
			return t
		}
	}
	return types.String()
}

// sig is the typing rule of a function with positional arguments.
type sig struct {
	params []param
	min    int  // how many are needed; 0 means all
	rest   bool // the last parameter may repeat
	// ret infers the result's type; its nullability is set by the rule below.
	ret func(args []Expr) types.Type
	// mayNull: the result can be NULL although no argument is.
	mayNull bool
}

func (s sig) bind(args []Expr) ([]Expr, types.Type, error) {
	args, err := s.check(args)
	if err != nil {
		return nil, types.Type{}, err
	}
	t := nullable(s.ret(args), args)
	if s.mayNull {
		t.NotNull = false
	}
	return args, t, nil
}

func (s sig) check(args []Expr) ([]Expr, error) {
	least := s.min
	if least == 0 {
		least = len(s.params)
	}
	if len(args) < least || len(args) > len(s.params) && !s.rest {
		return nil, argErrorf(-1, "takes %s, not %d", counts(least, len(s.params), s.rest), len(args))
	}
	out := make([]Expr, len(args))
	for i, a := range args {
		p := s.params[min(i, len(s.params)-1)]
		e, err := p.take(a, i)
		if err != nil {
			return nil, err
		}
		out[i] = e
	}
	return out, nil
}

// checkOpen is check with a bare NULL left as it is where the parameter takes anything.
func (s sig) checkOpen(args []Expr) ([]Expr, error) {
	out, err := s.check(args)
	for i := range out {
		if s.params[min(i, len(s.params)-1)].what == anything.what {
			out[i] = args[i]
		}
	}
	return out, err
}

func (p param) take(a Expr, i int) (Expr, error) {
	t := a.Type()
	if t.Kind == types.Null {
		return NullConst(p.nullType()), nil
	}
	if !p.ok(t) {
		return nil, argErrorf(i, "argument %d is %s, must be %s%s", i+1, t.Nullable(), p.what, remedy(t, p))
	}
	if p.to.Kind != types.Invalid {
		return coerce(a, p.to), nil
	}
	return a, nil
}

// remedy suggests the CAST that would help, where one exists.
func remedy(t types.Type, p param) string {
	to := p.nullType()
	if _, ok := castKernel(t, to); !ok {
		return ""
	}
	return fmt.Sprintf("; write CAST(… AS %s)", to)
}

func counts(least, most int, rest bool) string {
	plural := "s"
	switch {
	case rest:
		if least == 1 {
			plural = ""
		}
		return fmt.Sprintf("at least %d argument%s", least, plural)
	case least == most:
		if least == 1 {
			plural = ""
		}
		return fmt.Sprintf("%d argument%s", least, plural)
	default:
		return fmt.Sprintf("%d to %d arguments", least, most)
	}
}

func returns(t types.Type) func([]Expr) types.Type {
	return func([]Expr) types.Type { return t }
}

func returnsArg(i int) func([]Expr) types.Type {
	return func(args []Expr) types.Type { return args[i].Type() }
}

var (
	returnsBool   = returns(types.Of(types.Boolean))
	returnsInt    = returns(types.Of(types.Int))
	returnsBigInt = returns(types.Of(types.BigInt))
	returnsDouble = returns(types.Of(types.Double))
	returnsString = returns(types.String())
)

// coerce converts an argument to a type that it converts to implicitly. Where both types have one physical
// form and meaning the argument is left as it is.
func coerce(e Expr, t types.Type) Expr {
	from := e.Type()
	if from.Kind == types.Null {
		return NullConst(t)
	}
	if sameForm(from, t) {
		return e
	}
	return must(Cast(e, t, false))
}

// sameForm reports whether every value of from, read as t, is the same value.
func sameForm(from, t types.Type) bool {
	switch {
	case from.IsInteger() && t.IsInteger():
		return from.Kind <= t.Kind
	case from.IsApprox() && t.IsApprox():
		return from.Kind <= t.Kind
	case from.IsString() && t.Kind == types.Varchar, from.IsBinary() && t.Kind == types.Varbinary:
		return from.Precision <= t.Precision
	case from.Kind != t.Kind:
		return false
	case from.Kind == types.Decimal:
		return from.Scale == t.Scale && from.Phys() == t.Phys() && from.Precision <= t.Precision
	case from.Kind == types.Time, from.Kind == types.Timestamp, from.Kind == types.TimestampLTZ:
		return from.Phys() == t.Phys() && from.Precision <= t.Precision
	case from.Kind == types.Array:
		return sameItem(*from.Elem, *t.Elem)
	case from.Kind == types.Map:
		return sameItem(*from.Key, *t.Key) && sameItem(*from.Elem, *t.Elem)
	case from.Kind == types.Row:
		return slices.EqualFunc(from.Fields, t.Fields, func(a, b types.Field) bool { return sameItem(a.Type, b.Type) })
	default:
		return from.Nullable().SameIgnoringNull(t)
	}
}

// sameItem is sameForm of a part of nested values, which may be NULL.
func sameItem(from, t types.Type) bool { return sameForm(from, t) && (from.NotNull || !t.NotNull) }
