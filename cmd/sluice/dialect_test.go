package main

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// dialectRow is a row of a page: | `statement` | works | or | `statement` | `a part of the error` |, and a note after it.
var dialectRow = regexp.MustCompile("(?m)^\\| `([A-Z]+ [^`]+)` \\| (?:works|`([^`]+)`) \\|(?:.*\\|)?$")

// TestDialect holds the tables of statements to what the binary does. The blocks of SQL before them are the tables
// that they are about.
func TestDialect(t *testing.T) {
	for page, least := range map[string]int{"docs/sql.md": 110, "docs/howto/from-flink-sql.md": 40} {
		var tables string
		for _, b := range blocksOf(t, page) {
			if b.info == "sql" {
				tables += b.text
			}
		}
		rows := dialectRow.FindAllStringSubmatch(string(read(t, filepath.Join(repository(t), page))), -1)
		if len(rows) < least {
			t.Errorf("%s has only %d rows", page, len(rows))
		}
		for _, m := range rows {
			statement, want := m[1], m[2]
			switch got := planned(tables + statement + ";"); {
			case want == "" && got != nil:
				t.Errorf("%s: %s\n\tworks, says the page; but %v", page, statement, got)
			case want != "" && got == nil:
				t.Errorf("%s: %s\n\tworks, but the page says %s", page, statement, want)
			case want != "" && !strings.Contains(got.Error(), want):
				t.Errorf("%s: %s\n\tgot  %v\n\twant %s", page, statement, got, want)
			}
		}
	}
}
