package main

import (
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sluicesql/sluice/cmd/sluice/internal/vars"
	"github.com/sluicesql/sluice/planner"
)

// heldElsewhere are the pages whose SQL is wrong on purpose: TestCodePages holds it to what sluice check says of it.
var heldElsewhere = []string{"docs/errors.md", "docs/lints.md"}

// TestDocsSQL plans the SQL of each page. The blocks ```sql of a page are one script, in their order, so that a
// block may use the tables of those before it, and so are those ```sql after sluice init, whose first tables are those
// that it writes. A block ```sql alone is a script of its own, and ```sql postgres is for another program.
func TestDocsSQL(t *testing.T) {
	dir := t.TempDir()
	sluice(t, dir, "", "init").succeeded(t)
	ofInit, _, ok := strings.Cut(string(read(t, filepath.Join(dir, "pipeline.sql"))), "CREATE VIEW")
	if !ok {
		t.Fatal("sluice init writes no view")
	}
	for _, page := range pagesOf(t, docs...) {
		if slices.Contains(heldElsewhere, page) {
			continue
		}
		scripts := map[string]string{"sql": "", "sql after sluice init": ofInit}
		for _, b := range blocksOf(t, page) {
			before, script := scripts[b.info]
			switch {
			case script:
				scripts[b.info] += b.text
			case b.info == "sql postgres", !strings.HasPrefix(b.info, "sql"):
				continue
			case b.info != "sql alone":
				t.Errorf("%s:%d: a block cannot be %q", page, b.line, b.info)
			}
			if err := planned(before + b.text); err != nil {
				t.Errorf("%s:%d: %v", page, b.line, err)
			}
		}
	}
}

var variable = regexp.MustCompile(`\$\{(\w+)\}`)

// planned reads and plans a script, in which every variable without a default has a value.
func planned(sql string) error {
	set := &vars.Set{Values: map[string]string{}}
	for _, m := range variable.FindAllStringSubmatch(sql, -1) {
		set.Values[m[1]] = "x"
	}
	stmts, err := newSourceTexts().parseText("t.sql", sql, set)
	if err != nil {
		return err
	}
	_, err = planner.NewSession(newRegistry(io.Discard, io.Discard)).Run(stmts)
	return err
}
