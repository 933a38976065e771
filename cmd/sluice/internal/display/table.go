package display

// Table lays texts out in columns, with a header and lines around.
func Table(columns []string, rows [][]string) []byte {
	widths := make([]int, len(columns))
	for i, c := range columns {
		widths[i] = Width(c)
		for _, r := range rows {
			widths[i] = max(widths[i], Width(Clean(r[i])))
		}
	}
	rule := Rule(nil, widths)
	buf := append(rule, '\n')
	line := func(cells []string) {
		for i, w := range widths {
			buf = append(buf, "| "...)
			buf = append(Pad(buf, Clean(cells[i]), w, false), ' ')
		}
		buf = append(buf, "|\n"...)
	}
	line(columns)
	buf = append(Rule(buf, widths), '\n')
	for _, r := range rows {
		line(r)
	}
	if len(rows) > 0 {
		buf = append(Rule(buf, widths), '\n')
	}
	return buf
}

// Rule appends a line between parts of a table with columns of the given widths.
func Rule(buf []byte, widths []int) []byte {
	for _, w := range widths {
		buf = append(buf, '+')
		for range w + 2 {
			buf = append(buf, '-')
		}
	}
	return append(buf, '+')
}
