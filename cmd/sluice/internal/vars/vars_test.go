package vars

import (
	"errors"
	"strings"
	"testing"

	"github.com/sluicesql/sluice/sql/ast"
)

func testSet() *Set {
	return &Set{
		Values: map[string]string{"BROKERS": "a:9092,b:9092", "EMPTY": "", "QUOTED": "it's `x`", "LINES": "1\n2\n3", "T": "users"},
		Known:  []string{"HOME"},
	}
}

func TestExpand(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"SELECT 1", "SELECT 1"},
		{"'${BROKERS}'", "'a:9092,b:9092'"},
		{"'${NONE:-x:1}' ${T}", "'x:1' users"},
		{"'${EMPTY:-d}' '${EMPTY}'", "'d' ''"},
		{"'${NONE:-}'", "''"},
		{"'${NONE:-${NONE:-${T}}}'", "'users'"},
		{"'${QUOTED}' `${QUOTED}` ${QUOTED}", "'it''s `x`' `it's ``x``` it's `x`"},
		{"'a''${QUOTED}'", "'a''it''s `x`'"},
		{"-- ${NONE}\n${T} /* ${NONE} */ /*+ OPTIONS('k'='${T}') */", "-- ${NONE}\nusers /* ${NONE} */ /*+ OPTIONS('k'='users') */"},
		{"'-- ${T}' '/* ${T} */'", "'-- users' '/* users */'"},
		{"'$${T}' $ {T} '$.a'", "'${T}' $ {T} '$.a'"},
		{"/* open ${NONE}", "/* open ${NONE}"},
	} {
		got, err := testSet().Expand("f.sql", c.in)
		if err != nil {
			t.Errorf("%s: %v", c.in, err)
		} else if got.Expanded != c.want {
			t.Errorf("%s: got %s, want %s", c.in, got.Expanded, c.want)
		}
	}
}

func TestExpandErrors(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"a\n é ${BROKER}", "f.sql:2:4: the variable ${BROKER} is not set; did you mean ${BROKERS}? Otherwise set it in the environment or with --set-var BROKER=VALUE"},
		{"${ZZZZZZ}", "f.sql:1:1: the variable ${ZZZZZZ} is not set; set it in the environment or with --set-var ZZZZZZ=VALUE"},
		{"x ${}", "f.sql:1:3: this is no variable; write"},
		{"x ${a-b}", "f.sql:1:3: this is no variable; write"},
		{"x ${1}", "f.sql:1:3: this is no variable; write"},
		{"x ${T", "f.sql:1:3: this is no variable; write"},
		{"x ${T:-abc", "f.sql:1:3: this is no variable; write"},
		{strings.Repeat("${N:-", 30) + strings.Repeat("}", 30), "f.sql:1:1: defaults of variables are nested"},
	} {
		_, err := testSet().Expand("f.sql", c.in)
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s", c.in, err, c.want)
		}
	}
	_, err := testSet().Expand("f.sql", "${X1} ${X2}")
	var list ast.ErrorList
	if !errors.As(err, &list) || len(list) != 2 {
		t.Errorf("two unset variables: %v", err)
	}
}

// Every place outside of values is found again in the original, character by character.
func TestLocate(t *testing.T) {
	const src = "\uFEFFé${LINES}ü ${EMPTY}${EMPTY}z\n'${QUOTED}'q $${T} w"
	text, err := testSet().Expand("f.sql", src)
	if err != nil {
		t.Fatal(err)
	}
	at := func(sub string) ast.Pos { return Place("f.sql", text.Expanded, strings.Index(text.Expanded, sub)) }
	for _, c := range []struct {
		sub, orig, variable string
		line, col           int
	}{
		{"é", "é", "", 1, 1},
		{"2\n", "${LINES}", "LINES", 1, 2},
		{"ü", "ü", "", 1, 10},
		{"z", "z", "", 1, 28},
		{"it''s", "${QUOTED}", "QUOTED", 2, 2},
		{"q ", "q ", "", 2, 12},
		{"${T", "$${T", "", 2, 14},
		{"w", "w", "", 2, 20},
	} {
		p, v := text.Locate(at(c.sub))
		if !strings.HasPrefix(src[p.Offset:], c.orig) || v != c.variable || p.Line != c.line || p.Col != c.col {
			t.Errorf("%q: got %+v (%q) at %q, want %d:%d", c.sub, p, v, src[p.Offset:], c.line, c.col)
		}
	}
	if p, _ := text.Locate(ast.Pos{}); p.IsValid() {
		t.Error("an invalid place became valid")
	}
}

// At is the inverse of Place, at every character of a text.
func TestAt(t *testing.T) {
	for _, src := range []string{"", "a", "SELECT\n 日本 = 1\r\n\nx", "\uFEFFa\nb"} {
		text := &Text{File: "f", Original: src, Expanded: src}
		for off := range src {
			want := Place("f", src, off)
			if src[off:] != strings.TrimPrefix(src[off:], "\uFEFF") {
				continue // no character of the line
			}
			if got, ok := text.At(want.Line, want.Col); !ok || got != want {
				t.Errorf("%q at %d: %+v, %v", src, off, got, ok)
			}
		}
		if at, ok := text.At(9, 1); ok {
			t.Errorf("%q has no ninth line: %+v", src, at)
		}
		if at, ok := text.At(1, 99); ok {
			t.Errorf("%q has no such column: %+v", src, at)
		}
	}
}
