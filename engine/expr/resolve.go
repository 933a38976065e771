package expr

import (
	"errors"
	"fmt"
	"strings"

	"github.com/sluicesql/sluice/engine/types"
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
}

// Error implements error.
func (e *UnknownFunctionError) Error() string {
	s := fmt.Sprintf("unknown function %q", e.Name)
	if e.Near != "" {
		s += fmt.Sprintf("; did you mean %q?", e.Near)
	}
	return s
}

// Resolve types the call of a function, operator or special form (see the package's documentation for how
// special forms are written): it picks the overload, inserts the implicit conversions that Flink makes, and
// infers the result's type. Errors are *UnknownFunctionError and *ArgError.
func Resolve(name string, args []Expr) (Expr, error) {
	f := Lookup(name)
	if f == nil {
		return nil, &UnknownFunctionError{name, nearest(strings.ToUpper(name), Names())}
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

// nearest is the name with the least edit distance, at most a third of the name's length.
func nearest(name string, names []string) string {
	best, at := "", len(name)/3+1
	for _, n := range names {
		if n[0] < 'A' || n[0] > 'Z' {
			continue
		}
		if d := distance(name, n, at); d < at {
			best, at = n, d
		}
	}
	return best
}

// distance is the number of bytes to insert, drop, change or swap with their neighbour between a and b; limit
// or more when it is not less than that.
func distance(a, b string, limit int) int {
	if len(a)-len(b) >= limit || len(b)-len(a) >= limit {
		return limit
	}
	before, prev, cur := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				cur[j] = min(cur[j], before[j-2]+1)
			}
		}
		before, prev, cur = prev, cur, before
	}
	return prev[len(b)]
}

// nullable is t, NOT NULL exactly when no argument can be NULL.
func nullable(t types.Type, args []Expr) types.Type {
	t.NotNull = true
	for _, a := range args {
		t.NotNull = t.NotNull && a.Type().NotNull
	}
	return t
}
