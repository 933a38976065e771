package planner

import (
	"slices"

	"github.com/sluicesql/sluice/engine/expr"
	"github.com/sluicesql/sluice/engine/types"
	"github.com/sluicesql/sluice/sql/ast"
)

// windowScope collects the window functions of a SELECT. Calls over the same partition and order share a window.
type windowScope struct {
	named   []ast.NamedWindow
	items   []extendItem // computed below the windows
	windows []*relWindow
}

// column is the column below the windows that holds x.
func (w *windowScope) column(b *binder, x expr.Expr) int {
	return b.columns.holding(&w.items, x, x.String())
}

// rel is the windows over in.
func (w *windowScope) rel(in rel) rel {
	if len(w.items) > 0 {
		in = &relExtend{in: in, items: w.items}
	}
	for _, r := range w.windows {
		r.in = in
		in = r
	}
	return in
}

// windowCall binds a call with OVER.
func (b *binder) windowCall(c *ast.Call, sc *scope) (expr.Expr, error) {
	name := upper(c.Name.Base().Name)
	if sc.windows == nil {
		return nil, hint(errAt(c.Pos, "the window function %s OVER cannot stand here", name).Coded(ast.CodeMisplaced), "window functions stand in SELECT, QUALIFY and ORDER BY; filter by one with QUALIFY")
	}
	ws := sc.windows
	below := *sc
	below.windows = nil
	win, err := ws.resolve(c.Over)
	if err != nil {
		return nil, err
	}
	column := func(x expr.Expr) int { return ws.column(b, x) }
	r := &relWindow{}
	for _, e := range win.PartitionBy {
		x, err := b.expr(e, &below)
		if err != nil {
			return nil, err
		}
		if id := column(x); !slices.Contains(r.partition, id) {
			r.partition = append(r.partition, id)
		}
	}
	for i := range win.OrderBy {
		k, err := b.orderColumn(&win.OrderBy[i], &below, column)
		if err != nil {
			return nil, err
		}
		r.order = append(r.order, k)
	}
	call, t, err := b.windowFunction(c, &below, column)
	if err != nil {
		return nil, err
	}
	if call.kind == expr.WindowFirst || call.kind == expr.WindowLast || call.kind == expr.WindowAggregate {
		if call.frame, err = b.frame(win, r); err != nil {
			return nil, err
		}
	} else if win.Frame != nil {
		return nil, errAt(win.Frame.Pos, "%s takes no frame", name).Coded(ast.CodeWrongArguments)
	}
	w := ws.like(r)
	for i := range w.calls {
		if w.calls[i].same(&call) {
			return b.columns.ref(w.calls[i].id), nil
		}
	}
	text := ast.String(c)
	call.id = b.columns.add(text, text, t)
	w.calls = append(w.calls, call)
	return b.columns.ref(call.id), nil
}

// like is the window of r's partition and order; r itself where it is the first.
func (w *windowScope) like(r *relWindow) *relWindow {
	for _, x := range w.windows {
		if slices.Equal(x.partition, r.partition) && slices.Equal(x.order, r.order) {
			return x
		}
	}
	w.windows = append(w.windows, r)
	return r
}

// same reports whether two calls over one window give the same.
func (c *windowCall) same(d *windowCall) bool {
	return c.kind == d.kind && c.arg == d.arg && c.n == d.n && c.deflt == d.deflt && c.frame == d.frame && c.agg.same(&d.agg)
}

// resolve completes a window by the one of the WINDOW clause that it names.
func (w *windowScope) resolve(o *ast.Window) (*ast.Window, error) {
	if o.Ref.IsZero() {
		return o, nil
	}
	var known []string
	for i := range w.named {
		n := &w.named[i]
		known = append(known, n.Name.Name)
		if n.Name.Name != o.Ref.Name {
			continue
		}
		inner := windowScope{named: w.named[:i]} // a window sees those before it
		base, err := inner.resolve(n.Window)
		if err != nil || o.Bare {
			return base, err
		}
		out := *base
		if len(o.PartitionBy) > 0 {
			return nil, errAt(o.Pos, "the window %q has its PARTITION BY already", o.Ref.Name).Coded(ast.CodeDuplicateName)
		}
		if len(o.OrderBy) > 0 {
			if len(out.OrderBy) > 0 {
				return nil, errAt(o.Pos, "the window %q has its ORDER BY already", o.Ref.Name).Coded(ast.CodeDuplicateName)
			}
			out.OrderBy = o.OrderBy
		}
		if o.Frame != nil {
			out.Frame = o.Frame
		}
		return &out, nil
	}
	return nil, suggest(errAt(o.Ref.Pos, "unknown window %q", o.Ref.Name).Coded(ast.CodeUnknownColumn), o.Ref.Name, known, "windows")
}

// windowFunction binds the function itself.
func (b *binder) windowFunction(c *ast.Call, sc *scope, column func(expr.Expr) int) (call windowCall, t types.Type, err error) {
	name := upper(c.Name.Base().Name)
	call = windowCall{arg: -1, deflt: -1}
	if len(c.Options) > 0 {
		return call, t, notAvailable(c.Options[0].Pos, "the clause "+clauseText(&c.Options[0])+" of "+name, "")
	}
	if f, ok := expr.LookupWindow(name); ok && len(c.Name.Parts) == 1 {
		call.kind = f.Kind
		t, err = b.rankFunction(c, &call, sc, column)
		return call, t, err
	}
	fn := expr.LookupAggregate(name)
	if fn == nil || len(c.Name.Parts) > 1 {
		return call, t, suggest(errAt(c.Pos, "unknown window function %q", nameText(c.Name)).Coded(ast.CodeUnknownFunction), name, windowNames(), "window functions")
	}
	agg, t, err := b.aggregateCall(c, sc, column)
	if err != nil {
		return call, t, err
	}
	switch {
	case fn.Kind == expr.AggFirst && agg.filter < 0 && len(agg.order) == 0:
		call.kind, call.arg = expr.WindowFirst, agg.args[0]
		return call, t, nil
	case fn.Kind == expr.AggLast && agg.filter < 0 && len(agg.order) == 0:
		call.kind, call.arg = expr.WindowLast, agg.args[0]
		return call, t, nil
	case agg.distinct || len(bags([]AggCall{{Fn: fn}}, false)) > 0:
		return call, t, notAvailable(c.Pos, ast.String(c), "aggregate with GROUP BY, and join the result")
	}
	call.kind, call.agg = expr.WindowAggregate, agg
	return call, t, nil
}

func windowNames() []string {
	var names []string
	for _, f := range expr.WindowFunctions() {
		names = append(names, f.Name)
	}
	for _, a := range expr.Aggregates() {
		names = append(names, a.Name)
	}
	return names
}

// rankFunction binds the arguments of a function that is no aggregate.
func (b *binder) rankFunction(c *ast.Call, call *windowCall, sc *scope, column func(expr.Expr) int) (types.Type, error) {
	name := upper(c.Name.Base().Name)
	least, most := 0, 0
	t := types.Of(types.BigInt).Required()
	switch call.kind {
	case expr.WindowNtile:
		least, most = 1, 1
	case expr.WindowPercentRank, expr.WindowCumeDist:
		t = types.Of(types.Double).Required()
	case expr.WindowLag, expr.WindowLead:
		least, most = 1, 3
	}
	if len(c.Args) < least || len(c.Args) > most {
		return t, errAt(c.Pos, "%s has %s; write %s", name, count(len(c.Args), "argument"), signatureOf(name)).Coded(ast.CodeWrongArguments)
	}
	if c.Distinct || c.Filter != nil || len(c.OrderBy) > 0 || len(c.WithinGroup) > 0 {
		return t, errAt(c.Pos, "%s takes no DISTINCT, FILTER or ORDER BY within its parentheses", name).Coded(ast.CodeWrongArguments)
	}
	var err error
	switch {
	case call.kind == expr.WindowNtile:
		call.n, err = b.constant(c.Args[0], sc, name, 1)
		return t, err
	case most != 3:
		return t, nil
	}
	x, err := b.expr(c.Args[0], sc)
	if err != nil {
		return t, err
	}
	call.n = 1
	if len(c.Args) > 1 {
		if call.n, err = b.constant(c.Args[1], sc, name, 0); err != nil {
			return t, err
		}
	}
	t = x.Type().Nullable()
	if len(c.Args) == 3 {
		d, err := b.expr(c.Args[2], sc)
		if err != nil {
			return t, err
		}
		common, ok := expr.CommonType(x.Type(), d.Type())
		if !ok {
			return t, errAt(c.Args[2].Position(), "the default of %s is %s, and the value %s; write a CAST", name, d.Type().Nullable(), x.Type().Nullable()).Coded(ast.CodeTypeMismatch)
		}
		t = common
		if x, err = expr.Cast(x, t, false); err == nil {
			d, err = expr.Cast(d, t, false)
		}
		if err != nil {
			return t, placeArg(err, c.Pos, nil)
		}
		call.deflt = column(d)
	}
	call.arg = column(x)
	return t, nil
}

func signatureOf(name string) string {
	f, _ := expr.LookupWindow(name)
	return f.Signature
}

// constant binds a whole number, of at least min, that is the same for all rows.
func (b *binder) constant(e ast.Expr, sc *scope, what string, least int64) (int64, error) {
	x, err := b.expr(e, sc)
	if err != nil {
		return 0, err
	}
	k, ok := expr.Fold(x, b.s.exprCtx()).(*expr.Const)
	if !ok || k.Value.Null || !k.T.IsInteger() || k.Value.I < least {
		return 0, errAt(e.Position(), "%s needs a constant whole number of at least %d here", what, least).Coded(ast.CodeWrongArguments)
	}
	return k.Value.I, nil
}

// frame binds the frame of a window. Without one it is all rows, or with an order those up to the present one and its
// equals.
func (b *binder) frame(o *ast.Window, r *relWindow) (expr.Frame, error) {
	f := expr.Frame{End: expr.FrameBound{Kind: expr.UnboundedFollowing}}
	if len(o.OrderBy) > 0 {
		f.End.Kind = expr.CurrentRow
	}
	if o.Frame == nil {
		return f, nil
	}
	f.Rows = o.Frame.Rows
	var err error
	if f.Start, err = b.bound(o.Frame.Start, f.Rows, r); err != nil {
		return f, err
	}
	f.End = expr.FrameBound{Kind: expr.CurrentRow}
	if o.Frame.End.Kind != 0 {
		if f.End, err = b.bound(o.Frame.End, f.Rows, r); err != nil {
			return f, err
		}
	}
	if f.Start.Kind == expr.UnboundedFollowing || f.End.Kind == expr.UnboundedPreceding || f.Start.Kind > f.End.Kind {
		return f, errAt(o.Frame.Pos, "the frame ends before it starts")
	}
	return f, nil
}

func (b *binder) bound(a ast.FrameBound, rows bool, r *relWindow) (expr.FrameBound, error) {
	kinds := map[ast.BoundKind]expr.BoundKind{
		ast.UnboundedPreceding: expr.UnboundedPreceding, ast.Preceding: expr.Preceding, ast.CurrentRow: expr.CurrentRow,
		ast.Following: expr.Following, ast.UnboundedFollowing: expr.UnboundedFollowing,
	}
	out := expr.FrameBound{Kind: kinds[a.Kind]}
	if a.Offset == nil {
		return out, nil
	}
	if rows {
		n, err := b.constant(a.Offset, &scope{}, "ROWS", 0)
		out.N = n
		return out, err
	}
	if len(r.order) != 1 {
		return out, errAt(a.Pos, "RANGE with a distance needs one column in ORDER BY, and there are %d", len(r.order))
	}
	x, err := b.expr(a.Offset, &scope{})
	if err != nil {
		return out, err
	}
	k, ok := expr.Fold(x, b.s.exprCtx()).(*expr.Const)
	key := b.columns.list[r.order[0].col].typ
	switch {
	case !ok || k.Value.Null || k.Value.I < 0:
		return out, errAt(a.Pos, "RANGE needs a constant distance of at least 0").Coded(ast.CodeWrongArguments)
	case key.IsInteger() && k.T.IsInteger():
	case isTimestamp(key) && key.Phys() == types.PhysInt && k.T.Kind == types.IntervalDT:
	default:
		return out, notAvailable(a.Pos, "RANGE with a distance of type "+k.T.Nullable().String()+" over "+key.Nullable().String(),
			"order by an integer, or by a TIMESTAMP of up to 6 fractional digits with an INTERVAL of days to seconds")
	}
	out.N = k.Value.I
	return out, nil
}
