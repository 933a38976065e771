package ast

// Query is a whole query: WITH, a body, and the clauses that follow the body.
type Query struct {
	Pos Pos
	// With is nil where there is none.
	With    *With
	Body    QueryBody
	OrderBy []OrderItem
	// Limit and Offset are nil where none was written. FETCH FIRST n ROWS
	// ONLY is a Limit, LIMIT ALL is none.
	Limit  Expr
	Offset Expr
}

// With is WITH name [(cols)] AS (query), ….
type With struct {
	Pos  Pos
	CTEs []CTE
}

// CTE is one named query of a With.
type CTE struct {
	Name    Ident
	Columns []Ident
	Query   *Query
}

// QueryBody is *Select, *SetOp, *Values, *TableQuery, or a *Query in
// parentheses that has clauses of its own.
type QueryBody interface {
	Node
	queryBody()
}

// SetOpKind is UNION, INTERSECT or EXCEPT.
type SetOpKind string

// The set operations. MINUS is read as EXCEPT.
const (
	Union     SetOpKind = "UNION"
	Intersect SetOpKind = "INTERSECT"
	Except    SetOpKind = "EXCEPT"
)

// SetOp is Left op [ALL] Right; its position is the operator's.
type SetOp struct {
	Pos         Pos
	Kind        SetOpKind
	All         bool
	Left, Right QueryBody
}

// Values is VALUES (…), (…).
type Values struct {
	Pos  Pos
	Rows []ValuesRow
}

// ValuesRow is one row of a Values.
type ValuesRow struct {
	Pos   Pos
	Items []Expr
}

// TableQuery is TABLE name, short for SELECT * FROM name.
type TableQuery struct {
	Pos  Pos
	Name Name
}

// Select is one SELECT, up to QUALIFY. ORDER BY and LIMIT are the Query's.
type Select struct {
	Pos Pos
	// Hints are those right after the word SELECT.
	Hints    []Hint
	Distinct bool
	Items    []SelectItem
	// From is nil where there is no FROM clause. Tables separated by commas
	// are a Join with Comma set.
	From    TableRef
	Where   Expr
	GroupBy []GroupItem
	Having  Expr
	Windows []NamedWindow
	Qualify Expr
}

// SelectItem is Expr [AS Alias], or [Qualifier.]*: exactly one of Expr and
// Star is set.
type SelectItem struct {
	Pos  Pos
	Expr Expr
	// Alias is zero where none was written.
	Alias Ident
	Star  bool
	// Qualifier are the names before .*; they may name a table or a row.
	Qualifier []Ident
}

// GroupKind is a kind of GroupItem. The zero kind is invalid.
type GroupKind int

// The kinds of group items.
const (
	// GroupExpr is one expression.
	GroupExpr GroupKind = iota + 1
	// GroupList is a list in parentheses: (a, b), or () for the grand total.
	GroupList
	// GroupRollup is ROLLUP (…).
	GroupRollup
	// GroupCube is CUBE (…).
	GroupCube
	// GroupSets is GROUPING SETS (…).
	GroupSets
)

// GroupItem is an item of GROUP BY.
type GroupItem struct {
	Pos  Pos
	Kind GroupKind
	// Exprs are the expressions of GroupExpr and GroupList.
	Exprs []Expr
	// Items are those of GroupRollup, GroupCube and GroupSets.
	Items []GroupItem
}

// NamedWindow is an item of the WINDOW clause: Name AS (window).
type NamedWindow struct {
	Name   Ident
	Window *Window
}

func (q *Query) queryBody()      {}
func (q *SetOp) queryBody()      {}
func (q *Values) queryBody()     {}
func (q *TableQuery) queryBody() {}
func (q *Select) queryBody()     {}

// Position is the place of the query's first token.
func (q *Query) Position() Pos { return q.Pos }

// Position is the place of the word WITH.
func (w *With) Position() Pos { return w.Pos }

// Position is the place of the name.
func (c CTE) Position() Pos { return c.Name.Pos }

// Position is the place of the operator.
func (q *SetOp) Position() Pos { return q.Pos }

// Position is the place of the word VALUES.
func (q *Values) Position() Pos { return q.Pos }

// Position is the place of the row's first token.
func (r ValuesRow) Position() Pos { return r.Pos }

// Position is the place of the word TABLE.
func (q *TableQuery) Position() Pos { return q.Pos }

// Position is the place of the word SELECT.
func (q *Select) Position() Pos { return q.Pos }

// Position is the place of the item's first token.
func (i SelectItem) Position() Pos { return i.Pos }

// Position is the place of the item's first token.
func (g GroupItem) Position() Pos { return g.Pos }

// Position is the place of the name.
func (w NamedWindow) Position() Pos { return w.Name.Pos }
