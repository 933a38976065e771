package planner

import (
	"regexp"
	"slices"
	"strings"

	"github.com/sluicesql/sluice/engine/expr"
	"github.com/sluicesql/sluice/internal/secret"
	"github.com/sluicesql/sluice/sql/ast"
)

// answer runs the statements that only look: SHOW, DESCRIBE, USE.
func (s *Session) answer(st ast.Statement) (*Text, error) {
	switch st := st.(type) {
	case *ast.Show:
		return s.show(st)
	case *ast.Describe:
		return s.describe(st)
	case *ast.Use:
		_, err := s.catalog.local(ast.Name{Pos: st.Name.Pos, Parts: append(slices.Clone(st.Name.Parts), useTail(st)...)})
		return nil, err
	}
	return nil, notAvailable(st.Position(), "this statement", "")
}

// useTail completes the name of a catalog or database to that of an object in it, so that it is checked as
// the qualifiers of a table are.
func useTail(st *ast.Use) []ast.Ident {
	tail := []ast.Ident{{Name: "t"}}
	if st.Catalog {
		tail = append([]ast.Ident{{Name: DefaultDatabase}}, tail...)
	}
	return tail
}

func lines(text string) *Text {
	t := &Text{}
	for _, l := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		t.Rows = append(t.Rows, []string{l})
	}
	return t
}

func (s *Session) show(st *ast.Show) (*Text, error) {
	var t *Text
	switch st.What {
	case "TABLES":
		// As in Flink, views are tables too.
		t = column("table name", s.catalog.names())
	case "VIEWS":
		t = column("view name", s.catalog.viewNames())
	case "FUNCTIONS":
		t = &Text{Columns: []string{"function name", "signature", "description"}}
		for _, f := range expr.Functions() {
			t.Rows = append(t.Rows, []string{f.Name, f.Signature, f.Help})
		}
		for _, f := range expr.Aggregates() {
			t.Rows = append(t.Rows, []string{f.Name, f.Signature, f.Help})
		}
		for _, f := range expr.WindowFunctions() {
			t.Rows = append(t.Rows, []string{f.Name, f.Signature, f.Help})
		}
	case "CATALOGS":
		t = column("catalog name", []string{DefaultCatalog})
	case "DATABASES":
		t = column("database name", []string{DefaultDatabase})
	case "CURRENT CATALOG":
		return column("current catalog name", []string{DefaultCatalog}), nil
	case "CURRENT DATABASE":
		return column("current database name", []string{DefaultDatabase}), nil
	case "CREATE VIEW":
		name, err := s.catalog.local(st.Name)
		if err != nil {
			return nil, err
		}
		if v := s.catalog.views[name]; v != nil {
			text := ast.String(v.text)
			return lines(secret.Hide(text, secret.InSQL(text))), nil
		}
		return nil, s.catalog.unknown(st.Name, "view", s.catalog.viewNames())
	case "CREATE TABLE":
		name, err := s.catalog.local(st.Name)
		if err != nil {
			return nil, err
		}
		if tab := s.catalog.tables[name]; tab != nil {
			return lines(tab.showCreate()), nil
		}
		return nil, s.catalog.unknown(st.Name, "table", s.catalog.tableNames())
	default:
		return nil, notAvailable(st.Pos, "SHOW "+st.What, "")
	}
	if st.Pattern != nil {
		re := likePattern(st.Pattern.Text)
		t.Rows = slices.DeleteFunc(t.Rows, func(r []string) bool { return re.MatchString(r[0]) == st.Not })
	}
	return t, nil
}

func column(name string, values []string) *Text {
	t := &Text{Columns: []string{name}}
	for _, v := range values {
		t.Rows = append(t.Rows, []string{v})
	}
	return t
}

// likePattern is the regular expression of a LIKE pattern.
func likePattern(p string) *regexp.Regexp {
	var b strings.Builder
	b.WriteString("(?s)^")
	for _, r := range p {
		switch r {
		case '%':
			b.WriteString(".*")
		case '_':
			b.WriteString(".")
		default:
			b.WriteString(regexp.QuoteMeta(string(r)))
		}
	}
	return regexp.MustCompile(b.String() + "$")
}

func (s *Session) describe(st *ast.Describe) (*Text, error) {
	name, err := s.catalog.local(st.Name)
	if err != nil {
		return nil, err
	}
	t := &Text{Columns: []string{"name", "type", "null", "key", "extras"}}
	if v := s.catalog.views[name]; v != nil {
		for _, c := range v.schema {
			t.Rows = append(t.Rows, []string{c.Name, c.Type.Nullable().String(), truth(!c.Type.NotNull), "", ""})
		}
		return t, nil
	}
	tab := s.catalog.tables[name]
	if tab == nil {
		return nil, s.catalog.unknown(st.Name, "table", s.catalog.names())
	}
	pk := tab.keyText()
	for _, c := range tab.Columns {
		key, extra := "", ""
		if c.Index >= 0 {
			if slices.Contains(tab.PrimaryKey, c.Index) {
				key = "PRI" + pk
			}
			if m := tab.Spec.Columns[c.Index]; m.Metadata != "" {
				extra = "METADATA FROM '" + m.Metadata + "'"
				if m.Virtual {
					extra += " VIRTUAL"
				}
			}
		} else {
			extra = "AS " + c.Computed.String()
		}
		t.Rows = append(t.Rows, []string{c.Name, c.Type.Nullable().String(), truth(!c.Type.NotNull), key, extra})
	}
	return t, nil
}

func truth(b bool) string {
	if b {
		return "TRUE"
	}
	return "FALSE"
}

// keyText is the primary key's columns in parentheses.
func (t *Table) keyText() string {
	var k []string
	for _, i := range t.PrimaryKey {
		k = append(k, t.Spec.Columns[i].Name)
	}
	return "(" + strings.Join(k, ", ") + ")"
}

// showCreate writes the table as CREATE TABLE, without the values of secret options.
func (t *Table) showCreate() string {
	st := *t.stmt
	st.IfNotExists = false
	st.Options = slices.Clone(st.Options)
	for i := range st.Options {
		o := &st.Options[i]
		if o.Value = secret.Value(o.Key, o.Value); t.secret[o.Key] {
			o.Value = secret.Mask
		}
	}
	return ast.String(&st)
}
