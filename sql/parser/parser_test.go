package parser

import (
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/sluicesql/sluice/sql/ast"
)

// TestGolden runs the scripts of testdata/parse:
//
//	parse   statements, printed in canonical form, or the mistakes
//	expr    expressions, one a line, with all parentheses
//	tree    statements as trees with positions
//	lines   statements, each line a text of its own
//
// Whatever can be parsed is printed, parsed and compared once more.
func TestGolden(t *testing.T) {
	datadriven.Walk(t, "testdata/parse", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "parse":
				return parseText(t, d.Input)
			case "lines":
				var b strings.Builder
				for line := range strings.Lines(d.Input) {
					b.WriteString(parseText(t, strings.TrimSuffix(line, "\n")))
				}
				return b.String()
			case "expr":
				var b strings.Builder
				for line := range strings.Lines(d.Input) {
					e, err := ParseExpr("t.sql", strings.TrimSuffix(line, "\n"))
					if err != nil {
						b.WriteString(err.Error() + "\n")
						continue
					}
					b.WriteString(nested(e) + "\n")
					checkExprRoundTrip(t, e)
				}
				return b.String()
			case "tree":
				stmts, err := Parse("t.sql", d.Input)
				if err != nil {
					return err.Error() + "\n"
				}
				var b strings.Builder
				for _, s := range stmts {
					b.WriteString(dump(s, true) + "\n")
				}
				return b.String()
			}
			t.Fatalf("%s: unknown command %s", d.Pos, d.Cmd)
			return ""
		})
	})
}

func parseText(t *testing.T, text string) string {
	var b strings.Builder
	stmts, err := Parse("t.sql", text)
	for _, s := range stmts {
		b.WriteString(ast.String(s) + ";\n")
		checkRoundTrip(t, s)
	}
	if err != nil {
		b.WriteString(err.Error() + "\n")
		checkErrors(t, text, err)
		checkCodes(t, err)
	}
	return b.String()
}

// checkCodes checks that the code of every mistake is that of the kind that its message tells.
func checkCodes(t *testing.T, err error) {
	t.Helper()
	list, _ := err.(ast.ErrorList)
	for _, e := range list {
		want := ast.CodeSyntax
		switch {
		case strings.Contains(e.Msg, "not supported"):
			want = ast.CodeUnsupported
		case strings.HasPrefix(e.Msg, "unknown type"):
			want = ast.CodeUnknownType
		case strings.Contains(e.Msg, "nested more than"), strings.Contains(e.Msg, "in one chain"), strings.Contains(e.Msg, "larger than"):
			want = ast.CodeLimit
		}
		if e.Code != want {
			t.Errorf("%v has the code %s and not %s", e, e.Code, want)
		}
	}
}

func checkRoundTrip(t *testing.T, s ast.Statement) {
	t.Helper()
	text := ast.String(s)
	again, err := Parse("again.sql", text)
	if err != nil {
		t.Errorf("the printed statement can't be parsed: %s\n%v", text, err)
		return
	}
	if len(again) != 1 || dump(s, false) != dump(again[0], false) {
		t.Errorf("printing and parsing changed the statement: %s\n%s\n%s", text, dump(s, false), dump(again, false))
	}
}

func checkExprRoundTrip(t *testing.T, e ast.Expr) {
	t.Helper()
	text := ast.String(e)
	again, err := ParseExpr("again.sql", text)
	if err != nil {
		t.Errorf("the printed expression can't be parsed: %s\n%v", text, err)
		return
	}
	if dump(e, false) != dump(again, false) {
		t.Errorf("printing and parsing changed the expression: %s\n%s\n%s", text, dump(e, false), dump(again, false))
	}
}

// checkErrors checks that every mistake has a place within the text, and that
// line, column and offset name the same place.
func checkErrors(t *testing.T, text string, err error) {
	t.Helper()
	list, ok := err.(ast.ErrorList)
	if !ok || len(list) == 0 || len(list) > MaxErrors {
		t.Errorf("not a list of errors: %v", err)
		return
	}
	for _, e := range list {
		if strings.Contains(e.Msg, "internal error") {
			t.Errorf("%v\n%s", e, text)
		}
		if e.Pos.Offset < 0 || e.Pos.Offset > len(text) {
			t.Errorf("%v is outside of the text", e)
			continue
		}
		before := strings.TrimPrefix(text[:e.Pos.Offset], "\uFEFF")
		line := strings.Count(before, "\n") + 1
		col := len([]rune(before[strings.LastIndexByte(before, '\n')+1:])) + 1
		if line != e.Pos.Line || col != e.Pos.Col {
			t.Errorf("%v: offset %d is %d:%d", e, e.Pos.Offset, line, col)
		}
	}
}

// nested prints an expression with parentheses around every operator, which
// shows how it was read.
func nested(e ast.Expr) string {
	par := func(parts ...string) string { return "(" + strings.Join(parts, " ") + ")" }
	not := func(n bool, word string) string {
		if n {
			return "NOT " + word
		}
		return word
	}
	switch e := e.(type) {
	case *ast.Unary:
		return par(string(e.Op), nested(e.Expr))
	case *ast.Binary:
		return par(nested(e.Left), string(e.Op), nested(e.Right))
	case *ast.Is:
		return par(nested(e.Expr), "IS", not(e.Not, string(e.Kind)))
	case *ast.Between:
		return par(nested(e.Expr), not(e.Not, "BETWEEN"), nested(e.Low), "AND", nested(e.High))
	case *ast.In:
		items := []string{nested(e.Expr), not(e.Not, "IN")}
		for _, x := range e.List {
			items = append(items, nested(x))
		}
		if e.Query != nil {
			items = append(items, "("+ast.String(e.Query)+")")
		}
		return par(items...)
	case *ast.Like:
		word := "LIKE"
		if e.Similar {
			word = "SIMILAR TO"
		}
		items := []string{nested(e.Expr), not(e.Not, word), nested(e.Pattern)}
		if e.Escape != nil {
			items = append(items, "ESCAPE", nested(e.Escape))
		}
		return par(items...)
	case *ast.FieldAccess:
		return par(nested(e.Expr), ".", e.Field.Name)
	case *ast.ElementAccess:
		return par(nested(e.Expr), "[]", nested(e.Index))
	}
	return ast.String(e)
}
