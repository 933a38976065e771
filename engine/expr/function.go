package expr

import (
	"sort"
	"strings"
	"sync"

	"github.com/sluicesql/sluice/engine/types"
)

// Function declares a function, operator or special form: its face for documentation, its typing and its
// implementation.
type Function struct {
	// Name is in upper case; operators are named by their symbol or keywords.
	Name string
	// Aliases are further names for the same function.
	Aliases []string
	// Category groups functions in the documentation.
	Category Category
	// Signature shows the arguments in SQL: SUBSTRING(string FROM start [FOR length]).
	Signature string
	// Help is one line of what it does.
	Help string
	// Examples are run as tests.
	Examples []Example
	// Volatile marks a function whose result does not follow from its arguments alone: RAND, UUID,
	// CURRENT_TIMESTAMP. It is never folded, and refused where a changing input would have to see the same
	// value twice.
	Volatile bool

	// random marks a volatile function that gives another value at every call.
	random bool
	// bind checks the arguments, coerces them and infers the result's type.
	bind func(args []Expr) ([]Expr, types.Type, error)
	// rewrite, in place of bind and build, expresses the call by other functions.
	rewrite func(args []Expr) (Expr, error)
	// build makes the closure from those of the arguments.
	build builder
	// ints and bytes make the closure for results of PhysInt and PhysBytes; they may decline by a nil, and
	// then build does it.
	ints  func(call *Call) (intFn, error)
	bytes func(call *Call) (bytesFn, error)
	// show writes the call in SQL; nil writes NAME(a, b).
	show func(c *Call) string
}

// Category is a family of functions.
type Category string

// The categories, in the order of the documentation.
const (
	Comparison  Category = "comparison"
	Logical     Category = "logical"
	Arithmetic  Category = "arithmetic"
	StringFns   Category = "string"
	Temporal    Category = "temporal"
	Conditional Category = "conditional"
	Conversion  Category = "type conversion"
	JSON        Category = "JSON"
	Collection  Category = "collection"
	Hash        Category = "hash"
)

// Example is a call with constant arguments and its result.
type Example struct {
	// Args are the arguments as Resolve takes them.
	Args []Expr
	// Want is the result as text.Append writes it, or "error: " and a part of the message.
	Want string
}

// Show is the example, one of f's, in SQL; empty for a call that cannot be typed.
func (x Example) Show(f *Function) string {
	if f.show == nil || f.rewrite != nil {
		return (&Call{Fn: f, Args: x.Args}).String()
	}
	// What a call with a syntax of its own takes as arguments is clear once it is bound.
	e, err := f.call(x.Args)
	if err != nil {
		return ""
	}
	return e.String()
}

// RowsExample is a call of an aggregate or a window function over rows of the columns x and y, and its result; of a
// window function the results of all rows, in the order of x.
type RowsExample struct {
	// Call and Rows are SQL, as in SELECT Call FROM (VALUES Rows) AS t(x, y); Want is as text.Append writes it.
	Call, Rows, Want string
}

var registry struct {
	once   sync.Once
	list   []*Function
	byName map[string]*Function
	names  []string
}

func load() {
	families := [][]*Function{
		compareFunctions(), logicFunctions(), arithFunctions(), mathFunctions(), bitFunctions(), randomFunctions(), stringFunctions(),
		patternFunctions(), hashFunctions(), temporalFunctions(), temporalTextFunctions(), clockFunctions(), overlapsFunctions(),
		conditionalFunctions(), castFunctions(), typeofFunctions(), regexpFunctions(), characterFunctions(), urlFunctions(), charsetFunctions(), printfFunctions(), jsonFunctions(), jsonBuildFunctions(), collectionFunctions(), arrayFunctions(), mapFunctions(),
	}
	registry.byName = map[string]*Function{}
	for _, family := range families {
		for _, f := range family {
			registry.list = append(registry.list, f)
			for _, name := range append([]string{f.Name}, f.Aliases...) {
				if registry.byName[name] != nil {
					panic("function declared twice: " + name)
				}
				registry.byName[name] = f
				registry.names = append(registry.names, name)
			}
		}
	}
	sort.Strings(registry.names)
}

// Functions are all declarations, family by family.
func Functions() []*Function {
	registry.once.Do(load)
	return registry.list
}

// Names are the names of all functions and operators, aliases included, sorted.
func Names() []string {
	registry.once.Do(load)
	return registry.names
}

// Lookup finds a function by its name in any case; nil when there is none.
func Lookup(name string) *Function {
	registry.once.Do(load)
	if f := registry.byName[name]; f != nil {
		return f
	}
	return registry.byName[strings.ToUpper(name)]
}
