package expr

import (
	"encoding/json"
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/types"
)

const jsonDoc = `{"id_c": 7, "big": 12345678901234567890.10, "s": "a\"\u00e9\ud83d\ude00\n", "t": true, "n": null, "e": 1e3,
 "arr": [10, {"x": 1}, [true]], "o": {"a b": {"c": "d"}, "k.k": 5}, "dup": 1, "dup": {"z": 2}, "\u0061esc": 9}`

func TestJSONValue(t *testing.T) {
	for _, c := range []struct{ want, path string }{
		{"7", "$.id_c"}, {"12345678901234567890.10", "$.big"}, {"a\"é😀\n", "lax $.s"}, {"true", "$.t"}, {"NULL", "$.n"}, {"1e3", "$.e"}, {"10", "$.arr[0]"}, {"1", "$.arr[1].x"},
		{"true", "$.arr[2][0]"}, {"d", `$.o."a b".c`}, {"d", "$.o['a b']['c']"}, {"5", `$["o"]["k.k"]`}, {"NULL", "$.dup"}, {"2", "$.dup.z"}, {"9", "$.aesc"}, {"NULL", "lax $.arr[9]"},
		{"NULL", "lax $.id_c.x"}, {"NULL", "lax $.arr.x"}, {"NULL", "$.arr[*]"}, {"NULL", "$"}, {"7", "strict  $.id_c"}, {"NULL", "$.ID_C"},
	} {
		check(t, c.want, "JSON_VALUE", jsonDoc, c.path)
	}
	full := func(want, doc, path string, returning types.Type, clauses ...any) {
		t.Helper()
		check(t, want, "JSON_VALUE", append([]any{doc, path, NullConst(returning)}, clauses...)...)
	}
	full("7", jsonDoc, "$.id_c", types.Of(types.Int), "NULL", nil, "NULL", nil)
	full("12345678901234567890.10", jsonDoc, "$.big", types.DecimalOf(22, 2), "NULL", nil, "NULL", nil)
	full("TRUE", jsonDoc, "$.t", types.Of(types.Boolean), "NULL", nil, "NULL", nil)
	full("NULL", jsonDoc, "$.s", types.Of(types.Int), "NULL", nil, "NULL", nil)
	full("-1", jsonDoc, "$.s", types.Of(types.Int), "NULL", nil, "DEFAULT", -1)
	full("error: malformed", jsonDoc, "$.s", types.Of(types.Int), "NULL", nil, "ERROR", nil)
	full("0", jsonDoc, "lax $.none", types.Of(types.BigInt), "DEFAULT", 0, "ERROR", nil)
	full("0", jsonDoc, "$.n", types.Of(types.BigInt), "DEFAULT", 0, "ERROR", nil)
	full("error: leads nowhere", jsonDoc, "lax $.none", types.String(), "ERROR", nil, "NULL", nil)
	full("x", "{no json", "$.a", types.String(), "NULL", nil, "DEFAULT", "x")
	full("y", "{no json", "lax $.a", types.String(), "DEFAULT", "y", "DEFAULT", "x")
	full("x", jsonDoc, "$.o", types.String(), "DEFAULT", "y", "DEFAULT", "x")
	full("x", `{"a": "\ud800"}`, "$.a", types.String(), "NULL", nil, "DEFAULT", "x")
	check(t, "error: cannot return", "JSON_VALUE", "{}", "$", NullConst(types.ArrayOf(types.String())), "NULL", nil, "NULL", nil)
	check(t, "error: the default is CHAR(1), must be INT", "JSON_VALUE", "{}", "$", NullConst(types.Of(types.Int)), "DEFAULT", "x", "NULL", nil)
	want := "JSON_VALUE('{}', '$.t' RETURNING INT DEFAULT 1 ON EMPTY ERROR ON ERROR)"
	if got := resolved(t, "JSON_VALUE", "{}", "$.t", NullConst(types.Of(types.Int)), "DEFAULT", 1, "ERROR", nil).String(); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestJSONQueryAndExists(t *testing.T) {
	str, list := NullConst(types.String()), NullConst(types.ArrayOf(types.String()))
	for _, c := range []struct {
		want string
		args []any
	}{
		{`{"a b":{"c":"d"},"k.k":5}`, []any{jsonDoc, "$.o"}}, {`[10,{"x":1},[true]]`, []any{jsonDoc, "$.arr"}}, {"NULL", []any{jsonDoc, "$.id_c"}}, {"NULL", []any{jsonDoc, "lax $.n"}},
		{"[7]", []any{jsonDoc, "$.id_c", str, "UNCONDITIONAL", "NULL", "NULL"}}, {"[7]", []any{jsonDoc, "$.id_c", str, "CONDITIONAL", "NULL", "NULL"}}, {`[10,{"x":1},[true]]`, []any{jsonDoc, "$.arr", str, "CONDITIONAL", "NULL", "NULL"}},
		{`[[true]]`, []any{jsonDoc, "$.arr[2]", str, "UNCONDITIONAL", "NULL", "NULL"}}, {`[{"x":1}]`, []any{jsonDoc, "$.arr[1]", str, "CONDITIONAL", "NULL", "NULL"}}, {`["a\"\u00e9\ud83d\ude00\n"]`, []any{jsonDoc, "$.s", str, "UNCONDITIONAL", "NULL", "NULL"}},
		{"{}", []any{jsonDoc, "lax $.none", str, "WITHOUT", "EMPTY OBJECT", "NULL"}}, {"[]", []any{jsonDoc, "$.none", str, "WITHOUT", "NULL", "EMPTY ARRAY"}}, {"error: WITH WRAPPER", []any{jsonDoc, "strict $.id_c", str, "WITHOUT", "NULL", "ERROR"}},
		{"error: the text is no JSON", []any{"[1,]", "$", str, "WITHOUT", "NULL", "ERROR"}}, {`[{"c":"d"},5]`, []any{jsonDoc, "$.o.*"}}, {"[1]", []any{`[{"x":1},2]`, "lax $[*].x"}}, {"[]", []any{"[]", "$[*]"}},
		{`[10, {"x":1}, [true]]`, []any{jsonDoc, "$.arr", list, "WITHOUT", "NULL", "NULL"}}, {`[é"\n, NULL, [1,2], 1e400]`, []any{` [ "\u00e9\"\\n" , null,[ 1, 2 ],1e400]`, "$", list, "WITHOUT", "NULL", "NULL"}},
		{"[]", []any{"[]", "$", list, "WITHOUT", "NULL", "NULL"}}, {"[]", []any{jsonDoc, "$.none", list, "WITHOUT", "NULL", "EMPTY ARRAY"}}, {"NULL", []any{jsonDoc, "$.o", list, "WITHOUT", "NULL", "NULL"}},
		{"error: not to an array", []any{jsonDoc, "$.o", list, "WITHOUT", "NULL", "ERROR"}}, {"[7]", []any{jsonDoc, "$.id_c", list, "UNCONDITIONAL", "NULL", "NULL"}},
		{"error: EMPTY OBJECT is no ARRAY", []any{jsonDoc, "$", list, "WITHOUT", "NULL", "EMPTY OBJECT"}}, {"error: returns STRING or ARRAY<STRING>", []any{jsonDoc, "$", NullConst(types.Of(types.Int)), "WITHOUT", "NULL", "NULL"}},
	} {
		check(t, c.want, "JSON_QUERY", c.args...)
	}
	for _, c := range []struct {
		want string
		args []any
	}{
		{"TRUE", []any{jsonDoc, "$.n"}}, {"FALSE", []any{jsonDoc, "$.none"}}, {"FALSE", []any{jsonDoc, "lax $.none"}}, {"TRUE", []any{jsonDoc, "$.arr[1]"}}, {"FALSE", []any{jsonDoc, "$.arr[3]"}},
		{"TRUE", []any{"[1]x", "$", "TRUE"}}, {"error: no JSON", []any{"[1]x", "$", "ERROR"}}, {"NULL", []any{nil, "$.a"}},
	} {
		check(t, c.want, "JSON_EXISTS", c.args...)
	}
	check(t, "FALSE", "IS JSON OBJECT", "[1]")
	check(t, "TRUE", "IS JSON SCALAR", " -1 ")
	check(t, "FALSE", "IS JSON", "")
}

func TestJSONPathErrors(t *testing.T) {
	for _, p := range []string{"", "a", "lax", "$.", "$a", "$[", "$[a]", "$['a", "$['a'", "$.a()", "$..", "$..[", "$.a b", "$[1:a]", "$[1,]", "$[1:2:3]", "$[?(@.a]", "$[?(@.a ==)]", "$[?(@.a == x)]",
		"$[?(1)]", "$[?(@..a)]", "$[?(@.a =~ /(/)]", "$[?(@.a =~ /a)]", "$[?(@.a in 1)]", "$[?(@.a && )]", "$ ? (@.a", "$[?(@.length() > 1)]", "$['a','b']", "$[last + 1]"} {
		if _, err := compileJSONPath(p); err == nil {
			t.Errorf("%q is a path", p)
		}
	}
}

func FuzzJSON(f *testing.F) {
	for _, s := range []string{jsonDoc, "[]", "[", "1.5e3", `"\u12"`, "[1,2", `{"a":[{}]}`, "nul", "-", "01", "\"\x01\""} {
		f.Add([]byte(s))
	}
	var paths []*jsonPath
	for _, source := range []string{"lax $.a[0].b", "$..a", "strict $..*", "$[-1]..[1:].b", "$[?(@.a >= 1 || @ == $.b)]", "lax $.a ? (@ < 'x' && !(@ == 0))[0, 1]", "lax $[*] ? (@.x =~ /a/)"} {
		path, err := compileJSONPath(source)
		if err != nil {
			f.Fatal(err)
		}
		paths = append(paths, path)
	}
	var w jsonWalk
	f.Fuzz(func(t *testing.T, s []byte) {
		want := json.Valid(s)
		if got := jsonText(s).valid(); got != want {
			t.Fatalf("%q: valid is %v, encoding/json says %v", s, got, want)
		}
		for _, path := range paths {
			if got := w.find(s, path) != errJSONSyntax; got != want {
				t.Fatalf("%q: the walk says %v, encoding/json %v", s, got, want)
			}
			for _, v := range w.found {
				if want && !json.Valid(v) {
					t.Fatalf("%q: found %q", s, v)
				}
			}
		}
		if !want {
			return
		}
		if c := compact(nil, s); !json.Valid(c) {
			t.Fatalf("%q compacted to %q", s, c)
		}
	})
}

// The forms of all types, and the nesting of constructors.
func TestJSONBuild(t *testing.T) {
	object := func(args ...any) Expr { return resolved(t, "JSON_OBJECT", args...) }
	pair := types.RowOf(types.Field{Name: "a\"b", Type: types.Of(types.BigInt)}, types.Field{Name: "t", Type: types.TimestampLTZOf(3)})
	for _, c := range []struct {
		want string
		arg  any
	}{
		{"9223372036854775807", int64(math.MaxInt64)}, {"-0.0", math.Copysign(0, -1)}, {"1.0E10", 1e10}, {"error: JSON has no number NaN", math.NaN()},
		{"-12345678901234567890123456789012.345678", dec("-12345678901234567890123456789012.345678", 38, 6)}, {"false", false},
		{"\"\\u0001\u007f😀\\\\/\"", "\x01\u007f😀\\/"}, {`"3q0="`, &Const{Value: row.String("\xde\xad"), T: types.Bytes().Required()}}, {`"-0001-12-31"`, date("-0001-12-31")},
		{`"12:34:56"`, lit(types.Type{Kind: types.Time}, "12:34:56")}, {`"1969-12-31T23:59:59.999Z"`, instant("1969-12-31 23:59:59.999")},
		{`[[1,null],[]]`, resolved(t, "ARRAY", resolved(t, "ARRAY", 1, nil), resolved(t, "ARRAY_REMOVE", resolved(t, "ARRAY", 1), 1))},
		{`{"b":1,"a":2}`, resolved(t, "MAP", "b", 1, "a", 2)}, {`{"a\"b":1,"t":"2024-02-29T00:00:00.000Z"}`, must(Cast(resolved(t, "ROW", 1, instant("2024-02-29")), pair, false))},
		{"error: the keys must be strings", resolved(t, "MAP", 1, 1)}, {"error: no form for INTERVAL", days("1 00:00:00")},
	} {
		check(t, c.want, "JSON_STRING", c.arg)
	}
	array := resolved(t, "JSON_ARRAY", "NULL", object("ABSENT", "x", nil, "y", object("NULL", "z", 1)), nil, resolved(t, "JSON", "[1, 2]"), "[1, 2]")
	checkExpr(t, `[{"y":{"z":1}},null,[1, 2],"[1, 2]"]`, "nested", array, nil)
	check(t, `{"k":{},"k":"{}"}`, "JSON_OBJECT", "NULL", "k", object("NULL"), "k", resolved(t, "||", object("NULL"), ""))
	check(t, "error: must not be NULL", "JSON_OBJECT", "NULL", nil, 1)
	check(t, "error: a key is NULL", "JSON_OBJECT", "NULL", resolved(t, "NULLIF", "a", "a"), 1)
	// Texts that are built within one another, beside results in the scratch memory.
	outer := resolved(t, "||", object("NULL", resolved(t, "UPPER", "a"), resolved(t, "||", resolved(t, "LOWER", "B"), resolved(t, "JSON_STRING", "c"))), resolved(t, "REVERSE", "xy"))
	checkExpr(t, `{"A":"b\"c\""}yx`, "nested", outer, nil)
}

// Numbers compared as text against exact fractions.
func FuzzJSONNumbers(f *testing.F) {
	for _, s := range []string{"0", "-0.0", "1e2", "100", "0.001", "1E-3", "-5", "123.4560", "9007199254740993"} {
		f.Add(s, "1")
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		for _, s := range []string{a, b} {
			if i := jsonText(s).value(0, 0); len(s) == 0 || len(s) > 40 || !strings.ContainsAny(s[:1], "-0123456789") || i != len(s) {
				return
			}
			if i := strings.IndexAny(s, "eE"); i >= 0 && len(s)-i > 5 {
				return
			}
		}
		x, ok1 := new(big.Rat).SetString(a)
		y, ok2 := new(big.Rat).SetString(b)
		if !ok1 || !ok2 {
			t.Fatalf("%s %s", a, b)
		}
		if got := compareJSONNumbers([]byte(a), []byte(b)); got != x.Cmp(y) {
			t.Fatalf("%s and %s compare as %d, not %d", a, b, got, x.Cmp(y))
		}
	})
}
