package main

import (
	"strings"

	"github.com/sluicesql/sluice/cmd/sluice/internal/display"
	"github.com/sluicesql/sluice/planner"
)

// textOf is the output of a statement that runs nothing: lines as they are, or a table.
func textOf(t *planner.Text) []byte {
	if len(t.Columns) == 0 {
		var b strings.Builder
		for _, row := range t.Rows {
			b.WriteString(strings.Join(row, " "))
			b.WriteByte('\n')
		}
		return []byte(b.String())
	}
	return display.Table(t.Columns, t.Rows)
}
