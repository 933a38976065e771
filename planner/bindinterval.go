package planner

import (
	"strconv"
	"strings"

	"github.com/sluicesql/sluice/engine/expr"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/types"
	"github.com/sluicesql/sluice/sql/ast"
)

// units are the units of intervals in the order of ranges: months, or microseconds, per unit.
var units = []struct {
	name   string
	size   int64
	months bool
	below  int64 // the number of them in the unit before: the value of a later field stays below it
}{
	{"YEAR", 12, true, 0},
	{"QUARTER", 3, true, 0},
	{"MONTH", 1, true, 12},
	{"WEEK", 7 * 86400e6, false, 0},
	{"DAY", 86400e6, false, 0},
	{"HOUR", 3600e6, false, 24},
	{"MINUTE", 60e6, false, 60},
	{"SECOND", 1e6, false, 60},
}

func unitIndex(name string) int {
	for i := range units {
		if units[i].name == name {
			return i
		}
	}
	return -1
}

// bindInterval binds INTERVAL '…' unit [TO unit].
func bindInterval(e *ast.Interval) (expr.Expr, error) {
	pos := e.TextPos
	if !pos.IsValid() {
		pos = e.Pos
	}
	from := unitIndex(e.Range.From)
	to := from
	if e.Range.To != "" {
		to = unitIndex(e.Range.To)
	}
	bad := func() error {
		rng := e.Range.From
		if e.Range.To != "" {
			rng += " TO " + e.Range.To
		}
		return hint(errAt(pos, "'%s' is no interval of %s", e.Text, rng).Coded(ast.CodeBadLiteral), "write INTERVAL '1' DAY, INTERVAL '1-6' YEAR TO MONTH or INTERVAL '1 02:03:04' DAY TO SECOND")
	}
	text := strings.TrimSpace(e.Text)
	negative := e.Negative
	if t, ok := strings.CutPrefix(text, "-"); ok {
		text, negative = t, !negative
	} else if t, ok := strings.CutPrefix(text, "+"); ok {
		text = t
	}
	parts := strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == ':' || r == '-' })
	fields := fieldsBetween(from, to)
	if len(parts) != len(fields) || fields == nil {
		return nil, bad()
	}
	var total int64
	for i, u := range fields {
		v, ok := unitValue(parts[i], u, i > 0)
		if !ok || total > maxInterval-v || v > maxInterval {
			return nil, bad()
		}
		total += v
	}
	if negative {
		total = -total
	}
	t := types.Of(types.IntervalDT)
	if units[from].months {
		t = types.Of(types.IntervalYM)
	}
	return &expr.Const{Value: row.Int(total), T: t.Required()}, nil
}

// maxInterval keeps sums of fields from overflowing.
const maxInterval = 1 << 61

// fieldsBetween are the units of a range, as indexes: YEAR TO MONTH has no quarter between, and DAY TO
// SECOND no week.
func fieldsBetween(from, to int) []int {
	if from < 0 || to < from || units[from].months != units[to].months {
		return nil
	}
	if from == to {
		return []int{from}
	}
	var out []int
	for i := from; i <= to; i++ {
		if units[i].name != "QUARTER" && units[i].name != "WEEK" {
			out = append(out, i)
		}
	}
	return out
}

// unitValue reads one field; seconds may have a fraction.
func unitValue(text string, unit int, later bool) (int64, bool) {
	u := &units[unit]
	whole, frac, hasFrac := strings.Cut(text, ".")
	if hasFrac && (u.name != "SECOND" || frac == "" || len(frac) > 9) {
		return 0, false
	}
	v, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || v < 0 || v > maxInterval/u.size || later && u.below > 0 && v >= u.below {
		return 0, false
	}
	v *= u.size
	if hasFrac {
		f, err := strconv.ParseInt((frac + "000000")[:6], 10, 64)
		if err != nil {
			return 0, false
		}
		v += f
	}
	return v, true
}
