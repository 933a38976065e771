package planner

import (
	"fmt"
	"strings"

	"github.com/sluicesql/sluice/internal/near"
	"github.com/sluicesql/sluice/sql/ast"
)

// errAt is a user's mistake at a place of the text, of no particular kind.
func errAt(pos ast.Pos, format string, args ...any) *ast.Error {
	return &ast.Error{Pos: pos, Msg: fmt.Sprintf(format, args...), Code: ast.CodeInvalid}
}

// hint adds the remedy.
func hint(e *ast.Error, format string, args ...any) *ast.Error {
	e.Hint = fmt.Sprintf(format, args...)
	return e
}

// suggest adds the candidate that was probably meant, or else lists the candidates when they are few.
func suggest(e *ast.Error, word string, candidates []string, what string) *ast.Error {
	if n := near.Name(word, candidates); n != "" {
		if strings.EqualFold(n, word) {
			return hint(e, "did you mean %q? Names are case-sensitive", n)
		}
		return hint(e, "did you mean %q?", n)
	}
	const few = 12
	switch {
	case len(candidates) == 0:
		return hint(e, "there are no %s", what)
	case len(candidates) <= few:
		return hint(e, "known %s: %s", what, strings.Join(candidates, ", "))
	}
	return e
}

// count writes a number of things.
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// notAvailable refuses what the parser reads and nothing executes yet.
func notAvailable(pos ast.Pos, what, remedy string) *ast.Error {
	return &ast.Error{Pos: pos, Msg: what + " is not available in this version", Hint: remedy, Code: ast.CodeUnsupported}
}
