package expr

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sluicesql/sluice/engine/types"
	"github.com/sluicesql/sluice/internal/near"
)

// ArgError is a call that cannot be typed. The planner adds the place: that of the argument to blame.
type ArgError struct {
	// Arg is the index of the argument to blame; -1 blames the call as a whole.
	Arg int
	// Msg names the types and a remedy.
	Msg string
}

// Error implements error.
func (e *ArgError) Error() string { return e.Msg }

func argErrorf(arg int, format string, a ...any) error {
	return &ArgError{arg, fmt.Sprintf(format, a...)}
}

// UnknownFunctionError is a call of a function that does not exist.
type UnknownFunctionError struct {
	Name string
	// Near is the nearest known name; empty when none is near.
	Near string
	// Instead is how to write a function that other dialects have; empty for other names.
	Instead string
}

// Error implements error.
func (e *UnknownFunctionError) Error() string {
	s := fmt.Sprintf("unknown function %q", e.Name)
	if h := e.Hint(); h != "" {
		s += "; " + h
	}
	return s
}

// Hint is the remedy; empty where none is known.
func (e *UnknownFunctionError) Hint() string {
	switch {
	case e.Instead != "":
		return "write " + e.Instead
	case e.Near != "":
		return fmt.Sprintf("did you mean %q?", e.Near)
	}
	return ""
}

// Resolve types the call of a function, operator or special form (see the package's documentation for how
// special forms are written): it picks the overload, inserts the implicit conversions that Flink makes, and
// infers the result's type. Errors are *UnknownFunctionError and *ArgError.
func Resolve(name string, args []Expr) (Expr, error) {
	f := Lookup(name)
	if f == nil {
		return nil, &UnknownFunctionError{name, near.Name(name, wordNames()), elsewhere[strings.ToUpper(name)]}
	}
	return f.call(args)
}

func (f *Function) call(args []Expr) (Expr, error) {
	if f.rewrite != nil {
		return f.rewrite(args)
	}
	coerced, t, err := f.bind(args)
	if err != nil {
		var e *ArgError
		if errors.As(err, &e) && !strings.HasPrefix(e.Msg, f.Name) {
			return nil, &ArgError{e.Arg, f.Name + ": " + e.Msg}
		}
		return nil, err
	}
	return &Call{Fn: f, Args: coerced, T: t}, nil
}

// must is for calls that are correct by construction.
func must(e Expr, err error) Expr {
	if err != nil {
		panic("internal call cannot be typed: " + err.Error())
	}
	return e
}

// wordNames are the functions that have a name and not a symbol.
func wordNames() []string {
	return slices.DeleteFunc(slices.Clone(Names()), func(n string) bool { return n[0] < 'A' || n[0] > 'Z' })
}

// nullable is t, NOT NULL exactly when no argument can be NULL.
func nullable(t types.Type, args []Expr) types.Type {
	t.NotNull = true
	for _, a := range args {
		t.NotNull = t.NotNull && a.Type().NotNull
	}
	return t
}
