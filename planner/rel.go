package planner

import (
	"slices"
	"time"

	"github.com/sluicesql/sluice/engine/expr"
	"github.com/sluicesql/sluice/engine/types"
	"github.com/sluicesql/sluice/sql/ast"
)

// The logical tree is what binding makes of a query and what the rules rewrite. Its columns have numbers
// of their own, unique in a job, which never change as nodes move; the Index of an expr.Column is such a
// number until the physical plan is built. So a predicate moves through a join as it is, and a plain
// column that is merely passed on or renamed keeps its number: names are the scopes' business.

// rel is a node of the logical tree: *relScan, *relValues, *relFilter, *relExtend, *relJoin, *relOuter,
// *relAggregate, *relUnion, *relUnnest, *relRepeat, *relWindow, *relView or *relShared.
type rel interface {
	// out are the columns that the node delivers.
	out() []int
}

// columnInfo is what is known of a numbered column.
type columnInfo struct {
	name  string // as a result column
	label string // in expressions of EXPLAIN: with the table's alias
	typ   types.Type
	// solid says that the column is NOT NULL where it is made, and nullable above the outer join that fills
	// it up with NULLs; typ is then nullable.
	solid bool
}

// columnTable numbers the columns of a job.
type columnTable struct{ list []columnInfo }

func (t *columnTable) add(name, label string, typ types.Type) int {
	t.list = append(t.list, columnInfo{name: name, label: label, typ: typ})
	return len(t.list) - 1
}

// copy numbers another column like id, as it is seen now.
func (t *columnTable) copy(id int) int {
	c := t.list[id]
	return t.add(c.name, c.label, c.typ)
}

func (t *columnTable) ref(id int) *expr.Column {
	c := &t.list[id]
	return &expr.Column{Index: id, Name: c.label, T: c.typ}
}

// holding is the column that holds x: the plain column itself, the item that computes it, or a new item called name.
func (t *columnTable) holding(items *[]extendItem, x expr.Expr, name string) int {
	if c, ok := x.(*expr.Column); ok {
		return c.Index
	}
	for _, it := range *items {
		if expr.Equal(it.e, x) {
			return it.id
		}
	}
	id := t.add(name, x.String(), x.Type())
	*items = append(*items, extendItem{id, x})
	return id
}

// relScan reads a table. Column i of the table's connector schema is ids[i].
type relScan struct {
	src *sourceInfo
	ids []int
	// need are the columns in use, set when columns are pruned.
	need []int
}

func (s *relScan) out() []int {
	if s.need != nil {
		return s.need
	}
	return s.ids
}

// relValues are constant rows.
type relValues struct {
	ids  []int
	rows [][]expr.Expr
}

func (v *relValues) out() []int { return v.ids }

// relFilter keeps the rows for which all conditions are TRUE.
type relFilter struct {
	in    rel
	conds []expr.Expr
}

func (f *relFilter) out() []int { return f.in.out() }

// relExtend adds computed columns.
type relExtend struct {
	in    rel
	items []extendItem
}

type extendItem struct {
	id int
	e  expr.Expr
}

func (x *relExtend) out() []int {
	o := append([]int(nil), x.in.out()...)
	for _, it := range x.items {
		o = append(o, it.id)
	}
	return o
}

func (x *relExtend) item(id int) expr.Expr {
	for _, it := range x.items {
		if it.id == id {
			return it.e
		}
	}
	return nil
}

// relJoin is an inner join. As bound it has any number of inputs and plain conditions; once ordered it has
// two inputs, equality keys, and the rest of its conditions.
type relJoin struct {
	inputs []joinInput
	conds  []expr.Expr
	// crosses is the number of joins among the inputs that were asked for as CROSS JOIN: so often may
	// inputs meet without an equality.
	crosses int

	ordered    bool
	keyL, keyR []int
	// early says that it comes before its turn in the text, since it does not multiply rows.
	early bool
}

// joinInput is an input of a join with the place where it was joined, for errors.
type joinInput struct {
	rel  rel
	ttl  *time.Duration // what a STATE_TTL hint says of its state
	pos  ast.Pos
	kind string // how it was joined, as the user wrote it: "JOIN", "a comma"
}

func (j *relJoin) out() []int {
	var o []int
	for _, in := range j.inputs {
		o = append(o, in.rel.out()...)
	}
	return o
}

// relOuter is a join that gives more than pairs: a left, full, semi or anti join. It has two inputs, which
// no rule reorders, and once ordered equality keys and the rest of its conditions.
type relOuter struct {
	kind        JoinKind
	left, right joinInput
	conds       []expr.Expr
	// solid are columns of the inputs that are never NULL there.
	solid colSet
	// mark is the column that a mark join adds.
	mark int
	// asked says that every row may meet every other, where no equality says which: the join stands for a subquery,
	// which looks at all rows.
	asked bool
	// single is, of a left join that stands for a scalar subquery, what an error calls that: a left row may
	// have one match at most.
	single string

	ordered    bool
	keyL, keyR []int
	early      bool // see relJoin
}

func (o *relOuter) out() []int {
	l := o.left.rel.out()
	if o.kind == MarkJoin {
		return append(append([]int(nil), l...), o.mark)
	}
	if o.kind.Semi() {
		return l
	}
	return append(append([]int(nil), l...), o.right.rel.out()...)
}

// gives are the columns that the join of a subquery adds to the rows around.
func (o *relOuter) gives() []int {
	if o.kind == MarkJoin {
		return []int{o.mark}
	}
	return o.right.rel.out()
}

// relView is one reference to a view or WITH item. It is resolved before the rules run: into its body, or
// into a relShared where the view has several references.
type relView struct {
	view *View
	ref  *ast.NamedTable
	body rel
	ids  []int
}

func (v *relView) out() []int { return v.ids }

// relShared is one reference to a body that is computed once for several references.
type relShared struct {
	def *sharedBody
	// ids are this reference's numbers for the body's columns def.ids.
	ids []int
	// need are the columns in use, set when columns are pruned.
	need []int
}

type sharedBody struct {
	name string
	body rel
	ids  []int // the body's columns that the view shows
	need colSet
}

func (s *relShared) out() []int {
	if s.need != nil {
		return s.need
	}
	return s.ids
}

// changing reports whether the rows of r can be taken back.
func changing(r rel) bool {
	switch r := r.(type) {
	case *relScan:
		return r.src.changing()
	case *relFilter:
		return changing(r.in)
	case *relExtend:
		return changing(r.in)
	case *relView:
		return changing(r.body)
	case *relShared:
		return changing(r.def.body)
	case *relJoin:
		for _, in := range r.inputs {
			if changing(in.rel) {
				return true
			}
		}
	case *relAggregate:
		return true
	case *relWindow:
		return true
	case *relRepeat:
		return changing(r.in)
	case *relUnion:
		return slices.ContainsFunc(r.inputs, changing)
	case *relUnnest:
		return changing(r.in)
	case *relOuter:
		// A row that is shown without a match is taken back when one comes.
		return r.kind != SemiJoin || changing(r.left.rel) || changing(r.right.rel)
	}
	return false
}

// once reports whether r is computed once for all who use it: it holds a join, an aggregate or the like, whose state
// would be kept twice, or something that would give another value the second time.
func once(r rel) bool {
	switch r := r.(type) {
	case *relFilter:
		return !allDeterministic(r.conds) || once(r.in)
	case *relExtend:
		return !deterministicItems(r.items) || once(r.in)
	case *relView:
		return once(r.body)
	case *relShared:
		return once(r.def.body)
	case *relRepeat:
		return once(r.in)
	case *relUnion:
		return slices.ContainsFunc(r.inputs, once)
	case *relUnnest:
		return !expr.Deterministic(r.list) || once(r.in)
	case *relJoin, *relOuter, *relAggregate, *relWindow:
		return true
	}
	return false
}

// singleRow reports whether r has one row at most.
func singleRow(r rel) bool { return factsOf(r).isKey(nil) }
