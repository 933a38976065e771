package ast

// TableRef is what stands in FROM: *NamedTable, *DerivedTable,
// *TableFunction, *Unnest or *Join.
type TableRef interface {
	Node
	tableRef()
}

// TableAlias is [AS] Name [(Columns)]. The zero alias means that none was
// written.
type TableAlias struct {
	Name    Ident
	Columns []Ident
}

// NamedTable is a table, view or CTE by its name.
type NamedTable struct {
	Pos  Pos
	Name Name
	// Hints are those right after the name, OPTIONS among them.
	Hints []Hint
	// AsOf is the time of FOR SYSTEM_TIME AS OF, or nil.
	AsOf  Expr
	Alias TableAlias
}

// DerivedTable is [LATERAL] (query) [alias].
type DerivedTable struct {
	Pos     Pos
	Lateral bool
	Query   *Query
	Alias   TableAlias
}

// TableFunction is [LATERAL] TABLE(call) [alias], or a bare call f(…).
type TableFunction struct {
	Pos     Pos
	Lateral bool
	Call    *Call
	Alias   TableAlias
}

// Unnest is UNNEST(…) [WITH ORDINALITY] [alias].
type Unnest struct {
	Pos        Pos
	Exprs      []Expr
	Ordinality bool
	Alias      TableAlias
}

// JoinKind is a kind of join. The zero kind is invalid.
type JoinKind int

// The kinds of joins.
const (
	InnerJoin JoinKind = iota + 1
	LeftJoin
	RightJoin
	FullJoin
	CrossJoin
)

// String gives the kind as it's written in SQL.
func (k JoinKind) String() string {
	switch k {
	case InnerJoin:
		return "INNER JOIN"
	case LeftJoin:
		return "LEFT JOIN"
	case RightJoin:
		return "RIGHT JOIN"
	case FullJoin:
		return "FULL JOIN"
	case CrossJoin:
		return "CROSS JOIN"
	}
	return "invalid join"
}

// Join is two tables joined; its position is that of the join's first word,
// or of the comma. Exactly one of On, Using and Natural is set, none for a
// CrossJoin.
type Join struct {
	Pos         Pos
	Kind        JoinKind
	Left, Right TableRef
	// Comma says that a CrossJoin was written as a comma.
	Comma   bool
	Natural bool
	On      Expr
	Using   []Ident
}

// Hint is one hint of /*+ NAME(args), … */.
type Hint struct {
	Pos  Pos
	Name Ident
	// Args are names, values, or keys with values.
	Args []HintArg
}

// HintArg is an argument of a hint: a key with its value, or one of both.
type HintArg struct {
	Pos Pos
	// Key is what stands before =, or the bare argument.
	Key string
	// Value is what stands after =, "" where there is no =.
	Value string
	// HasValue says that there was a =.
	HasValue bool
	// ValuePos is the place of the value.
	ValuePos Pos
}

func (t *NamedTable) tableRef()    {}
func (t *DerivedTable) tableRef()  {}
func (t *TableFunction) tableRef() {}
func (t *Unnest) tableRef()        {}
func (t *Join) tableRef()          {}

// Position is the place of the name's first part.
func (t *NamedTable) Position() Pos { return t.Pos }

// Position is the place of LATERAL or of the parenthesis.
func (t *DerivedTable) Position() Pos { return t.Pos }

// Position is the place of the first token.
func (t *TableFunction) Position() Pos { return t.Pos }

// Position is the place of the word UNNEST.
func (t *Unnest) Position() Pos { return t.Pos }

// Position is the place of the join's first word, or of the comma.
func (t *Join) Position() Pos { return t.Pos }

// Position is the place of the hint's name.
func (h Hint) Position() Pos { return h.Pos }

// Position is the place of the argument.
func (a HintArg) Position() Pos { return a.Pos }
