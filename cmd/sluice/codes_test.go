package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/sluicesql/sluice/sql/ast"
)

// The examples of codes are files of testdata/codes: CODE.sql shows the finding, and CODE.fixed.sql, for lints, does not.
// The tables of _tables.sql come before each.
const codeTables = "_tables.sql"

// TestCodePages holds docs/errors.md and docs/lints.md to the list of codes and to what sluice check says of their
// examples; with -rewrite it writes them.
func TestCodePages(t *testing.T) {
	examples := filepath.Join(repository(t), "cmd/sluice/testdata/codes")
	tables := string(read(t, filepath.Join(examples, codeTables)))
	for page, want := range map[string]string{"docs/errors.md": errorsPage(t, examples, tables), "docs/lints.md": lintsPage(t, examples, tables)} {
		holdPage(t, page, want)
	}
	known := map[string]bool{codeTables: true}
	for _, c := range ast.Mistakes() {
		known[string(c)+".sql"] = true
	}
	for _, c := range ast.Lints() {
		known[string(c)+".sql"], known[string(c)+".fixed.sql"] = true, true
	}
	files, err := os.ReadDir(examples)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !known[f.Name()] {
			t.Errorf("testdata/codes/%s is the example of no code", f.Name())
		}
	}
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func errorsPage(t *testing.T, examples, tables string) string {
	var b strings.Builder
	b.WriteString(`# Errors

Every error says what is wrong, where, and what to do. One in SQL shows its place as ` + "`file:line:column`" + `, the line with a caret under the word, the code in brackets, and a remedy or the name that was probably meant:

` + "```text\n" + found(t, examples, "unknown-column.sql") + "```" + `

One in data names the topic, the partition, the offset and, where there is one, the field, and ends the job after everything before it has been written; [reliability.md](reliability.md) tells how to go on. Every error has a code, in brackets at the end of its first line; the remedy, after "hint:", has a line of its own. The code stands in the formats json, github and sarif of ` + "`sluice check`" + `, and in the header ` + "`sluice.reason`" + ` of dead letters too.

` + "`sluice check`" + ` tells all mistakes of a script at once, ` + "`sluice run`" + ` and ` + "`sluice explain`" + ` the first. The examples below are run by a test over these tables:

` + "```sql\n" + tables + "```\n")
	b.WriteString("\n## SQL\n")
	for _, c := range ast.Mistakes() {
		fmt.Fprintf(&b, "\n### %s\n\n%s\n\n%s", c, ast.Sentence(c), example(t, examples, c))
	}
	b.WriteString(faultsPage(t))
	return b.String()
}

// listed reports whether a code is in the documentation.
func listed(c ast.Code) bool { return ast.Sentence(c) != "" }

func lintsPage(t *testing.T, examples, tables string) string {
	var b strings.Builder
	b.WriteString(`# Lints

What ` + "`sluice check`" + ` warns of: it runs, and is probably not what was meant. With ` + "`--strict`" + ` lints are errors. The examples are run by a test, over the tables of [errors.md](errors.md); the second of each is free of the lint.
`)
	for _, c := range ast.Lints() {
		fixed := string(c) + ".fixed.sql"
		if out := found(t, examples, fixed); out != "" {
			t.Errorf("%s has findings:\n%s", fixed, out)
		}
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n%s\nBetter:\n\n```sql\n%s```\n", c, ast.Sentence(c), example(t, examples, c), read(t, filepath.Join(examples, fixed)))
	}
	return b.String()
}

// example is the example of a code with what sluice check says of it.
func example(t *testing.T, examples string, c ast.Code) string {
	t.Helper()
	file := string(c) + ".sql"
	out := found(t, examples, file)
	if !strings.Contains(out, "["+string(c)+"]") {
		t.Errorf("%s does not show the code %s:\n%s", file, c, out)
	}
	return fmt.Sprintf("```sql\n%s```\n\n```text\n%s```\n", read(t, filepath.Join(examples, file)), out)
}

var findingStart = regexp.MustCompile(`(?m)^(\S+\.sql):\d+:\d+: .*\n(?:[ ].*\n)*`)

// found are the findings of one example, without those on the tables before it.
func found(t *testing.T, examples, file string) string {
	t.Helper()
	o := sluice(t, examples, "", "check", codeTables, file)
	if o.stderr != "" {
		t.Fatalf("%s: %s", file, o.stderr)
	}
	var b strings.Builder
	for _, m := range findingStart.FindAllStringSubmatch(o.stdout, -1) {
		if m[1] == file {
			b.WriteString(m[0])
		}
	}
	return b.String()
}
