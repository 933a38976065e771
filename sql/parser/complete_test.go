package parser

import "testing"

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
