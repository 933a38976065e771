package ast

// LiteralKind tells what the text of a Literal means.
type LiteralKind int

// The kinds of literals. The zero kind is invalid.
const (
	// NullLiteral is NULL; its text is empty.
	NullLiteral LiteralKind = iota + 1
	// BoolLiteral is TRUE, FALSE or UNKNOWN, the text in upper case.
	BoolLiteral
	// IntLiteral is a whole number, as written and of any length.
	IntLiteral
	// DecimalLiteral is an exact number with a point, as written.
	DecimalLiteral
	// DoubleLiteral is a number with an exponent, as written.
	DoubleLiteral
	// StringLiteral is a string, with quotes and escapes taken out.
	StringLiteral
	// BinaryLiteral is x'…'; the text is its hex digits, an even number.
	BinaryLiteral
	// DateLiteral is DATE '…', the text what stands between the quotes.
	DateLiteral
	// TimeLiteral is TIME '…'.
	TimeLiteral
	// TimestampLiteral is TIMESTAMP '…'.
	TimestampLiteral
	// TimestampLTZLiteral is TIMESTAMP_LTZ '…' and TIMESTAMP WITH LOCAL TIME
	// ZONE '…'.
	TimestampLTZLiteral
)

// Literal is a constant. Numbers are text, so that no digit is lost before
// the type is known; a sign is a Unary around it.
type Literal struct {
	Pos  Pos
	Kind LiteralKind
	Text string
	// TextPos is the place of the quote that opens the text, where there is
	// one: an error in a date points into the string, not at the word DATE.
	TextPos Pos
}

// Interval is INTERVAL [-]'text' range.
type Interval struct {
	Pos      Pos
	Negative bool
	Text     string
	TextPos  Pos
	Range    IntervalRange
}

func (e *Literal) expr()  {}
func (e *Interval) expr() {}

// Position is the place of the first token.
func (e *Literal) Position() Pos { return e.Pos }

// Position is the place of the word INTERVAL.
func (e *Interval) Position() Pos { return e.Pos }
