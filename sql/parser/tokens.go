package parser

import (
	"maps"
	"slices"
)

// TokenKind tells tokens apart for those who show or complete a text.
type TokenKind uint8

// The kinds of tokens.
const (
	WordToken   TokenKind = iota // a keyword, or a name without quotes
	QuotedToken                  // a name in backquotes
	StringToken                  // any string literal
	NumberToken
	SignToken
	WrongToken // what the lexer could not read
)

// Token is a token of a text as its bytes [Start, End). Comments and blanks lie between tokens.
type Token struct {
	Kind       TokenKind
	Start, End int
	// Text is the word, name, number or sign, and a string without its quotes.
	Text string
	// Word is the upper-case form of a word without quotes; empty for other tokens.
	Word string
}

// Tokens are the tokens of a text, without the end.
func Tokens(text string) []Token {
	kinds := [...]TokenKind{
		tError: WrongToken, tWord: WordToken, tQuoted: QuotedToken, tString: StringToken, tUnicode: StringToken,
		tBinary: StringToken, tInt: NumberToken, tDecimal: NumberToken, tDouble: NumberToken, tOp: SignToken,
	}
	toks := lex(text)
	out := make([]Token, 0, len(toks))
	for i := range toks {
		t := &toks[i]
		if t.kind == tEOF {
			break
		}
		k := Token{Kind: kinds[t.kind], Start: int(t.off), End: int(t.end), Text: t.text}
		if t.kind == tWord {
			k.Word = t.kw
		}
		out = append(out, k)
	}
	return out
}

// Reserved reports whether a word, in upper case, cannot be a name without backquotes.
func Reserved(word string) bool { return reserved[word] }

// furtherWords are words of statements that no other list has: they may be names everywhere, and are read where they
// stand.
var furtherWords = []string{
	"CATALOG", "COLUMN", "COLUMNS", "CONSTRAINT", "CURRENT", "ENFORCED", "EXCLUDING", "EXTENDED", "IF", "INCLUDING", "JOB",
	"KEY", "OPTIONS", "SAVEPOINT", "STATEMENT", "TEMPORARY", "VIEW", "WATERMARK", "DATABASE",
}

// Keywords are the words with a meaning of their own in statements, in upper case and in order. Reserved ones are
// among them, and those that can be names too.
func Keywords() []string {
	all := maps.Clone(reserved)
	for _, list := range [][]string{slices.Collect(maps.Keys(noAlias)), statementWords, clauseWords, showWhat, typeWords, furtherWords} {
		for _, w := range list {
			all[w] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// Statements are the words that statements start with.
func Statements() []string { return slices.Clone(statementWords) }

// Shown are the words that can follow SHOW.
func Shown() []string { return append(slices.Clone(showWhat), "CREATE", "CURRENT") }
