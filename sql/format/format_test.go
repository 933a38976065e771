package format

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/sluicesql/sluice/sql/ast"
	"github.com/sluicesql/sluice/sql/parser"
)

func TestFormat(t *testing.T) {
	datadriven.RunTest(t, "testdata/format", func(t *testing.T, d *datadriven.TestData) string {
		out, err := Text("q.sql", d.Input+"\n")
		if err != nil {
			return err.Error() + "\n"
		}
		if again, err := Text("q.sql", out); err != nil || again != out {
			t.Errorf("formatting %s again gives %v\n%s", out, err, again)
		}
		return out
	})
}

// TestRepository formats every SQL text of the repository: the .sql files, and those of the scripts that tests run. What
// is formatted is formatted for good, and means what it meant.
func TestRepository(t *testing.T) {
	root := "../.."
	texts := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		sql := filepath.Ext(path) == ".sql"
		if !sql && !strings.Contains(path, "/testdata/") {
			return nil
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if sql {
			texts++
			hold(t, path, string(b))
			if strings.Contains(path, "/examples/") || strings.Contains(path, "/scaffold/") {
				model(t, path, string(b))
			}
			return nil
		}
		for _, text := range strings.Split(string(b), "\n----") {
			// The input of a script's command begins behind the line of the command.
			if i := strings.LastIndex(text, "\nrun"); i >= 0 {
				if _, text, ok := strings.Cut(text[i+1:], "\n"); ok && parses(text) {
					texts++
					hold(t, path, text)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if texts < 300 {
		t.Errorf("only %d texts were formatted", texts)
	}
}

// model holds a text that others are made after to the layout.
func model(t *testing.T, path, text string) {
	t.Helper()
	if out, err := Text(path, text); err != nil || out != text {
		t.Errorf("%s is not laid out; run sluice fmt: %v\n%s", path, err, out)
	}
}

func parses(text string) bool {
	_, err := parser.Parse("q.sql", text)
	return err == nil
}

// hold formats a text as it is, and with a line break after each token.
func hold(t *testing.T, path, text string) {
	t.Helper()
	holdOne(t, path, text)
	if items, err := splitText(path, text); err == nil {
		var b strings.Builder
		for _, it := range items {
			b.WriteString(it.text + "\n")
		}
		if broken := b.String(); meaning(broken) == meaning(text) { // not where a variable is a part of a token
			holdOne(t, path, broken)
		}
	}
}

// Lines end as they did, in texts that can be formatted and in the places of errors.
func TestLineEnds(t *testing.T) {
	t.Parallel()
	windows := func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }
	const text = "-- A comment.\ncreate table t ( -- one\nid int,\n  /* two\n lines */ name string\n) with ('a'='b\nc');\n\n\n\nselect '\n'\n"
	want, err := Text("q.sql", text)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := Text("q.sql", windows(text)); err != nil || got != windows(want) {
		t.Errorf("got %q, %v, want %q", got, err, windows(want))
	}
	_, err = Text("q.sql", windows("select 1;\nselect from t"))
	e, ok := errors.AsType[*ast.Error](err)
	if list, many := errors.AsType[ast.ErrorList](err); many {
		e, ok = list[0], true
	}
	if !ok || e.Pos.Line != 2 || e.Pos.Offset != len("select 1;\r\nselect ") {
		t.Errorf("got %v", err)
	}
}

func holdOne(t *testing.T, path, text string) {
	t.Helper()
	out, err := Text(path, text)
	if err != nil {
		if parses(text) {
			t.Errorf("%s: %v", path, err)
		}
		return
	}
	if again, err := Text(path, out); err != nil || again != out {
		t.Errorf("%s: formatting it again gives %v\n%s\nafter\n%s", path, err, again, out)
	}
	if got, want := meaning(out), meaning(text); got != want {
		t.Errorf("%s: formatting changes\n%s\nto\n%s", path, want, got)
	}
}

// meaning is what the statements of a text are.
func meaning(text string) string {
	masked, _ := mask(text)
	stmts, err := parser.Parse("q.sql", masked)
	if err != nil {
		return err.Error()
	}
	var b strings.Builder
	for _, st := range stmts {
		b.WriteString(ast.String(st) + ";\n")
	}
	return b.String()
}
