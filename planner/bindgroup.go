package planner

import (
	"maps"
	"slices"
	"time"

	"github.com/sluicesql/sluice/engine/expr"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/types"
	"github.com/sluicesql/sluice/sql/ast"
)

// groupScope is what names mean above a grouping: a key of GROUP BY, or anything computed of keys and
// aggregates.
type groupScope struct {
	input *scope // of the rows that are grouped
	// keys are the expressions of GROUP BY as bound over the input, and the columns that hold them.
	keys []extendItem
	// shown are the keys' columns above the grouping: the same, but with grouping sets.
	shown []int
	// apart are the columns of the input that tellApart adds.
	apart []extendItem
	// items are the computed keys and arguments below the grouping.
	items []extendItem
	calls []aggCall
	// ttl is what a STATE_TTL hint says of the grouping's state.
	ttl *time.Duration
	// sets are the grouping sets, as positions in keys; nil without GROUPING SETS and its like.
	sets [][]int
	// grouping are the calls of GROUPING, each with the positions of its arguments in keys.
	grouping []groupingCall
	global   bool
}

// groupingCall is GROUPING(…): for each of its keys a bit that says whether the key is not in the set.
type groupingCall struct {
	id   int
	keys []int
}

// hasAggregate reports whether e holds a call of an aggregate function, one with OVER aside.
func hasAggregate(e ast.Expr) bool {
	found := false
	ast.Inspect(e, func(e ast.Expr) bool {
		if c, ok := e.(*ast.Call); ok && c.Over == nil && len(c.Name.Parts) == 1 {
			found = found || expr.LookupAggregate(c.Name.Base().Name) != nil
		}
		return !found
	})
	return found
}

// groups reports whether a SELECT has a grouping.
func groups(q *ast.Select, order []ast.OrderItem) bool {
	if len(q.GroupBy) > 0 || q.Having != nil || hasAggregate(q.Qualify) {
		return true
	}
	for i := range q.Items {
		if hasAggregate(q.Items[i].Expr) {
			return true
		}
	}
	return slices.ContainsFunc(order, func(o ast.OrderItem) bool { return hasAggregate(o.Expr) })
}

// groupBy makes the scope above the grouping of a SELECT whose rows have the scope sc.
func (b *binder) groupBy(q *ast.Select, sc *scope) (*scope, error) {
	g := &groupScope{input: sc, global: len(q.GroupBy) == 0}
	out := &scope{parent: sc.parent, subs: &subqueries{}, cols: sc.cols, changing: true, group: g, selected: sc.selected}
	for i := range q.GroupBy {
		it := &q.GroupBy[i]
		if it.Kind != ast.GroupExpr && it.Kind != ast.GroupList || it.Kind == ast.GroupList && len(it.Exprs) == 0 {
			g.sets = [][]int{}
		}
	}
	if g.sets != nil {
		b.tellApart(g)
	}
	sets := [][]int{{}}
	for i := range q.GroupBy {
		it := &q.GroupBy[i]
		s, err := b.groupingSets(it, g, q.Items)
		if err != nil {
			return nil, err
		}
		// Several items multiply: each set of one with each of the other.
		var product [][]int
		for _, x := range sets {
			for _, y := range s {
				product = append(product, union(x, y))
			}
		}
		if sets = product; len(sets) > maxGroupingSets {
			return nil, errAt(it.Pos, "GROUP BY makes more than %d grouping sets", maxGroupingSets).Coded(ast.CodeLimit)
		}
	}
	if g.sets != nil {
		g.sets = sets
	}
	return out, nil
}

// tellApart gives each column of the input an id of its own: a set may hold one of two columns for which a subquery
// computes the same, and the other is NULL then.
func (b *binder) tellApart(g *groupScope) {
	in := *g.input
	in.cols = slices.Clone(in.cols)
	seen := map[int]bool{}
	for i := range in.cols {
		c := &in.cols[i]
		if seen[c.id] {
			same := b.columns.ref(c.id)
			c.id = b.columns.copy(c.id)
			g.apart = append(g.apart, extendItem{c.id, same})
		}
		seen[c.id] = true
	}
	g.input = &in
}

// maxGroupingSets bounds CUBE, which doubles the sets with each column.
const maxGroupingSets = 256

func union(a, b []int) []int {
	out := slices.Clone(a)
	for _, k := range b {
		if !slices.Contains(out, k) {
			out = append(out, k)
		}
	}
	return out
}

// groupingSets are the sets of one item of GROUP BY.
func (b *binder) groupingSets(it *ast.GroupItem, g *groupScope, items []ast.SelectItem) ([][]int, error) {
	switch it.Kind {
	case ast.GroupExpr, ast.GroupList:
		set := []int{}
		for _, e := range it.Exprs {
			k, err := b.groupKey(e, g, items)
			if err != nil {
				return nil, err
			}
			set = union(set, []int{k})
		}
		return [][]int{set}, nil
	case ast.GroupSets:
		var sets [][]int
		for i := range it.Items {
			s, err := b.groupingSets(&it.Items[i], g, items)
			if err != nil {
				return nil, err
			}
			sets = append(sets, s...)
		}
		return sets, nil
	}
	var parts [][]int
	for i := range it.Items {
		s, err := b.groupingSets(&it.Items[i], g, items)
		if err != nil {
			return nil, err
		}
		parts = append(parts, s[0])
	}
	var sets [][]int
	if it.Kind == ast.GroupRollup {
		for n := len(parts); n >= 0; n-- {
			set := []int{}
			for _, p := range parts[:n] {
				set = union(set, p)
			}
			sets = append(sets, set)
		}
		return sets, nil
	}
	const most = 8 // CUBE of more makes too many sets
	if len(parts) > most {
		return nil, errAt(it.Pos, "CUBE of %d makes more than %d grouping sets", len(parts), maxGroupingSets).Coded(ast.CodeLimit)
	}
	for mask := 1<<len(parts) - 1; mask >= 0; mask-- {
		set := []int{}
		for i, p := range parts {
			if mask>>(len(parts)-1-i)&1 != 0 {
				set = union(set, p)
			}
		}
		sets = append(sets, set)
	}
	return sets, nil
}

// groupKey is the position in g.keys of an expression of GROUP BY: an expression over the input, the number
// of an item of SELECT, or its alias where the input has no column of that name.
func (b *binder) groupKey(e ast.Expr, g *groupScope, items []ast.SelectItem) (int, error) {
	pos := e.Position()
	if at := selectItem(e, items, func(name string) bool { return len(g.input.find("", name)) > 0 }); at >= 0 {
		if at >= len(items) || items[at].Expr == nil {
			return 0, errAt(pos, "GROUP BY %d: there is no expression at that place of SELECT", at+1)
		}
		e = items[at].Expr
	}
	if hasAggregate(e) {
		return 0, errAt(pos, "GROUP BY cannot hold an aggregate function").Coded(ast.CodeMisplaced)
	}
	x, err := b.expr(e, g.input)
	if err != nil {
		return 0, err
	}
	if x.Type().Kind == types.Null {
		return 0, errAt(pos, "GROUP BY NULL: the type of NULL is unknown here; write a CAST").Coded(ast.CodeTypeMismatch)
	}
	for i, k := range g.keys {
		if expr.Equal(k.e, x) {
			return i, nil
		}
	}
	k := extendItem{b.groupInput(g, x), x}
	g.keys = append(g.keys, k)
	if g.sets != nil {
		k.id = b.columns.copy(k.id)
		b.columns.list[k.id].typ.NotNull = false
	}
	g.shown = append(g.shown, k.id)
	return len(g.keys) - 1, nil
}

// selectItem is the index of the item of SELECT that e names by its number or alias; −1 for none.
func selectItem(e ast.Expr, items []ast.SelectItem, isColumn func(string) bool) int {
	switch e := e.(type) {
	case *ast.Literal:
		if n, ok := ordinal(e); ok {
			return n - 1
		}
	case *ast.ColumnRef:
		if len(e.Parts) != 1 || isColumn(e.Parts[0].Name) {
			return -1
		}
		return slices.IndexFunc(items, func(it ast.SelectItem) bool { return it.Expr != nil && it.Alias.Name == e.Parts[0].Name })
	}
	return -1
}

// groupInput is the column below the grouping that holds x.
func (b *binder) groupInput(g *groupScope, x expr.Expr) int {
	return b.columns.holding(&g.items, x, x.String())
}

// grouped binds e above a grouping where e, as a whole, is a key, is made of keys, or is an aggregate. done is false
// where its parts have to be looked at.
func (b *binder) grouped(e ast.Expr, sc *scope) (x expr.Expr, done bool, err error) {
	g := sc.group
	if c, ok := e.(*ast.Call); ok {
		name := upper(c.Name.Base().Name)
		switch {
		case c.Over != nil:
			return nil, false, nil
		case expr.LookupAggregate(name) != nil && len(c.Name.Parts) == 1:
			x, err := b.aggregate(c, g)
			return x, true, err
		case name == "GROUPING" || name == "GROUPING_ID":
			x, err := b.groupingFunction(c, g)
			return x, true, err
		}
	}
	if _, ok := e.(*ast.Literal); ok || !g.plainExpr(e) {
		return nil, false, nil
	}
	was := *g.input.subs
	was.bound = maps.Clone(was.bound)
	if x, err = b.expr(e, g.input); err == nil {
		if x = b.overKeys(x, g); x != nil {
			return x, true, nil
		}
	}
	*g.input.subs = was // what is asked for below on some branch only is not asked for here
	_, column := e.(*ast.ColumnRef)
	if err != nil {
		return nil, column, err
	}
	if column {
		return nil, true, hint(errAt(e.Position(), "the column %s is neither in GROUP BY nor within an aggregate function", ast.String(e)).Coded(ast.CodeMisplaced),
			"add it to GROUP BY, or take MIN, MAX or FIRST_VALUE of it")
	}
	return nil, false, nil
}

// plainExpr reports whether e holds neither an aggregate nor a query, but for those that stand below the grouping.
func (g *groupScope) plainExpr(e ast.Expr) bool {
	plain := true
	ast.Inspect(e, func(e ast.Expr) bool {
		switch c, ok := e.(*ast.Call); {
		case isQuery(e):
			_, below := g.input.subs.bound[ast.String(e)]
			plain = plain && below
			return false
		case ok:
			plain = plain && c.Over == nil && expr.LookupAggregate(c.Name.Base().Name) == nil && upper(c.Name.Base().Name) != "GROUPING" && upper(c.Name.Base().Name) != "GROUPING_ID"
		}
		return plain
	})
	return plain
}

// overKeys is x, over the input, as an expression over the keys; nil where that cannot be.
func (b *binder) overKeys(x expr.Expr, g *groupScope) expr.Expr {
	for i, k := range g.keys {
		if expr.Equal(k.e, x) {
			return b.columns.ref(g.shown[i])
		}
	}
	switch x := x.(type) {
	case *expr.Column:
		if !g.input.owns(x.Index) {
			return x // of the query around this one
		}
		return nil
	case *expr.Call:
		if x.Fn.Volatile {
			return nil
		}
		c := *x
		c.Args = slices.Clone(x.Args)
		for i, a := range x.Args {
			if c.Args[i] = b.overKeys(a, g); c.Args[i] == nil {
				return nil
			}
			if a.Type().NotNull && !c.Args[i].Type().NotNull {
				c.T.NotNull = false // a key that some grouping set leaves out
			}
		}
		return &c
	}
	return x
}

// aggregate binds the call of an aggregate function.
func (b *binder) aggregate(c *ast.Call, g *groupScope) (expr.Expr, error) {
	call, t, err := b.aggregateCall(c, g.input, func(x expr.Expr) int { return b.groupInput(g, x) })
	if err != nil {
		return nil, err
	}
	t.NotNull = t.NotNull || !g.global && g.sets == nil && call.filter < 0 && b.alwaysValue(&call)
	for i := range g.calls {
		if g.calls[i].same(&call) {
			return b.columns.ref(g.calls[i].id), nil
		}
	}
	name := ast.String(c)
	call.id = b.columns.add(name, name, t)
	g.calls = append(g.calls, call)
	return b.columns.ref(call.id), nil
}

// alwaysValue reports whether the call gives a value, and not NULL, for every group that has a row.
func (b *binder) alwaysValue(c *aggCall) bool {
	switch c.fn.Kind {
	case expr.AggVarPop, expr.AggVarSamp, expr.AggStddevPop, expr.AggStddevSamp:
		return false
	case expr.AggArray:
		return true
	}
	return !slices.ContainsFunc(c.args, func(id int) bool { return !b.columns.list[id].typ.NotNull })
}

// same reports whether two calls compute the same.
func (c *aggCall) same(d *aggCall) bool {
	return c.fn == d.fn && slices.Equal(c.args, d.args) && c.distinct == d.distinct && c.filter == d.filter &&
		slices.Equal(c.order, d.order) && c.separator == d.separator
}

// groupingFunction binds GROUPING(key, …).
func (b *binder) groupingFunction(c *ast.Call, g *groupScope) (expr.Expr, error) {
	gc := groupingCall{}
	for _, a := range c.Args {
		x, err := b.expr(a, g.input)
		if err != nil {
			return nil, err
		}
		at := slices.IndexFunc(g.keys, func(k extendItem) bool { return expr.Equal(k.e, x) })
		if at < 0 {
			return nil, errAt(a.Position(), "%s needs expressions of GROUP BY", upper(c.Name.Base().Name))
		}
		gc.keys = append(gc.keys, at)
	}
	if len(gc.keys) == 0 || len(gc.keys) > 62 {
		return nil, errAt(c.Pos, "%s takes 1 to 62 expressions of GROUP BY", upper(c.Name.Base().Name)).Coded(ast.CodeWrongArguments)
	}
	name := ast.String(c)
	gc.id = b.columns.add(name, name, types.Of(types.BigInt).Required())
	g.grouping = append(g.grouping, gc)
	return b.columns.ref(gc.id), nil
}

// rel is the grouping of in, which it joins with the subqueries of keys and arguments.
func (g *groupScope) rel(b *binder, in rel) rel {
	if len(g.apart) > 0 {
		in = &relExtend{in: in, items: g.apart}
	}
	if in = g.input.subs.attach(in); len(g.items) > 0 {
		in = &relExtend{in: in, items: g.items}
	}
	if g.sets != nil {
		return g.unionOfSets(b, in)
	}
	a := &relAggregate{in: in, calls: g.calls, global: g.global, ttl: g.ttl}
	for _, k := range g.keys {
		a.keys = append(a.keys, k.id)
	}
	b.withColumn(a)
	if len(g.grouping) == 0 {
		return a
	}
	x := &relExtend{in: a}
	for _, gc := range g.grouping {
		x.items = append(x.items, extendItem{gc.id, bigint(0)})
	}
	return x
}

func bigint(v int64) expr.Expr {
	return &expr.Const{Value: row.Int(v), T: types.Of(types.BigInt).Required()}
}

// unionOfSets computes each grouping set by itself over a shared input: so that the empty set has a row over no rows
// too, and each is divided by its own keys alone.
func (g *groupScope) unionOfSets(b *binder, in rel) rel {
	def := &sharedBody{name: "the input of GROUP BY", body: in, ids: in.out()}
	u := &relUnion{ids: slices.Clone(g.shown)}
	for i := range g.calls {
		u.ids = append(u.ids, g.calls[i].id)
	}
	for _, gc := range g.grouping {
		u.ids = append(u.ids, gc.id)
	}
	for _, set := range g.sets {
		part, cols := g.oneSet(b, def, set)
		u.inputs, u.cols = append(u.inputs, part), append(u.cols, cols)
	}
	return u
}

// oneSet is the grouping by one set, and the columns that it gives for those of the union.
func (g *groupScope) oneSet(b *binder, def *sharedBody, set []int) (rel, []int) {
	fresh := map[int]int{}
	own := func(id int) int {
		if _, ok := fresh[id]; !ok {
			fresh[id] = b.columns.copy(id)
		}
		return fresh[id]
	}
	ref := &relShared{def: def}
	for _, id := range def.ids {
		ref.ids = append(ref.ids, own(id))
	}
	a := &relAggregate{in: ref, global: len(set) == 0, ttl: g.ttl}
	x := &relExtend{in: a}
	var cols []int
	for i, k := range g.keys {
		id := own(k.id)
		if slices.Contains(set, i) {
			a.keys = append(a.keys, id)
		} else {
			id = b.columns.copy(g.shown[i])
			x.items = append(x.items, extendItem{id, expr.NullConst(b.columns.list[id].typ)})
		}
		cols = append(cols, id)
	}
	for i := range g.calls {
		c := g.calls[i].renumbered(own)
		a.calls = append(a.calls, c)
		cols = append(cols, c.id)
	}
	b.withColumn(a)
	for _, gc := range g.grouping {
		var bits int64
		for _, k := range gc.keys {
			bits <<= 1
			if !slices.Contains(set, k) {
				bits |= 1
			}
		}
		id := b.columns.copy(gc.id)
		x.items = append(x.items, extendItem{id, bigint(bits)})
		cols = append(cols, id)
	}
	return bare(x), cols
}

// withColumn has a grouping without keys and calls count, since there is no row without columns.
func (b *binder) withColumn(a *relAggregate) {
	if len(a.out()) == 0 {
		id := b.columns.add("rows", "rows", types.Of(types.BigInt).Required())
		a.calls = append(a.calls, aggCall{id: id, fn: expr.LookupAggregate("COUNT"), filter: -1})
	}
}
