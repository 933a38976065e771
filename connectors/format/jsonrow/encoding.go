package jsonrow

// EncodingKind is how a value was put into JSON.
type EncodingKind uint8

// The kinds of encodings. The zero value says that nothing is known, so that the Rules decide.
const (
	EncodingUnknown EncodingKind = iota
	// PlainEncoding is a number, boolean or struct that means what it looks like.
	PlainEncoding
	// TextEncoding is a string without a further meaning.
	TextEncoding
	// BytesEncoding is base64.
	BytesEncoding
	// BitsEncoding is base64 of bits, the lowest byte first; Digits is their number.
	BitsEncoding
	// DecimalEncoding is base64 of the unscaled value, big-endian; Digits is the scale.
	DecimalEncoding
	// VariableDecimalEncoding is {scale, value}, the value like that of a DecimalEncoding.
	VariableDecimalEncoding
	// DaysEncoding is a number of days since 1970-01-01.
	DaysEncoding
	// TimeEncoding is an integer, the time of the day with Digits digits after the second.
	TimeEncoding
	// TimestampEncoding is an integer, the time since 1970 with Digits digits after the second.
	TimestampEncoding
	// DurationEncoding is an integer, a duration with Digits digits after the second.
	DurationEncoding
)

// Encoding is the encoding of the values of a field, as a schema beside them tells.
type Encoding struct {
	Kind   EncodingKind
	Digits int
	Elem   *Encoding            // of an array's elements and a map's values; nil is unknown
	Fields map[string]*Encoding // of an object's members
}

// unknown is the encoding of a value without a schema.
var unknown Encoding

// field is the encoding of a member.
func (e *Encoding) field(name string) *Encoding {
	if f := e.Fields[name]; f != nil {
		return f
	}
	return &unknown
}

func (e *Encoding) elem() *Encoding {
	if e.Elem != nil {
		return e.Elem
	}
	return &unknown
}

// Encode tells how the members of the objects from now on are encoded; nil forgets it.
func (f *Fields) Encode(e *Encoding) {
	if e == nil {
		e = &unknown
	}
	for i := range f.nodes {
		f.nodes[i].encode(e.field(f.nodes[i].name))
	}
}

func (n *node) encode(e *Encoding) {
	n.enc = e
	n.quick = quickOf(n.typ)
	switch e.Kind {
	case BitsEncoding, DecimalEncoding, VariableDecimalEncoding:
		n.quick = quickNone // strings that are numbers
	}
	switch {
	case n.row != nil:
		n.row.Encode(e)
	case n.elem != nil:
		n.elem.encode(e.elem())
	}
}
