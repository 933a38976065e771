package planner

import (
	"slices"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/sql/ast"
)

// createTable binds CREATE TABLE and enters the table into the catalog.
func (s *Session) createTable(ct *ast.CreateTable) error {
	name, err := s.catalog.local(ct.Name)
	if err != nil {
		return err
	}
	if ct.IfNotExists && (s.catalog.tables[name] != nil || s.catalog.views[name] != nil) {
		return nil
	}
	if err := s.catalog.free(name, ct.Name.Base().Pos); err != nil {
		return err
	}
	if ct, err = s.expandLike(ct); err != nil {
		return err
	}
	switch {
	case ct.As != nil:
		return notAvailable(ct.As.Pos, "CREATE TABLE … AS", "write CREATE TABLE with its columns, and INSERT INTO … SELECT")
	case len(ct.PartitionedBy) > 0:
		return notAvailable(ct.PartitionedBy[0].Pos, "PARTITIONED BY", "")
	}
	t, err := s.bindTable(name, ct)
	if err != nil {
		return err
	}
	s.catalog.tables[name] = t
	return nil
}

// bindTable binds a CREATE TABLE without LIKE.
func (s *Session) bindTable(name string, ct *ast.CreateTable) (*Table, error) {
	t := &Table{Name: name, stmt: ct, Watermark: ct.Watermark, Spec: &spi.Table{Name: name, Options: spi.Options{}}}
	if err := t.bindStoredColumns(); err != nil {
		return nil, err
	}
	if err := t.bindPrimaryKey(); err != nil {
		return nil, err
	}
	if err := s.bindComputedColumns(t); err != nil {
		return nil, err
	}
	if err := s.bindWatermark(t); err != nil {
		return nil, err
	}
	return t, s.bindTableOptions(t, ct)
}

// bindStoredColumns binds the physical and metadata columns, which the connector sees.
func (t *Table) bindStoredColumns() error {
	if len(t.stmt.Columns) == 0 {
		return hint(errAt(t.stmt.Name.Base().Pos, "table %q has no columns", t.Name), "write CREATE TABLE %s (name TYPE, …) WITH (…)", t.Name)
	}
	seen := map[string]bool{}
	for _, c := range t.stmt.Columns {
		if seen[c.Name.Name] {
			return errAt(c.Name.Pos, "the column %q occurs twice in table %q", c.Name.Name, t.Name).Coded(ast.CodeDuplicateName)
		}
		seen[c.Name.Name] = true
		tc := TableColumn{Name: c.Name.Name, Index: -1, Comment: c.Comment}
		if c.Kind != ast.ComputedColumn {
			typ, err := bindType(c.Type)
			if err != nil {
				return err
			}
			tc.Type, tc.Index = typ, len(t.Spec.Columns)
			sc := spi.Column{Name: tc.Name, Type: typ, Virtual: c.Virtual}
			if c.Kind == ast.MetadataColumn {
				sc.Metadata = c.MetadataKey
				if sc.Metadata == "" {
					sc.Metadata = sc.Name
				}
			}
			t.Spec.Columns = append(t.Spec.Columns, sc)
		}
		t.Columns = append(t.Columns, tc)
	}
	return nil
}

// bindPrimaryKey checks the key's columns and makes them NOT NULL.
func (t *Table) bindPrimaryKey() error {
	pk := t.stmt.PrimaryKey
	if pk == nil {
		return nil
	}
	for _, id := range pk.Columns {
		i := t.columnIndex(id.Name)
		if i < 0 {
			return suggest(errAt(id.Pos, "the primary key names the unknown column %q", id.Name).Coded(ast.CodeUnknownColumn), id.Name, t.columnNames(), "columns")
		}
		c := &t.Columns[i]
		if c.Index < 0 || t.Spec.Columns[c.Index].Metadata != "" {
			return errAt(id.Pos, "the column %q cannot be part of the primary key, since it is not a physical column", id.Name)
		}
		if slices.Contains(t.PrimaryKey, c.Index) {
			return errAt(id.Pos, "the primary key names the column %q twice", id.Name).Coded(ast.CodeDuplicateName)
		}
		c.Type = c.Type.Required()
		t.Spec.Columns[c.Index].Type = c.Type
		t.PrimaryKey = append(t.PrimaryKey, c.Index)
	}
	t.Spec.PrimaryKey = t.PrimaryKey
	return nil
}

// storedScope is the scope of computed columns and the watermark: the physical and metadata columns, whose
// numbers are their indexes in Spec.Columns.
func (t *Table) storedScope() (*scope, *columnTable) {
	sc, ct := &scope{}, &columnTable{}
	for _, c := range t.Spec.Columns {
		id := ct.add(c.Name, c.Name, c.Type)
		sc.cols = append(sc.cols, scopeColumn{name: c.Name, label: c.Name, id: id})
	}
	return sc, ct
}

func (s *Session) bindComputedColumns(t *Table) error {
	sc, ct := t.storedScope()
	for i, c := range t.stmt.Columns {
		if c.Kind != ast.ComputedColumn {
			continue
		}
		b := &binder{s: s, columns: ct}
		e, err := b.expr(c.Expr, sc)
		if err != nil {
			return err
		}
		t.Columns[i].Computed, t.Columns[i].Type = e, e.Type()
	}
	return nil
}

// bindWatermark checks the watermark's column and expression; it has no effect so far, since joins wait
// for no time.
func (s *Session) bindWatermark(t *Table) error {
	w := t.Watermark
	if w == nil {
		return nil
	}
	sc, ct := t.storedScope()
	for _, c := range t.Columns {
		if c.Computed != nil {
			sc.cols = append(sc.cols, scopeColumn{name: c.Name, label: c.Name, id: ct.add(c.Name, c.Name, c.Type)})
		}
	}
	b := &binder{s: s, columns: ct}
	if _, err := b.expr(&ast.ColumnRef{Pos: w.Column[0].Pos, Parts: w.Column}, sc); err != nil {
		return err
	}
	_, err := b.expr(w.Expr, sc)
	return err
}

func (t *Table) columnIndex(name string) int {
	return slices.IndexFunc(t.Columns, func(c TableColumn) bool { return c.Name == name })
}

func (t *Table) columnNames() []string {
	n := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		n[i] = c.Name
	}
	return n
}

// createView binds CREATE VIEW: the query is checked now and bound anew wherever the view is used.
func (s *Session) createView(cv *ast.CreateView) error {
	name, err := s.catalog.local(cv.Name)
	if err != nil {
		return err
	}
	if cv.IfNotExists && (s.catalog.tables[name] != nil || s.catalog.views[name] != nil) {
		return nil
	}
	if err := s.catalog.free(name, cv.Name.Base().Pos); err != nil {
		return err
	}
	v := &View{Name: name, Query: cv.Query, text: cv}
	for _, c := range cv.Columns {
		v.Columns = append(v.Columns, c.Name)
	}
	b := &binder{s: s, columns: &columnTable{}}
	res, err := b.viewBody(v)
	if err != nil {
		return err
	}
	for _, f := range res.fields {
		v.schema = append(v.schema, Column{Name: f.name, Type: b.columns.list[f.id].typ})
	}
	s.catalog.views[name] = v
	return nil
}

// drop is DROP TABLE and DROP VIEW.
func (s *Session) drop(d *ast.Drop) error {
	name, err := s.catalog.local(d.Name)
	if err != nil {
		return err
	}
	what, names := "table", s.catalog.tableNames()
	_, here := s.catalog.tables[name]
	_, other := s.catalog.views[name]
	if d.View {
		what, names = "view", s.catalog.viewNames()
		here, other = other, here
	}
	switch {
	case here && d.View:
		delete(s.catalog.views, name)
	case here:
		delete(s.catalog.tables, name)
	case other && d.View:
		return hint(errAt(d.Name.Base().Pos, "%q is a table", name), "write DROP TABLE")
	case other:
		return hint(errAt(d.Name.Base().Pos, "%q is a view", name), "write DROP VIEW")
	case !d.IfExists:
		return s.catalog.unknown(d.Name, what, names)
	}
	return nil
}
