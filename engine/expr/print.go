package expr

import (
	"strings"

	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/text"
	"github.com/sluicesql/sluice/engine/types"
)

// String implements Expr.
func (c *Call) String() string {
	if c.Fn.show != nil {
		return c.Fn.show(c)
	}
	return c.Fn.Name + "(" + list(c.Args) + ")"
}

func list(args []Expr) string {
	parts := make([]string, len(args))
	for i, a := range args {
		parts[i] = a.String()
	}
	return strings.Join(parts, ", ")
}

// operand writes an argument of an operator, in parentheses when it is an operator itself.
func operand(e Expr) string {
	s := e.String()
	if c, ok := e.(*Call); ok && c.Fn.show != nil && !strings.HasSuffix(s, ")") || ok && bindsLoosely[c.Fn.Name] {
		return "(" + s + ")"
	}
	return s
}

// bindsLoosely are the operators that need parentheses inside of another even when they end with one.
var bindsLoosely = map[string]bool{
	"AND": true, "OR": true, "NOT": true, "=": true, "<>": true, "<": true, "<=": true, ">": true, ">=": true,
	"+": true, "-": true, "*": true, "/": true, "%": true, "||": true, "IN": true, "LIKE": true, "SIMILAR TO": true,
	"IS DISTINCT FROM": true, "IS NOT DISTINCT FROM": true,
}

// showInfix writes a op b op c.
func showInfix(c *Call) string {
	if len(c.Args) == 1 {
		return c.Fn.Name + " " + operand(c.Args[0])
	}
	parts := make([]string, len(c.Args))
	for i, a := range c.Args {
		parts[i] = operand(a)
	}
	return strings.Join(parts, " "+c.Fn.Name+" ")
}

// showPostfix writes a IS NULL.
func showPostfix(c *Call) string { return operand(c.Args[0]) + " " + c.Fn.Name }

// showBare writes CURRENT_TIMESTAMP without parentheses.
func showBare(c *Call) string { return c.Fn.Name }

// quote writes a string literal.
func quote(b []byte) string { return "'" + strings.ReplaceAll(string(b), "'", "''") + "'" }

// String implements Expr.
func (c *Const) String() string {
	if c.Value.Null {
		if c.T.Kind == types.Null || c.T.Kind == types.Invalid {
			return "NULL"
		}
		return "CAST(NULL AS " + c.T.Nullable().String() + ")"
	}
	switch c.T.Kind {
	case types.Char, types.Varchar:
		return quote(c.Value.B)
	case types.Date, types.Time, types.Timestamp, types.TimestampLTZ:
		return c.T.Kind.String() + " '" + string(text.Append(nil, c.T, c.Value, nil)) + zoneSuffix(c.T) + "'"
	case types.IntervalYM:
		return showInterval(text.AppendIntervalYM(nil, c.Value.I), "YEAR TO MONTH")
	case types.IntervalDT:
		return showInterval(text.AppendIntervalDT(nil, c.Value.I), "DAY TO SECOND")
	case types.Double:
		// A literal of SQL is a DOUBLE only when it has an exponent.
		s := string(text.Append(nil, c.T, c.Value, nil))
		if !strings.ContainsAny(s, "EN") && !strings.HasSuffix(s, "y") {
			s += "E0"
		}
		return s
	case types.Array, types.Map, types.Row:
		return c.nested()
	default:
		return string(text.Append(nil, c.T, c.Value, nil))
	}
}

func zoneSuffix(t types.Type) string {
	if t.Kind == types.TimestampLTZ {
		return "Z"
	}
	return ""
}

func showInterval(s []byte, units string) string {
	if s[0] == '-' {
		return "INTERVAL -'" + string(s[1:]) + "' " + units
	}
	return "INTERVAL '" + string(s[1:]) + "' " + units
}

func (c *Const) nested() string {
	item := func(t types.Type, r row.Row, i int) string {
		return (&Const{Value: r.Get(i, t.Phys()), T: t}).String()
	}
	var parts []string
	switch c.T.Kind {
	case types.Array:
		for i := range row.ArrayLen(c.Value.B) {
			parts = append(parts, item(*c.T.Elem, row.ArrayRow(c.Value.B), i))
		}
		return "ARRAY[" + strings.Join(parts, ", ") + "]"
	case types.Map:
		k, v := row.MapArrays(c.Value.B)
		for i := range row.ArrayLen(k) {
			parts = append(parts, item(*c.T.Key, row.ArrayRow(k), i), item(*c.T.Elem, row.ArrayRow(v), i))
		}
		return "MAP[" + strings.Join(parts, ", ") + "]"
	default:
		for i, f := range c.T.Fields {
			parts = append(parts, item(f.Type, row.Row(c.Value.B), i))
		}
		return "ROW(" + strings.Join(parts, ", ") + ")"
	}
}
