package planner

import (
	"slices"
	"strings"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/expr"
	"github.com/sluicesql/sluice/sql/ast"
)

// lintJob looks for what the author of a job probably does not want.
func (f *Findings) lintJob(j *Job) {
	f.at = j.Pos
	parents := map[Node][]Node{}
	j.Plan.Walk(func(n Node) {
		for _, in := range n.Inputs() {
			parents[in] = append(parents[in], n)
		}
	})
	j.Plan.Walk(func(n Node) {
		switch n := n.(type) {
		case *Join:
			f.lintJoin(n)
		case *JoinMany:
			for i, in := range n.Parts {
				f.lintKey(n, in, n.Sides[i].Key)
				f.keepsAll(in, n.Sides[i].Life, "the join keeps every row of %s")
			}
		case *Aggregate:
			if len(n.Bags) > 0 {
				f.keepsAll(n.Input, n.Life, "the aggregate keeps the values of every row of %s")
			}
		case *Window:
			f.lintWindow(j, n, parents)
		case *Project:
			f.lintVolatile(false, n.Exprs...)
		case *Filter:
			f.lintVolatile(true, n.Cond)
		}
	})
}

func (f *Findings) lintJoin(n *Join) {
	for port, in := range n.Inputs() {
		what := "the join keeps every row of %s"
		if n.Kind.Semi() && port == 1 {
			what = "the subquery keeps every row of %s"
		}
		f.keepsAll(in, *lifetimesOf(n)[port], what)
	}
	f.lintKey(n, n.Left, n.L.Key)
	f.lintKey(n, n.Right, n.R.Key)
	if len(n.L.Key) == 0 && !oneRow(n.Left.Out()) && !oneRow(n.Right.Out()) {
		f.lint(hint(errAt(n.Pos, "the join has no equality that divides its rows: one shard does it all, and each change meets every row of the other side"),
			"add a condition such as a.id = b.a_id").Coded(ast.CodeJoinWithoutKey))
	}
}

// lintKey notes join keys that had to be converted, since the two sides are of different types.
func (f *Findings) lintKey(join, in Node, key []int) {
	for _, k := range key {
		c, ok := computes(in, k).(*expr.Call)
		if !ok || c.Fn.Name != "CAST" || f.casts[c.Place] {
			continue
		}
		f.lint(hint(errAt(join.Out().Pos, "the join compares %s, which is %s, as %s: it is converted for every row", c.Args[0], c.Args[0].Type().Nullable(), c.T.Nullable()),
			"declare both sides with one type, or write the CAST").Coded(ast.CodeJoinTypes))
	}
}

// computes is the expression that a column of a node's output comes from; nil where it is no projection's.
func computes(n Node, col int) expr.Expr {
	switch n := n.(type) {
	case *Project:
		if c, ok := n.Exprs[col].(*expr.Column); ok {
			return computes(n.Input, c.Index)
		}
		return n.Exprs[col]
	case *Exchange, *Filter, *Normalise:
		return computes(n.Inputs()[0], col)
	}
	return nil
}

func oneRow(p *Props) bool {
	return slices.ContainsFunc(p.Keys, func(k []int) bool { return len(k) == 0 })
}

func (f *Findings) lintWindow(j *Job, n *Window, parents map[Node][]Node) {
	if n.Why == "" {
		if bounded := n.Limit != nil && n.Limit.Hi > 0 && n.Limit.Kind == expr.WindowRowNumber; !bounded {
			f.keepsAll(n.Input, n.Life, "the window keeps every row of %s")
		}
		return
	}
	if strings.EqualFold(j.Plan.Options[OptUpsertMaterialize], "FORCE") {
		return
	}
	var above Node = n
	for len(parents[above]) > 0 {
		above = parents[above][0]
	}
	f.lint(hint(errAt(above.Out().Pos, "all rows of the query are kept before the sink: %s", n.Why),
		"make a unique key of the query the PRIMARY KEY of the sink, or make the rows unique by GROUP BY or ROW_NUMBER").Coded(ast.CodeSinkMaterialise))
}

// keepsAll notes the streams without end from which an operator keeps all rows that come out of n. what says so, with %s
// for their names.
func (f *Findings) keepsAll(n Node, life Lifetime, what string) {
	out := n.Out()
	if out.Mode != spi.AppendOnly || out.Bounded || life.TTL > 0 {
		return
	}
	for _, s := range streams(n, nil) {
		f.lint(hint(errAt(s.Pos, what+" for ever: the rows of such a table are never deleted, so that the state grows without bound", s.Table),
			"read it as a changing table (a PRIMARY KEY and a format such as debezium-json, or upsert-kafka), or aggregate it first, or set '%s'", OptStateTTL).Coded(ast.CodeUnboundedState))
	}
}

// streams are the scans without end below n whose rows are never taken back, down to the operators that bound what they pass on.
func streams(n Node, out []*Scan) []*Scan {
	if s, ok := n.(*Scan); ok && s.Mode == spi.AppendOnly && !s.Bounded {
		return append(out, s)
	}
	for _, in := range n.Inputs() {
		out = streams(in, out)
	}
	return out
}

// lintVolatile notes calls whose value does not follow from the row. Where rows are taken back the binder refuses them.
func (f *Findings) lintVolatile(filter bool, es ...expr.Expr) {
	for _, e := range es {
		expr.Walk(e, func(e expr.Expr) bool {
			c, ok := e.(*expr.Call)
			if !ok || !c.Fn.Volatile {
				return true
			}
			msg := "%s gives another value when a row is read again, as after a failure or with a new state directory"
			if filter {
				msg = "%s is evaluated once, when a row comes: no row leaves or enters the result as time passes"
			}
			f.lint(hint(errAt(f.calls[c.Place], msg, c.Fn.Name), "take the value from a column of the input").Coded(ast.CodeNonDeterministic))
			return true
		})
	}
}

// lintTable notes what the connector of a table says of its options.
func (f *Findings) lintTable(t *Table) {
	var notes []spi.Note
	if t.source != nil {
		notes = append(notes, t.source.traits.Notes...)
	}
	if t.sink != nil {
		notes = append(notes, t.sink.traits.Notes...)
	}
	for _, n := range notes {
		o, ok := t.options[n.Option]
		if !ok {
			continue
		}
		e := errAt(o.KeyPos, "%s", n.Msg).Coded(ast.CodeIgnoredOption)
		e.Hint = "remove it"
		if n.Spelling {
			e.Code, e.Hint = ast.CodeDeprecatedSpelling, ""
		}
		if n.Value {
			e.Pos = o.ValuePos
		}
		f.lint(e)
	}
}

// lintText looks at how statements are written.
func (f *Findings) lintText(st ast.Statement) {
	ast.Visit(st, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Call:
			f.calls[n.Pos.String()] = n.Pos
			for _, id := range n.Name.Parts {
				f.function[id.Pos] = true
			}
		case *ast.Cast:
			f.casts[n.Pos.String()] = true
		case ast.Ident:
			f.lintName(n)
		case *ast.StatementSet:
			if n.Old {
				f.lint(hint(errAt(n.Pos, "BEGIN STATEMENT SET is the older form"), "write EXECUTE STATEMENT SET BEGIN …; END").Coded(ast.CodeDeprecatedSpelling))
			}
		case *ast.Set:
			f.deprecatedKey(n.Key, n.KeyPos)
		case *ast.Reset:
			f.deprecatedKey(n.Key, n.KeyPos)
		}
		return true
	})
}

// olderNames are the session options that have a newer name.
var olderNames = map[string]string{
	OptStateCheckpointsDir: OptCheckpointDir,
	OptStateSavepointsDir:  OptSavepointDir,
}

func (f *Findings) deprecatedKey(key string, pos ast.Pos) {
	if newer := olderNames[key]; newer != "" {
		f.lint(hint(errAt(pos, "%q is the older name of an option", key), "write '%s'", newer).Coded(ast.CodeDeprecatedSpelling))
	}
}

// lintUnused notes tables and views that nothing reads or writes.
func (f *Findings) lintUnused(s *Session, stmts []ast.Statement) {
	used := map[string]bool{}
	for _, st := range stmts {
		ast.Visit(st, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.NamedTable:
				used[n.Name.Base().Name] = true
			case *ast.Insert:
				used[n.Table.Base().Name] = true
			case *ast.CreateTable:
				if n.Like != nil {
					used[n.Like.Table.Base().Name] = true
				}
			case *ast.Show:
				if len(n.Name.Parts) > 0 {
					used[n.Name.Base().Name] = true
				}
			case *ast.Describe:
				used[n.Name.Base().Name] = true
			}
			return true
		})
	}
	unused := func(kind string, id ast.Ident) {
		if !used[id.Name] && id.Pos.IsValid() {
			f.lint(hint(errAt(id.Pos, "nothing uses the %s %q", kind, id.Name), "remove it, or use it").Coded(ast.CodeUnused))
		}
	}
	for _, name := range s.catalog.tableNames() {
		unused("table", s.catalog.tables[name].stmt.Name.Base())
	}
	for _, name := range s.catalog.viewNames() {
		unused("view", s.catalog.views[name].text.Name.Base())
	}
}
