package ast

import "github.com/sluicesql/sluice/internal/fault"

// Code names a kind of mistake or of lint, for people who look it up and for programs that sort findings. The codes are
// listed in docs/errors.md and docs/lints.md.
type Code = fault.Code

// The codes of mistakes.
const (
	CodeSyntax           Code = "syntax"
	CodeUnsupported      Code = "unsupported"
	CodeInvalid          Code = "invalid"
	CodeLimit            Code = "limit"
	CodeUnsetVariable    Code = "unset-variable"
	CodeUnknownTable     Code = "unknown-table"
	CodeUnknownColumn    Code = "unknown-column"
	CodeUnknownFunction  Code = "unknown-function"
	CodeUnknownType      Code = "unknown-type"
	CodeUnknownConnector Code = "unknown-connector"
	CodeUnknownOption    Code = "unknown-option"
	CodeAmbiguousName    Code = "ambiguous-name"
	CodeDuplicateName    Code = "duplicate-name"
	CodeBadLiteral       Code = "bad-literal"
	CodeBadType          Code = "bad-type"
	CodeTypeMismatch     Code = "type-mismatch"
	CodeWrongArguments   Code = "wrong-arguments"
	CodeMisplaced        Code = "misplaced"
	CodeColumnCount      Code = "column-count"
	CodeOption           Code = fault.Option
	CodeOptionValue      Code = fault.OptionValue
	CodeMissingOption    Code = "missing-option"
	CodeColumn           Code = "column-declaration"
	CodeReadWrite        Code = "not-readable-or-writable"
	CodeJoinEquality     Code = "join-equality"
	CodeVolatileChange   Code = "volatile-change"
	CodeSinkChanges      Code = "sink-changes"
	CodeSinkKey          Code = "sink-key"
	CodeScript           Code = "script"
)

// The codes of lints.
const (
	CodeUnboundedState     Code = "unbounded-state"
	CodeSinkMaterialise    Code = "sink-materialise"
	CodeNonDeterministic   Code = "non-deterministic"
	CodeJoinWithoutKey     Code = "join-without-key"
	CodeJoinTypes          Code = "join-types"
	CodeIgnoredOption      Code = "ignored-option"
	CodeReservedWord       Code = "reserved-word"
	CodeDeprecatedSpelling Code = "deprecated-spelling"
	CodeUnused             Code = "unused"
)

// codes is the one list of codes: their sentences, and which are lints.
var codes = []struct {
	code     Code
	lint     bool
	sentence string
}{
	{CodeSyntax, false, "The text is not a statement of the dialect."},
	{CodeUnsupported, false, "Flink SQL or another dialect has it, and this version does not."},
	{CodeInvalid, false, "The statement is well formed, and what it asks for has no meaning."},
	{CodeLimit, false, "The text is larger, or nested deeper, than is read."},
	{CodeUnsetVariable, false, "A variable has neither a value nor a default."},
	{CodeUnknownTable, false, "There is no table or view of that name."},
	{CodeUnknownColumn, false, "There is no column, field or window of that name."},
	{CodeUnknownFunction, false, "There is no function of that name."},
	{CodeUnknownType, false, "There is no type of that name."},
	{CodeUnknownConnector, false, "There is no connector or format of that name."},
	{CodeUnknownOption, false, "The connector, the format or the session has no such option or metadata."},
	{CodeAmbiguousName, false, "A name means more than one thing."},
	{CodeDuplicateName, false, "A name is given twice."},
	{CodeBadLiteral, false, "A constant cannot be read as a value of its type."},
	{CodeBadType, false, "A type has a length, precision or scale that it cannot have."},
	{CodeTypeMismatch, false, "A value is of another type than is needed where it stands."},
	{CodeWrongArguments, false, "A function or operator is called with arguments that it does not take."},
	{CodeMisplaced, false, "An aggregate or window function, or a column, cannot stand at this place of the query."},
	{CodeColumnCount, false, "A query has more or fewer columns than what it is put beside."},
	{CodeOption, false, "An option cannot be set here, or not together with the others."},
	{CodeOptionValue, false, "An option has a value that it cannot have."},
	{CodeMissingOption, false, "An option is missing."},
	{CodeColumn, false, "A column is declared as the connector or format cannot have it."},
	{CodeReadWrite, false, "A table cannot be read, or cannot be written."},
	{CodeJoinEquality, false, "A join has no equality between its sides by which it could be kept up to date."},
	{CodeVolatileChange, false, "A value that is another each time is used over rows that are taken back."},
	{CodeSinkChanges, false, "The rows of the query are changed and deleted, and the sink can only append."},
	{CodeSinkKey, false, "Several rows of the query may have one PRIMARY KEY of the sink."},
	{CodeScript, false, "What the script asks for cannot be run as it stands."},
	{CodeUnboundedState, true, "State keeps every row of a stream that never ends and whose rows are never deleted."},
	{CodeSinkMaterialise, true, "The rows of the query are kept before the sink, since several of them may have one PRIMARY KEY of it."},
	{CodeNonDeterministic, true, "The value of a function does not follow from the row: it is another one when the row is read again."},
	{CodeJoinWithoutKey, true, "A join has no equality between its sides, so that one shard does it all."},
	{CodeJoinTypes, true, "The two sides of a join key have different types, so that one is converted for every row."},
	{CodeIgnoredOption, true, "An option has no effect."},
	{CodeReservedWord, true, "A name is a word that Flink reserves, without backquotes."},
	{CodeDeprecatedSpelling, true, "There is a newer or better spelling."},
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

// Sentence says what a code means, be it one of a mistake, a lint or another fault; empty for one that is not listed.
func Sentence(c Code) string {
	for _, k := range codes {
		if k.code == c {
			return k.sentence
		}
	}
	return fault.Sentence(c)
}
