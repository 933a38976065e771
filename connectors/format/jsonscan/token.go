package jsonscan

// Kind is what a token is.
type Kind uint8

// The kinds of tokens. Absent, the zero value, says that the object had no such member.
const (
	Absent Kind = iota
	Null
	True
	False
	// Int is a number without fraction and exponent that fits 64 bits, other than -0; Token.I is its value.
	Int
	// Number is any other number.
	Number
	// String is a string without escapes: its bytes are its value.
	String
	// Escaped is a string with at least one escape; AppendUnescaped gives its value.
	Escaped
	Object
	Array
)

// Token is a checked value within a message.
type Token struct {
	// Start and End delimit the value's bytes; those of strings lie between the quotes.
	Start, End int
	// I is the value of an Int.
	I    int64
	Kind Kind
}

// Bytes are the token's bytes within its message.
func (t *Token) Bytes(msg []byte) []byte { return msg[t.Start:t.End:t.End] }

// IsNull reports whether the value is null or absent.
func (t *Token) IsNull() bool { return t.Kind <= Null }

// IsString reports whether the value is a string.
func (t *Token) IsString() bool { return t.Kind == String || t.Kind == Escaped }

// IsNumber reports whether the value is a number.
func (t *Token) IsNumber() bool { return t.Kind == Int || t.Kind == Number }

// Offset is where the value begins in its message, its opening quote included.
func (t *Token) Offset() int {
	if t.IsString() {
		return t.Start - 1
	}
	return t.Start
}

// Raw are the value's bytes as JSON, quotes included.
func (t *Token) Raw(msg []byte) []byte {
	if t.IsString() {
		return msg[t.Start-1 : t.End+1]
	}
	return msg[t.Start:t.End]
}
