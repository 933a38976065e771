package planner

import (
	"maps"
	"slices"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/expr"
	"github.com/sluicesql/sluice/engine/types"
	"github.com/sluicesql/sluice/sql/ast"
)

// The one catalog and database there are; their names are Flink's, so that qualified names in existing
// files resolve.
const (
	DefaultCatalog  = "default_catalog"
	DefaultDatabase = "default_database"
)

// Table is a table of the catalog. It is not changed once created.
type Table struct {
	// Name is the table's name, without the default catalog and database.
	Name string
	// Columns are all columns in declared order.
	Columns []TableColumn
	// PrimaryKey holds indexes into Spec.Columns.
	PrimaryKey []int
	Connector  spi.Connector
	// Spec is what connectors see of the table.
	Spec *spi.Table
	// Watermark is the declared watermark, kept and so far without effect.
	Watermark *ast.Watermark

	stmt    *ast.CreateTable
	source  *sourceInfo // once asked for
	sink    *sinkInfo
	options map[string]ast.Option
	secret  map[string]bool
}

// TableColumn is a column of a table as queries see it.
type TableColumn struct {
	Name string
	Type types.Type
	// Index is the column's index in Spec.Columns; −1 for a computed column.
	Index int
	// Computed is the expression of a computed column, over Spec.Columns.
	Computed expr.Expr
	Comment  string
}

// View is a named query: a view of the catalog, or a WITH item.
type View struct {
	Name string
	// Columns are the names given in CREATE VIEW, or nil.
	Columns []ast.Ident
	Query   *ast.Query

	schema []Column  // of a catalog view
	scope  *cteScope // the WITH items that a WITH item's query can see
	text   *ast.CreateView
}

// catalog holds tables and views, which share one name space.
type catalog struct {
	tables map[string]*Table
	views  map[string]*View
	// failed are names whose definition is wrong, where mistakes do not end the session.
	failed map[string]bool
}

func newCatalog() *catalog {
	return &catalog{tables: map[string]*Table{}, views: map[string]*View{}}
}

// names are the names of all tables and views, in order.
func (c *catalog) names() []string {
	n := append(c.tableNames(), c.viewNames()...)
	slices.Sort(n)
	return n
}

func (c *catalog) tableNames() []string { return sortedKeys(c.tables) }

func (c *catalog) viewNames() []string { return sortedKeys(c.views) }

func sortedKeys[T any](m map[string]T) []string {
	n := make([]string, 0, len(m))
	for k := range m {
		n = append(n, k)
	}
	slices.Sort(n)
	return n
}

// local checks the qualifiers of a name and returns its last part.
func (c *catalog) local(n ast.Name) (string, error) {
	q := n.Parts[:len(n.Parts)-1]
	want := []string{DefaultCatalog, DefaultDatabase}
	for i := range q {
		w := want[len(want)-len(q)+i]
		if q[i].Name != w {
			kind := "database"
			if w == DefaultCatalog {
				kind = "catalog"
			}
			return "", hint(errAt(q[i].Pos, "unknown %s %q", kind, q[i].Name).Coded(ast.CodeUnknownTable), "the only one is %s", w)
		}
	}
	return n.Base().Name, nil
}

// unknown says that there is no table or view of that name.
func (c *catalog) unknown(n ast.Name, what string, candidates []string) error {
	id := n.Base()
	if c.failed[id.Name] {
		return errFollows
	}
	candidates = slices.Concat(candidates, slices.Sorted(maps.Keys(c.failed)))
	return suggest(errAt(id.Pos, "unknown %s %q", what, id.Name).Coded(ast.CodeUnknownTable), id.Name, candidates, what+"s")
}

// free checks that a name can be given to something new.
func (c *catalog) free(name string, pos ast.Pos) error {
	var kind string
	switch {
	case c.tables[name] != nil:
		kind = "table"
	case c.views[name] != nil:
		kind = "view"
	default:
		return nil
	}
	return hint(errAt(pos, "the %s %q exists already", kind, name).Coded(ast.CodeDuplicateName), "drop it first, or write IF NOT EXISTS to keep the old one")
}
