package planner

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sluicesql/sluice/engine/expr"
)

func describeAggregate(n *Aggregate) (string, []string) {
	in := n.Input.Out()
	title := "Aggregate: by " + in.names(n.Key)
	switch {
	case n.Global:
		title = "Aggregate: all rows, and one row over none"
	case len(n.Calls) == 0:
		title = "Distinct: by " + in.names(n.Key)
	}
	var calls []string
	for i := range n.Calls {
		calls = append(calls, n.Calls[i].text(in))
	}
	if calls == nil {
		return title, n.Life.line()
	}
	d := append(n.Life.line(), "computes: "+strings.Join(calls, ", "))
	for i := range n.Bags {
		b := &n.Bags[i]
		text := "keeps the values of " + in.names(b.Args)
		if len(b.Order) > 0 {
			text += " ordered by " + orderText(in, b.Order)
		}
		if b.Filter >= 0 {
			text += " where " + in.name(b.Filter)
		}
		d = append(d, text)
	}
	return title, d
}

func (c *AggCall) text(in *Props) string {
	var b strings.Builder
	b.WriteString(c.Fn.Name + "(")
	if c.Distinct {
		b.WriteString("DISTINCT ")
	}
	for i, a := range c.Args {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(in.name(a))
	}
	if len(c.Args) == 0 {
		b.WriteByte('*')
	}
	if len(c.Order) > 0 {
		b.WriteString(" ORDER BY " + orderText(in, c.Order))
	}
	b.WriteByte(')')
	if c.Filter >= 0 {
		fmt.Fprintf(&b, " FILTER (WHERE %s)", in.name(c.Filter))
	}
	return b.String()
}

func orderText(in *Props, order []OrderKey) string {
	var parts []string
	for _, k := range order {
		s := in.name(k.Col)
		if k.Desc {
			s += " DESC"
		}
		if k.NullsLast != k.Desc {
			s += map[bool]string{true: " NULLS LAST", false: " NULLS FIRST"}[k.NullsLast]
		}
		parts = append(parts, s)
	}
	return strings.Join(parts, ", ")
}

func describeWindow(n *Window) (string, []string) {
	in := n.Input.Out()
	rows := "all rows"
	if len(n.Partition) > 0 {
		rows = "each " + in.names(n.Partition)
	}
	title := "Window: over " + rows
	var d []string
	if n.Limit != nil {
		title = "Top: " + limitText(n.Limit) + " of " + rows
	}
	if n.Why != "" {
		title = "Materialise: one row of " + rows
	}
	d = append(d, n.Life.line()...)
	if order := slices.Concat(n.Order, n.Ties); len(order) > 0 {
		d = append(d, "ordered by "+orderText(in, order)+", then by the row")
	}
	var calls []string
	for i := range n.Calls {
		calls = append(calls, n.Columns[len(in.Columns)+i].Name)
	}
	if calls != nil {
		d = append(d, "computes: "+strings.Join(calls, ", "))
	}
	if n.Limit != nil && n.Limit.Hi > 0 && in.Mode == 0 && n.Limit.Kind == expr.WindowRowNumber {
		d = append(d, "keeps no more rows than it shows: its input takes nothing back")
	}
	if n.Why != "" {
		d = append(d, "why: "+n.Why)
	}
	return title, d
}

func limitText(l *RankLimit) string {
	what := map[expr.WindowKind]string{expr.WindowRowNumber: "row", expr.WindowRank: "rank", expr.WindowDenseRank: "dense rank"}[l.Kind]
	lo := max(l.Lo, 1)
	switch l.Hi {
	case 0:
		return fmt.Sprintf("%ss from %d on", what, lo)
	case lo:
		return fmt.Sprintf("%s %d", what, lo)
	}
	return fmt.Sprintf("%ss %d to %d", what, lo, l.Hi)
}
