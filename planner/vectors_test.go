package planner

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/sluicesql/sluice/engine/expr"
	"github.com/sluicesql/sluice/engine/text"
	"github.com/sluicesql/sluice/sql/ast"
	"github.com/sluicesql/sluice/sql/parser"
)

// TestVectors evaluates the expressions of the scripts in vectors, one a line, and shows their values and types, or
// their errors. "eval zone=…" sets the session's time zone, "let" the text that :text stands for. An expression is
// evaluated as it is, and again after folding; both must agree.
func TestVectors(t *testing.T) {
	datadriven.Walk(t, "vectors", func(t *testing.T, path string) {
		text := ""
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "let":
				text = "'" + strings.ReplaceAll(d.Input, "'", "''") + "'"
				return "ok\n"
			case "eval":
			default:
				d.Fatalf(t, "unknown command %q", d.Cmd)
			}
			s := NewSession(fakeRegistry())
			if d.HasArg("zone") {
				var zone string
				d.ScanArgs(t, "zone", &zone)
				if got := runScript(s, "SET 'table.local-time-zone' = '"+zone+"'"); got != "ok\n" {
					d.Fatalf(t, "%s", got)
				}
			}
			var b strings.Builder
			for line := range strings.Lines(d.Input) {
				b.WriteString(evalSQL(t, s, strings.ReplaceAll(strings.TrimSpace(line), ":text", text)) + "\n")
			}
			return b.String()
		})
	})
}

// evalSQL is the value and the type of an expression, or the error.
func evalSQL(t *testing.T, s *Session, source string) string {
	t.Helper()
	const prefix = "SELECT "
	stmts, err := parser.Parse("", prefix+source)
	if err != nil {
		return "error: " + err.Error()
	}
	item := stmts[0].(*ast.QueryStatement).Query.Body.(*ast.Select).Items[0]
	b := &binder{s: s, columns: &columnTable{}}
	e, err := b.expr(item.Expr, &scope{})
	if err != nil {
		return "error: " + err.Error()
	}
	value := evalConst(s, e)
	if folded := evalConst(s, expr.Fold(e, s.exprCtx())); folded != value {
		t.Errorf("%s = %s, folded %s", source, value, folded)
	}
	return fmt.Sprintf("%s  %s", value, e.Type())
}

func evalConst(s *Session, e expr.Expr) string {
	f, err := expr.Compile(e)
	if err != nil {
		return "error: " + err.Error()
	}
	c := s.exprCtx()
	d := f(c, nil)
	if c.Err != nil {
		return "error: " + c.Err.Error()
	}
	return string(text.Append(nil, e.Type(), d, c.Zone))
}

// Every function's examples, as docs/functions.md shows them, are SQL with the results that they claim.
func TestExamplesAreSQL(t *testing.T) {
	s := NewSession(fakeRegistry())
	for _, f := range expr.Functions() {
		for _, x := range f.Examples {
			source := x.Show(f)
			if source == "" {
				continue // that it cannot be typed is its point
			}
			got := evalSQL(t, s, source)
			ok := strings.HasPrefix(got, x.Want+"  ")
			if part, isError := strings.CutPrefix(x.Want, "error: "); isError {
				ok = strings.HasPrefix(got, "error: ") && strings.Contains(got, part)
			}
			if !ok {
				t.Errorf("%s = %s, want %s", source, got, x.Want)
			}
		}
	}
}
