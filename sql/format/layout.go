package format

import (
	"strings"
	"unicode/utf8"
)

const (
	// indent is the depth of one level.
	indent = 2
	// maxWidth is the number of characters after which a line is broken.
	maxWidth = 120
)

// kind is what a bracket holds.
type kind uint8

const (
	inList   kind = iota // columns, options, arguments
	inQuery              // a query
	inCase               // CASE … END
	inScript             // the statements of a statement set
)

// layout lays out the items of a text.
type layout struct {
	items []item
}

func words(s string) map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(s) {
		set[w] = true
	}
	return set
}

// keywords writes keywords in upper case, but for the words within hints.
func (l *layout) keywords(keyword func(*item) bool) {
	hint := false
	for i := range l.items {
		it := &l.items[i]
		switch {
		case it.text == "/*+":
			hint = true
		case it.text == "*/":
			hint = false
		case it.comment || hint || it.word == "" || i > 0 && l.items[i-1].text == ".":
		case keyword(it):
			it.text = it.word
		}
	}
}

// nest finds for each item the bracket that it stands in.
func (l *layout) nest() {
	open := []int{-1}
	begin := true // the next token begins a statement
	set := false  // BEGIN STATEMENT SET was read, whose bracket opens with the semicolon
	for i := range l.items {
		it := &l.items[i]
		top := open[len(open)-1]
		it.in = top
		if it.comment {
			continue
		}
		next, last := l.word(i+1), ""
		if p := l.before(i); p >= 0 {
			last = l.items[p].text
		}
		switch {
		case it.text == ")" || it.text == "]" || it.text == ">" && top >= 0 && l.items[top].text == "<" || it.word == "END" && top >= 0 && l.items[top].kind >= inCase:
			if top >= 0 {
				it.ends = true
				open = open[:len(open)-1]
			}
		case it.text == "(" || it.text == "[":
			if it.text == "(" && (next == "SELECT" || next == "WITH" || next == "VALUES") {
				it.kind = inQuery
			}
			open = append(open, i)
		case it.text == "<" && (last == "ROW" || last == "ARRAY" || last == "MAP" || last == "MULTISET"):
			open = append(open, i)
		case it.word == "CASE":
			it.kind = inCase
			open = append(open, i)
		case it.word == "BEGIN" && next == "STATEMENT":
			set = true
		case it.word == "BEGIN" && l.word(i-1) == "SET", it.text == ";" && set:
			it.kind = inScript
			open = append(open, i)
			set = false
		}
		it.first = begin || top >= 0 && l.items[top].kind == inQuery && l.before(i) == top
		begin = it.text == ";" || it.kind == inScript
	}
}

// before is the token before item i, or -1.
func (l *layout) before(i int) int {
	for i--; i >= 0 && l.items[i].comment; i-- {
	}
	return i
}

// word is the word at i, or empty.
func (l *layout) word(i int) string {
	for ; i >= 0 && i < len(l.items); i++ {
		if !l.items[i].comment {
			return l.items[i].word
		}
	}
	return ""
}

// kindOf is what the bracket in holds; outside of all brackets are statements.
func (l *layout) kindOf(in int) kind {
	if in < 0 {
		return inScript
	}
	return l.items[in].kind
}

// clauses are the words that start a line at the level of their query.
var clauses = words("SELECT FROM WHERE GROUP HAVING WINDOW QUALIFY ORDER LIMIT OFFSET FETCH UNION INTERSECT EXCEPT MINUS WITH VALUES INSERT")

// clause reports whether item i starts a clause of a query or statement.
func (l *layout) clause(i int) bool {
	it := &l.items[i]
	k := l.kindOf(it.in)
	return !it.ends && (k == inScript || k == inQuery) && clauses[it.word] && it.text == it.word
}

// joinStart reports whether item i starts a join.
func (l *layout) joinStart(i int) bool {
	it := &l.items[i]
	if k := l.kindOf(it.in); it.ends || k != inScript && k != inQuery {
		return false
	}
	switch it.word {
	case "JOIN":
		prev := l.word(l.before(i))
		return prev != "LEFT" && prev != "RIGHT" && prev != "FULL" && prev != "INNER" && prev != "CROSS" && prev != "OUTER" && prev != "NATURAL"
	case "LEFT", "RIGHT", "FULL", "INNER", "CROSS", "NATURAL":
		next := l.word(i + 1)
		return (next == "JOIN" || next == "OUTER" || it.word == "NATURAL") && l.word(l.before(i)) != "NATURAL"
	}
	return false
}

// write writes the items.
func (l *layout) write() string {
	for i := range l.items {
		l.settleBreak(i)
	}
	for {
		text, changed := l.lines()
		if !changed {
			return text
		}
	}
}

// settleBreak decides how many line breaks go before item i: the author's, two at most, and at least one where a
// statement or what follows a line comment begins.
func (l *layout) settleBreak(i int) {
	it := &l.items[i]
	it.lines = min(it.lines, 2)
	if i == 0 {
		it.lines = 0
		return
	}
	prev := &l.items[i-1]
	switch {
	case it.text == ";" && !prev.lineComment():
		it.lines = 0
	case prev.lineComment(), it.first && !it.comment && prev.text == ";", it.first && prev.kind == inScript:
		it.lines = max(it.lines, 1)
	case it.ends || prev.kind == inQuery || prev.text == "(":
		it.lines = min(it.lines, 1) // no blank line at the edges of brackets
	}
}

// lines writes the items as lines. Where one is too long it notes where to break, and reports that it has.
func (l *layout) lines() (text string, changed bool) {
	l.align()
	var b strings.Builder
	depth := make([]int, len(l.items)) // the indentation of the line that each item stands on
	for i := 0; i < len(l.items); {
		end := i + 1
		for end < len(l.items) && l.items[end].lines == 0 {
			end++
		}
		if i > 0 {
			b.WriteString(strings.Repeat("\n", l.items[i].lines))
		}
		d := l.depth(i, depth)
		var line strings.Builder
		for k := i; k < end; k++ {
			depth[k] = d
			if k > i && l.spaced(k) {
				line.WriteByte(' ')
				line.WriteString(strings.Repeat(" ", l.items[k].pad))
			}
			line.WriteString(l.items[k].text)
		}
		if d+utf8.RuneCountInString(line.String()) > maxWidth && l.breakLine(i, end) {
			changed = true
		}
		b.WriteString(strings.Repeat(" ", d) + line.String())
		i = end
	}
	if len(l.items) > 0 {
		b.WriteByte('\n')
	}
	return b.String(), changed
}

// depth is the indentation of the line that starts with item i. depth holds that of the items before it.
func (l *layout) depth(i int, depth []int) int {
	j := i
	for j < len(l.items)-1 && l.items[j].comment {
		j++ // a comment goes with what follows it
	}
	it := &l.items[j]
	base := 0
	if it.in >= 0 {
		base = depth[it.in] + indent
	}
	if it.ends && !it.comment {
		return base - indent
	}
	if it.first || it.comment || l.clause(j) || l.joinStart(j) {
		return base
	}
	switch l.kindOf(it.in) {
	case inList:
		if p := l.before(j); p == it.in || l.items[p].text == "," {
			return base
		}
	case inCase:
		if it.word == "WHEN" || it.word == "ELSE" {
			return base
		}
	}
	return base + indent
}

// breakLine breaks the line of items [start, end) at the outermost places where it can be: at clauses, else at joins, else
// after commas.
func (l *layout) breakLine(start, end int) bool {
	type place struct{ level, rank int }
	level := func(i int) int {
		n := 0
		for in := l.items[i].in; in >= 0; in = l.items[in].in {
			n++
		}
		return n
	}
	at := map[place][]int{}
	best := place{1 << 30, 0}
	for i := start + 1; i < end; i++ {
		p := place{level(i), 0}
		prev := &l.items[i-1]
		switch {
		case l.items[i].comment || l.items[i].text == ";":
			continue
		case l.clause(i):
		case l.joinStart(i):
			p.rank = 1
		case prev.text == "," && prev.in == l.items[i].in:
			p.rank = 2
		case (prev.text == "(" || l.items[i].ends && l.items[i].text == ")") && l.items[i].in >= start && l.hasComma(l.items[i].in, end):
			p.rank = 2
		default:
			continue
		}
		at[p] = append(at[p], i)
		if p.level < best.level || p.level == best.level && p.rank < best.rank {
			best = p
		}
	}
	for _, i := range at[best] {
		l.items[i].lines = 1
	}
	return len(at[best]) > 0
}

// hasComma reports whether the list that item in opens holds a comma of its own before end.
func (l *layout) hasComma(in, end int) bool {
	if l.items[in].kind != inList {
		return false
	}
	for i := in + 1; i < end; i++ {
		if l.items[i].text == "," && l.items[i].in == in {
			return true
		}
	}
	return false
}

// apart are the words that a parenthesis behind them is a blank away from.
var apart = words(`AND OR NOT ON USING AS VALUES BY WHEN THEN ELSE WHERE HAVING FROM JOIN SELECT IN OVER WITH UNION ALL ANY SOME
	EXCEPT INTERSECT EXISTS KEY BETWEEN QUALIFY DISTINCT SETS LATERAL LIKE`)

// spaced reports whether a blank goes before item i, which does not start a line.
func (l *layout) spaced(i int) bool {
	a, b := &l.items[i-1], &l.items[i]
	switch {
	case a.comment || b.comment:
		return true
	case b.text == "," || b.text == ";" || b.text == ")" || b.text == "]":
		return false
	case a.text == "(" || a.text == "[":
		return false
	case a.text == ".", b.text == ".":
		return b.gap && (digit(a.text) || digit(b.text))
	case a.text == ",":
		return true
	case b.text == "(" && apart[a.word] && a.text == a.word:
		return true
	case b.text == "(" || b.text == "[":
		return b.gap
	}
	if (a.text == ")" || a.text == "]") && b.word != "" {
		return true
	}
	for _, t := range []string{a.text, b.text} {
		switch t {
		case "=", "<>", "!=", "<=", ">=", "||", "=>", "/*+", "*/":
			return true
		}
	}
	return b.gap
}

func digit(s string) bool { return s[0] >= '0' && s[0] <= '9' }
