package ast

// DataType is a type as written, with its synonyms resolved.
type DataType struct {
	Pos Pos
	// Name is the canonical upper-case name: BOOLEAN, TINYINT, SMALLINT, INT,
	// BIGINT, FLOAT, DOUBLE, DECIMAL, CHAR, VARCHAR, STRING, BINARY,
	// VARBINARY, BYTES, DATE, TIME, TIMESTAMP, TIMESTAMP_LTZ, TIMESTAMP_TZ,
	// INTERVAL, ARRAY, MULTISET, MAP, ROW, NULL, VARIANT or RAW.
	// INTEGER is INT; DEC and NUMERIC are DECIMAL; CHARACTER is CHAR;
	// TIMESTAMP WITH LOCAL TIME ZONE is TIMESTAMP_LTZ and TIMESTAMP WITH TIME
	// ZONE is TIMESTAMP_TZ.
	Name string
	// Precision is a length (CHAR, VARCHAR, BINARY, VARBINARY), a number of
	// digits (DECIMAL) or of fractional digits of the second (TIME,
	// TIMESTAMP…); -1 where none was written.
	Precision int
	// Scale is that of a DECIMAL; -1 where none was written.
	Scale int
	// Key is the key type of a MAP.
	Key *DataType
	// Elem is the element type of an ARRAY or MULTISET, the value type of a
	// MAP.
	Elem *DataType
	// Fields are those of a ROW.
	Fields []RowField
	// Interval is the range of an INTERVAL, or nil.
	Interval *IntervalRange
	// NotNull says that NOT NULL was written.
	NotNull bool
}

// RowField is a field of a ROW type.
type RowField struct {
	Name Ident
	Type *DataType
	// Comment is the field's description, or "".
	Comment string
}

// IntervalRange is the range of units of an INTERVAL: DAY(3) TO SECOND(6).
type IntervalRange struct {
	Pos Pos
	// From is the (first) unit: YEAR, QUARTER, MONTH, WEEK, DAY, HOUR, MINUTE
	// or SECOND.
	From string
	// FromPrecision is the number of digits of the first unit, -1 where none
	// was written.
	FromPrecision int
	// To is the last unit, "" where there is but one.
	To string
	// FractionPrecision is the number of digits after the second's point, -1
	// where none was written.
	FractionPrecision int
}

// Position is the place of the type's first word.
func (t *DataType) Position() Pos { return t.Pos }

// Position is the place of the first unit.
func (r *IntervalRange) Position() Pos { return r.Pos }
