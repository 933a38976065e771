package planner

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sluicesql/sluice/sql/ast"
)

// scope is what names mean at some place of a query.
type scope struct {
	// parent is the scope of the query around a subquery, whose columns the subquery sees where it has none of
	// that name; nil at the top.
	parent *scope
	// subs are the subqueries met in the expressions of the present clause; nil where none may stand.
	subs *subqueries
	cols []scopeColumn
	// changing says that the rows in scope can be taken back, so that a non-deterministic expression over
	// them would take back something else than it gave.
	changing bool
	// group is set above a grouping: the columns are then those of the rows that are grouped.
	group *groupScope
	// windows collects the window functions; nil where none can stand.
	windows *windowScope
	// aliases are items of SELECT that can be named where no column has the name.
	aliases []ast.SelectItem
	// selected are the items of SELECT, for what is said of their names where they mean nothing.
	selected []ast.SelectItem
}

// scopeColumn is a column that names can refer to.
type scopeColumn struct {
	table string // the table's alias; empty where there is none
	name  string
	id    int
	label string // in expressions
	// merged says that USING or NATURAL merged the column with one of the left side: it is found only with
	// its table's name.
	merged bool
	// volatile names the non-deterministic function in the expression of a computed column of a changing
	// table: such a column cannot be used.
	volatile string
}

// tables are the aliases in scope, in order.
func (s *scope) tables() []string {
	var out []string
	seen := map[string]bool{}
	for _, c := range s.cols {
		if c.table != "" && !seen[c.table] {
			seen[c.table] = true
			out = append(out, c.table)
		}
	}
	return out
}

func (s *scope) hasTable(name string) bool {
	for _, c := range s.cols {
		if c.table == name {
			return true
		}
	}
	return false
}

// find are the columns of a name, of any table or of one.
func (s *scope) find(table, name string) []scopeColumn {
	var out []scopeColumn
	for _, c := range s.cols {
		if c.name == name && (table == "" && !c.merged || table != "" && c.table == table) {
			out = append(out, c)
		}
	}
	return out
}

// names are the columns' names, each once: of one table or of all.
func (s *scope) names(table string) []string {
	var out []string
	seen := map[string]bool{}
	for _, c := range s.cols {
		if (table == "" || c.table == table) && !seen[c.name] {
			seen[c.name] = true
			out = append(out, c.name)
		}
	}
	return out
}

// resolve finds the column that a path of names begins with, and returns the number of names it took: one
// (a column) or two (a table's alias and its column). The rest are fields of a ROW.
func (s *scope) resolve(parts []ast.Ident) (scopeColumn, int, error) {
	first := parts[0]
	if len(parts) > 1 && s.hasTable(first.Name) {
		if m := s.find(first.Name, parts[1].Name); len(m) > 0 {
			c, err := s.single(m, parts[1])
			return c, 2, err
		}
	}
	if m := s.find("", first.Name); len(m) > 0 {
		c, err := s.single(m, first)
		return c, 1, err
	}
	if len(parts) > 1 {
		if s.hasTable(first.Name) {
			c := parts[1]
			return scopeColumn{}, 0, suggest(errAt(c.Pos, "unknown column %q in table %q", c.Name, first.Name).Coded(ast.CodeUnknownColumn), c.Name, s.names(first.Name), "columns")
		}
		known := append(s.tables(), s.names("")...)
		return scopeColumn{}, 0, suggest(errAt(first.Pos, "unknown table or column %q", first.Name).Coded(ast.CodeUnknownTable), first.Name, known, "tables and columns")
	}
	if len(s.cols) == 0 {
		return scopeColumn{}, 0, hint(errAt(first.Pos, "unknown column %q", first.Name).Coded(ast.CodeUnknownColumn), "there is no FROM clause; a string is written in single quotes")
	}
	e := errAt(first.Pos, "unknown column %q", first.Name).Coded(ast.CodeUnknownColumn)
	for i := range s.selected {
		if it := &s.selected[i]; it.Alias.Name == first.Name {
			if holdsWindow(it.Expr) {
				return scopeColumn{}, 0, hint(e, "it is the name of an item of SELECT: filter by a window function with QUALIFY, or select from a subquery")
			}
			return scopeColumn{}, 0, hint(e, "it is the name of an item of SELECT, which is not known here: repeat its expression, or select from a subquery")
		}
	}
	return scopeColumn{}, 0, suggest(e, first.Name, s.names(""), "columns")
}

// holdsWindow reports whether e holds a window function.
func holdsWindow(e ast.Expr) bool {
	found := false
	ast.Inspect(e, func(e ast.Expr) bool {
		c, ok := e.(*ast.Call)
		found = found || ok && c.Over != nil
		return !found
	})
	return found
}

// owns reports whether a column is one of the scope's, and not of the query around.
func (s *scope) owns(id int) bool {
	for p := s.parent; p != nil; p = p.parent {
		if slices.ContainsFunc(p.cols, func(c scopeColumn) bool { return c.id == id }) {
			return false
		}
	}
	return true
}

// knows reports whether the scope itself can say what a path of names means, or what is wrong with it.
func (s *scope) knows(parts []ast.Ident) bool {
	return len(s.find("", parts[0].Name)) > 0 || len(parts) > 1 && s.hasTable(parts[0].Name)
}

// single refuses an ambiguous name and a column that cannot be used.
func (s *scope) single(m []scopeColumn, id ast.Ident) (scopeColumn, error) {
	if len(m) > 1 {
		var where []string
		for _, c := range m {
			t := c.table
			if t == "" {
				t = "a table without an alias"
			}
			where = append(where, t)
		}
		e := errAt(id.Pos, "the column %q is ambiguous: it is in %s", id.Name, strings.Join(where, " and in ")).Coded(ast.CodeAmbiguousName)
		if m[0].table != "" {
			e = hint(e, "write %s.%s", m[0].table, id.Name)
		}
		return scopeColumn{}, e
	}
	return m[0], m[0].usable(id.Pos)
}

// usable refuses a volatile column.
func (c scopeColumn) usable(pos ast.Pos) error {
	if c.volatile == "" {
		return nil
	}
	return volatileError(pos, fmt.Sprintf("the computed column %q", c.name), c.volatile)
}

// volatileError explains why a non-deterministic function is refused over a changing input.
func volatileError(pos ast.Pos, what, fn string) *ast.Error {
	subject := fn
	if what == fn {
		subject = "it"
	}
	return hint(errAt(pos, "%s cannot be used here: %s gives another value each time, and the input can take rows back, so that a deletion would not match the row that was shown", what, subject).Coded(ast.CodeVolatileChange),
		"use it over an append-only table, or take the value from the data")
}

// alias is the expression of SELECT that e names by its alias; nil where it names none.
func (s *scope) alias(e ast.Expr) ast.Expr {
	ref, ok := e.(*ast.ColumnRef)
	if !ok || len(s.aliases) == 0 || len(ref.Parts) != 1 || len(s.find("", ref.Parts[0].Name)) > 0 {
		return nil
	}
	for i := range s.aliases {
		if s.aliases[i].Alias.Name == ref.Parts[0].Name {
			return s.aliases[i].Expr
		}
	}
	return nil
}
