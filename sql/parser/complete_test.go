package parser

import (
	"slices"
	"testing"
)

func TestComplete(t *testing.T) {
	for text, want := range map[string]bool{
		"":                         true,
		" -- nothing\n":            true,
		";":                        true,
		"SELECT 1":                 false,
		"SELECT 1;":                true,
		"SELECT 1; ":               true,
		"SELECT 1; SELECT":         false,
		"SELECT ';":                false,
		"SELECT ';';":              true,
		"SELECT 1 -- ;":            false,
		"SELECT 1 /* ;":            false,
		"SELECT `;":                false,
		"SELECT (1;":               true,
		"SELCT 1;":                 true,
		"SELECT CASE a WHEN 1 END": false,
		"EXECUTE STATEMENT SET BEGIN INSERT INTO t SELECT 1;":                        false,
		"EXECUTE STATEMENT SET BEGIN INSERT INTO t SELECT CASE a WHEN 1 THEN 2 END;": false,
		"EXECUTE STATEMENT SET BEGIN INSERT INTO t SELECT 1; END":                    false,
		"EXECUTE STATEMENT SET BEGIN INSERT INTO t SELECT 1; END;":                   true,
		"EXECUTE STATEMENT SET BEGIN END;":                                           true,
		"BEGIN STATEMENT SET;":                                                       false,
		"BEGIN STATEMENT SET; INSERT INTO t SELECT 1; END;":                          true,
		"EXPLAIN STATEMENT SET BEGIN INSERT INTO t SELECT 1;":                        false,
		"EXPLAIN EXECUTE STATEMENT SET BEGIN INSERT INTO t SELECT 1; END; SELECT 1;": true,
	} {
		if got := Complete(text); got != want {
			t.Errorf("Complete(%q) = %v", text, got)
		}
	}
}

func TestSplit(t *testing.T) {
	for text, want := range map[string][]string{
		"":                               nil,
		" ; -- nothing;\n;":              nil,
		"SELECT 1":                       {"SELECT 1"},
		" /* a */ SELECT 1 ; SELEC 2 ;;": {"SELECT 1", "SELEC 2"},
		"SELECT ';' -- ;\n; -- x\nSET":   {"SELECT ';'", "SET"},
		"BEGIN STATEMENT SET; INSERT INTO t SELECT 1; END; SELECT 2;": {"BEGIN STATEMENT SET; INSERT INTO t SELECT 1; END", "SELECT 2"},
		"SELECT 'é' FROM `;` ; SELECT '":                              {"SELECT 'é' FROM `;`", "SELECT '"},
	} {
		var got []string
		for _, s := range Split(text) {
			got = append(got, text[s.Start:s.End])
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %q", text, got)
		}
	}
}
