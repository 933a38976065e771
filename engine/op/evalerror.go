package op

import (
	"fmt"
	"strings"

	"github.com/sluicesql/sluice/engine/expr"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/text"
)

// evalError says where in the SQL, in which part of e, and over which values, an evaluation failed.
func evalError(err error, ctx *expr.Ctx, e expr.Expr, r row.Row) error {
	e = expr.Failing(e, ctx, r, err)
	place := ""
	if c, ok := e.(*expr.Call); ok && c.Place != "" {
		place = c.Place + ": "
	}
	var values []string
	seen := map[int]bool{}
	expr.Walk(e, func(part expr.Expr) bool {
		if c, ok := part.(*expr.Column); ok && !seen[c.Index] {
			seen[c.Index] = true
			v := text.Append(nil, c.T, r.Get(c.Index, c.T.Phys()), ctx.Zone)
			values = append(values, fmt.Sprintf("%s = %s", c.Name, v))
		}
		return true
	})
	if len(values) == 0 {
		return fmt.Errorf("%s%s: %w", place, e, err)
	}
	return fmt.Errorf("%s%s, where %s: %w", place, e, strings.Join(values, ", "), err)
}
