package expr

import (
	"encoding/json"
	"testing"

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
	for _, c := range []struct {
		want string
		args []any
	}{
		{`{"a b":{"c":"d"},"k.k":5}`, []any{jsonDoc, "$.o"}}, {`[10,{"x":1},[true]]`, []any{jsonDoc, "$.arr"}}, {"NULL", []any{jsonDoc, "$.id_c"}}, {"NULL", []any{jsonDoc, "lax $.n"}},
		{"[7]", []any{jsonDoc, "$.id_c", "UNCONDITIONAL", "NULL", "NULL"}}, {"[7]", []any{jsonDoc, "$.id_c", "CONDITIONAL", "NULL", "NULL"}}, {`[10,{"x":1},[true]]`, []any{jsonDoc, "$.arr", "CONDITIONAL", "NULL", "NULL"}},
		{`[[true]]`, []any{jsonDoc, "$.arr[2]", "UNCONDITIONAL", "NULL", "NULL"}}, {`[{"x":1}]`, []any{jsonDoc, "$.arr[1]", "CONDITIONAL", "NULL", "NULL"}}, {`["a\"\u00e9\ud83d\ude00\n"]`, []any{jsonDoc, "$.s", "UNCONDITIONAL", "NULL", "NULL"}},
		{"{}", []any{jsonDoc, "lax $.none", "WITHOUT", "EMPTY OBJECT", "NULL"}}, {"[]", []any{jsonDoc, "$.none", "WITHOUT", "NULL", "EMPTY ARRAY"}}, {"error: WITH WRAPPER", []any{jsonDoc, "strict $.id_c", "WITHOUT", "NULL", "ERROR"}},
		{"error: the text is no JSON", []any{"[1,]", "$", "WITHOUT", "NULL", "ERROR"}}, {`[{"c":"d"},5]`, []any{jsonDoc, "$.o.*"}}, {"[1]", []any{`[{"x":1},2]`, "lax $[*].x"}}, {"[]", []any{"[]", "$[*]"}},
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
	for _, p := range []string{"", "a", "lax", "$.", "$a", "$[", "$[a]", "$['a", "$['a'", "$.a()", "$..a", "$[-1]", "$.a b", "$[1:2]", "$[?(@.a)]"} {
		if _, err := compileJSONPath(p); err == nil {
			t.Errorf("%q is a path", p)
		}
	}
}

func FuzzJSON(f *testing.F) {
	for _, s := range []string{jsonDoc, "[]", "1.5e3", `"\u12"`, "[1,2", `{"a":[{}]}`, "nul", "-", "01", "\"\x01\""} {
		f.Add([]byte(s))
	}
	path, err := compileJSONPath("lax $.a[0].b")
	if err != nil {
		f.Fatal(err)
	}
	var w jsonWalk
	f.Fuzz(func(t *testing.T, s []byte) {
		want := json.Valid(s)
		if got := jsonText(s).valid(); got != want {
			t.Fatalf("%q: valid is %v, encoding/json says %v", s, got, want)
		}
		if got := w.find(s, path) != errJSONSyntax; got != want {
			t.Fatalf("%q: the walk says %v, encoding/json %v", s, got, want)
		}
		if !want {
			return
		}
		if c := compact(nil, s); !json.Valid(c) {
			t.Fatalf("%q compacted to %q", s, c)
		}
	})
}
