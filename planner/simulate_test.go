package planner

import (
	"fmt"
	"hash/fnv"
	"slices"
	"sort"
	"strings"

	"github.com/sluicesql/sluice/engine/expr"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/types"
)

// The simulator runs plans over final rows, without time: each row stands on a shard, exchanges move it,
// and a join sees rows of its own shard only. So a plan that divides rows wrongly gives a wrong result. The
// reference evaluates the logical tree as bound, before any rule.

const simShards = 3

// simTables are the rows of each table, of all its columns.
type simTables map[string][][]row.Datum

type simRow struct {
	r     row.Row
	shard int
}

func pack(ts []types.Type, d []row.Datum) row.Row {
	var b row.Builder
	b.Begin(nil, len(ts))
	phys := make([]types.Phys, len(ts))
	for i := range ts {
		phys[i] = ts[i].Phys()
		b.Datum(i, phys[i], d[i])
	}
	return row.Row(b.Finish(phys))
}

// simulator evaluates nodes, each once.
type simulator struct {
	tables simTables
	done   map[Node][]simRow
	faults []string
}

func (s *simulator) run(n Node) []simRow {
	if out, ok := s.done[n]; ok {
		return out
	}
	out := s.eval(n)
	s.done[n] = out
	s.checkKeys(n, out)
	return out
}

func (s *simulator) eval(n Node) []simRow {
	switch n := n.(type) {
	case *Scan:
		var out []simRow
		for i, d := range s.tables[n.Table] {
			out = append(out, simRow{pack(n.Types(), pickDatums(d, n.Spec.Columns)), i % simShards})
		}
		return out
	case *Values:
		var out []simRow
		for _, d := range n.Rows {
			out = append(out, simRow{pack(n.Types(), d), 0})
		}
		return out
	case *Filter:
		keep := predicate(n.Cond)
		return slices.DeleteFunc(slices.Clone(s.run(n.Input)), func(r simRow) bool { return !keep(r.r) })
	case *Project:
		f := project(n.Exprs)
		var out []simRow
		for _, r := range s.run(n.Input) {
			out = append(out, simRow{f(r.r), r.shard})
		}
		return out
	case *Normalise:
		return s.run(n.Input)
	case *Exchange:
		return s.exchange(n)
	case *Join:
		return s.join(n)
	case *JoinMany:
		return s.joinMany(n)
	case *Sink:
		return s.run(n.Input)
	}
	panic(fmt.Sprintf("unknown node %T", n))
}

func pickDatums(d []row.Datum, at []int) []row.Datum {
	out := make([]row.Datum, len(at))
	for i, k := range at {
		out[i] = d[k]
	}
	return out
}

func predicate(e expr.Expr) func(row.Row) bool {
	f, err := expr.Predicate(e)
	if err != nil {
		panic(err)
	}
	return func(r row.Row) bool {
		ok, err := f(&expr.Ctx{}, r)
		if err != nil {
			panic(err)
		}
		return ok
	}
}

func project(es []expr.Expr) func(row.Row) row.Row {
	fs := make([]expr.Fn, len(es))
	ts := make([]types.Type, len(es))
	for i, e := range es {
		f, err := expr.Compile(e)
		if err != nil {
			panic(err)
		}
		fs[i], ts[i] = f, e.Type()
	}
	return func(r row.Row) row.Row {
		c := &expr.Ctx{}
		d := make([]row.Datum, len(fs))
		for i, f := range fs {
			d[i] = f(c, r)
		}
		if c.Err != nil {
			panic(c.Err)
		}
		return pack(ts, d)
	}
}

func key(r row.Row, p *Props, cols []int) (string, bool) {
	var b strings.Builder
	null := false
	for _, c := range cols {
		d := r.Get(c, p.Columns[c].Type.Phys())
		null = null || d.Null
		fmt.Fprintf(&b, "%v|", d)
	}
	return b.String(), null
}

func (s *simulator) exchange(n *Exchange) []simRow {
	var out []simRow
	in := n.Input.Out()
	for _, r := range s.run(n.Input) {
		shard := 0
		switch {
		case n.Spread:
			shard = r.shard
		case n.ByRow:
			shard = hashOf(string(r.r))
		case len(n.Key) > 0:
			k, null := key(r.r, in, n.Key)
			if null && n.Nulls == NullsDropped {
				continue
			}
			if null && n.Nulls == NullsKept {
				k2, _ := key(r.r, in, n.Scatter)
				k += k2
			}
			shard = hashOf(k)
		}
		out = append(out, simRow{r.r, shard})
	}
	return out
}

func hashOf(s string) int {
	h := fnv.New32a()
	h.Write([]byte(s))
	return int(h.Sum32() % simShards)
}

func (s *simulator) join(n *Join) []simRow {
	l, r := n.Left.Out(), n.Right.Out()
	residual := func(row.Row) bool { return true }
	if n.Residual != nil {
		residual = predicate(n.Residual)
	}
	s.checkLayout(n.Left, n.L)
	s.checkLayout(n.Right, n.R)
	wide := slices.Concat(l.Types(), r.Types())
	side := func(p *Props, x *row.Row) []row.Datum {
		var d []row.Datum
		for i := range p.Columns {
			if x == nil {
				d = append(d, row.NullDatum)
			} else {
				d = append(d, x.Get(i, p.Columns[i].Type.Phys()))
			}
		}
		return d
	}
	var out []simRow
	give := func(a, b *row.Row, shard int) {
		d := side(l, a)
		if n.Kind == MarkJoin {
			d = append(d, row.Int(0))
			if b != nil {
				d[len(d)-1] = row.Int(1)
			}
		} else if !n.Kind.Semi() {
			d = append(d, side(r, b)...)
		}
		out = append(out, simRow{pack(n.Types(), d), shard})
	}
	lefts, rights := s.run(n.Left), s.run(n.Right)
	matched := map[int]bool{}
	for i := range lefts {
		a := &lefts[i]
		ka, null := key(a.r, l, n.L.Key)
		if null && n.L.Nulls == NullsNone {
			if a := n.Alone(0); a == AloneUnmatched || a == AloneMarked {
				s.faults = append(s.faults, fmt.Sprintf("join %d: a NULL key on the left", n.ID))
			}
			continue
		}
		matches := 0
		for k := range rights {
			b := &rights[k]
			kb, nb := key(b.r, r, n.R.Key)
			if null || nb || ka != kb || a.shard != b.shard || !residual(pack(wide, append(side(l, &a.r), side(r, &b.r)...))) {
				continue
			}
			matches++
			matched[k] = true
			if !n.Kind.Semi() {
				give(&a.r, &b.r, a.shard)
			}
		}
		switch w := n.Alone(0); {
		case w == AloneMatched && matches > 0, w == AloneUnmatched && matches == 0, w == AloneMarked && matches == 0:
			give(&a.r, nil, a.shard)
		case w == AloneMarked:
			give(&a.r, &a.r, a.shard)
		}
		if n.Single != "" && matches > 1 {
			s.faults = append(s.faults, fmt.Sprintf("join %d: several matches", n.ID))
		}
	}
	for k := range rights {
		if n.Alone(1) == AloneUnmatched && !matched[k] {
			give(nil, &rights[k].r, rights[k].shard)
		}
	}
	return s.divided(n, out)
}

func (s *simulator) joinMany(n *JoinMany) []simRow {
	residual := func(row.Row) bool { return true }
	if n.Residual != nil {
		residual = predicate(n.Residual)
	}
	type partial struct {
		key   string
		shard int
		d     []row.Datum
	}
	acc := []partial{{shard: -1}}
	for i, p := range n.Parts {
		s.checkLayout(p, n.Sides[i])
		var next []partial
		for _, a := range acc {
			for _, r := range s.run(p) {
				k, null := key(r.r, p.Out(), n.Sides[i].Key)
				if null || a.shard >= 0 && (k != a.key || r.shard != a.shard) {
					continue
				}
				d := slices.Clone(a.d)
				for c, col := range p.Out().Columns {
					d = append(d, r.r.Get(c, col.Type.Phys()))
				}
				next = append(next, partial{k, r.shard, d})
			}
		}
		acc = next
	}
	var out []simRow
	for _, a := range acc {
		if r := pack(n.Types(), a.d); residual(r) {
			out = append(out, simRow{r, a.shard})
		}
	}
	return s.divided(n, out)
}

// divided checks that rows stand where Dist says.
func (s *simulator) divided(n Node, rows []simRow) []simRow {
	p := n.Out()
	if len(p.Dist) == 0 {
		return rows
	}
	for _, r := range rows {
		if k, _ := key(r.r, p, p.Dist); hashOf(k) != r.shard {
			s.faults = append(s.faults, fmt.Sprintf("node %d: a row is not on the shard that %v says", p.ID, p.Dist))
			break
		}
	}
	return rows
}

// checkLayout checks that the state's key is unique, and that Dist is what it says.
func (s *simulator) checkLayout(n Node, side JoinSide) {
	if side.Layout == LayoutBag {
		return
	}
	s.unique(n, append(slices.Clone(side.Key), side.Unique...), s.run(n), "layout "+side.Layout.String())
}

func (s *simulator) checkKeys(n Node, rows []simRow) {
	if _, isSink := n.(*Sink); !isSink { // a sink refuses NULLs itself
		for i, c := range n.Out().Columns {
			if c.Type.NotNull && slices.ContainsFunc(rows, func(r simRow) bool { return r.r.IsNull(i) }) {
				s.faults = append(s.faults, fmt.Sprintf("node %d: a NULL in column %d, which is NOT NULL", n.Out().ID, i))
			}
		}
	}
	for _, k := range n.Out().Keys {
		s.unique(n, k, rows, "unique key")
	}
	if s1, ok := n.(*Sink); ok {
		if s1.PairKey != nil {
			s.unique(n, s1.PairKey, rows, "pair key")
		}
		shard := map[string]int{}
		for _, r := range rows {
			k := string(r.r)
			if len(s1.Spec.Key) > 0 {
				k, _ = key(r.r, s1.Input.Out(), s1.Spec.Key)
			} else if s1.Spec.Mode == 0 {
				continue
			}
			if at, ok := shard[k]; ok && at != r.shard {
				s.faults = append(s.faults, fmt.Sprintf("sink %d: equal rows on two shards", s1.ID))
			}
			shard[k] = r.shard
		}
	}
}

func (s *simulator) unique(n Node, k []int, rows []simRow, what string) {
	seen := map[string]bool{}
	for _, r := range rows {
		v, _ := key(r.r, n.Out(), k)
		if seen[v] {
			s.faults = append(s.faults, fmt.Sprintf("node %d: %s %v does not hold", n.Out().ID, what, k))
			return
		}
		seen[v] = true
	}
}

// reference evaluates a logical tree as bound: rows of the columns r.out().
func (t simTables) reference(c *columnTable, r rel) [][]row.Datum {
	switch r := r.(type) {
	case *relScan:
		return t[r.src.table.Name]
	case *relValues:
		var out [][]row.Datum
		for _, vr := range r.rows {
			var d []row.Datum
			for _, e := range vr {
				d = append(d, e.(*expr.Const).Value)
			}
			out = append(out, d)
		}
		return out
	case *relView:
		// A view shows some of its body's columns, perhaps in another order.
		var out [][]row.Datum
		at := positions(r.body.out(), r.ids)
		for _, d := range t.reference(c, r.body) {
			out = append(out, pickDatums(d, at))
		}
		return out
	case *relFilter:
		return t.filtered(c, r.in.out(), t.reference(c, r.in), r.conds)
	case *relExtend:
		var out [][]row.Datum
		in := r.in.out()
		for _, d := range t.reference(c, r.in) {
			p := pack(c.types(in), d)
			for _, it := range r.items {
				v := project([]expr.Expr{positional(it.e, in)})(p)
				d = append(slices.Clone(d), v.Get(0, it.e.Type().Phys()))
			}
			out = append(out, d)
		}
		return out
	case *relOuter:
		return t.outer(c, r)
	case *relShared:
		var out [][]row.Datum
		at := positions(r.def.body.out(), r.def.ids)
		for _, d := range t.reference(c, r.def.body) {
			out = append(out, pickDatums(d, at))
		}
		return out
	case *relJoin:
		out := [][]row.Datum{{}}
		for _, in := range r.inputs {
			var next [][]row.Datum
			for _, a := range out {
				for _, b := range t.reference(c, in.rel) {
					next = append(next, slices.Concat(a, b))
				}
			}
			out = next
		}
		return t.filtered(c, r.out(), out, r.conds)
	}
	panic("unknown logical node")
}

// outer evaluates an outer, semi or anti join, whose NOT NULL columns below are not those above.
func (t simTables) outer(c *columnTable, o *relOuter) [][]row.Datum {
	lefts, rights := t.reference(c, o.left.rel), t.reference(c, o.right.rel)
	lc, rc := o.left.rel.out(), o.right.rel.out()
	nulls := func(n int) []row.Datum {
		d := make([]row.Datum, n)
		for i := range d {
			d[i] = row.NullDatum
		}
		return d
	}
	var out [][]row.Datum
	matched := map[int]bool{}
	for _, a := range lefts {
		matches := 0
		for i, b := range rights {
			if both := slices.Concat(a, b); len(t.filtered(c, slices.Concat(lc, rc), [][]row.Datum{both}, o.conds)) > 0 {
				matches++
				matched[i] = true
				if !o.kind.Semi() {
					out = append(out, both)
				}
			}
		}
		w := o.kind.Alone(0)
		if w == AloneMatched && matches > 0 || w == AloneUnmatched && matches == 0 || w == AloneMarked {
			d := slices.Clone(a)
			if o.kind == MarkJoin {
				d = append(d, row.Int(int64(min(matches, 1))))
			} else if !o.kind.Semi() {
				d = append(d, nulls(len(rc))...)
			}
			out = append(out, d)
		}
	}
	for i, b := range rights {
		if o.kind.Alone(1) == AloneUnmatched && !matched[i] {
			out = append(out, append(nulls(len(lc)), b...))
		}
	}
	return out
}

func (t simTables) filtered(c *columnTable, cols []int, rows [][]row.Datum, conds []expr.Expr) [][]row.Datum {
	var keep []func(row.Row) bool
	for _, e := range conds {
		keep = append(keep, predicate(positional(e, cols)))
	}
	var out [][]row.Datum
next:
	for _, d := range rows {
		p := pack(c.types(cols), d)
		for _, f := range keep {
			if !f(p) {
				continue next
			}
		}
		out = append(out, d)
	}
	return out
}

func (t *columnTable) types(ids []int) []types.Type {
	ts := make([]types.Type, len(ids))
	for i, id := range ids {
		ts[i] = t.list[id].typ
	}
	return ts
}

func positional(e expr.Expr, cols []int) expr.Expr {
	return expr.Remap(e, func(c *expr.Column) expr.Expr {
		return &expr.Column{Index: slices.Index(cols, c.Index), Name: c.Name, T: c.T}
	})
}

func positions(all, ids []int) []int {
	out := make([]int, len(ids))
	for i, id := range ids {
		out[i] = slices.Index(all, id)
	}
	return out
}

// bag writes rows in order, to be compared.
func bag(rows []string) string {
	sort.Strings(rows)
	return strings.Join(rows, "\n")
}
