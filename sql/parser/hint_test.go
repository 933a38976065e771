package parser

import (
	"errors"
	"strings"
	"testing"

	"github.com/sluicesql/sluice/sql/ast"
)

// No hint suggests the very word that is at fault.
func TestHintsNeverRepeatTheWord(t *testing.T) {
	for _, word := range append([]string{"PARTITION", "PARTITIONED", "GROUPS", "INCLUDING", "OPTIONS", "Partition"}, clauseWords...) {
		for _, before := range []string{"SELECT a FROM t ", "SELECT a FROM (VALUES (1)) t(a) ", "SELECT a FROM t WHERE a ", "CREATE TABLE t (a INT) ", "SELECT SUM(a) OVER (", "SHOW ", "DROP ", "EXPLAIN ", ""} {
			text := before + word + " (p) zzz zzz"
			_, err := Parse("q.sql", text)
			if e, ok := errors.AsType[*ast.Error](err); ok && strings.HasPrefix(text[e.Pos.Offset:], word) && strings.EqualFold(e.Hint, "did you mean "+word+"?") {
				t.Errorf("%s: %v, %s", text, err, e.Hint)
			}
		}
	}
}
