package expr

import (
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/text"
	"github.com/sluicesql/sluice/engine/types"
)

// show evaluates an expression without columns and writes the result; errors as "error: …".
func show(e Expr, err error, c *Ctx) string {
	if err != nil {
		return "error: " + err.Error()
	}
	f, err := Compile(e)
	if err != nil {
		return "error: " + err.Error()
	}
	c.Reset()
	d := f(c, nil)
	if c.Err != nil {
		return "error: " + c.Err.Error()
	}
	if d.Null && e.Type().NotNull {
		return "NULL of type " + e.Type().String()
	}
	return string(text.Append(nil, e.Type(), d, c.Zone))
}

func call(name string, args ...any) (Expr, error) {
	return Resolve(name, ex("", args...).Args)
}

// check compares the result of a call with what is wanted; for errors a part of the message is enough.
func check(t *testing.T, want, name string, args ...any) {
	t.Helper()
	e, err := call(name, args...)
	checkExpr(t, want, name, e, err)
}

func checkExpr(t *testing.T, want, what string, e Expr, err error) {
	t.Helper()
	got := show(e, err, &Ctx{})
	if err == nil {
		what = e.String()
	}
	if want == got || strings.HasPrefix(want, "error: ") && strings.HasPrefix(got, "error: ") && strings.Contains(got, want[7:]) {
		return
	}
	t.Errorf("%s = %s, want %s", what, got, want)
}

func TestExamples(t *testing.T) {
	for _, f := range Functions() {
		if len(f.Examples) == 0 && !f.Volatile && f.Name != "CAST" && f.Name != "TRY_CAST" && f.Name != "FIELD" {
			t.Errorf("%s has no example", f.Name)
		}
		for _, x := range f.Examples {
			e, err := Resolve(f.Name, x.Args)
			checkExpr(t, x.Want, f.Name, e, err)
			if err != nil {
				continue
			}
			if folded, ok := Fold(e, nil).(*Const); ok {
				checkExpr(t, x.Want, f.Name, folded, nil)
				if !folded.T.Nullable().SameIgnoringNull(e.Type().Nullable()) {
					t.Errorf("%s: folding changed %s to %s", e, e.Type(), folded.T)
				}
			} else if !strings.HasPrefix(x.Want, "error: ") {
				t.Errorf("%s does not fold", e)
			}
		}
	}
}

func TestDeclarations(t *testing.T) {
	for _, f := range Functions() {
		if f.Category == "" || f.Signature == "" || !strings.HasSuffix(f.Help, ".") || strings.Contains(f.Help, "\n") {
			t.Errorf("%s: incomplete declaration %q %q", f.Name, f.Signature, f.Help)
		}
		if f.rewrite == nil && (f.bind == nil || f.build == nil && f.ints == nil && f.bytes == nil) {
			t.Errorf("%s has no implementation", f.Name)
		}
		if strings.ToUpper(f.Name) != f.Name {
			t.Errorf("%s is not in upper case", f.Name)
		}
		if Lookup(strings.ToLower(f.Name)) != f {
			t.Errorf("%s is not found in lower case", f.Name)
		}
	}
	if len(Names()) < 160 {
		t.Errorf("only %d names", len(Names()))
	}
}

// Every function called with NULLs of its example's types gives NULL, or something it declares.
func TestNullArguments(t *testing.T) {
	sees := map[string]bool{"IS DISTINCT FROM": true, "IS NOT DISTINCT FROM": true, "AND": true, "OR": true, "COALESCE": true,
		"IFNULL": true, "CASE": true, "IF": true, "CONCAT_WS": true, "ARRAY": true, "MAP": true, "ROW": true, "BETWEEN": true,
		"BETWEEN SYMMETRIC": true, "IN": true, "ARRAY_APPEND": true, "ELT": true, "IS_ALPHA": true, "IS_DIGIT": true, "IS_DECIMAL": true, "PRINTF": true, "TYPEOF": true, "ARRAY_PREPEND": true, "ARRAY_CONTAINS": true, "ARRAY_REMOVE": true, "JSON_VALUE": true, "JSON_QUERY": true, "JSON_OBJECT": true, "JSON_ARRAY": true, "NULLIF": true}
	for _, f := range Functions() {
		if sees[f.Name] || strings.HasPrefix(f.Name, "IS ") {
			continue
		}
		for _, x := range f.Examples {
			if strings.HasPrefix(x.Want, "error: ") {
				continue
			}
			for i := range x.Args {
				args := append([]Expr(nil), x.Args...)
				args[i] = NullConst(args[i].Type())
				e, err := Resolve(f.Name, args)
				if err != nil {
					continue // an argument that must be constant
				}
				if got := show(e, nil, &Ctx{}); got != "NULL" {
					t.Errorf("%s = %s, want NULL", e, got)
				}
			}
		}
	}
}

func TestUnknownFunction(t *testing.T) {
	for name, near := range map[string]string{"UPER": "UPPER", "SUBSTRNG": "SUBSTRING", "XYZZY": "", "CURRENTDATE": "CURRENT_DATE", "CONCTA": "CONCAT"} {
		_, err := Resolve(name, nil)
		u, ok := err.(*UnknownFunctionError)
		if !ok || u.Near != near {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What is written instead of the functions of other dialects exists, and they do not.
func TestElsewhere(t *testing.T) {
	words := regexp.MustCompile(`[A-Z][A-Z0-9_]+\(`)
	for name, instead := range elsewhere {
		if Lookup(name) != nil {
			t.Errorf("%s is a function", name)
		}
		for _, word := range words.FindAllString(instead, -1) {
			if Lookup(strings.TrimSuffix(word, "(")) == nil && word != "DECIMAL(" {
				t.Errorf("%s: %q names no function", name, word)
			}
		}
		if _, err := Resolve(strings.ToLower(name), nil); !strings.Contains(err.Error(), "; write "+instead) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestArgErrors(t *testing.T) {
	for _, c := range []struct {
		name string
		args []any
		arg  int
		part string
	}{
		{"UPPER", []any{1}, 0, "UPPER: argument 1 is INT, must be a character string; write CAST(… AS STRING)"},
		{"UPPER", []any{"a", "b"}, -1, "takes 1 argument, not 2"},
		{"=", []any{1, "one"}, 1, "'one' is no INT"},
		{"=", []any{date("2024-01-01"), "never"}, 1, "'never' is no DATE"},
		{"=", []any{true, 1}, 1, "cannot compare BOOLEAN with INT"},
		{"+", []any{1, "a"}, 1, "argument 2 is CHAR(1), must be a number"},
		{"AND", []any{true, 1}, 1, "must be a BOOLEAN"},
		{"COALESCE", []any{1, "a"}, 1, "INT and CHAR(1) have no common type"},
		{"CASE", []any{true, 1, false, "a"}, 3, "have no common type"},
		{"EXTRACT", []any{"FORTNIGHT", date("2024-01-01")}, 0, "unknown unit FORTNIGHT; known are"},
		{"SUBSTRING", []any{"a"}, -1, "takes 2 to 3 arguments, not 1"},
		{"-", []any{timestamp("2024-01-01"), timestamp("2024-01-01")}, -1, "TIMESTAMPDIFF"},
		{"LIKE", []any{"a", "b", "cc"}, 2, "one character"},
		{"JSON_VALUE", []any{"{}", "a.b"}, 1, "must start with $"},
		{"JSON_VALUE", []any{"{}", "$.a[b]"}, 1, "is no element"},
		{"BETWEEN", []any{1, 0, true}, 2, "cannot compare INT with BOOLEAN; write CAST(… AS INT)"},
		{"FIELD", []any{1, "a"}, 0, "has no fields"},
		{"ITEM", []any{1, 1}, 0, "must be an ARRAY or MAP"},
		{"ROW", []any{nil}, 0, "bare NULL"},
		{"MOD", []any{1.5, 2}, 0, "must be an exact number"},
		{"<", []any{mapOf(t), mapOf(t)}, 0, "have no order"},
		{"CAST", nil, -1, "not called by name"},
	} {
		_, err := call(c.name, c.args...)
		e, ok := err.(*ArgError)
		if !ok || e.Arg != c.arg || !strings.Contains(e.Msg, c.part) {
			t.Errorf("%s(%v): %v, want argument %d and %q", c.name, c.args, err, c.arg, c.part)
		}
	}
}

func mapOf(t *testing.T) Expr {
	t.Helper()
	e, err := call("MAP", "a", 1)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// What String writes uses SQL's words only; a sample of its forms.
func TestString(t *testing.T) {
	a, b := &Column{Index: 0, Name: "a", T: types.Of(types.Int)}, &Column{Index: 1, Name: "b", T: types.String()}
	for _, c := range []struct {
		want string
		name string
		args []any
	}{
		{"a = 1", "=", []any{a, 1}},
		{"(a + 1) * 2", "*", []any{resolved(t, "+", a, 1), 2}},
		{"(a = 1) AND (b LIKE 'x%')", "AND", []any{resolved(t, "=", a, 1), resolved(t, "LIKE", b, "x%")}},
		{"NOT (a IS NULL)", "NOT", []any{resolved(t, "IS NULL", a)}},
		{"(a >= 1) AND (a <= 2)", "BETWEEN", []any{a, 1, 2}},
		{"a IN (1, 2)", "IN", []any{a, 1, 2}},
		{"CASE WHEN a = 1 THEN b ELSE 'it''s' END", "CASE", []any{resolved(t, "=", a, 1), b, "it's"}},
		{"EXTRACT(DAY FROM DATE '2024-02-29')", "EXTRACT", []any{"DAY", date("2024-02-29")}},
		{"TRIM(BOTH ' ' FROM b)", "TRIM", []any{b}},
		{"b LIKE 'a!%' ESCAPE '!'", "LIKE", []any{b, "a!%", "!"}},
		{"UPPER(b)", "UPPER", []any{b}},
		{"FLOOR(TIMESTAMP '2024-02-29 00:00:00.000' TO MONTH)", "FLOOR", []any{timestamp("2024-02-29"), "MONTH"}},
		{"- a", "-", []any{a}},
		{"a + 1.5E0", "+", []any{a, 1.5}},
		{"TIMESTAMP '2024-02-29 00:00:00.000' + INTERVAL '1 00:00:00.000' DAY TO SECOND", "+", []any{timestamp("2024-02-29"), days("1 00:00:00")}},
		{"CURRENT_DATE", "CURRENT_DATE", nil},
	} {
		e, err := call(c.name, c.args...)
		if err != nil {
			t.Errorf("%s: %v", c.want, err)
		} else if e.String() != c.want {
			t.Errorf("%s, want %s", e, c.want)
		}
	}
	for _, r := range NullConst(types.Of(types.Int)).String() {
		if r > unicode.MaxASCII {
			t.Error("NULL")
		}
	}
}

func resolved(t *testing.T, name string, args ...any) Expr {
	t.Helper()
	e, err := call(name, args...)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return e
}

// pack makes a row of the given values, NULL for a nil.
func pack(t testing.TB, schema []types.Type, values ...any) row.Row {
	t.Helper()
	var b row.Builder
	b.Begin(nil, len(schema))
	phys := make([]types.Phys, len(schema))
	for i, v := range values {
		phys[i] = schema[i].Phys()
		if v == nil {
			continue
		}
		k := toExpr(v)
		e, err := Cast(k, schema[i], false)
		if err != nil {
			t.Fatal(err)
		}
		f, err := Compile(e)
		if err != nil {
			t.Fatal(err)
		}
		var c Ctx
		b.Datum(i, phys[i], f(&c, nil))
		if c.Err != nil {
			t.Fatal(c.Err)
		}
	}
	return b.Finish(phys)
}
