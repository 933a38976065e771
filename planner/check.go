package planner

import (
	"errors"

	"github.com/sluicesql/sluice/sql/ast"
)

// Findings are what is wrong with a script, and what its author probably does not want.
type Findings struct {
	Errors, Lints ast.ErrorList

	incomplete bool
	// calls are the places of calls, and casts those of casts, by how expressions write them.
	calls map[string]ast.Pos
	casts map[string]bool
	// function are the places of functions' names.
	function map[ast.Pos]bool
	// reserved are the reserved words that were not yet found.
	reserved map[string]bool
	// at is where lints go that have no place of their own.
	at ast.Pos
}

// errFollows is the error of a statement that names a table or view whose own definition is wrong: there is nothing to
// say of it.
var errFollows = errors.New("the table or view is not there since its definition is wrong")

// Check binds and plans statements as Run does, but goes on after a mistake, and also looks for lints. A statement that
// fails only since one before it did is passed over. The script holds what could be planned. incomplete says that some of
// the script's statements could not be parsed, so that names may be missing without that being a mistake.
func (s *Session) Check(stmts []ast.Statement, incomplete bool) (*Script, *Findings) {
	r := &run{s: s, out: &Script{}, changed: map[string]ast.Pos{}}
	s.catalog.failed = map[string]bool{}
	f := &Findings{
		incomplete: incomplete, calls: map[string]ast.Pos{}, casts: map[string]bool{}, function: map[ast.Pos]bool{}, reserved: reservedWords(),
	}
	for _, st := range stmts {
		f.lintText(st)
		if err := r.statement(st); err != nil {
			f.fail(err)
			if name := defined(st); name != "" {
				s.catalog.failed[name] = true
			}
		}
	}
	if err := r.planInserts(); err != nil {
		f.fail(err)
	}
	for _, step := range r.out.Steps {
		if j, ok := step.(*Job); ok {
			f.lintJob(j)
		}
	}
	for _, name := range s.catalog.tableNames() {
		f.lintTable(s.catalog.tables[name])
	}
	if len(f.Errors) == 0 && !incomplete {
		f.lintUnused(s, stmts)
	}
	return r.out, f
}

// fail notes a mistake.
func (f *Findings) fail(err error) {
	if errors.Is(err, errFollows) {
		return
	}
	var e *ast.Error
	if !errors.As(err, &e) {
		e = &ast.Error{Msg: err.Error()}
	}
	if e.Code == ast.CodeUnknownTable && f.incomplete {
		return
	}
	f.Errors = append(f.Errors, e)
}

// lint notes something that its author probably does not want, once for each place.
func (f *Findings) lint(e *ast.Error) {
	if !e.Pos.IsValid() {
		e.Pos = f.at
	}
	for _, l := range f.Lints {
		if l.Pos == e.Pos && l.Code == e.Code && l.Msg == e.Msg {
			return
		}
	}
	f.Lints = append(f.Lints, e)
}

// defined is the name that a statement would have given to a table or view.
func defined(st ast.Statement) string {
	switch st := st.(type) {
	case *ast.CreateTable:
		return st.Name.Base().Name
	case *ast.CreateView:
		return st.Name.Base().Name
	}
	return ""
}
