package planner

import (
	"slices"

	"github.com/sluicesql/sluice/engine/expr"
	"github.com/sluicesql/sluice/sql/ast"
)

// from binds a table reference of FROM.
func (b *binder) from(t ast.TableRef) (rel, *scope, error) {
	switch t := t.(type) {
	case *ast.NamedTable:
		return b.namedTable(t)
	case *ast.DerivedTable:
		return b.derivedTable(t)
	case *ast.Join:
		return b.join(t)
	case *ast.TableFunction:
		return nil, nil, notAvailable(t.Pos, "the table function "+nameText(t.Call.Name), "")
	case *ast.Unnest:
		one := &relValues{rows: [][]expr.Expr{{}}}
		return b.unnest(t, one, &scope{parent: b.outer}, false)
	}
	panic("planner: unknown table reference")
}

func (b *binder) namedTable(t *ast.NamedTable) (rel, *scope, error) {
	if t.AsOf != nil {
		return nil, nil, notAvailable(t.AsOf.Position(), "FOR SYSTEM_TIME AS OF", "write a plain join: it follows every change of both sides")
	}
	r, fields, err := b.relation(t)
	if err != nil {
		return nil, nil, err
	}
	alias := t.Alias
	if alias.Name.IsZero() {
		alias.Name = t.Name.Base()
	}
	sc, err := b.aliased(r, fields, alias)
	return r, sc, err
}

// relation binds a name of FROM: a WITH item, a table or a view.
func (b *binder) relation(t *ast.NamedTable) (rel, []field, error) {
	if len(t.Name.Parts) == 1 {
		if v := b.ctes.find(t.Name.Base().Name); v != nil {
			return b.view(v, t)
		}
	}
	name, err := b.s.catalog.local(t.Name)
	if err != nil {
		return nil, nil, err
	}
	if tab := b.s.catalog.tables[name]; tab != nil {
		if tab, err = b.hintedTable(tab, t.Hints); err != nil {
			return nil, nil, err
		}
		return b.table(tab, t)
	}
	if v := b.s.catalog.views[name]; v != nil {
		return b.view(v, t)
	}
	known := append(b.ctes.names(), b.s.catalog.names()...)
	return nil, nil, b.s.catalog.unknown(t.Name, "table", known)
}

// table binds a scan: the stored columns, and above them the computed ones and the casts of metadata
// columns whose declared type is not the connector's.
func (b *binder) table(t *Table, ref *ast.NamedTable) (rel, []field, error) {
	src, err := b.s.asSource(t, ref.Name.Base().Pos)
	if err != nil {
		return nil, nil, err
	}
	label := t.Name
	if !ref.Alias.Name.IsZero() {
		label = ref.Alias.Name.Name
	}
	scan := &relScan{src: src}
	shown := make([]int, len(t.Spec.Columns))        // the declared columns' numbers
	stored := make([]expr.Expr, len(t.Spec.Columns)) // and their values over the scan's columns
	var items []extendItem
	for i, c := range src.spec.Columns {
		id := b.columns.add(c.Name, label+"."+c.Name, c.Type)
		scan.ids = append(scan.ids, id)
		shown[i] = id
		declared := t.Spec.Columns[i].Type
		if c.Type.SameIgnoringNull(declared) {
			// A metadata column declared NOT NULL is taken at its word.
			b.columns.list[id].typ = declared
			stored[i] = b.columns.ref(id)
			continue
		}
		at := t.astColumn(c.Name).Name.Pos
		converted, err := cast(at, b.columns.ref(id), declared, false)
		if err != nil {
			return nil, nil, errAt(at, "column %q: %v", c.Name, err)
		}
		shown[i] = b.columns.add(c.Name, label+"."+c.Name, declared)
		stored[i] = converted
		items = append(items, extendItem{shown[i], converted})
	}
	var fields []field
	for _, c := range t.Columns {
		f := field{name: c.Name}
		if c.Computed == nil {
			f.id = shown[c.Index]
		} else {
			e := expr.Remap(c.Computed, func(col *expr.Column) expr.Expr { return stored[col.Index] })
			f.id = b.columns.add(c.Name, label+"."+c.Name, c.Type)
			items = append(items, extendItem{f.id, e})
			if fn := volatileFunction(c.Computed); fn != "" && src.changing() {
				f.volatile = fn
			}
		}
		fields = append(fields, f)
	}
	if len(items) > 0 {
		return &relExtend{in: scan, items: items}, fields, nil
	}
	return scan, fields, nil
}

// maxExpansions bounds how often views are expanded in one job.
const maxExpansions = 10_000

// view binds a reference to a view or WITH item. Each reference binds the query anew, with columns of its
// own; whether the view is computed once for all is decided when all references are known.
func (b *binder) view(v *View, ref *ast.NamedTable) (rel, []field, error) {
	if err := noHints(ref.Hints, "the view "+v.Name); err != nil {
		return nil, nil, err
	}
	if slices.Contains(b.expanding, v) {
		return nil, nil, errAt(ref.Name.Base().Pos, "the view %q refers to itself", v.Name)
	}
	if b.expansions++; b.expansions > maxExpansions {
		return nil, nil, hint(errAt(ref.Name.Base().Pos, "the views and WITH items of the job expand to more than %d queries", maxExpansions).Coded(ast.CodeLimit),
			"views that use others several times multiply")
	}
	res, err := b.viewBody(v)
	if err != nil {
		return nil, nil, err
	}
	r := &relView{view: v, ref: ref, body: res.rel}
	for _, f := range res.fields {
		r.ids = append(r.ids, f.id)
	}
	return r, res.fields, nil
}

// viewBody binds a view's query and names its columns.
func (b *binder) viewBody(v *View) (*boundQuery, error) {
	ctes, outer := b.ctes, b.outer
	b.ctes, b.outer = v.scope, nil
	b.expanding = append(b.expanding, v)
	res, err := b.query(v.Query)
	b.expanding = b.expanding[:len(b.expanding)-1]
	b.ctes, b.outer = ctes, outer
	if err != nil {
		return nil, err
	}
	if v.Columns == nil {
		uniqueNames(res.fields)
		return res, nil
	}
	return res, renameFields(res.fields, v.Columns, "the view "+v.Name)
}

func (b *binder) derivedTable(t *ast.DerivedTable) (rel, *scope, error) {
	res, err := b.query(t.Query)
	if err != nil {
		return nil, nil, err
	}
	sc, err := b.aliased(res.rel, res.fields, t.Alias)
	return res.rel, sc, err
}

// aliased makes the scope of one table of FROM.
func (b *binder) aliased(r rel, fields []field, alias ast.TableAlias) (*scope, error) {
	if len(alias.Columns) > 0 {
		fields = append([]field(nil), fields...)
		if err := renameFields(fields, alias.Columns, "the table "+alias.Name.Name); err != nil {
			return nil, err
		}
	}
	sc := &scope{changing: changing(r)}
	for _, f := range fields {
		label := f.name
		if !alias.Name.IsZero() {
			label = alias.Name.Name + "." + f.name
		}
		sc.cols = append(sc.cols, scopeColumn{table: alias.Name.Name, name: f.name, id: f.id, label: label, volatile: f.volatile})
	}
	return sc, nil
}

func renameFields(fields []field, names []ast.Ident, what string) error {
	if len(names) != len(fields) {
		return errAt(names[0].Pos, "%s has %s, but the list names %d", what, count(len(fields), "column"), len(names)).Coded(ast.CodeColumnCount)
	}
	for i, n := range names {
		for _, m := range names[:i] {
			if m.Name == n.Name {
				return errAt(n.Pos, "the column %q is named twice", n.Name).Coded(ast.CodeDuplicateName)
			}
		}
		fields[i].name = n.Name
	}
	return nil
}

// cteScope are the WITH items that can be seen.
type cteScope struct {
	parent *cteScope
	views  []*View
}

func (c *cteScope) find(name string) *View {
	for ; c != nil; c = c.parent {
		for _, v := range c.views {
			if v.Name == name {
				return v
			}
		}
	}
	return nil
}

func (c *cteScope) names() []string {
	var out []string
	for ; c != nil; c = c.parent {
		for _, v := range c.views {
			out = append(out, v.Name)
		}
	}
	return out
}

func nameText(n ast.Name) string {
	s := ""
	for i, p := range n.Parts {
		if i > 0 {
			s += "."
		}
		s += p.Name
	}
	return s
}
