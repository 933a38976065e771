package op

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/sluicesql/sluice/engine/changelog"
	"github.com/sluicesql/sluice/engine/expr"
	"github.com/sluicesql/sluice/engine/keyenc"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/state"
	"github.com/sluicesql/sluice/engine/types"
)

// TestStories runs the scripts of testdata, one for each operator. A story begins with the columns of its input,
// makes an operator, and then pushes batches into it. The commands:
//
//	input [left|right]   the columns: "id INT, name STRING"
//	router               by=key (key=(…), drop-null), by=row or fixed=N; to=N consumers, batches of max=N rows
//	filter               the condition; upsert=(…) on an upsert stream
//	project              the expressions, one a line; upsert=(…) on an upsert stream
//	normalise-rows       key=(…)
//	normalise-index      key=(…) route=(…)
//	join                 left=(…) right=(…) are the join key; left-sub=(…), left-bag, left-upsert are its side's
//	                     layout; lines are "on EXPR" (the residual condition) and output expressions
//	push [left|right]    a batch, one change a line: "+I 1, Egor"; shows what comes out, batches apart by "--"
//	barrier              ends the epoch
//	state                the number of rows in the state, and of deletes that deleted nothing
//
// An expression is a column, a constant, "a OP b", "F(a, b)" or "F(a, b) OP c".
func TestStories(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no stories: %v", err)
	}
	for _, f := range files {
		t.Run(strings.TrimSuffix(filepath.Base(f), ".txt"), func(t *testing.T) {
			s := &story{t: t, shard: memoryShard(t)}
			commands := map[string]func(*datadriven.TestData) string{
				"input": s.input, "router": s.router, "filter": s.filter, "project": s.project,
				"normalise-rows": s.normaliseRows, "normalise-index": s.normaliseIndex, "join": s.join,
				"push": s.push, "barrier": s.endEpoch, "state": s.state,
			}
			datadriven.RunTest(t, f, func(t *testing.T, d *datadriven.TestData) string {
				run := commands[d.Cmd]
				if run == nil {
					t.Fatalf("%s: unknown command %s", d.Pos, d.Cmd)
				}
				return run(d)
			})
		})
	}
}

// story is one script on its way.
type story struct {
	t       *testing.T
	columns [2][]storyColumn
	shard   *state.Shard
	tables  []*state.Table
	ids     uint8 // of tables made
	ports   [2]Output
	barrier func() error
	unknown *int64
	out     storyOutput
	ctx     expr.Ctx
}

type storyColumn struct {
	name string
	t    types.Type
}

// storyOutput writes batches down and checks their rows.
type storyOutput struct {
	types []types.Type
	text  strings.Builder
}

func (o *storyOutput) Push(b *changelog.Batch) error { return o.show("", b) }

func (o *storyOutput) show(prefix string, b *changelog.Batch) error {
	if o.text.Len() > 0 {
		o.text.WriteString("--\n")
	}
	for i := range b.Len() {
		if err := row.Check(b.Row(i), o.types); err != nil {
			return err
		}
		fmt.Fprintf(&o.text, "%s%s %s\n", prefix, b.Op(i), rowText(b.Row(i), o.types))
	}
	return nil
}

func rowText(r row.Row, ts []types.Type) string {
	parts := make([]string, len(ts))
	for i, t := range ts {
		switch d := r.Get(i, t.Phys()); {
		case d.Null:
			parts[i] = "NULL"
		case t.IsString():
			parts[i] = string(d.B)
		default:
			parts[i] = strconv.FormatInt(d.I, 10)
		}
	}
	return strings.Join(parts, ", ")
}

// storySender is a router's consumer.
type storySender struct {
	no  int
	out *storyOutput
	b   changelog.Batch
}

func (s *storySender) Batch() (*changelog.Batch, error) { return &s.b, nil }

func (s *storySender) Send() error {
	defer s.b.Reset()
	return s.out.show(fmt.Sprintf("%d: ", s.no), &s.b)
}

func memoryShard(t testing.TB) *state.Shard { return openShard(t, "", 0) }

func openShard(t testing.TB, dir string, budget int64) *state.Shard {
	t.Helper()
	st, err := state.Open(state.Options{Dir: dir, Shards: 1, Budget: budget})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() }) // a failed write fails the test before
	return st.Shard(0, 0)
}

func portOf(d *datadriven.TestData) int {
	if d.HasArg("right") {
		return 1
	}
	return 0
}

func (s *story) input(d *datadriven.TestData) string {
	var cols []storyColumn
	for _, c := range strings.Split(d.Input, ", ") {
		name, typ, _ := strings.Cut(c, " ")
		t := types.Of(types.Int)
		if typ == "STRING" {
			t = types.String()
		}
		cols = append(cols, storyColumn{name, t})
	}
	s.columns[portOf(d)] = cols
	return ""
}

func (s *story) types(port int) []types.Type {
	var ts []types.Type
	for _, c := range s.columns[port] {
		ts = append(ts, c.t)
	}
	return ts
}

// keyArg are the columns that an argument names; nil without it.
func (s *story) keyArg(d *datadriven.TestData, arg string, port int) []int {
	for _, a := range d.CmdArgs {
		if a.Key != arg {
			continue
		}
		key := []int{}
		for _, name := range a.Vals {
			at := -1
			for i, c := range s.columns[port] {
				if c.name == name {
					at = i
				}
			}
			if at < 0 {
				d.Fatalf(s.t, "no column %s", name)
			}
			key = append(key, at)
		}
		return key
	}
	return nil
}

func intArg(d *datadriven.TestData, arg string, def int) int {
	for _, a := range d.CmdArgs {
		if a.Key == arg {
			n, err := strconv.Atoi(a.Vals[0])
			if err != nil {
				return -1
			}
			return n
		}
	}
	return def
}

// begin makes a new operator the story's.
func (s *story) begin(out []types.Type) {
	s.out = storyOutput{types: out}
	s.barrier, s.unknown, s.tables, s.ports = nil, nil, nil, [2]Output{}
}

func (s *story) table(bag bool) *state.Table {
	s.ids++
	t := s.shard.Table(state.TableID(0, s.ids), bag)
	s.tables = append(s.tables, t)
	return t
}

func (s *story) router(d *datadriven.TestData) string {
	s.begin(s.types(0))
	by, fixed := RouteByKey, 0
	if f := intArg(d, "fixed", -1); f >= 0 {
		by, fixed = RouteFixed, f
	} else if d.HasArg("by") {
		by = RouteByRow
	}
	to := make([]Sender, intArg(d, "to", 1))
	for i := range to {
		to[i] = &storySender{no: i, out: &s.out}
	}
	r := NewRouter(by, keyenc.Columns(s.types(0), s.keyArg(d, "key", 0)), fixed, to, intArg(d, "max", 1024))
	if d.HasArg("drop-null") {
		r.SetNulls(NullsDropped, nil)
	} else if d.HasArg("scatter") {
		r.SetNulls(NullsKept, keyenc.Columns(s.types(0), s.keyArg(d, "scatter", 0)))
	}
	s.ports[0], s.barrier = r, r.Barrier
	return ""
}

func (s *story) filter(d *datadriven.TestData) string {
	s.begin(s.types(0))
	f, err := NewFilter(&s.ctx, s.expr(d, d.Input, s.columns[0]), s.types(0), s.keyArg(d, "upsert", 0), &s.out)
	if err != nil {
		return err.Error() + "\n"
	}
	s.ports[0] = f
	return ""
}

func (s *story) project(d *datadriven.TestData) string {
	exprs := s.exprs(d, strings.Split(d.Input, "\n"), s.columns[0])
	s.begin(exprTypes(exprs))
	p, err := NewProject(&s.ctx, exprs, s.keyArg(d, "upsert", 0), &s.out)
	if err != nil {
		return err.Error() + "\n"
	}
	s.ports[0] = p
	return ""
}

func (s *story) normaliseRows(d *datadriven.TestData) string {
	s.begin(s.types(0))
	n := NewNormaliseRows(s.table(false), keyenc.Columns(s.types(0), s.keyArg(d, "key", 0)), &s.out)
	s.ports[0], s.unknown = n, &n.UnknownDeletes
	return ""
}

func (s *story) normaliseIndex(d *datadriven.TestData) string {
	s.begin(s.types(0))
	n := NewNormaliseIndex(s.table(false), s.types(0), s.keyArg(d, "key", 0), s.keyArg(d, "route", 0), &s.out)
	s.ports[0], s.unknown = n, &n.UnknownDeletes
	return ""
}

func (s *story) join(d *datadriven.TestData) string {
	var residual expr.Expr
	var project []expr.Expr
	wide := append(append([]storyColumn(nil), s.columns[0]...), s.columns[1]...)
	ts := append(s.types(0), s.types(1)...)
	for _, l := range strings.Split(d.Input, "\n") {
		if on, ok := strings.CutPrefix(l, "on "); ok {
			residual = s.expr(d, on, wide)
		} else if l != "" {
			project = append(project, s.expr(d, l, wide))
		}
	}
	if project != nil {
		ts = exprTypes(project)
	}
	s.begin(ts)
	c, err := NewCombine(&s.ctx, s.types(0), s.types(1), residual, project)
	if err != nil {
		return err.Error() + "\n"
	}
	var sides [2]JoinSide
	for i, name := range []string{"left", "right"} {
		in := s.types(i)
		bag := d.HasArg(name + "-bag")
		sides[i] = JoinSide{
			Table: s.table(bag), Bag: bag, Upsert: d.HasArg(name + "-upsert"),
			Key: keyenc.Columns(in, s.keyArg(d, name, i)), Sub: keyenc.Columns(in, s.keyArg(d, name+"-sub", i)),
			Name: "the " + name + " input", Describe: func(r row.Row) string { return "(" + rowText(r, in) + ")" },
		}
	}
	j := NewJoin(sides[0], sides[1], c, &s.out)
	s.ports, s.barrier, s.unknown = [2]Output{j.Port(0), j.Port(1)}, j.Barrier, &j.UnknownDeletes
	return ""
}

func (s *story) push(d *datadriven.TestData) string {
	port := portOf(d)
	var b changelog.Batch
	var rb row.Builder
	ops := map[string]changelog.Op{"+I": changelog.Insert, "-U": changelog.UpdateBefore, "+U": changelog.UpdateAfter, "-D": changelog.Delete, "-*": changelog.Clear}
	for _, l := range strings.Split(d.Input, "\n") {
		values := strings.Split(l[3:], ", ")
		op, ok := ops[l[:2]]
		if !ok || len(values) != len(s.columns[port]) {
			d.Fatalf(s.t, "no change: %q", l)
		}
		rb.Begin(b.Buf(), len(values))
		for i, v := range values {
			c := s.columns[port][i]
			switch n, err := strconv.ParseInt(v, 10, 64); {
			case v == "NULL":
			case c.t.IsString():
				rb.String(i, v)
			case err != nil:
				d.Fatalf(s.t, "%v", err)
			default:
				rb.Int64(i, n)
			}
		}
		b.Commit(op, rb.Finish(nil)) // set in order
	}
	return s.shown(s.ports[port].Push(&b))
}

func (s *story) endEpoch(*datadriven.TestData) string { return s.shown(s.barrier()) }

// shown is what came out since it was last asked for.
func (s *story) shown(err error) string {
	text := s.out.text.String()
	s.out.text.Reset()
	if err != nil {
		text += "error: " + err.Error() + "\n"
	}
	if text == "" {
		return "nothing\n"
	}
	return text
}

func (s *story) state(*datadriven.TestData) string {
	rows := 0
	for _, t := range s.tables {
		rows += t.Len()
	}
	return fmt.Sprintf("%d rows; %d unknown deletes\n", rows, *s.unknown)
}

func exprTypes(es []expr.Expr) []types.Type {
	ts := make([]types.Type, len(es))
	for i, e := range es {
		ts[i] = e.Type()
	}
	return ts
}

func (s *story) exprs(d *datadriven.TestData, texts []string, cols []storyColumn) []expr.Expr {
	var es []expr.Expr
	for _, text := range texts {
		es = append(es, s.expr(d, text, cols))
	}
	return es
}

func (s *story) expr(d *datadriven.TestData, text string, cols []storyColumn) expr.Expr {
	if words := strings.Split(text, " "); len(words) == 3 && !strings.Contains(text, "(") {
		return s.resolve(d, words[1], s.exprs(d, []string{words[0], words[2]}, cols))
	}
	if i := strings.Index(text, ") "); i > 0 {
		op, b, _ := strings.Cut(text[i+2:], " ")
		return s.resolve(d, op, s.exprs(d, []string{text[:i+1], b}, cols))
	}
	if f, args, ok := strings.Cut(strings.TrimSuffix(text, ")"), "("); ok {
		return s.resolve(d, f, s.exprs(d, strings.Split(args, ", "), cols))
	}
	if n, err := strconv.Atoi(text); err == nil {
		return expr.IntConst(int64(n))
	}
	for i, c := range cols {
		if c.name == text {
			return &expr.Column{Index: i, Name: c.name, T: c.t}
		}
	}
	d.Fatalf(s.t, "no expression: %q", text)
	return nil
}

func (s *story) resolve(d *datadriven.TestData, name string, args []expr.Expr) expr.Expr {
	e, err := expr.Resolve(name, args)
	if err != nil {
		d.Fatalf(s.t, "%v", err)
	}
	return e
}
