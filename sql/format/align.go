package format

import "unicode/utf8"

// align has the types of a table's columns begin below one another, where each column has a line of its own, from one
// blank line to the next. What follows the types is not aligned: they are of all lengths.
func (l *layout) align() {
	for i := range l.items {
		l.items[i].pad = 0
	}
	for i := range l.items {
		if list := l.columnList(i); list >= 0 {
			l.alignColumns(list)
		}
	}
}

// columnList is the bracket with the columns of the CREATE TABLE that begins with item i, or -1.
func (l *layout) columnList(i int) int {
	if it := &l.items[i]; !it.first || it.word != "CREATE" {
		return -1
	}
	table := false
	for k := i + 1; k < len(l.items); k++ {
		switch it := &l.items[k]; {
		case it.comment:
		case it.text == "(" && table:
			return k
		case it.text == "TABLE":
			table = true
		case it.text == ";", it.text == "(", it.text == "AS", it.text == "WITH", it.text == "LIKE", it.text == "COMMENT":
			return -1
		}
	}
	return -1
}

// alignColumns aligns the columns in a bracket.
func (l *layout) alignColumns(list int) {
	starts := l.elements(list)
	var names []int // of the columns to be aligned with one another
	for i, k := range starts {
		if l.blankBefore(k) {
			l.pad(names)
			names = names[:0]
		}
		if l.column(k) && (i+1 == len(starts) || l.items[starts[i+1]].lines > 0) {
			names = append(names, k)
		}
	}
	l.pad(names)
}

// pad has what follows each of the names begin at one place of its line.
func (l *layout) pad(names []int) {
	width := 0
	for _, k := range names {
		width = max(width, utf8.RuneCountInString(l.items[k].text))
	}
	for _, k := range names {
		l.items[k+1].pad = width - utf8.RuneCountInString(l.items[k].text)
	}
}

// elements are the first tokens of what the commas in a bracket divide.
func (l *layout) elements(list int) []int {
	var starts []int
	for k := list + 1; k < len(l.items) && (!l.items[k].ends || l.items[k].in != list); k++ {
		if it := &l.items[k]; it.comment || it.in != list {
			continue
		}
		if p := l.before(k); p == list || l.items[p].text == "," {
			starts = append(starts, k)
		}
	}
	return starts
}

// blankBefore reports whether a blank line goes before item k and the comments above it.
func (l *layout) blankBefore(k int) bool {
	for ; l.items[k].lines < 2; k-- {
		if !l.items[k-1].comment {
			return false
		}
	}
	return true
}

// column reports whether item k, which begins a line, is a column's name with more behind it on that line.
func (l *layout) column(k int) bool {
	switch l.items[k].text {
	case "PRIMARY", "CONSTRAINT", "UNIQUE", "WATERMARK":
		return false
	}
	if l.items[k].lines == 0 || k+1 == len(l.items) {
		return false
	}
	next := &l.items[k+1]
	return !next.comment && next.lines == 0 && next.text != "," && !next.ends
}
