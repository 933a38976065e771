package parser

// Complete reports whether the last statement of a text is finished, so that
// a prompt need not ask for another line: it ends with a semicolon outside of
// strings and comments, and a statement set ends with END. A text without any
// statement is complete. Complete doesn't say that the text is right.
func Complete(text string) bool {
	toks := lex(text)
	for start := 0; toks[start].kind != tEOF; {
		end := statementEnd(toks, start)
		if toks[end].kind == tEOF {
			return false
		}
		start = end + 1
	}
	return true
}

// Span is a part of a text: its bytes [Start, End).
type Span struct{ Start, End int }

// Split finds the statements of a text, right or wrong: each from its first
// word to its last, without the semicolon behind it.
func Split(text string) []Span {
	toks := lex(text)
	var spans []Span
	for start := 0; toks[start].kind != tEOF; {
		end := statementEnd(toks, start)
		if end > start {
			spans = append(spans, Span{int(toks[start].off), int(toks[end-1].end)})
		}
		if start = end; toks[end].kind != tEOF {
			start++
		}
	}
	return spans
}

// statementEnd gives the index of the semicolon, or of the end of the text,
// that ends the statement which starts at token start. The inserts of a
// statement set are a part of it.
func statementEnd(toks []token, start int) int {
	set := startsSet(toks, start)
	for i := start; ; i++ {
		switch {
		case toks[i].kind == tEOF:
			return i
		case toks[i].isOp(";") && (!set || i-start >= 2 && closesSet(toks, i)):
			return i
		}
	}
}

// startsSet reports whether a statement set starts here.
func startsSet(toks []token, i int) bool {
	if toks[i].kw == "EXPLAIN" {
		i++
	}
	if toks[i].kw == "EXECUTE" || toks[i].kw == "BEGIN" {
		i++
	}
	return toks[i].kw == "STATEMENT"
}

// closesSet reports whether the semicolon at i comes after the END of a
// statement set, which follows a semicolon or an empty BEGIN; an END before it
// that follows anything else is that of a CASE.
func closesSet(toks []token, i int) bool {
	before := &toks[i-2]
	return toks[i-1].kw == "END" && (before.isOp(";") || before.kw == "BEGIN")
}
