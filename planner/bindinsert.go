package planner

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sluicesql/sluice/engine/expr"
	"github.com/sluicesql/sluice/engine/types"
	"github.com/sluicesql/sluice/sql/ast"
)

// insertPlace is where an INSERT or SELECT stands in the text, for errors of the plan as a whole.
type insertPlace struct {
	stmt  ast.Pos
	table ast.Pos
	query ast.Pos
}

// selectResult binds a top-level SELECT.
func (jb *jobBuilder) selectResult(st *ast.QueryStatement) error {
	jb.b.result = st.Query
	q, err := jb.b.query(st.Query)
	if err != nil {
		return err
	}
	uniqueNames(q.fields)
	sink := &logicalSink{in: q.rel, at: insertPlace{stmt: st.Pos, query: st.Query.Pos}}
	x := &relExtend{in: q.rel}
	for _, f := range q.fields {
		if jb.b.columns.list[f.id].typ.Kind == types.Null {
			// A bare NULL has no type to be shown with.
			f.id = jb.b.columns.add(f.name, f.name, types.String())
			x.items = append(x.items, extendItem{f.id, expr.NullConst(types.String())})
		}
		sink.ids = append(sink.ids, f.id)
		sink.names = append(sink.names, f.name)
	}
	if jb.b.s.showsTables() {
		sink.shown = q.order
	}
	for _, k := range sink.shown {
		if !slices.Contains(sink.ids, k.col) {
			sink.ids = append(sink.ids, k.col)
		}
	}
	sink.in = bare(x)
	jb.job.sinks = append(jb.job.sinks, sink)
	return nil
}

// insert binds INSERT INTO.
func (jb *jobBuilder) insert(st *ast.Insert) error {
	b := jb.b
	name, err := b.s.catalog.local(st.Table)
	if err != nil {
		return err
	}
	t := b.s.catalog.tables[name]
	if t == nil {
		if b.s.catalog.views[name] != nil {
			return errAt(st.Table.Base().Pos, "%q is a view and cannot be written to", name).Coded(ast.CodeReadWrite)
		}
		return b.s.catalog.unknown(st.Table, "table", b.s.catalog.tableNames())
	}
	if t, err = b.hintedTable(t, st.Hints); err != nil {
		return err
	}
	info, err := b.s.asSink(t, st.Table.Base().Pos)
	if err != nil {
		return err
	}
	q, err := b.query(st.Query)
	if err != nil {
		return err
	}
	target, err := info.targets(st)
	if err != nil {
		return err
	}
	if len(target) != len(q.fields) {
		return hint(errAt(st.Query.Pos, "the query has %s, but %s takes %d", count(len(q.fields), "column"), t.Name, len(target)).Coded(ast.CodeColumnCount),
			"query: %s; %s: %s", b.schemaOf(q.fields), t.Name, info.schema(target))
	}
	x := &relExtend{in: q.rel}
	sink := &logicalSink{in: x, sink: info, at: insertPlace{st.Pos, st.Table.Base().Pos, st.Query.Pos}}
	sink.ids = make([]int, len(info.columns))
	given := make([]int, len(info.columns)) // the query's column + 1
	for i, pos := range target {
		given[pos] = i + 1
	}
	for pos := range info.columns {
		col := info.declared(pos)
		if given[pos] == 0 {
			if col.Type.NotNull {
				return errAt(st.Table.Base().Pos, "the column %q of %s is NOT NULL, and the INSERT gives it no value", col.Name, t.Name)
			}
			id := b.columns.add(col.Name, col.Name, info.spec.Columns[info.columns[pos]].Type)
			x.items = append(x.items, extendItem{id, expr.NullConst(b.columns.list[id].typ)})
			sink.ids[pos] = id
			continue
		}
		i := given[pos] - 1
		at := itemPos(st.Query, i)
		id, err := b.assign(at, x, q.fields[i], col, info.spec.Columns[info.columns[pos]].Type)
		if err != nil {
			pe := errAt(at, "column %d of the query, %q, does not fit column %q of %s: %v", i+1, q.fields[i].name, col.Name, t.Name, err).Coded(ast.CodeTypeMismatch)
			return hint(pe, "query: %s; %s: %s", b.schemaOf(q.fields), t.Name, info.schema(target))
		}
		sink.ids[pos] = id
	}
	sink.in = bare(x)
	jb.job.sinks = append(jb.job.sinks, sink)
	return nil
}

// targets are the sink's columns that the query's columns go to, as positions in s.columns.
func (s *sinkInfo) targets(st *ast.Insert) ([]int, error) {
	var out []int
	if len(st.Columns) == 0 {
		for i := range s.columns {
			out = append(out, i)
		}
		return out, nil
	}
	for _, id := range st.Columns {
		pos := -1
		var known []string
		for i := range s.columns {
			known = append(known, s.declared(i).Name)
			if s.declared(i).Name == id.Name {
				pos = i
			}
		}
		if pos < 0 {
			if s.table.columnIndex(id.Name) >= 0 {
				return nil, errAt(id.Pos, "the column %q of %s is computed or virtual and cannot be written", id.Name, s.table.Name).Coded(ast.CodeReadWrite)
			}
			return nil, suggest(errAt(id.Pos, "unknown column %q in table %s", id.Name, s.table.Name).Coded(ast.CodeUnknownColumn), id.Name, known, "columns")
		}
		for _, p := range out {
			if p == pos {
				return nil, errAt(id.Pos, "the column %q is named twice", id.Name).Coded(ast.CodeDuplicateName)
			}
		}
		out = append(out, pos)
	}
	return out, nil
}

// declared is the declaration of the sink's column at a position.
func (s *sinkInfo) declared(pos int) TableColumn {
	for _, c := range s.table.Columns {
		if c.Index == s.columns[pos] {
			return c
		}
	}
	panic("planner: sink column is not declared")
}

func (s *sinkInfo) schema(target []int) string {
	var parts []string
	for _, pos := range target {
		c := s.declared(pos)
		parts = append(parts, c.Name+" "+c.Type.String())
	}
	return "(" + strings.Join(parts, ", ") + ")"
}

func (b *binder) schemaOf(fields []field) string {
	var parts []string
	for _, f := range fields {
		parts = append(parts, f.name+" "+b.columns.list[f.id].typ.String())
	}
	return "(" + strings.Join(parts, ", ") + ")"
}

// assign brings a query's column to the type of a sink's column: the declared type, and where a metadata
// column's is another, the connector's after that. The query's column is written at pos.
func (b *binder) assign(pos ast.Pos, x *relExtend, f field, col TableColumn, final types.Type) (int, error) {
	id := f.id
	for _, want := range []types.Type{col.Type, final} {
		have := b.columns.list[id].typ
		ok, convert := assignable(have, want, constsOf(x, id))
		if !ok {
			return 0, fmt.Errorf("%s cannot become %s unasked", have, want)
		}
		if !convert || widens(have, want) {
			continue
		}
		e, err := cast(pos, b.columns.ref(id), want.Nullable(), false)
		if err != nil {
			return 0, err
		}
		id = b.columns.add(col.Name, col.Name, e.Type())
		x.items = append(x.items, extendItem{id, expr.Remap(e, func(c *expr.Column) expr.Expr {
			if it := x.item(c.Index); it != nil {
				return it
			}
			return c
		})})
	}
	return id, nil
}

// constsOf are the constants that column id consists of, or nil.
func constsOf(r rel, id int) []*expr.Const {
	switch r := r.(type) {
	case *relExtend:
		if c, ok := r.item(id).(*expr.Const); ok {
			return []*expr.Const{c}
		}
		return constsOf(r.in, id)
	case *relValues:
		k := slices.Index(r.ids, id)
		if k < 0 {
			return nil
		}
		var out []*expr.Const
		for _, row := range r.rows {
			out = append(out, row[k].(*expr.Const))
		}
		return out
	}
	return nil
}

// itemPos is the place of a query's i-th result column, as far as the text tells.
func itemPos(q *ast.Query, i int) ast.Pos {
	body := q.Body
	for {
		inner, ok := body.(*ast.Query)
		if !ok {
			break
		}
		body = inner.Body
	}
	switch body := body.(type) {
	case *ast.Select:
		for _, it := range body.Items {
			if it.Star {
				return body.Items[0].Pos
			}
		}
		if i < len(body.Items) {
			return body.Items[i].Pos
		}
	case *ast.Values:
		if i < len(body.Rows[0].Items) {
			return body.Rows[0].Items[i].Position()
		}
	}
	return q.Pos
}
