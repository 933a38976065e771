package ast

// CreateTable is CREATE [TEMPORARY] TABLE [IF NOT EXISTS] Name (…) ….
type CreateTable struct {
	Pos         Pos
	Temporary   bool
	IfNotExists bool
	Name        Name
	Columns     []*Column
	// Watermark is nil where there is none.
	Watermark *Watermark
	// PrimaryKey is nil where there is none; a key declared at a column comes
	// here too.
	PrimaryKey *PrimaryKey
	// Comment is the table's description, or "".
	Comment string
	// PartitionedBy are the columns of PARTITIONED BY.
	PartitionedBy []Ident
	// Options are those of WITH, in the order of the text; no key comes
	// twice.
	Options []Option
	// Like is nil where there is none.
	Like *LikeTable
	// As is the query of CREATE TABLE … AS, or nil.
	As *Query
}

// ColumnKind is a kind of column. The zero kind is invalid.
type ColumnKind int

// The kinds of columns.
const (
	// PhysicalColumn is name type.
	PhysicalColumn ColumnKind = iota + 1
	// MetadataColumn is name type METADATA [FROM 'key'] [VIRTUAL].
	MetadataColumn
	// ComputedColumn is name AS expr.
	ComputedColumn
)

// Column is a column of a CreateTable.
type Column struct {
	Name Ident
	Kind ColumnKind
	// Type is nil for a computed column.
	Type *DataType
	// MetadataKey is the key of METADATA FROM, "" where it is the column's
	// own name.
	MetadataKey    string
	MetadataKeyPos Pos
	// Virtual says that a metadata column is not written.
	Virtual bool
	// Expr is that of a computed column.
	Expr    Expr
	Comment string
}

// Watermark is WATERMARK FOR Column AS Expr. Column is a path, since it may
// be a field of a row.
type Watermark struct {
	Pos    Pos
	Column []Ident
	Expr   Expr
}

// PrimaryKey is [CONSTRAINT Name] PRIMARY KEY (Columns) NOT ENFORCED.
type PrimaryKey struct {
	Pos Pos
	// Constraint is the constraint's name, zero where there is none.
	Constraint Ident
	Columns    []Ident
}

// Option is 'Key' = 'Value'.
type Option struct {
	Key      string
	KeyPos   Pos
	Value    string
	ValuePos Pos
}

// LikeTable is LIKE Table [(options)].
type LikeTable struct {
	Pos     Pos
	Table   Name
	Options []LikeOption
}

// LikeOption is {INCLUDING | EXCLUDING | OVERWRITING} What of a LIKE.
type LikeOption struct {
	Pos Pos
	// Merge is INCLUDING, EXCLUDING or OVERWRITING.
	Merge string
	// What is ALL, CONSTRAINTS, DISTRIBUTION, GENERATED, METADATA, OPTIONS,
	// PARTITIONS or WATERMARKS.
	What string
}

// CreateView is CREATE [TEMPORARY] VIEW [IF NOT EXISTS] Name [(Columns)]
// [COMMENT '…'] AS query.
type CreateView struct {
	Pos         Pos
	Temporary   bool
	IfNotExists bool
	Name        Name
	Columns     []ViewColumn
	Comment     string
	Query       *Query
}

// ViewColumn is a column's name in a CreateView.
type ViewColumn struct {
	Name    Ident
	Comment string
}

func (s *CreateTable) statement() {}
func (s *CreateView) statement()  {}

// Position is the place of the word CREATE.
func (s *CreateTable) Position() Pos { return s.Pos }

// Position is the place of the word CREATE.
func (s *CreateView) Position() Pos { return s.Pos }

// Position is the place of the column's name.
func (c *Column) Position() Pos { return c.Name.Pos }

// Position is the place of the word WATERMARK.
func (w *Watermark) Position() Pos { return w.Pos }

// Position is the place of the words PRIMARY KEY.
func (k *PrimaryKey) Position() Pos { return k.Pos }

// Position is the place of the key.
func (o Option) Position() Pos { return o.KeyPos }

// Position is the place of the word LIKE.
func (l *LikeTable) Position() Pos { return l.Pos }

// Position is the place of the option's first word.
func (o LikeOption) Position() Pos { return o.Pos }
