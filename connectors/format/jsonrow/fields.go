package jsonrow

import (
	"fmt"
	"time"

	"github.com/sluicesql/sluice/connectors/format/jsonscan"
	"github.com/sluicesql/sluice/engine/text"
	"github.com/sluicesql/sluice/engine/types"
)

// Rules say how values are read.
type Rules struct {
	// Format is the format's name, for the remedies in errors.
	Format string
	// Layout is how timestamps look.
	Layout text.Layout
	// TimeZone is that of a TIMESTAMP_LTZ without offset; nil is UTC.
	TimeZone *time.Location
	// FailOnMissing makes a member that is not there an error; otherwise it is NULL.
	FailOnMissing bool
	// Debezium adds Debezium's encodings: dates and times as integers, and the placeholder for a value that
	// was not sent.
	Debezium bool
	// Extended reads MongoDB's extended JSON, whose values of types that JSON lacks are objects such as
	// {"$oid": …}.
	Extended bool
	// Unavailable is what to do about a value that was not sent, for errors.
	Unavailable string
	// Times, Decimals, Binary and Unsigned say how Debezium's connector encodes what no schema describes.
	Times    TimeMode
	Decimals DecimalMode
	Binary   BinaryMode
	// Unsigned reads a negative integer in a DECIMAL(20, 0) as an unsigned one of 64 bits.
	Unsigned bool
}

// Field is a column wanted, or a field of a ROW.
type Field struct {
	Name string
	Type types.Type
	// Out is the column of the output row that it goes to.
	Out int
	// Partial says that a value that Debezium left out is row.UnavailableDatum; otherwise it is an error.
	Partial bool
}

// Fields reads the members of an object into columns. It belongs to one place within a stream of messages
// and is used by one goroutine, because its shape learns.
type Fields struct {
	shape *jsonscan.Shape
	nodes []node
}

// node is how values of one type are read.
type node struct {
	name   string
	typ    types.Type
	phys   types.Phys
	out    int
	lo, hi int64 // of an integer type
	quick  quick
	part   bool      // a value that was left out is no error
	enc    *Encoding // never nil
	row    *Fields   // of a ROW
	elem   *node     // of an ARRAY and MAP
}

// quick marks the types that are read without a call.
type quick uint8

const (
	quickNone quick = iota
	quickInt
	quickString
)

// NewFields returns a reader of an object's members, whose names are distinct. Further members can be found
// among the tokens of its shape, after those of the fields.
func NewFields(fields []Field, further ...jsonscan.Member) (*Fields, error) {
	f := &Fields{nodes: make([]node, len(fields))}
	members := make([]jsonscan.Member, len(fields), len(fields)+len(further))
	for i, c := range fields {
		n := &f.nodes[i]
		if err := n.init(c.Type); err != nil {
			return nil, fmt.Errorf("%s: %w", c.Name, err)
		}
		n.name, n.out, n.part = c.Name, c.Out, c.Partial
		members[i] = jsonscan.Member{Name: c.Name, Sub: n.shape()}
	}
	f.shape = jsonscan.NewShape(append(members, further...))
	return f, nil
}

// Shape is the shape of the objects to scan.
func (f *Fields) Shape() *jsonscan.Shape { return f.shape }

func (n *node) init(t types.Type) (err error) {
	n.typ, n.phys, n.enc, n.quick = t, t.Phys(), &unknown, quickOf(t)
	switch t.Kind {
	case types.TinyInt, types.SmallInt, types.Int, types.BigInt:
		n.lo, n.hi = text.IntRange(t.Kind)
	case types.Char, types.Varchar, types.Boolean, types.Float, types.Double, types.Decimal, types.Binary, types.Varbinary:
	case types.Date, types.Time, types.Timestamp, types.TimestampLTZ, types.IntervalYM, types.IntervalDT:
	case types.Array:
		n.elem = new(node)
		return n.elem.init(*t.Elem)
	case types.Map:
		if !t.Key.IsString() {
			return fmt.Errorf("JSON has no %s as the key of a map, only strings", t.Key)
		}
		n.elem = new(node)
		return n.elem.init(*t.Elem)
	case types.Row:
		inner := make([]Field, len(t.Fields))
		for i, f := range t.Fields {
			inner[i] = Field{Name: f.Name, Type: f.Type, Out: i}
		}
		n.row, err = NewFields(inner)
		return err
	default:
		return fmt.Errorf("JSON has no form for the type %s", t)
	}
	return nil
}

func quickOf(t types.Type) quick {
	switch {
	case t.IsInteger():
		return quickInt
	case t.IsString():
		return quickString
	default:
		return quickNone
	}
}

// shape is the shape to scan the value with, when it is an object.
func (n *node) shape() *jsonscan.Shape {
	if n.row == nil {
		return nil
	}
	return n.row.shape
}

// Value reads a single value of one type.
type Value struct{ node }

// NewValue returns a reader of values of type t.
func NewValue(t types.Type) (*Value, error) {
	v := new(Value)
	return v, v.init(t)
}

// Type is the type of the values.
func (v *Value) Type() types.Type { return v.typ }

// Encode tells how the values are encoded.
func (v *Value) Encode(e *Encoding) { v.encode(e) }

// Shape is the shape to scan the value with when it is an object; nil for none.
func (v *Value) Shape() *jsonscan.Shape { return v.shape() }
