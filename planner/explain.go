package planner

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sluicesql/sluice/engine/expr"
)

// names are columns by name, in parentheses. A name that occurs twice among the columns gets its position.
func (p *Props) names(cols []int) string { return "(" + strings.Join(p.nameList(cols), ", ") + ")" }

func (p *Props) nameList(cols []int) []string {
	parts := make([]string, len(cols))
	for i, c := range cols {
		parts[i] = p.name(c)
	}
	return parts
}

func (p *Props) name(c int) string {
	n := p.Columns[c].Name
	for i := range p.Columns {
		if i != c && p.Columns[i].Name == n {
			return fmt.Sprintf("%s@%d", n, c)
		}
	}
	return n
}

// describe is a node's title and the details of its own.
func describe(n Node) (string, []string) {
	switch n := n.(type) {
	case *Scan:
		return describeScan(n)
	case *DeadLetters:
		return "Dead letters of " + n.Input.Table, []string{"messages that cannot be read, as they came"}
	case *Values:
		return describeValues(n)
	case *Filter:
		d := []string{"keeps: " + n.Cond.String()}
		if n.UpsertKey != nil {
			d = append(d, "a row that fails becomes a delete of "+n.Input.Out().names(n.UpsertKey))
		}
		return "Filter", d
	case *Project:
		return "Project", []string{"computes: " + exprList(n.Exprs)}
	case *Normalise:
		return describeNormalise(n)
	case *Unnest:
		d := []string{"a row for each element of " + n.List.String()}
		if n.Numbered {
			d[0] += ", with its number"
		}
		if n.KeepEmpty {
			d = append(d, "a row without elements stays, with NULLs")
		}
		return "Unnest", d
	case *Exchange:
		return "Exchange: " + describeExchange(n), nil
	case *Join:
		return describeJoin(n)
	case *JoinMany:
		return describeJoinMany(n)
	case *Aggregate:
		return describeAggregate(n)
	case *Window:
		return describeWindow(n)
	case *Repeat:
		return "Repeat: each row " + n.Input.Out().name(n.Times) + " times", nil
	case *Union:
		return fmt.Sprintf("Union of %d", len(n.Parts)), nil
	case *Sink:
		return describeSink(n)
	}
	panic("planner: unknown node")
}

func exprList(es []expr.Expr) string {
	parts := make([]string, len(es))
	for i, e := range es {
		parts[i] = e.String()
	}
	return strings.Join(parts, ", ")
}

func describeScan(n *Scan) (string, []string) {
	d := []string{fmt.Sprintf("reads %s: %s", n.Spec.Mode, n.Why)}
	if unused := n.notRead(); len(unused) > 0 {
		d = append(d, "not read: "+strings.Join(unused, ", "))
	}
	return fmt.Sprintf("Scan %s (%s)", n.Table, n.Connector.Name()), d
}

// notRead are the columns of the table that nothing uses.
func (s *Scan) notRead() []string {
	var names []string
	for i, c := range s.Spec.Table.Columns {
		if !slices.Contains(s.Spec.Columns, i) {
			names = append(names, c.Name)
		}
	}
	return names
}

func describeNormalise(n *Normalise) (string, []string) {
	in := n.Input.Out()
	if n.Kind == NormaliseRows {
		return "Normalise: rows by " + in.names(n.Key), append([]string{"why: " + n.Why}, n.Life.line()...)
	}
	title := fmt.Sprintf("Normalise: index from %s to %s", in.names(n.Key), in.names(n.Route))
	if n.KeepNull {
		title += ", NULLs too"
	}
	return title, append([]string{"why: " + n.Why}, n.Life.line()...)
}

func describeExchange(n *Exchange) string {
	var s string
	switch {
	case n.Spread:
		s = "each shard to its own"
	case n.ByRow:
		s = "by the hash of the row"
	case len(n.Key) == 0:
		s = "all to one shard"
	default:
		s = "by the hash of " + n.Input.Out().names(n.Key)
	}
	switch n.Nulls {
	case NullsDropped:
		s += ", without NULLs"
	case NullsKept:
		s += ", NULLs by " + n.Input.Out().names(n.Scatter)
	}
	if n.Width > 0 {
		s += fmt.Sprintf(", to %d", n.Width)
	}
	return s
}

func describeJoin(n *Join) (string, []string) {
	l, r := n.Left.Out(), n.Right.Out()
	title := n.Kind.String() + ": every row with every row"
	if len(n.L.Key) > 0 {
		title = fmt.Sprintf("%s: %s = %s", n.Kind, l.names(n.L.Key), r.names(n.R.Key))
	}
	d := []string{"left state: " + describeSide(l, n.L), "right state: " + describeSide(r, n.R)}
	if len(n.L.Key) == 0 {
		d = append(d, "no equality divides the rows, so one shard does it all")
	}
	if n.Residual != nil {
		d = append(d, "and: "+n.Residual.String())
	}
	if n.Single != "" {
		d = append(d, n.Single+" may give one row at most for each")
	}
	if n.early {
		d = append(d, "made before its turn: a side's key is unique, so that it does not multiply rows")
	}
	for port, side := range [...]string{"left", "right"} {
		if n.Counts(port) {
			d = append(d, "the matches of each "+side+" row are counted")
		}
	}
	return title, d
}

func describeJoinMany(n *JoinMany) (string, []string) {
	var keys, d []string
	for i, s := range n.Sides {
		p := n.Parts[i].Out()
		keys = append(keys, p.names(s.Key))
		d = append(d, fmt.Sprintf("state of input %d: %s", i+1, describeSide(p, s)))
	}
	if n.Residual != nil {
		d = append(d, "and: "+n.Residual.String())
	}
	return fmt.Sprintf("Join of %d: %s", len(n.Parts), strings.Join(keys, " = ")), append(d, "nothing is kept of what some of the inputs would give by themselves")
}

func describeSide(p *Props, s JoinSide) string {
	var out string
	switch s.Layout {
	case LayoutOne:
		out = "one row for each join key"
	case LayoutUnique:
		out = "rows by join key and " + p.names(s.Unique)
	case LayoutBag:
		out = "a bag of rows for each join key"
	}
	if s.Upsert {
		out += "; it is the table's normaliser"
	}
	return out + s.Life.text()
}

func describeSink(n *Sink) (string, []string) {
	title := "Result"
	if n.Connector != nil {
		title = fmt.Sprintf("Sink %s (%s)", n.Table, n.Connector.Name())
	}
	var d []string
	if len(n.Spec.Key) > 0 {
		d = append(d, "primary key: "+n.names(n.Spec.Key))
	}
	if n.Mode != 0 {
		if n.PairKey != nil {
			d = append(d, "an epoch's changes of one "+n.names(n.PairKey)+" become one where they meet")
		} else {
			d = append(d, "equal rows that come and go in an epoch cancel")
		}
	}
	if len(n.Spec.Order) > 0 {
		var order []OrderKey
		for _, c := range n.Spec.Order {
			order = append(order, OrderKey{c.Index, c.Desc, c.NullsLast})
		}
		d = append(d, "shown in the order of "+orderText(&n.Props, order))
	}
	if len(n.NotNull) > 0 {
		d = append(d, "a NULL ends the job in: "+n.names(n.NotNull))
	}
	if n.Width > 0 {
		d = append(d, fmt.Sprintf("writers: %d", n.Width))
	}
	return title, d
}

// describeValues shows the first few rows.
func describeValues(n *Values) (string, []string) {
	const few = 5
	var rows []string
	for _, r := range n.Rows[:min(len(n.Rows), few)] {
		parts := make([]string, len(r))
		for i, d := range r {
			parts[i] = (&expr.Const{Value: d, T: n.Columns[i].Type}).String()
		}
		rows = append(rows, "("+strings.Join(parts, ", ")+")")
	}
	if len(n.Rows) > few {
		rows = append(rows, fmt.Sprintf("… (%d rows)", len(n.Rows)))
	}
	return "Values", []string{"rows: " + strings.Join(rows, ", ")}
}
