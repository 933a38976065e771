package planner

import (
	"slices"

	"github.com/sluicesql/sluice/engine/expr"
)

// rule rewrites the logical trees of a job.
type rule struct {
	name  string
	apply func(*logicalJob) error
}

// rules is the list of all rewrites, by phase, in the order in which they run. What follows them is
// building the physical plan (build.go), which chooses modes, layouts and exchanges.
var rules = []struct {
	phase string
	rules []rule
}{
	{"resolve", []rule{
		{"share views that hold state, or give another value each time, and have several references", (*logicalJob).shareViews},
	}},
	{"simplify", []rule{
		{"fold constants, and make lists of long ORs", (*logicalJob).foldConstants},
	}},
	{"push", []rule{
		{"push predicates down through projections and joins, and derive them from equalities", (*logicalJob).pushPredicates},
		{"merge projections", (*logicalJob).mergeExtends},
	}},
	{"join", []rule{
		{"take join keys from the conditions, and order joins so that each has one", (*logicalJob).orderJoins},
		{"merge projections", (*logicalJob).mergeExtends},
	}},
	{"prune", []rule{
		{"drop DISTINCT and row numbers that keys make idle", (*logicalJob).dropIdle},
		{"keep rows by a sink's key where the query's are not unique by it", (*logicalJob).materialiseSinks},
		{"order rows that tie by where they stand in their topic", (*logicalJob).breakTies},
		{"drop columns that nothing uses", (*logicalJob).pruneColumns},
	}},
}

// logicalJob are the logical trees of one job.
type logicalJob struct {
	columns *columnTable
	sinks   []*logicalSink
	shared  []*sharedBody
	ctx     *expr.Ctx // the session's time zone, for folding
	// upsertMaterialise is the value of table.exec.sink.upsert-materialize.
	upsertMaterialise string
}

// logicalSink is a root: a query's tree and where its rows go.
type logicalSink struct {
	in  rel
	ids []int // the columns written, in the sink's order
	// sink is nil for the result of a SELECT, whose columns are then named by names.
	sink  *sinkInfo
	names []string
	// shown are the columns by which the rows of a result are sorted that is shown as a table. Those that are not
	// written stand behind those that are, without a name.
	shown []orderKey
	at    insertPlace
	// order are the columns by which the rows of one key of the sink are ordered; nil where there is one at most.
	order []int
	// unique says that no two rows have one key of the sink.
	unique bool
	// materialise is the value of table.exec.sink.upsert-materialize.
	materialise string
}

func (j *logicalJob) optimise() error {
	for _, ph := range rules {
		for _, r := range ph.rules {
			if err := r.apply(j); err != nil {
				return err
			}
		}
	}
	return nil
}

// rewrite applies f to all trees.
func (j *logicalJob) rewrite(f func(rel) (rel, error)) (err error) {
	for _, s := range j.sinks {
		if s.in, err = f(s.in); err != nil {
			return err
		}
	}
	for _, d := range j.shared {
		if d.body, err = f(d.body); err != nil {
			return err
		}
	}
	return nil
}

// mapInputs applies f to the inputs of r, in place.
func mapInputs(r rel, f func(rel) (rel, error)) (err error) {
	switch r := r.(type) {
	case *relFilter:
		r.in, err = f(r.in)
	case *relExtend:
		r.in, err = f(r.in)
	case *relView:
		r.body, err = f(r.body)
	case *relJoin:
		for i := range r.inputs {
			if r.inputs[i].rel, err = f(r.inputs[i].rel); err != nil {
				return err
			}
		}
	case *relAggregate:
		r.in, err = f(r.in)
	case *relRepeat:
		r.in, err = f(r.in)
	case *relWindow:
		r.in, err = f(r.in)
	case *relUnion:
		for i := range r.inputs {
			if r.inputs[i], err = f(r.inputs[i]); err != nil {
				return err
			}
		}
	case *relUnnest:
		r.in, err = f(r.in)
	case *relOuter:
		if r.left.rel, err = f(r.left.rel); err != nil {
			return err
		}
		r.right.rel, err = f(r.right.rel)
	}
	return err
}

// shareViews replaces each reference to a view by its body, or, where a view that is to be computed once is
// referred to at several places of the text, by a shared body that is computed once. References are
// counted in the text: a view that is used once by a view that is used twice is computed once anyway.
func (j *logicalJob) shareViews() error {
	refs := map[*View]map[any]bool{}
	counted := map[*sharedBody]bool{}
	var count func(rel) (rel, error)
	count = func(r rel) (rel, error) {
		if v, ok := r.(*relView); ok {
			if refs[v.view] == nil {
				refs[v.view] = map[any]bool{}
			}
			refs[v.view][v.ref] = true
		}
		if s, ok := r.(*relShared); ok && !counted[s.def] {
			counted[s.def] = true
			if _, err := count(s.def.body); err != nil {
				return nil, err
			}
		}
		return r, mapInputs(r, count)
	}
	if err := j.rewrite(count); err != nil {
		return err
	}
	defs := map[*View]*sharedBody{}
	var resolve func(rel) (rel, error)
	resolve = func(r rel) (rel, error) {
		if s, ok := r.(*relShared); ok && !slices.Contains(j.shared, s.def) {
			// The binder shares what a clause needs several times.
			body, err := resolve(s.def.body)
			if err != nil {
				return nil, err
			}
			s.def.body = body
			j.shared = append(j.shared, s.def)
		}
		v, ok := r.(*relView)
		if !ok {
			return r, mapInputs(r, resolve)
		}
		if len(refs[v.view]) < 2 || !once(v.body) {
			return resolve(v.body)
		}
		d := defs[v.view]
		if d == nil {
			body, err := resolve(v.body)
			if err != nil {
				return nil, err
			}
			d = &sharedBody{name: v.view.Name, body: body, ids: v.ids}
			defs[v.view] = d
			j.shared = append(j.shared, d)
			// The first reference needs numbers of its own too: a self-join has both in one scope, and the
			// body's would then mean two things.
		}
		return j.sharedRef(d, v), nil
	}
	for _, s := range j.sinks {
		in, err := resolve(s.in)
		if err != nil {
			return err
		}
		s.in = in
	}
	return nil
}

// sharedRef makes a reference to d that delivers v's column numbers.
func (j *logicalJob) sharedRef(d *sharedBody, v *relView) rel {
	if d.ids[0] != v.ids[0] {
		return &relShared{def: d, ids: v.ids}
	}
	// v is the reference whose body became the shared one: the body gets fresh numbers instead, so that
	// the conditions above, which use v's, stay as they are.
	fresh := map[int]int{}
	renumber := func(id int) int {
		n, ok := fresh[id]
		if !ok {
			n = j.columns.copy(id)
			j.columns.list[n].solid = j.columns.list[id].solid
			fresh[id] = n
		}
		return n
	}
	d.body = renumbered(d.body, renumber)
	ids := d.ids
	d.ids = make([]int, len(ids))
	for i, id := range ids {
		d.ids[i] = renumber(id)
	}
	return &relShared{def: d, ids: ids}
}

// renumbered is a copy of r with other column numbers.
func renumbered(r rel, f func(int) int) rel {
	all := func(ids []int) []int {
		out := make([]int, len(ids))
		for i, id := range ids {
			out[i] = f(id)
		}
		return out
	}
	one := func(e expr.Expr) expr.Expr {
		return expr.Remap(e, func(c *expr.Column) expr.Expr { return &expr.Column{Index: f(c.Index), Name: c.Name, T: c.T} })
	}
	exprs := func(es []expr.Expr) []expr.Expr {
		out := make([]expr.Expr, len(es))
		for i, e := range es {
			out[i] = one(e)
		}
		return out
	}
	switch r := r.(type) {
	case *relScan:
		return &relScan{src: r.src, ids: all(r.ids)}
	case *relValues:
		return &relValues{ids: all(r.ids), rows: r.rows}
	case *relFilter:
		return &relFilter{in: renumbered(r.in, f), conds: exprs(r.conds)}
	case *relExtend:
		x := &relExtend{in: renumbered(r.in, f)}
		for _, it := range r.items {
			x.items = append(x.items, extendItem{f(it.id), one(it.e)})
		}
		return x
	case *relShared:
		return &relShared{def: r.def, ids: all(r.ids)}
	case *relJoin:
		n := &relJoin{conds: exprs(r.conds), crosses: r.crosses}
		for _, in := range r.inputs {
			in.rel = renumbered(in.rel, f)
			n.inputs = append(n.inputs, in)
		}
		return n
	case *relAggregate:
		n := &relAggregate{in: renumbered(r.in, f), keys: all(r.keys), global: r.global, ttl: r.ttl}
		for _, c := range r.calls {
			n.calls = append(n.calls, c.renumbered(f))
		}
		return n
	case *relWindow:
		return r.renumbered(renumbered(r.in, f), f)
	case *relRepeat:
		return &relRepeat{in: renumbered(r.in, f), times: f(r.times)}
	case *relUnion:
		n := &relUnion{ids: all(r.ids)}
		for i, in := range r.inputs {
			n.inputs, n.cols = append(n.inputs, renumbered(in, f)), append(n.cols, all(r.cols[i]))
		}
		return n
	case *relUnnest:
		n := *r
		n.in, n.list, n.ids = renumbered(r.in, f), one(r.list), all(r.ids)
		return &n
	case *relOuter:
		n := *r
		n.left.rel, n.right.rel, n.conds, n.solid = renumbered(r.left.rel, f), renumbered(r.right.rel, f), exprs(r.conds), colSet{}
		for id := range r.solid {
			n.solid[f(id)] = true
		}
		if r.kind == MarkJoin {
			n.mark = f(r.mark)
		}
		return &n
	}
	panic("planner: a view is renumbered before it is resolved")
}

// foldConstants folds all expressions, drops conditions that are TRUE, and makes lists of long ORs.
func (j *logicalJob) foldConstants() error {
	var fold func(rel) (rel, error)
	fold = func(r rel) (rel, error) {
		switch r := r.(type) {
		case *relFilter:
			r.conds = j.foldConds(r.conds)
		case *relJoin:
			r.conds = j.foldConds(r.conds)
		case *relOuter:
			r.conds = j.foldConds(r.conds)
		case *relUnnest:
			r.list = expr.Fold(r.list, j.ctx)
		case *relExtend:
			for i := range r.items {
				r.items[i].e = expr.Fold(r.items[i].e, j.ctx)
			}
		case *relValues:
			for _, row := range r.rows {
				for i := range row {
					row[i] = expr.Fold(row[i], j.ctx)
				}
			}
		}
		return r, mapInputs(r, fold)
	}
	return j.rewrite(fold)
}

func (j *logicalJob) foldConds(conds []expr.Expr) []expr.Expr {
	var out []expr.Expr
	for _, c := range conds {
		for _, f := range expr.Conjuncts(expr.Fold(c, j.ctx)) {
			if !isTrue(f) {
				out = append(out, inLists(f))
			}
		}
	}
	return out
}

// mergeExtends merges a projection with the one below it, unless that would compute a non-deterministic
// expression twice.
func (j *logicalJob) mergeExtends() error {
	var merge func(rel) (rel, error)
	merge = func(r rel) (rel, error) {
		if err := mapInputs(r, merge); err != nil {
			return nil, err
		}
		outer, ok := r.(*relExtend)
		if !ok {
			return r, nil
		}
		inner, ok := outer.in.(*relExtend)
		if !ok || !deterministicItems(inner.items) {
			return r, nil
		}
		m := &relExtend{in: inner.in, items: append([]extendItem(nil), inner.items...)}
		for _, it := range outer.items {
			m.items = append(m.items, extendItem{it.id, inline(it.e, inner)})
		}
		return m, nil
	}
	return j.rewrite(merge)
}

func deterministicItems(items []extendItem) bool {
	for _, it := range items {
		if !expr.Deterministic(it.e) {
			return false
		}
	}
	return true
}

// inline replaces the columns that x computes by their expressions.
func inline(e expr.Expr, x *relExtend) expr.Expr {
	return expr.Remap(e, func(c *expr.Column) expr.Expr {
		if it := x.item(c.Index); it != nil {
			return it
		}
		return c
	})
}
