package ast

// Code names a kind of mistake or of lint, for people who look it up and for programs that sort findings. The codes are
// listed in docs/errors.md and docs/lints.md.
type Code string

// The codes of mistakes.
const (
	CodeSyntax       Code = "syntax"
	CodeUnknownTable Code = "unknown-table"
)

// The codes of lints.
const (
	CodeUnboundedState     Code = "unbounded-state"
	CodeSinkMaterialise    Code = "sink-materialise"
	CodeNonDeterministic   Code = "non-deterministic"
	CodeJoinWithoutKey     Code = "join-without-key"
	CodeDeprecatedSpelling Code = "deprecated-spelling"
	CodeIgnoredOption      Code = "ignored-option"
	CodeUnused             Code = "unused"
)

// codes is the one list of codes: their sentences, and which are lints.
var codes = []struct {
	code     Code
	lint     bool
	sentence string
}{
	{CodeSyntax, false, "The text is not a statement of the dialect."},
	{CodeUnknownTable, false, "There is no table or view of that name."},
	{CodeUnboundedState, true, "State keeps every row of a stream that never ends and whose rows are never deleted."},
	{CodeSinkMaterialise, true, "The rows of the query are kept before the sink, since several of them may have one PRIMARY KEY of it."},
	{CodeNonDeterministic, true, "The value of a function does not follow from the row: it is another one when the row is read again."},
	{CodeJoinWithoutKey, true, "A join has no equality between its sides, so that one shard does it all."},
	{CodeDeprecatedSpelling, true, "There is a newer or better spelling."},
	{CodeIgnoredOption, true, "An option has no effect."},
	{CodeUnused, true, "Nothing uses a table or view."},
}

// Lints are the codes of lints, in the order of the documentation.
func Lints() []Code { return listed(true) }

// Mistakes are the codes of mistakes, in the order of the documentation.
func Mistakes() []Code { return listed(false) }

func listed(lint bool) []Code {
	var out []Code
	for _, c := range codes {
		if c.lint == lint {
			out = append(out, c.code)
		}
	}
	return out
}

// Sentence says what the code means; empty for one that is not listed.
func (c Code) Sentence() string {
	for _, k := range codes {
		if k.code == c {
			return k.sentence
		}
	}
	return ""
}
