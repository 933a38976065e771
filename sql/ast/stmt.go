package ast

// Statement is one statement of a script.
type Statement interface {
	Node
	statement()
}

// QueryStatement is a query on its own, whose result is shown.
type QueryStatement struct {
	Pos   Pos
	Query *Query
}

// Insert is INSERT INTO Table [(Columns)] query.
type Insert struct {
	Pos   Pos
	Table Name
	// Hints are those right after the table's name, OPTIONS among them.
	Hints   []Hint
	Columns []Ident
	Query   *Query
}

// Drop is DROP [TEMPORARY] TABLE|VIEW [IF EXISTS] Name.
type Drop struct {
	Pos       Pos
	Temporary bool
	// View is true for a view and false for a table.
	View     bool
	IfExists bool
	Name     Name
}

// Set is SET 'key' = 'value', or SET alone (a zero Key), which lists all.
type Set struct {
	Pos      Pos
	Key      string
	KeyPos   Pos
	Value    string
	ValuePos Pos
}

// Reset is RESET 'key', or RESET alone (a zero Key), which resets all.
type Reset struct {
	Pos    Pos
	Key    string
	KeyPos Pos
}

// Explain is EXPLAIN [details | PLAN FOR] statement.
type Explain struct {
	Pos     Pos
	Details []ExplainDetail
	// Statement is a *QueryStatement, *Insert or *StatementSet.
	Statement Statement
}

// ExplainDetail is ESTIMATED_COST, CHANGELOG_MODE, PLAN_ADVICE,
// JSON_EXECUTION_PLAN or, which Flink does not have, ANALYZE.
type ExplainDetail struct {
	Pos  Pos
	Name string
}

// StatementSet is EXECUTE STATEMENT SET BEGIN … END, or the older BEGIN
// STATEMENT SET; … END: inserts that form one job.
type StatementSet struct {
	Pos Pos
	// Old says that it was written in the older form.
	Old     bool
	Inserts []*Insert
}

// Show is SHOW What [LIKE 'Pattern'] or SHOW CREATE TABLE|VIEW Name.
type Show struct {
	Pos Pos
	// What is TABLES, VIEWS, FUNCTIONS, JOBS, CREATE TABLE, CREATE VIEW,
	// CATALOGS, DATABASES, CURRENT CATALOG or CURRENT DATABASE.
	What string
	// Name is that of SHOW CREATE TABLE or VIEW.
	Name Name
	// Not says NOT LIKE.
	Not bool
	// Pattern is nil where there is no LIKE.
	Pattern *Literal
}

// Describe is DESCRIBE|DESC [EXTENDED] Name.
type Describe struct {
	Pos      Pos
	Extended bool
	Name     Name
}

// Use is USE Name, or USE CATALOG Name.
type Use struct {
	Pos     Pos
	Catalog bool
	Name    Name
}

// StopJob is STOP JOB 'id' [WITH SAVEPOINT] [WITH DRAIN].
type StopJob struct {
	Pos           Pos
	ID            string
	IDPos         Pos
	WithSavepoint bool
	WithDrain     bool
}

func (s *QueryStatement) statement() {}
func (s *Insert) statement()         {}
func (s *Drop) statement()           {}
func (s *Set) statement()            {}
func (s *Reset) statement()          {}
func (s *Explain) statement()        {}
func (s *StatementSet) statement()   {}
func (s *Show) statement()           {}
func (s *Describe) statement()       {}
func (s *Use) statement()            {}
func (s *StopJob) statement()        {}

// Position is the place of the statement's first token.
func (s *QueryStatement) Position() Pos { return s.Pos }

// Position is the place of the statement's first token.
func (s *Insert) Position() Pos { return s.Pos }

// Position is the place of the statement's first token.
func (s *Drop) Position() Pos { return s.Pos }

// Position is the place of the statement's first token.
func (s *Set) Position() Pos { return s.Pos }

// Position is the place of the statement's first token.
func (s *Reset) Position() Pos { return s.Pos }

// Position is the place of the statement's first token.
func (s *Explain) Position() Pos { return s.Pos }

// Position is the place of the statement's first token.
func (s *StatementSet) Position() Pos { return s.Pos }

// Position is the place of the statement's first token.
func (s *Show) Position() Pos { return s.Pos }

// Position is the place of the statement's first token.
func (s *Describe) Position() Pos { return s.Pos }

// Position is the place of the statement's first token.
func (s *Use) Position() Pos { return s.Pos }

// Position is the place of the statement's first token.
func (s *StopJob) Position() Pos { return s.Pos }
