package parser

import (
	"strings"
	"testing"
	"time"

	"github.com/sluicesql/sluice/sql/ast"
)

// TestLimits feeds texts that are too large, too deep or too long, and some
// that are just small enough. None may take the stack.
func TestLimits(t *testing.T) {
	rep := strings.Repeat
	deep, long := MaxNesting/4, 2*MaxHeight
	for name, c := range map[string]struct{ text, want string }{
		"text":              {rep(" ", MaxText+1), "t.sql:1:1: the text is larger than 16 MiB"},
		"tokens":            {rep(";", MaxTokens+1), "the text has more than 4194304 tokens"},
		"parentheses":       {"SELECT " + rep("(", 100_000) + "1" + rep(")", 100_000), "nested more than 500"},
		"open parentheses":  {"SELECT " + rep("(", 1_000_000), "never closed"},
		"brackets":          {"SELECT " + rep("a[", 100_000) + "1" + rep("]", 100_000), "nested more than 500"},
		"calls":             {"SELECT " + rep("f(", 100_000) + "1" + rep(")", 100_000), "nested more than 500"},
		"signs":             {"SELECT " + rep("- ", 100_000) + "1", "nested more than 500"},
		"not":               {"SELECT " + rep("NOT ", 100_000) + "a", "nested more than 500"},
		"case":              {"SELECT " + rep("CASE WHEN ", 100_000), "nested more than 500"},
		"types":             {"SELECT CAST(a AS " + rep("ARRAY<", 100_000) + "INT", "never closed"},
		"types closed":      {"SELECT CAST(a AS " + rep("ARRAY<", 1000) + "INT" + rep(">", 1000) + ")", "nested more than 500"},
		"postfix types":     {"SELECT CAST(a AS INT" + rep(" ARRAY", long) + ")", "more than 10000"},
		"array constructor": {"SELECT " + rep("ARRAY[", 100_000), "never closed"},
		"derived tables":    {"SELECT * FROM " + rep("(SELECT * FROM ", 10_000) + "t" + rep(")", 10_000), "nested more than 500"},
		"joins":             {"SELECT * FROM " + rep("(", 10_000) + "t" + rep(")", 10_000), "joins are nested more than 50"},
		"unions":            {rep("(SELECT 1 UNION ", 10_000) + "SELECT 1" + rep(")", 10_000), "nested more than 500"},
		"grouping sets":     {"SELECT a FROM t GROUP BY " + rep("ROLLUP(", 10_000) + rep(")", 10_000), "nested more than 500"},
		"exists":            {rep("SELECT EXISTS (", 10_000) + "SELECT 1" + rep(")", 10_000), "nested more than 500"},
		"plus":              {"SELECT 1" + rep(" + 1", long), "more than 10000 operators"},
		"and":               {"SELECT 1 WHERE a" + rep(" AND a", long), "expected FROM"},
		"elements":          {"SELECT a" + rep("[1]", long), "more than 10000 operators"},
		"is null":           {"SELECT a" + rep(" IS NULL", long), "more than 10000 operators"},
		"chains in chains":  {"SELECT " + rep("(", 100) + "1" + rep(rep(" + 1", 200)+")", 100), "more than 10000 operators"},
		"join chain":        {"SELECT * FROM t" + rep(" CROSS JOIN t", long), "more than 10000 operators or joins"},
		"comma chain":       {"SELECT * FROM t" + rep(", t", long), "more than 10000 operators or joins"},
		"union chain":       {"SELECT 1" + rep(" UNION SELECT 1", long), "more than 10000 operators or joins"},
		"except chain":      {"SELECT 1" + rep(" EXCEPT SELECT 1", long), "more than 10000 operators or joins"},
		"errors":            {rep("SELCT;", 100), "did you mean SELECT?"},

		"parentheses that fit": {"SELECT " + rep("(", 2*deep) + "1" + rep(")", 2*deep), ""},
		"derived that fit":     {"SELECT * FROM " + rep("(SELECT * FROM ", 2*deep) + "t" + rep(")", 2*deep), ""},
		"unions that fit":      {rep("(SELECT 1 UNION ", deep) + "SELECT 1" + rep(")", deep), ""},
		"plus that fits":       {"SELECT 1" + rep(" + 1", MaxHeight/2), ""},
		"joins that fit":       {"SELECT * FROM t" + rep(" JOIN t ON a = b", MaxHeight/10), ""},
		"unions in a row":      {"SELECT 1" + rep(" UNION SELECT 1", MaxHeight/10), ""},
		"items":                {"SELECT 1 + 2 + 3" + rep(", 1 + 2 + 3", long), ""},
		"list":                 {"SELECT a IN (1" + rep(", -1", long) + ")", ""},
		"rows":                 {"VALUES (1, 2)" + rep(", (1, 2)", long), ""},
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			_, err := Parse("t.sql", c.text)
			if d := time.Since(start); d > 20*time.Second {
				t.Errorf("took %v", d)
			}
			switch {
			case c.want == "" && err != nil:
				t.Errorf("refused: %.300s", err.Error())
			case c.want != "" && err == nil:
				t.Errorf("accepted")
			case c.want != "" && !strings.Contains(err.Error(), c.want):
				t.Errorf("got %.300s, want %s", err.Error(), c.want)
			}
			checkCodes(t, err)
			if list, ok := err.(ast.ErrorList); ok && len(list) > MaxErrors {
				t.Errorf("%d errors", len(list))
			}
		})
	}
}
