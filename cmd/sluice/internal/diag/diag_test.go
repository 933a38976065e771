package diag

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/sluicesql/sluice/sql/ast"
)

func render(src string, color bool, err error) string {
	var b strings.Builder
	p := Printer{Out: &b, Color: color, Source: func(f string) (string, bool) { return src, f == "f.sql" }}
	p.Print(err)
	return b.String()
}

func at(src, word string) ast.Pos {
	off := strings.Index(src, word)
	start := strings.LastIndexByte(src[:off], '\n') + 1
	return ast.Pos{File: "f.sql", Line: 1 + strings.Count(src[:off], "\n"), Col: 1 + len([]rune(src[start:off])), Offset: off}
}

func TestPrint(t *testing.T) {
	const src = "SELECT a\nFROM\t日本 usrs\r\nWHERE x <> 'it' AND ${N:-1}"
	for _, c := range []struct{ name, got, want string }{
		{"word", render(src, false, &ast.Error{Pos: at(src, "usrs"), Msg: `unknown table "usrs"`, Hint: `did you mean "users"?`}),
			"f.sql:2:9: unknown table \"usrs\"\n    2 | FROM    日本 usrs\n      |              ^^^^\n      hint: did you mean \"users\"?\n"},
		{"operator", render(src, false, &ast.Error{Pos: at(src, "<>"), Msg: "m"}),
			"f.sql:3:9: m\n    3 | WHERE x <> 'it' AND ${N:-1}\n      |         ^^\n"},
		{"string", render(src, false, fmt.Errorf("wrapped: %w", &ast.Error{Pos: at(src, "'it'"), Msg: "m"})),
			"f.sql:3:12: m\n    3 | WHERE x <> 'it' AND ${N:-1}\n      |            ^^^^\n"},
		{"variable", render(src, false, &ast.Error{Pos: at(src, "${N"), Msg: "m"}),
			"f.sql:3:21: m\n    3 | WHERE x <> 'it' AND ${N:-1}\n      |                     ^^^^^^^\n"},
		{"end", render("SELECT", false, &ast.Error{Pos: ast.Pos{File: "f.sql", Line: 1, Col: 7, Offset: 6}, Msg: "m"}),
			"f.sql:1:7: m\n    1 | SELECT\n      |       ^\n"},
		{"other file", render(src, false, &ast.Error{Pos: ast.Pos{File: "g.sql", Line: 1, Col: 7, Offset: 6}, Msg: "m"}), "g.sql:1:7: m\n"},
		{"no place", render(src, false, &ast.Error{Msg: "m", Hint: "h"}), "sluice: m\n      hint: h\n"},
		{"list", render(src, false, ast.ErrorList{{Msg: "a"}, {Msg: "b"}}), "sluice: a\nsluice: b\n"},
		{"plain", render(src, false, errors.New("kafka users/3@88: bad\x1b[2J")), "sluice: kafka users/3@88: bad␛[2J\n"},
		{"colour", render("x", true, &ast.Error{Pos: at("x", "x"), Msg: "m"}), "\x1b[1mf.sql:1:1:\x1b[0m m\n    1 | x\n      | \x1b[1;31m^\x1b[0m\n"},
	} {
		if c.got != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", c.name, c.got, c.want)
		}
	}
}

// The word at fault is in view and underlined however long its line is.
func TestPrintLongLine(t *testing.T) {
	src := strings.Repeat("é + ", 500) + "WORD" + strings.Repeat(" + z", 500)
	lines := strings.Split(render(src, false, &ast.Error{Pos: at(src, "WORD"), Msg: "m"}), "\n")
	i, j := strings.Index(lines[1], "WORD"), strings.Index(lines[2], "^^^^")
	if i < 0 || len([]rune(lines[1][:i])) != j || len([]rune(lines[1])) > maxExcerpt+10 {
		t.Errorf("got\n%s", strings.Join(lines, "\n"))
	}
}

// An excerpt never shows the value of a secret option, whichever word of its line is at fault.
func TestPrintMasksSecrets(t *testing.T) {
	const src = "CREATE TABLE t (a INT) WITH ('topic' = 'it''s', 'properties.sasl.jaas.config'='m required password=\"HIDE''HIDE\";',\n" +
		" 'properties.ssl.keystore.password' = 'HIDE', 'properties.ssl.keystore.key' = 'HIDE\nHIDE\n', 'wrong' = 'x', 'password' = 'HIDE"
	for _, word := range []string{"CREATE", "'topic'", "'it''s'", "'properties.sasl", "'m required", "'HIDE'", "'HIDE\n", "HIDE\n'", "'wrong'", "'x'", "'password'"} {
		got := render(src, false, &ast.Error{Pos: at(src, word), Msg: "m"})
		if strings.Contains(got, "HIDE") || !strings.Contains(got, "^") {
			t.Errorf("%s: got\n%s", word, got)
		}
	}
	if got := render(src, false, &ast.Error{Pos: at(src, "'wrong'"), Msg: "m"}); !strings.Contains(got, "'wrong' = 'x'") || !strings.Contains(got, "^^^^^^^\n") {
		t.Errorf("got\n%s", got)
	}
}

// Nor does it where the option is not written as it has to be, and the message, which says what was found, shows it neither.
func TestPrintMasksSecretsOfMistakes(t *testing.T) {
	for _, c := range []struct{ option, secret string }{
		{`'properties.sasl.jaas.config' /* = */ = 'HIDE'`, "HIDE"},
		{"'properties.sasl.jaas.config' -- its\n = 'HIDE'", "HIDE"},
		{`'properties.sasl.jaas.config' 'm required password="HIDE it''s";'`, `m required password="HIDE it's";`},
		{`'properties.sasl.jaas.config': 'HIDE'`, "HIDE"},
		{`'properties.sasl.jaas.config' => 'HIDE'`, "HIDE"},
		{`'properties.sasl.jaas.config' == "it's HIDE"`, "it's HIDE"},
		{`properties.sasl.jaas.config = 'HIDE'`, "HIDE"},
		{`"properties.sasl.jaas.config" = "HIDE, HIDE"`, "HIDE, HIDE"},
		{"`password`='HIDE'", "HIDE"},
		{`'password' = HIDE`, "HIDE"},
		{`'token' = 12HIDE34`, "12HIDE34"},
		{`'token' = '` + strings.Repeat("HIDE", 40) + `'`, strings.Repeat("HIDE", 10) + "…"},
		{`'url' = 'http://user:HIDE@host:1/'`, "HIDE"},
		{`'properties.bootstrap.servers' = 'user:HIDE@host:1'`, "HIDE"},
	} {
		src := "WITH ('topic' = 'seen', " + c.option + ", 'format' = 'json')"
		for _, word := range []string{"WITH", "HIDE", "'format'"} {
			got := render(src, false, &ast.Error{Pos: at(src, word), Msg: "m"})
			if strings.Contains(got, "HIDE") || !strings.Contains(got, "'topic' = 'seen'") && !strings.Contains(got, "'format' = 'json'") {
				t.Errorf("%s: got\n%s", c.option, got)
			}
		}
		e := &ast.Error{Pos: at(src, "HIDE"), Msg: "found " + c.secret, Hint: "write '" + strings.ReplaceAll(c.secret, "'", "''") + "'"}
		if safe := Hide(e, src); strings.Contains(safe.Msg+safe.Hint, "HIDE") || !strings.HasPrefix(safe.Msg, "found ******") {
			t.Errorf("%s: got %v", c.option, safe)
		}
	}
	far := Hide(&ast.Error{Pos: at("SET 'x' = 's3://u:HIDE@b/x'", "SET"), Msg: "the directory s3://u:HIDE@b/x"}, "SET 'x' = 's3://u:HIDE@b/x'")
	if far.Msg != "the directory s3://u:******@b/x" {
		t.Errorf("got %v", far)
	}
	const src = "SELECT token, 'token' AS a FROM t WHERE token = 'x' AND b = 'c'"
	if got := Mask(src); got != src {
		t.Errorf("what is no option is masked: %s", got)
	}
}
