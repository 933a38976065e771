package main

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// dialectRow is a row of docs/sql.md: | `statement` | works | or | `statement` | `a part of the error` |.
var dialectRow = regexp.MustCompile("(?m)^\\| `([^`]+)` \\| (?:works|`([^`]+)`) \\|$")

// TestDialect holds the tables of docs/sql.md to what the binary does.
func TestDialect(t *testing.T) {
	page := string(read(t, filepath.Join(repository(t), "docs/sql.md")))
	var tables string
	for _, block := range blocksOf(t, "docs/sql.md") {
		if block.info == "sql" {
			tables += block.text
		}
	}
	rows := dialectRow.FindAllStringSubmatch(page, -1)
	if len(rows) < 40 {
		t.Fatalf("the page has only %d rows", len(rows))
	}
	for _, m := range rows {
		statement, want := m[1], m[2]
		switch got := planned(tables + statement + ";"); {
		case want == "" && got != nil:
			t.Errorf("%s\n\tworks, says the page; but %v", statement, got)
		case want != "" && got == nil:
			t.Errorf("%s\n\tworks, but the page says %s", statement, want)
		case want != "" && !strings.Contains(got.Error(), want):
			t.Errorf("%s\n\tgot  %v\n\twant %s", statement, got, want)
		}
	}
}
