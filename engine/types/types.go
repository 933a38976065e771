// Package types describes the SQL types of the engine: those of Flink SQL 2.x.
package types

import (
	"fmt"
	"math"
	"strings"
)

// Kind is a type's root, without its parameters.
type Kind uint8

// The kinds. Invalid, the zero value, is no type; Null is the type of an untyped NULL literal.
const (
	Invalid Kind = iota
	Null
	Boolean
	TinyInt
	SmallInt
	Int
	BigInt
	Float
	Double
	Decimal
	Char
	Varchar
	Binary
	Varbinary
	Date
	Time
	Timestamp    // TIMESTAMP(p) WITHOUT TIME ZONE
	TimestampLTZ // TIMESTAMP(p) WITH LOCAL TIME ZONE
	IntervalYM   // INTERVAL YEAR TO MONTH
	IntervalDT   // INTERVAL DAY TO SECOND
	Array
	Map
	Row
)

// MaxLength is the length of STRING and BYTES, which are VARCHAR and VARBINARY of this length.
const MaxLength = math.MaxInt32

// MaxDecimalPrecision is the largest precision of DECIMAL.
const MaxDecimalPrecision = 38

// Type is a SQL type. The zero value is invalid. Types are values: copy them freely, never change
// what Elem, Key or Fields point to.
type Type struct {
	Kind Kind
	// NotNull is false for the nullable form, which is SQL's default.
	NotNull bool
	// Precision is the length of CHAR, VARCHAR, BINARY and VARBINARY, the number of digits of DECIMAL,
	// and the number of fractional second digits (0–9) of TIME, TIMESTAMP and TIMESTAMP_LTZ.
	Precision int
	// Scale is the number of fractional digits of DECIMAL.
	Scale int
	// Elem is the element of an ARRAY and the value of a MAP.
	Elem *Type
	// Key is the key of a MAP.
	Key *Type
	// Fields are the fields of a ROW.
	Fields []Field
}

// Field is a field of a ROW.
type Field struct {
	Name string
	Type Type
}

// Phys is how a value lies in a packed row.
type Phys uint8

// The physical forms. See package row for their layout.
const (
	// PhysInt is an int64 in the slot: BOOLEAN (0, 1), all integers, DATE (days since 1970-01-01),
	// TIME (nanoseconds of the day), TIMESTAMP and TIMESTAMP_LTZ of precision ≤ 6 (microseconds since
	// 1970-01-01), intervals (months; microseconds), DECIMAL of precision ≤ 18 (the unscaled value).
	PhysInt Phys = iota
	// PhysFloat is the bits of a float64 in the slot: FLOAT (a widened float32) and DOUBLE.
	PhysFloat
	// PhysWide is a 128-bit two's-complement integer in the tail: DECIMAL of precision > 18 (the
	// unscaled value), TIMESTAMP and TIMESTAMP_LTZ of precision > 6 (nanoseconds since 1970-01-01).
	PhysWide
	// PhysBytes is bytes in the tail: strings in UTF-8, binary strings, and packed ARRAY, MAP and ROW.
	PhysBytes
)

// Phys tells how values of t lie in a packed row.
func (t Type) Phys() Phys {
	switch t.Kind {
	case Float, Double:
		return PhysFloat
	case Decimal:
		if t.Precision > 18 {
			return PhysWide
		}
		return PhysInt
	case Timestamp, TimestampLTZ:
		if t.Precision > 6 {
			return PhysWide
		}
		return PhysInt
	case Char, Varchar, Binary, Varbinary, Array, Map, Row:
		return PhysBytes
	default:
		return PhysInt
	}
}

// Of returns the nullable type of a kind without parameters.
func Of(k Kind) Type { return Type{Kind: k} }

// String is the type STRING, also known as VARCHAR(2147483647).
func String() Type { return Type{Kind: Varchar, Precision: MaxLength} }

// Bytes is the type BYTES, also known as VARBINARY(2147483647).
func Bytes() Type { return Type{Kind: Varbinary, Precision: MaxLength} }

// DecimalOf is DECIMAL(precision, scale).
func DecimalOf(precision, scale int) Type {
	return Type{Kind: Decimal, Precision: precision, Scale: scale}
}

// TimestampOf is TIMESTAMP(precision).
func TimestampOf(precision int) Type { return Type{Kind: Timestamp, Precision: precision} }

// TimestampLTZOf is TIMESTAMP_LTZ(precision).
func TimestampLTZOf(precision int) Type { return Type{Kind: TimestampLTZ, Precision: precision} }

// ArrayOf is ARRAY<elem>.
func ArrayOf(elem Type) Type { return Type{Kind: Array, Elem: &elem} }

// MapOf is MAP<key, value>.
func MapOf(key, value Type) Type { return Type{Kind: Map, Key: &key, Elem: &value} }

// RowOf is ROW<fields>.
func RowOf(fields ...Field) Type { return Type{Kind: Row, Fields: fields} }

// Nullable returns t with NULL allowed.
func (t Type) Nullable() Type { t.NotNull = false; return t }

// Required returns t with NULL forbidden.
func (t Type) Required() Type { t.NotNull = true; return t }

// IsInteger reports whether t is TINYINT, SMALLINT, INT or BIGINT.
func (t Type) IsInteger() bool { return t.Kind >= TinyInt && t.Kind <= BigInt }

// IsApprox reports whether t is FLOAT or DOUBLE.
func (t Type) IsApprox() bool { return t.Kind == Float || t.Kind == Double }

// IsNumeric reports whether t is an integer, approximate or DECIMAL type.
func (t Type) IsNumeric() bool { return t.Kind >= TinyInt && t.Kind <= Decimal }

// IsString reports whether t is CHAR or VARCHAR.
func (t Type) IsString() bool { return t.Kind == Char || t.Kind == Varchar }

// IsBinary reports whether t is BINARY or VARBINARY.
func (t Type) IsBinary() bool { return t.Kind == Binary || t.Kind == Varbinary }

// IsTemporal reports whether t is DATE, TIME, TIMESTAMP or TIMESTAMP_LTZ.
func (t Type) IsTemporal() bool { return t.Kind >= Date && t.Kind <= TimestampLTZ }

// IsInterval reports whether t is one of the INTERVAL types.
func (t Type) IsInterval() bool { return t.Kind == IntervalYM || t.Kind == IntervalDT }

// Equal reports whether t and u are the same type, nullability included.
func (t Type) Equal(u Type) bool { return t.NotNull == u.NotNull && t.SameIgnoringNull(u) }

// SameIgnoringNull reports whether t and u are the same type but for the nullability of the outermost
// level; inner levels (elements, fields) are compared in full.
func (t Type) SameIgnoringNull(u Type) bool {
	if t.Kind != u.Kind || t.Precision != u.Precision || t.Scale != u.Scale || len(t.Fields) != len(u.Fields) {
		return false
	}
	if (t.Elem == nil) != (u.Elem == nil) || (t.Key == nil) != (u.Key == nil) {
		return false
	}
	if t.Elem != nil && !t.Elem.Equal(*u.Elem) || t.Key != nil && !t.Key.Equal(*u.Key) {
		return false
	}
	for i := range t.Fields {
		if t.Fields[i].Name != u.Fields[i].Name || !t.Fields[i].Type.Equal(u.Fields[i].Type) {
			return false
		}
	}
	return true
}

var names = [...]string{
	Invalid: "<invalid>", Null: "NULL", Boolean: "BOOLEAN", TinyInt: "TINYINT", SmallInt: "SMALLINT", Int: "INT",
	BigInt: "BIGINT", Float: "FLOAT", Double: "DOUBLE", Decimal: "DECIMAL", Char: "CHAR", Varchar: "VARCHAR",
	Binary: "BINARY", Varbinary: "VARBINARY", Date: "DATE", Time: "TIME", Timestamp: "TIMESTAMP",
	TimestampLTZ: "TIMESTAMP_LTZ", IntervalYM: "INTERVAL YEAR TO MONTH", IntervalDT: "INTERVAL DAY TO SECOND",
	Array: "ARRAY", Map: "MAP", Row: "ROW",
}

// String is the kind's SQL name without parameters.
func (k Kind) String() string { return names[k] }

// String writes t as Flink SQL does: VARCHAR(10), STRING, DECIMAL(10, 2), ROW<`a` INT NOT NULL>.
func (t Type) String() string {
	s := t.root()
	if t.NotNull {
		s += " NOT NULL"
	}
	return s
}

func (t Type) root() string {
	switch t.Kind {
	case Varchar:
		if t.Precision == MaxLength {
			return "STRING"
		}
		return fmt.Sprintf("VARCHAR(%d)", t.Precision)
	case Varbinary:
		if t.Precision == MaxLength {
			return "BYTES"
		}
		return fmt.Sprintf("VARBINARY(%d)", t.Precision)
	case Char, Binary, Time, Timestamp, TimestampLTZ:
		return fmt.Sprintf("%s(%d)", t.Kind, t.Precision)
	case Decimal:
		return fmt.Sprintf("DECIMAL(%d, %d)", t.Precision, t.Scale)
	case Array:
		return "ARRAY<" + t.Elem.String() + ">"
	case Map:
		return "MAP<" + t.Key.String() + ", " + t.Elem.String() + ">"
	case Row:
		var b strings.Builder
		b.WriteString("ROW<")
		for i, f := range t.Fields {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString("`" + strings.ReplaceAll(f.Name, "`", "``") + "` " + f.Type.String())
		}
		return b.String() + ">"
	default:
		return names[t.Kind]
	}
}
