package ast

// Expr is an expression.
type Expr interface {
	Node
	expr()
}

// ColumnRef is a path of names: a column, table.column, or fields below it
// (after.id). Which part is what, the binder finds out.
type ColumnRef struct {
	Pos   Pos
	Parts []Ident
}

// FieldAccess is a field of an expression that is no path: a[1].b, f(x).b,
// (t.r).b.
type FieldAccess struct {
	Pos   Pos
	Expr  Expr
	Field Ident
}

// ElementAccess is an element of an array or a map: Expr[Index].
type ElementAccess struct {
	Pos   Pos
	Expr  Expr
	Index Expr
}

// UnaryOp is an operator before its operand.
type UnaryOp string

// The unary operators.
const (
	OpPlus  UnaryOp = "+"
	OpMinus UnaryOp = "-"
	OpNot   UnaryOp = "NOT"
)

// Unary is an operator before its operand.
type Unary struct {
	Pos  Pos
	Op   UnaryOp
	Expr Expr
}

// BinaryOp is an operator between its operands.
type BinaryOp string

// The binary operators. != is read as <>.
const (
	OpOr              BinaryOp = "OR"
	OpAnd             BinaryOp = "AND"
	OpEq              BinaryOp = "="
	OpNe              BinaryOp = "<>"
	OpLt              BinaryOp = "<"
	OpLe              BinaryOp = "<="
	OpGt              BinaryOp = ">"
	OpGe              BinaryOp = ">="
	OpDistinctFrom    BinaryOp = "IS DISTINCT FROM"
	OpNotDistinctFrom BinaryOp = "IS NOT DISTINCT FROM"
	OpOverlaps        BinaryOp = "OVERLAPS"
	OpAdd             BinaryOp = "+"
	OpSub             BinaryOp = "-"
	OpMul             BinaryOp = "*"
	OpDiv             BinaryOp = "/"
	OpMod             BinaryOp = "%"
	OpConcat          BinaryOp = "||"
)

// Binary is an operator between its operands; its position is the operator's.
type Binary struct {
	Pos         Pos
	Op          BinaryOp
	Left, Right Expr
}

// IsKind is what IS asks for.
type IsKind string

// The tests of IS.
const (
	IsNull       IsKind = "NULL"
	IsTrue       IsKind = "TRUE"
	IsFalse      IsKind = "FALSE"
	IsUnknown    IsKind = "UNKNOWN"
	IsJSON       IsKind = "JSON" // any JSON value
	IsJSONObject IsKind = "JSON OBJECT"
	IsJSONArray  IsKind = "JSON ARRAY"
	IsJSONScalar IsKind = "JSON SCALAR"
)

// Is is Expr IS [NOT] kind; its position is that of IS.
type Is struct {
	Pos  Pos
	Expr Expr
	Not  bool
	Kind IsKind
}

// Between is Expr [NOT] BETWEEN [SYMMETRIC] Low AND High; its position is
// that of BETWEEN (of NOT, where there is one).
type Between struct {
	Pos       Pos
	Expr      Expr
	Not       bool
	Symmetric bool
	Low, High Expr
}

// In is Expr [NOT] IN (list) or (query): List is empty where Query is set.
// Its position is that of IN (of NOT, where there is one).
type In struct {
	Pos   Pos
	Expr  Expr
	Not   bool
	List  []Expr
	Query *Query
}

// Quantified is Left op ANY|ALL (query or list); its position is the
// operator's. SOME is read as ANY.
type Quantified struct {
	Pos   Pos
	Op    BinaryOp
	Left  Expr
	All   bool
	List  []Expr
	Query *Query
}

// Like is Expr [NOT] LIKE|SIMILAR TO Pattern [ESCAPE Escape]; its position is
// that of LIKE or SIMILAR (of NOT, where there is one).
type Like struct {
	Pos     Pos
	Expr    Expr
	Not     bool
	Similar bool
	Pattern Expr
	// Escape is nil where none was written.
	Escape Expr
}

// Case is CASE [Operand] WHEN … THEN … [ELSE …] END. Operand and Else may be
// nil.
type Case struct {
	Pos     Pos
	Operand Expr
	Whens   []When
	Else    Expr
}

// When is one branch of a Case.
type When struct {
	Pos        Pos
	Cond, Then Expr
}

// Cast is CAST(Expr AS Type), or TRY_CAST.
type Cast struct {
	Pos  Pos
	Try  bool
	Expr Expr
	Type *DataType
}

// Row is ROW(…), or a list in parentheses of two or more expressions.
type Row struct {
	Pos Pos
	// Explicit says that the word ROW was written.
	Explicit bool
	Items    []Expr
}

// Array is ARRAY[…].
type Array struct {
	Pos   Pos
	Items []Expr
}

// Map is MAP[key, value, …]; Items has an even length.
type Map struct {
	Pos   Pos
	Items []Expr
}

// Exists is EXISTS (query). NOT EXISTS is a Unary around it.
type Exists struct {
	Pos   Pos
	Query *Query
}

// Subquery is a query in parentheses that gives one value.
type Subquery struct {
	Pos   Pos
	Query *Query
}

// Symbol is a word of call syntax that is no value: the unit in
// EXTRACT(DAY FROM d), BOTH in TRIM. It occurs only as an argument.
type Symbol struct {
	Pos Pos
	// Name is in upper case.
	Name string
}

// NamedArg is an argument by name: name => value.
type NamedArg struct {
	Pos   Pos
	Name  Ident
	Value Expr
}

// Star is the * of COUNT(*). It occurs only as an argument.
type Star struct {
	Pos Pos
}

// TableArg is a table as an argument of a table function: TABLE t or a query,
// [PARTITION BY …] [ORDER BY …].
type TableArg struct {
	Pos         Pos
	Table       TableRef
	PartitionBy []Expr
	OrderBy     []OrderItem
}

// Descriptor is DESCRIPTOR(col, …), an argument of table functions.
type Descriptor struct {
	Pos     Pos
	Columns []Ident
}

func (e *ColumnRef) expr()     {}
func (e *FieldAccess) expr()   {}
func (e *ElementAccess) expr() {}
func (e *Unary) expr()         {}
func (e *Binary) expr()        {}
func (e *Is) expr()            {}
func (e *Between) expr()       {}
func (e *In) expr()            {}
func (e *Quantified) expr()    {}
func (e *Like) expr()          {}
func (e *Case) expr()          {}
func (e *Cast) expr()          {}
func (e *Row) expr()           {}
func (e *Array) expr()         {}
func (e *Map) expr()           {}
func (e *Exists) expr()        {}
func (e *Subquery) expr()      {}
func (e *Symbol) expr()        {}
func (e *NamedArg) expr()      {}
func (e *Star) expr()          {}
func (e *TableArg) expr()      {}
func (e *Descriptor) expr()    {}

// Position is the place of the first name.
func (e *ColumnRef) Position() Pos { return e.Pos }

// Position is the place of the expression before the point.
func (e *FieldAccess) Position() Pos { return e.Pos }

// Position is the place of the expression before the bracket.
func (e *ElementAccess) Position() Pos { return e.Pos }

// Position is the place of the operator.
func (e *Unary) Position() Pos { return e.Pos }

// Position is the place of the operator.
func (e *Binary) Position() Pos { return e.Pos }

// Position is the place of the operator.
func (e *Is) Position() Pos { return e.Pos }

// Position is the place of the operator.
func (e *Between) Position() Pos { return e.Pos }

// Position is the place of the operator.
func (e *In) Position() Pos { return e.Pos }

// Position is the place of the operator.
func (e *Quantified) Position() Pos { return e.Pos }

// Position is the place of the operator.
func (e *Like) Position() Pos { return e.Pos }

// Position is the place of the word CASE.
func (e *Case) Position() Pos { return e.Pos }

// Position is the place of the word CAST.
func (e *Cast) Position() Pos { return e.Pos }

// Position is the place of ROW or of the parenthesis.
func (e *Row) Position() Pos { return e.Pos }

// Position is the place of the word ARRAY.
func (e *Array) Position() Pos { return e.Pos }

// Position is the place of the word MAP.
func (e *Map) Position() Pos { return e.Pos }

// Position is the place of the word EXISTS.
func (e *Exists) Position() Pos { return e.Pos }

// Position is the place of the parenthesis.
func (e *Subquery) Position() Pos { return e.Pos }

// Position is the place of the word.
func (e *Symbol) Position() Pos { return e.Pos }

// Position is the place of the argument's name.
func (e *NamedArg) Position() Pos { return e.Pos }

// Position is the place of the star.
func (e *Star) Position() Pos { return e.Pos }

// Position is the place of the argument's first token.
func (e *TableArg) Position() Pos { return e.Pos }

// Position is the place of the word DESCRIPTOR.
func (e *Descriptor) Position() Pos { return e.Pos }
