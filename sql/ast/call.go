package ast

// Call is a call of a function, an aggregate or a window function.
//
// Special syntax is normalised to plain arguments:
//
//	EXTRACT(unit FROM e)              EXTRACT(Symbol unit, e)
//	TRIM([BOTH|…] [c] [FROM] s)       TRIM(Symbol BOTH|LEADING|TRAILING, c, s), always three
//	POSITION(a IN s [FROM n])         POSITION(a, s [, n])
//	SUBSTRING(s FROM n [FOR m])       SUBSTRING(s, n [, m])
//	OVERLAY(s PLACING r FROM n [FOR m])  OVERLAY(s, r, n [, m])
//	CEIL|FLOOR(e TO unit)             CEIL|FLOOR(e, Symbol unit)
//	TIMESTAMPADD|TIMESTAMPDIFF(unit, …)  (Symbol unit, …)
//	COUNT(*)                          COUNT(Star)
//	CURRENT_TIMESTAMP and its like    no arguments, NoParens set
//	JSON_OBJECT(KEY k VALUE v, k: v)  JSON_OBJECT(k, v, k, v), likewise JSON_OBJECTAGG
//
// CEILING, CHARACTER_LENGTH and the like stay as written: synonyms are the
// function catalog's business.
type Call struct {
	Pos Pos
	// Name is as written, of one to three parts; functions are found without
	// regard to case. Special syntax gives its name in upper case.
	Name Name
	// NoParens says that the call was written without parentheses.
	NoParens bool
	// Distinct is that of an aggregate: COUNT(DISTINCT x).
	Distinct bool
	Args     []Expr
	// Options are clauses within the parentheses or after them: see
	// CallOption.
	Options []CallOption
	// OrderBy stands within the parentheses: ARRAY_AGG(x ORDER BY y).
	OrderBy []OrderItem
	// WithinGroup is WITHIN GROUP (ORDER BY …).
	WithinGroup []OrderItem
	// Filter is FILTER (WHERE …), or nil.
	Filter Expr
	// Over is the window, or nil.
	Over *Window
}

// CallOption is a clause of a call that is no argument.
//
//	Name        Word                                        further
//	RETURNING                                               Type
//	WRAPPER     WITHOUT, WITH CONDITIONAL, WITH UNCONDITIONAL
//	ON EMPTY    NULL, ERROR, DEFAULT, EMPTY ARRAY, EMPTY OBJECT   Value of DEFAULT
//	ON ERROR    the same, and TRUE, FALSE, UNKNOWN
//	ON NULL     NULL, ABSENT
//	NULLS       IGNORE, RESPECT
type CallOption struct {
	Pos   Pos
	Name  string
	Word  string
	Value Expr
	Type  *DataType
}

// Window is what stands after OVER, or in a WINDOW clause: (base PARTITION BY
// … ORDER BY … frame), or just a name (OVER w).
type Window struct {
	Pos Pos
	// Ref names a window of the WINDOW clause; zero where there is none.
	Ref Ident
	// Bare says that only the name was written, without parentheses.
	Bare        bool
	PartitionBy []Expr
	OrderBy     []OrderItem
	// Frame is nil where none was written.
	Frame *Frame
}

// Frame is ROWS|RANGE BETWEEN Start AND End. ROWS n PRECEDING has a zero End
// bound, which means CURRENT ROW.
type Frame struct {
	Pos Pos
	// Rows is true for ROWS and false for RANGE.
	Rows       bool
	Start, End FrameBound
}

// BoundKind is a kind of frame bound. The zero kind means that none was
// written.
type BoundKind int

// The kinds of frame bounds.
const (
	UnboundedPreceding BoundKind = iota + 1
	Preceding
	CurrentRow
	Following
	UnboundedFollowing
)

// FrameBound is one end of a Frame.
type FrameBound struct {
	Pos  Pos
	Kind BoundKind
	// Offset is the n of n PRECEDING or n FOLLOWING.
	Offset Expr
}

// NullsOrder is where nulls come in an order.
type NullsOrder int

// The orders of nulls.
const (
	NullsDefault NullsOrder = iota
	NullsFirst
	NullsLast
)

// OrderItem is an item of ORDER BY.
type OrderItem struct {
	Pos   Pos
	Expr  Expr
	Desc  bool
	Nulls NullsOrder
}

func (e *Call) expr() {}

// Position is the place of the function's name.
func (e *Call) Position() Pos { return e.Pos }

// Position is the place of the option's first word.
func (o CallOption) Position() Pos { return o.Pos }

// Position is the place of the parenthesis or of the window's name.
func (w *Window) Position() Pos { return w.Pos }

// Position is the place of ROWS or RANGE.
func (f *Frame) Position() Pos { return f.Pos }

// Position is the place of the item's first token.
func (o OrderItem) Position() Pos { return o.Pos }
