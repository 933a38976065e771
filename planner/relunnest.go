package planner

import (
	"slices"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/expr"
	"github.com/sluicesql/sluice/engine/types"
	"github.com/sluicesql/sluice/sql/ast"
)

// relUnnest has each row of its input once for every element of a list, with the element's columns added.
type relUnnest struct {
	in   rel
	list expr.Expr // an ARRAY or MAP, over the input's columns
	ids  []int     // the element's columns, and its number's where that is asked for
	// numbered says that the last of ids is the element's number.
	numbered bool
	// keepEmpty says that a row without elements is there once, with NULLs.
	keepEmpty bool
}

func (u *relUnnest) out() []int { return append(append([]int(nil), u.in.out()...), u.ids...) }

// facts are those of the input; a row is known again by its number among its elements.
func (u *relUnnest) facts(in *facts) *facts {
	f := in.clone()
	keys := f.keys
	f.keys = nil
	if u.numbered {
		for _, k := range keys {
			f.addKey(append(slices.Clone(k), u.ids[len(u.ids)-1]))
		}
		f.determine(u.ids)
	}
	return f
}

// pushUnnest applies the conditions that read no element below.
func pushUnnest(u *relUnnest, conds []expr.Expr) rel {
	below, above := divide(conds, func(c expr.Expr) (expr.Expr, bool) { return c, expr.Deterministic(c) && !meets(c, u.ids) })
	u.in = push(u.in, below)
	return filtered(u, above)
}

// unnest binds UNNEST of a list of the rows of in, which have the scope ls.
func (b *binder) unnest(t *ast.Unnest, in rel, ls *scope, keepEmpty bool) (rel, *scope, error) {
	if len(t.Exprs) != 1 {
		return nil, nil, hint(notAvailable(t.Pos, "UNNEST of several lists", ""), "write one UNNEST for each")
	}
	x, err := b.expr(t.Exprs[0], ls)
	if err != nil {
		return nil, nil, err
	}
	parts, ok := expr.ListParts(x.Type())
	if !ok {
		return nil, nil, errAt(t.Exprs[0].Position(), "UNNEST needs an ARRAY or a MAP, and this is %s", x.Type().Nullable()).Coded(ast.CodeTypeMismatch)
	}
	u := &relUnnest{in: in, list: x, numbered: t.Ordinality, keepEmpty: keepEmpty}
	var fields []field
	add := func(name string, typ types.Type) {
		typ.NotNull = typ.NotNull && !keepEmpty
		id := b.columns.add(name, name, typ)
		u.ids = append(u.ids, id)
		fields = append(fields, field{name: name, id: id})
	}
	names := []string{"EXPR$0"}
	switch l := x.Type(); {
	case l.Kind == types.Map:
		names = []string{"KEY", "VALUE"}
	case l.Elem.Kind == types.Row:
		names = names[:0]
		for _, f := range l.Elem.Fields {
			names = append(names, f.Name)
		}
	}
	for i, p := range parts {
		add(names[i], p)
	}
	if t.Ordinality {
		add("ORDINALITY", types.Of(types.Int).Required())
	}
	sc, err := b.aliased(u, fields, t.Alias)
	if err != nil {
		return nil, nil, err
	}
	for i := range sc.cols { // in expressions, by the names that the query knows
		b.columns.list[sc.cols[i].id].label, b.columns.list[sc.cols[i].id].name = sc.cols[i].label, sc.cols[i].name
	}
	return u, sc, nil
}

// unnest builds an UNNEST.
func (b *builder) unnest(r *relUnnest, need colSet) *stream {
	below := need.clone().addExprs([]expr.Expr{r.list})
	for _, id := range r.ids {
		delete(below, id)
	}
	in := b.stream(r.in, below)
	f := r.facts(in.facts)
	p := in.props()
	n := &Unnest{Input: in.node, List: in.expr(r.list), Numbered: r.numbered, KeepEmpty: r.keepEmpty}
	keep := need.of(in.ids)
	if p.Mode != spi.AppendOnly {
		for _, i := range in.bestKey() { // rows of a changing input are known by it
			if !slices.Contains(keep, in.ids[i]) {
				keep = append(keep, in.ids[i])
			}
		}
	}
	n.Keep = in.mustAt(keep)
	ids := slices.Concat(keep, r.ids)
	n.Props = b.derive(ids, p.Mode, f, p.Bounded, in.dist)
	return &stream{node: n, ids: ids, facts: f, dist: in.dist, reader: in.reader}
}
