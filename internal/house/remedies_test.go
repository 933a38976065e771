package house

import (
	"go/ast"
	"strconv"
	"strings"
	"testing"
)

// withoutRemedy are the codes whose errors need not say what to do, by folder: "" is everywhere.
var withoutRemedy = map[string][]string{
	"": {"Internal"}, // nobody knows but those who get the report that the documentation asks for
	// What leaves the package passes placed, or the operator whose state it is, which know more of it.
	"engine/state": {"StateDamaged", "RowContradiction", "JobLimit"},
}

// Every error with a code says what to do, unless it wraps one that may know better.
func TestErrorsHaveRemedies(t *testing.T) {
	n := 0
	for _, f := range sourceFiles(t) {
		if f.test {
			continue
		}
		for _, decl := range f.syntax.Decls {
			calls, bare := remedyless(decl)
			n += calls
			for _, c := range bare {
				if !exempt(f.folder, c) {
					t.Errorf("%s: an error of code %s that says nobody what to do: add .Fix", f.fset.Position(c.Pos()), codeOf(c))
				}
			}
		}
	}
	if n < 150 {
		t.Errorf("only %d errors found", n)
	}
}

// remedyless counts a declaration's calls of fault.Errorf, and returns those whose result is not given a remedy: neither by a
// Fix of the call, nor, where it is kept in a variable, by a Fix or Hint of this.
func remedyless(decl ast.Decl) (calls int, bare []*ast.CallExpr) {
	fixed, mended, kept := map[ast.Expr]bool{}, map[string]bool{}, map[ast.Expr]string{}
	ast.Inspect(decl, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if n.Sel.Name == "Fix" || n.Sel.Name == "Hint" {
				fixed[n.X] = true
				if id, ok := n.X.(*ast.Ident); ok {
					mended[id.Name] = true
				}
			}
		case *ast.AssignStmt:
			if id, ok := n.Lhs[0].(*ast.Ident); ok && len(n.Rhs) == 1 {
				kept[n.Rhs[0]] = id.Name
			}
		}
		return true
	})
	ast.Inspect(decl, func(n ast.Node) bool {
		c, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		if s, ok := c.Fun.(*ast.SelectorExpr); !ok || s.Sel.Name != "Errorf" || !isNamed(s.X, "fault") {
			return true
		}
		calls++
		if !fixed[c] && !mended[kept[c]] {
			bare = append(bare, c)
		}
		return true
	})
	return calls, bare
}

func isNamed(e ast.Expr, name string) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == name
}

// codeOf is the code of a call of fault.Errorf, as it is named there.
func codeOf(c *ast.CallExpr) string {
	if s, ok := c.Args[0].(*ast.SelectorExpr); ok {
		return s.Sel.Name
	}
	return "of a variable"
}

// exempt reports whether an error may do without a remedy of its own.
func exempt(folder string, c *ast.CallExpr) bool {
	for in, codes := range withoutRemedy {
		for _, code := range codes {
			if code == codeOf(c) && (in == "" || in == folder) {
				return true
			}
		}
	}
	l, ok := c.Args[1].(*ast.BasicLit)
	if !ok {
		return false
	}
	format, err := strconv.Unquote(l.Value)
	return err == nil && strings.Contains(format, "%w")
}
