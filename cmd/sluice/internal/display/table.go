package display

// Table lays texts out in columns, with a header and lines around.
func Table(columns []string, rows [][]string) []byte { return Write(Aligned, columns, rows) }

// Write writes texts in a layout.
func Write(layout Layout, columns []string, rows [][]string) []byte {
	cols := make([]Column, len(columns))
	for i, c := range columns {
		cols[i].Name = c
	}
	s := NewSheet(layout, cols)
	cells := make([]Cell, len(columns))
	fill := func(row []string) []Cell {
		for i, text := range row {
			cells[i].Text = text
		}
		return cells
	}
	for _, r := range rows {
		s.Measure(fill(r))
	}
	buf := s.Begin(nil)
	for n, r := range rows {
		buf = s.Row(buf, n+1, fill(r))
	}
	return s.End(buf, len(rows))
}
