package planner

import (
	"errors"
	"slices"
	"strings"

	"github.com/sluicesql/sluice/engine/expr"
	"github.com/sluicesql/sluice/engine/types"
	"github.com/sluicesql/sluice/internal/near"
	"github.com/sluicesql/sluice/sql/ast"
)

// expr binds an expression over the columns in scope, whose numbers become the indexes of its columns.
func (b *binder) expr(e ast.Expr, sc *scope) (expr.Expr, error) {
	if item := sc.alias(e); item != nil {
		plain := *sc
		plain.aliases = nil
		return b.expr(item, &plain)
	}
	if sc.group != nil {
		if x, done, err := b.grouped(e, sc); done {
			return x, err
		}
	}
	if isQuery(e) {
		return b.queryOnce(e, sc)
	}
	switch e := e.(type) {
	case *ast.ColumnRef:
		return b.columnRef(e, sc)
	case *ast.Literal:
		return b.literal(e)
	case *ast.Interval:
		return bindInterval(e)
	case *ast.Unary:
		return b.unary(e, sc)
	case *ast.Binary:
		if e.Op == ast.OpOverlaps {
			return b.overlaps(e, sc)
		}
		return b.operator(e.Pos, string(e.Op), sc, e.Left, e.Right)
	case *ast.Is:
		name := "IS "
		if e.Not {
			name += "NOT "
		}
		return b.operator(e.Pos, name+string(e.Kind), sc, e.Expr)
	case *ast.Between:
		name := "BETWEEN"
		if e.Symmetric {
			name += " SYMMETRIC"
		}
		x, err := b.operator(e.Pos, name, sc, e.Expr, e.Low, e.High)
		return b.negated(e.Pos, e.Not, x, err)
	case *ast.In:
		x, err := b.operator(e.Pos, "IN", sc, append([]ast.Expr{e.Expr}, e.List...)...)
		return b.negated(e.Pos, e.Not, x, err)
	case *ast.Like:
		name, args := "LIKE", []ast.Expr{e.Expr, e.Pattern}
		if e.Similar {
			name = "SIMILAR TO"
		}
		if e.Escape != nil {
			args = append(args, e.Escape)
		}
		x, err := b.operator(e.Pos, name, sc, args...)
		return b.negated(e.Pos, e.Not, x, err)
	case *ast.Case:
		return b.caseExpr(e, sc)
	case *ast.Quantified:
		return b.quantified(e, sc)
	case *ast.Cast:
		return b.cast(e, sc)
	case *ast.Call:
		return b.function(e, sc)
	case *ast.FieldAccess:
		x, err := b.expr(e.Expr, sc)
		if err != nil {
			return nil, err
		}
		return b.fieldOf(x, e.Field)
	case *ast.ElementAccess:
		return b.operator(e.Pos, "ITEM", sc, e.Expr, e.Index)
	case *ast.Row:
		return b.operator(e.Pos, "ROW", sc, e.Items...)
	case *ast.Array:
		return b.operator(e.Pos, "ARRAY", sc, e.Items...)
	case *ast.Map:
		return b.operator(e.Pos, "MAP", sc, e.Items...)
	}
	return nil, refuseExpr(e)
}

// refuseExpr refuses what the parser reads and nothing executes yet, and what stands at a wrong place.
func refuseExpr(e ast.Expr) error {
	switch e := e.(type) {
	case *ast.NamedArg:
		return notAvailable(e.Pos, "an argument by name", "give the arguments in order")
	case *ast.Star:
		return errAt(e.Pos, "* is not an expression")
	case *ast.Symbol:
		return errAt(e.Pos, "the word %s cannot stand here", e.Name).Coded(ast.CodeMisplaced)
	}
	return notAvailable(e.Position(), "this expression", "")
}

// columnRef binds a path of names: a column, and fields of rows below it.
func (b *binder) columnRef(e *ast.ColumnRef, sc *scope) (expr.Expr, error) {
	in := sc
	for in.parent != nil && !in.knows(e.Parts) {
		in = in.parent
	}
	if !in.knows(e.Parts) {
		in = sc // whose error it is
	}
	c, n, err := in.resolve(e.Parts)
	if err != nil {
		return nil, err
	}
	x := b.column(c)
	if in != sc && in.group != nil {
		if x = b.overKeys(x, in.group); x == nil {
			return nil, hint(errAt(e.Pos, "the column %s of the query around this one is neither in its GROUP BY nor within an aggregate function", ast.String(e)).Coded(ast.CodeMisplaced),
				"add it to GROUP BY")
		}
	}
	for _, f := range e.Parts[n:] {
		if x, err = b.fieldOf(x, f); err != nil {
			return nil, err
		}
	}
	return x, nil
}

// column is a column in scope as an expression.
func (b *binder) column(c scopeColumn) expr.Expr {
	return &expr.Column{Index: c.id, Name: c.label, T: b.columns.list[c.id].typ}
}

// fieldOf is a field of a ROW.
func (b *binder) fieldOf(x expr.Expr, f ast.Ident) (expr.Expr, error) {
	t := x.Type()
	if t.Kind != types.Row {
		return nil, errAt(f.Pos, "%s is %s and has no field %q; only a ROW has fields", x, t.Nullable(), f.Name).Coded(ast.CodeTypeMismatch)
	}
	names := make([]string, len(t.Fields))
	for i, tf := range t.Fields {
		names[i] = tf.Name
		if tf.Name == f.Name {
			return b.call(f.Pos, "FIELD", x, expr.StringConst(f.Name))
		}
	}
	return nil, suggest(errAt(f.Pos, "unknown field %q of %s", f.Name, x).Coded(ast.CodeUnknownColumn), f.Name, names, "fields")
}

// operator binds the arguments and calls the function or operator by name.
func (b *binder) operator(pos ast.Pos, name string, sc *scope, args ...ast.Expr) (expr.Expr, error) {
	bound := make([]expr.Expr, len(args))
	for i, a := range args {
		x, err := b.argument(pos, name, bound[:i], a, sc)
		if err != nil {
			return nil, err
		}
		bound[i] = x
	}
	x, err := resolve(pos, name, bound)
	return x, placeArg(err, pos, args)
}

// call calls a function over bound arguments.
func (b *binder) call(pos ast.Pos, name string, args ...expr.Expr) (expr.Expr, error) {
	x, err := resolve(pos, name, args)
	return x, placeArg(err, pos, nil)
}

// resolve types a call and, where an argument is constant, has it compiled: a malformed pattern or format is an error
// of the statement.
func resolve(pos ast.Pos, name string, args []expr.Expr) (expr.Expr, error) {
	x, err := expr.Resolve(name, args)
	if err != nil {
		return nil, err
	}
	if c, ok := x.(*expr.Call); ok && slices.ContainsFunc(c.Args, isConst) {
		_, err = expr.Compile(c)
	}
	expr.SetPlace(x, pos.String())
	return x, err
}

// cast is CAST of a bound expression, written at pos.
func cast(pos ast.Pos, x expr.Expr, t types.Type, try bool) (expr.Expr, error) {
	c, err := expr.Cast(x, t, try)
	if err == nil {
		expr.SetPlace(c, pos.String())
	}
	return c, err
}

// groupWindow reports whether a function is one of the windows by which Flink groups rows, or tells something of one:
// TUMBLE_START.
func groupWindow(name string) bool {
	window, what, _ := strings.Cut(name, "_")
	return slices.Contains([]string{"TUMBLE", "HOP", "SESSION"}, window) && slices.Contains([]string{"", "START", "END", "ROWTIME", "PROCTIME"}, what)
}

// placeArg gives a typing error its place: that of the argument to blame, or of the call.
func placeArg(err error, pos ast.Pos, args []ast.Expr) error {
	if err == nil {
		return nil
	}
	if u, ok := errors.AsType[*expr.UnknownFunctionError](err); ok {
		e := errAt(pos, "unknown function %q", u.Name).Coded(ast.CodeUnknownFunction)
		if h := u.Hint(); h != "" {
			e = hint(e, "%s", h)
		}
		return e
	}
	if a, ok := errors.AsType[*expr.ArgError](err); ok && a.Arg >= 0 && a.Arg < len(args) && args[a.Arg] != nil {
		pos = args[a.Arg].Position()
	}
	return errAt(pos, "%s", err).Coded(ast.CodeWrongArguments)
}

func (b *binder) negated(pos ast.Pos, not bool, x expr.Expr, err error) (expr.Expr, error) {
	if err != nil || !not {
		return x, err
	}
	return b.call(pos, "NOT", x)
}

func (b *binder) unary(e *ast.Unary, sc *scope) (expr.Expr, error) {
	if lit, ok := e.Expr.(*ast.Literal); ok && e.Op == ast.OpMinus && lit.Kind == ast.IntLiteral {
		// The smallest BIGINT is no literal without its sign.
		return integerLiteral(e.Pos, "-"+lit.Text)
	}
	return b.operator(e.Pos, string(e.Op), sc, e.Expr)
}

// overlaps binds (start, end) OVERLAPS (start, end).
func (b *binder) overlaps(e *ast.Binary, sc *scope) (expr.Expr, error) {
	var bounds []ast.Expr
	for _, side := range []ast.Expr{e.Left, e.Right} {
		span, ok := side.(*ast.Row)
		if !ok || len(span.Items) != 2 {
			return nil, errAt(side.Position(), "OVERLAPS takes two spans of time, each written (start, end) or (start, INTERVAL …)").Coded(ast.CodeWrongArguments)
		}
		bounds = append(bounds, span.Items...)
	}
	return b.operator(e.Pos, "OVERLAPS", sc, bounds...)
}

// caseExpr binds CASE; with an operand each WHEN is an equality.
func (b *binder) caseExpr(e *ast.Case, sc *scope) (expr.Expr, error) {
	var args []expr.Expr
	var places []ast.Expr
	take := func(a ast.Expr, place ast.Expr) error {
		x, err := b.argument(e.Pos, "CASE", args, a, sc)
		args, places = append(args, x), append(places, place)
		return err
	}
	for _, w := range e.Whens {
		cond := w.Cond
		if e.Operand != nil {
			cond = &ast.Binary{Pos: w.Cond.Position(), Op: ast.OpEq, Left: e.Operand, Right: w.Cond}
		}
		if err := take(cond, w.Cond); err != nil {
			return nil, err
		}
		if err := take(w.Then, w.Then); err != nil {
			return nil, err
		}
	}
	if e.Else != nil {
		if err := take(e.Else, e.Else); err != nil {
			return nil, err
		}
	}
	x, err := resolve(e.Pos, "CASE", args)
	return x, placeArg(err, e.Pos, places)
}

func (b *binder) cast(e *ast.Cast, sc *scope) (expr.Expr, error) {
	x, err := b.expr(e.Expr, sc)
	if err != nil {
		return nil, err
	}
	t, err := bindType(e.Type)
	if err != nil {
		return nil, err
	}
	c, err := cast(e.Pos, x, t, e.Try)
	return c, placeArg(err, e.Pos, []ast.Expr{e.Expr})
}

// windowFunctions are the names that need OVER.
var windowFunctions = map[string]bool{"ROW_NUMBER": true, "RANK": true, "DENSE_RANK": true, "LAG": true, "LEAD": true, "NTILE": true, "PERCENT_RANK": true, "CUME_DIST": true}

// function binds the call of a scalar function.
func (b *binder) function(e *ast.Call, sc *scope) (expr.Expr, error) {
	name := upper(e.Name.Base().Name)
	switch {
	case e.Over != nil:
		return b.windowCall(e, sc)
	case expr.LookupAggregate(name) != nil && len(e.Name.Parts) == 1:
		return nil, hint(errAt(e.Pos, "the aggregate function %s cannot stand here", name).Coded(ast.CodeMisplaced), "aggregates stand in SELECT, HAVING, QUALIFY and ORDER BY; filter by one with HAVING")
	case name == "COLLECT":
		return nil, notAvailable(e.Pos, "COLLECT", "there is no MULTISET type; ARRAY_AGG gives an array")
	case groupWindow(name) && len(e.Name.Parts) == 1:
		return nil, notAvailable(e.Pos, "the group window "+name, "group by FLOOR(time TO unit)")
	case windowFunctions[name]:
		return nil, hint(errAt(e.Pos, "%s needs OVER", name).Coded(ast.CodeMisplaced), "write %s(…) OVER (PARTITION BY … ORDER BY …)", name)
	case e.Distinct || e.Filter != nil || len(e.OrderBy) > 0 || len(e.WithinGroup) > 0:
		return nil, errAt(e.Pos, "%s is no aggregate function, so that it takes no DISTINCT, FILTER or ORDER BY", name).Coded(ast.CodeWrongArguments)
	case len(e.Name.Parts) > 1:
		return nil, errAt(e.Pos, "unknown function %q", nameText(e.Name)).Coded(ast.CodeUnknownFunction)
	}
	var args []expr.Expr
	var places []ast.Expr
	if expr.Lookup(name) != nil { // the arguments of what is no function may be right elsewhere, as * is
		var err error
		if args, places, err = b.arguments(e, name, sc); err != nil {
			return nil, err
		}
	}
	x, err := resolve(e.Pos, name, args)
	if err != nil {
		if u, ok := errors.AsType[*expr.UnknownFunctionError](err); ok {
			u.Name = e.Name.Base().Name
			if u.Hint() == "" {
				u.Near = near.Name(name, groupFunctions())
			}
		}
		return nil, placeArg(err, e.Pos, places)
	}
	if fn := volatileFunction(x); fn != "" && sc.changing {
		return nil, volatileError(e.Pos, fn, fn)
	}
	return x, nil
}

// groupFunctions are the names of the functions of several rows.
func groupFunctions() (names []string) {
	for _, a := range expr.Aggregates() {
		names = append(names, a.Name)
	}
	for _, f := range expr.WindowFunctions() {
		names = append(names, f.Name)
	}
	return names
}

// arguments binds a call's arguments and the clauses within its parentheses. Words of call syntax, such
// as the unit of EXTRACT, are strings to the functions.
func (b *binder) arguments(e *ast.Call, name string, sc *scope) ([]expr.Expr, []ast.Expr, error) {
	var args []expr.Expr
	var places []ast.Expr
	if word := onNull(e, name); word != nil {
		args, places = append(args, word), append(places, nil)
	}
	for _, a := range e.Args {
		if s, ok := a.(*ast.Symbol); ok {
			args = append(args, expr.StringConst(s.Name))
		} else {
			x, err := b.argument(e.Pos, name, args, a, sc)
			if err != nil {
				return nil, nil, err
			}
			args = append(args, x)
		}
		places = append(places, a)
	}
	more, at, err := b.clauseArguments(e, name, sc)
	return append(args, more...), append(places, at...), err
}
