package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/sluicesql/sluice/sql/parser"
)

// Commands are lines between statements; a backslash elsewhere is none, and all else keeps its place.
func TestCutCommands(t *testing.T) {
	for text, want := range map[string][]string{
		"":                             nil,
		"\\d":                          {"\\d"},
		"  \\x on  \r\nSELECT 1;\n\\q": {"\\x on", "\\q"},
		"SELECT\n\\x\n1;\n\\g":         {"\\g"},
		"SELECT '\n\\x\n';\n\\g\n":     {"\\g"},
		"/*\n\\x\n*/\n\\g":             {"\\g"},
		"-- it's\n\\x\nSELECT 1":       {"\\x"},
		"SELECT 1; \\x\n":              nil,
		"HELP\nSELECT\nHELP\n1;":       {"HELP"},
		"quit;\nEXIT":                  {"quit;", "EXIT"},
		"EXECUTE STATEMENT SET BEGIN\nINSERT INTO t SELECT 1;\nEND;\n\\d ü\n": {"\\d ü"},
	} {
		sql, commands := cutCommands(text)
		var got []string
		for _, c := range commands {
			got = append(got, c.text)
			if !strings.HasPrefix(text[c.at:], c.text) {
				t.Errorf("%q: %q does not stand at %d", text, c.text, c.at)
			}
		}
		if !slices.Equal(got, want) || len(sql) != len(text) || strings.Count(sql, "\n") != strings.Count(text, "\n") {
			t.Errorf("%q: %q, and %q is left", text, got, sql)
		}
	}
}

func TestStatementAt(t *testing.T) {
	const text = " SELECT 1 ; -- a\n SELEC ';' x;SHOW TABLES"
	spans := parser.Split(text)
	for i := range len(text) + 1 {
		want := ""
		switch {
		case i >= strings.Index(text, "SHOW"):
			want = "SHOW TABLES;"
		case i >= strings.Index(text, "SELEC '"):
			want = "SELEC ';' x;"
		case i >= 1:
			want = "SELECT 1;"
		}
		if got := statementAt(text, spans, i); got != want {
			t.Errorf("%d: %q, not %q", i, got, want)
		}
	}
}
