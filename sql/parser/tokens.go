package parser

// Token is a token of a text as its bytes [Start, End). Comments and blanks lie between tokens.
type Token struct {
	Start, End int
	// Word is the upper-case form of a word without quotes; empty for other tokens.
	Word string
	// Bad says that the lexer could not read it.
	Bad bool
}

// Tokens are the tokens of a text, without the end.
func Tokens(text string) []Token {
	toks := lex(text)
	out := make([]Token, 0, len(toks))
	for i := range toks {
		t := &toks[i]
		if t.kind == tEOF {
			break
		}
		k := Token{Start: int(t.off), End: int(t.end), Bad: t.kind == tError}
		if t.kind == tWord {
			k.Word = t.kw
		}
		out = append(out, k)
	}
	return out
}

// Reserved reports whether a word, in upper case, cannot be a name without backquotes.
func Reserved(word string) bool { return reserved[word] }
