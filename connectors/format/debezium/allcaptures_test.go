package debezium

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/sluicesql/sluice/connectors/kafka"
	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/changelog"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/text"
	"github.com/sluicesql/sluice/engine/types"
	"github.com/sluicesql/sluice/internal/captured"
	"github.com/sluicesql/sluice/internal/embed"
	"github.com/sluicesql/sluice/planner"
	"github.com/sluicesql/sluice/sql/parser"
)

// declared is a table as somebody would declare it for the topic.
type declared struct {
	captures string // patterns of the captures that hold it, parted by blanks
	table    string
	columns  string
	options  string // of the format, parted by blanks
	// reading is what a cell is read as, by "COLUMN KEY" (* is every key), where that is not what the database
	// has; with the reason before it.
	reading map[string]string
	// alone are columns that have, on the way to the last, values that cannot be read.
	alone []string
	// rows are read where the capture itself does not have those of the table; with the reason before it.
	rows []string
}

// of is the declaration of a capture's table. Later ones go before earlier ones.
func (d *declared) of(capture, table string) bool {
	if d.table != table {
		return false
	}
	for _, p := range strings.Fields(d.captures) {
		if ok, err := path.Match(p, capture); ok && err == nil {
			return true
		}
	}
	return false
}

// spec plans the table's scan.
func (d *declared) spec(t *testing.T) (spi.DecodeSpec, spi.Options) {
	t.Helper()
	r := spi.NewRegistry()
	kafka.Register(r)
	Register(r)
	o := spi.Options{}
	with := `'connector' = 'kafka', 'topic' = 't', 'properties.bootstrap.servers' = 'b:9092', 'scan.startup.mode' = 'earliest-offset', 'format' = 'debezium-json'`
	for _, option := range strings.Fields(d.options) {
		k, v, _ := strings.Cut(option, "=")
		o[k] = v
		with += fmt.Sprintf(", '%s.%s' = '%s'", Name, k, v)
	}
	stmts, err := parser.Parse("capture.sql", "CREATE TABLE t ("+d.columns+") WITH ("+with+"); SELECT * FROM t;")
	if err != nil {
		t.Fatal(err)
	}
	script, err := planner.NewSession(r).Run(stmts)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range script.Steps {
		if job, ok := s.(*planner.Job); ok {
			var n planner.Node = job.Plan.Sinks[0]
			for len(n.Inputs()) > 0 {
				n = n.Inputs()[0]
			}
			scan := n.(*planner.Scan).Spec
			spec := spi.DecodeSpec{Key: scan.Key, Mode: scan.Mode}
			for _, c := range scan.Columns {
				spec.Columns = append(spec.Columns, scan.Table.Columns[c])
			}
			return spec, o
		}
	}
	t.Fatal("nothing was planned")
	return spi.DecodeSpec{}, nil
}

// only is s with the key and the given columns alone.
func only(s spi.DecodeSpec, columns ...int) spi.DecodeSpec {
	out := spi.DecodeSpec{Mode: s.Mode, TimeZone: s.TimeZone}
	for i, c := range s.Columns {
		if slices.Contains(s.Key, i) {
			out.Key = append(out.Key, len(out.Columns))
		} else if !slices.Contains(columns, i) {
			continue
		}
		out.Columns = append(out.Columns, c)
	}
	return out
}

// state is a table under replay: rows by key, or a bag of them.
type state struct {
	byKey map[string][]string
	bag   map[string]int
}

// apply applies a batch of changes to rows of the given columns.
func (s *state) apply(b *changelog.Batch, spec spi.DecodeSpec) {
	for i := range b.Len() {
		op, r := b.Op(i), b.Row(i)
		if op == changelog.Clear {
			clear(s.byKey)
			continue
		}
		cells := make([]string, len(spec.Columns))
		for c := range spec.Columns {
			cells[c] = cell(r, c, spec.Columns[c].Type)
		}
		if spec.Mode == spi.Retract {
			s.bag[strings.Join(cells, ", ")] += op.Weight()
			continue
		}
		key := keyOf(cells, spec.Key)
		if op.Negative() {
			delete(s.byKey, key)
		} else {
			s.byKey[key] = cells
		}
	}
}

func newState() *state { return &state{map[string][]string{}, map[string]int{}} }

func keyOf(cells []string, key []int) string {
	var k []string
	for _, i := range key {
		k = append(k, cells[i])
	}
	return strings.Join(k, "|")
}

func cell(r row.Row, i int, typ types.Type) string {
	return string(text.Append(nil, typ, r.Get(i, typ.Phys()), nil))
}

// rows are the table's rows as text, sorted.
func (s *state) rows(t *testing.T) []string {
	var all []string
	for _, cells := range s.byKey {
		all = append(all, strings.Join(cells, ", "))
	}
	for r, n := range s.bag {
		if n < 0 {
			t.Errorf("%s was deleted too often", r)
		}
		for range n {
			all = append(all, r)
		}
	}
	slices.Sort(all)
	return all
}

// TestAllCaptures replays every table of every capture by its declaration, and wants the rows of the database:
// column by column, so that a value that cannot be read is known by its column and key, and in whole rows.
func TestAllCaptures(t *testing.T) {
	used := map[int]bool{}
	for _, name := range captured.Names(t) {
		for table, want := range captured.Finals(t, name) {
			at := -1
			for i := range declarations {
				if declarations[i].of(name, table) {
					at = i
				}
			}
			if at < 0 {
				t.Errorf("%s: the table %s is not declared", name, table)
				continue
			}
			used[at] = true
			t.Run(name+"/"+table, func(t *testing.T) {
				replayTable(t, name, table, &declarations[at], want)
			})
		}
	}
	for i, d := range declarations {
		if !used[i] {
			t.Errorf("the declaration of %s for %s is used by no capture", d.table, d.captures)
		}
	}
}

func replayTable(t *testing.T, name, table string, d *declared, want captured.Table) {
	spec, o := d.spec(t)
	var records []embed.Record
	for _, r := range captured.Records(t, name) {
		if captured.TopicOf(r.Topic, table) {
			records = append(records, r)
		}
	}
	if len(records) == 0 {
		t.Fatal("no records")
	}
	wanted := d.wanted(t, spec, want)
	// Whole rows, without the columns that have values that cannot be read.
	var whole []int
	for i, c := range spec.Columns {
		failing := slices.Contains(d.alone, c.Name)
		for _, w := range wanted {
			failing = failing || strings.HasPrefix(w[i], "error: ")
		}
		if !failing {
			whole = append(whole, i)
		} else if spec.Mode == spi.Upsert {
			replayColumn(t, spec, i, o, records, wanted)
		}
	}
	var rows []string
	for _, w := range wanted {
		var cells []string
		for i := range spec.Columns {
			if d.rows == nil && (slices.Contains(spec.Key, i) || slices.Contains(whole, i)) {
				cells = append(cells, w[i])
			}
		}
		rows = append(rows, strings.Join(cells, ", "))
	}
	if d.rows != nil {
		rows = slices.Clone(d.rows)
	}
	slices.Sort(rows)
	wholeSpec, random := only(spec, whole...), rand.New(rand.NewPCG(1, 2))
	check := func(what string, sequences ...[]embed.Record) {
		t.Helper()
		got := replayed(t, random, wholeSpec, o, sequences...)
		if !slices.Equal(got, rows) {
			t.Errorf("%s: %d rows, want %d", what, len(got), len(rows))
			for i := range min(len(got), len(rows)) {
				if got[i] != rows[i] {
					t.Errorf("got  %s\nwant %s", got[i], rows[i])
				}
			}
		}
	}
	check("as captured", records)
	if t.Failed() || spec.Mode != spi.Upsert || d.rows != nil {
		return
	}
	// However the records come, so long as those of a key come in their order or from an earlier one again.
	var twice []embed.Record
	for _, r := range records {
		twice = append(twice, r, r)
	}
	check("every record twice", twice)
	for cut := range records {
		again := random.IntN(cut + 1)
		check(fmt.Sprintf("stopped after %d records, and begun again at %d", cut, again), slices.Concat(records[:cut], records[again:]))
	}
	if len(want.Key) > 0 && topicsOf(records) == 1 && o["truncate"] != "clear" {
		for range 10 {
			parts := make([][]embed.Record, 3)
			for _, r := range records {
				p := 0
				if r.Key != nil {
					p = int(r.Key[len(r.Key)-2]) % len(parts)
				}
				parts[p] = append(parts[p], r)
			}
			check("in three partitions", parts...)
		}
	}
}

func topicsOf(records []embed.Record) int {
	topics := map[string]bool{}
	for _, r := range records {
		topics[r.Topic] = true
	}
	return len(topics)
}

// replayed are the rows after the records of all sequences, each of which has a decoder of its own; they are
// interleaved at random.
func replayed(t *testing.T, random *rand.Rand, spec spi.DecodeSpec, o spi.Options, sequences ...[]embed.Record) []string {
	t.Helper()
	s := newState()
	streams := make([]*stream, len(sequences))
	left := 0
	for i := range sequences {
		streams[i] = open(t, spec, o)
		left += len(sequences[i])
	}
	rest := slices.Clone(sequences)
	for ; left > 0; left-- {
		i := random.IntN(len(rest))
		for len(rest[i]) == 0 {
			i = (i + 1) % len(rest)
		}
		streams[i].out.Batch.Reset()
		if err := streams[i].Decode(messageOf(rest[i][0]), streams[i].out); err != nil {
			t.Fatalf("%s\n%v", rest[i][0].Value, err)
		}
		rest[i] = rest[i][1:]
		s.apply(streams[i].out.Batch, spec)
	}
	return s.rows(t)
}

// replayColumn replays one column alone, whose values may be errors.
func replayColumn(t *testing.T, spec spi.DecodeSpec, column int, o spi.Options, records []embed.Record, wanted [][]string) {
	keys, one := open(t, only(spec), o), open(t, only(spec, column), o)
	at := slices.IndexFunc(one.cols, func(c spi.Column) bool { return c.Name == spec.Columns[column].Name })
	got := map[string]string{}
	for _, r := range records {
		keys.out.Batch.Reset()
		one.out.Batch.Reset()
		if err := keys.Decode(messageOf(r), keys.out); err != nil {
			t.Fatal(err)
		}
		err := one.Decode(messageOf(r), one.out)
		for i := range keys.out.Batch.Len() {
			key := strings.Join(cellsOf(keys.out.Batch.Row(i), keys.cols), "|")
			switch {
			case keys.out.Batch.Op(i).Negative():
				delete(got, key)
			case err != nil:
				var e *spi.DecodeError
				if !errors.As(err, &e) || e.Field != "after."+spec.Columns[column].Name || e.Fix == "" {
					t.Error(err)
				}
				got[key] = "error: " + strings.TrimPrefix(string(e.Code), "message-")
			default:
				got[key] = cell(one.out.Batch.Row(i), at, one.cols[at].Type)
			}
		}
	}
	for _, w := range wanted {
		if key := keyOf(w, spec.Key); got[key] != w[column] {
			t.Errorf("%s of %s: got %s, want %s", spec.Columns[column].Name, key, got[key], w[column])
		}
	}
	if len(got) != len(wanted) {
		t.Errorf("%d rows, want %d", len(got), len(wanted))
	}
}

func cellsOf(r row.Row, cols []spi.Column) []string {
	cells := make([]string, len(cols))
	for i, c := range cols {
		cells[i] = cell(r, i, c.Type)
	}
	return cells
}

// wanted are the cells of all rows of the table, with what is known to be read in another way.
func (d *declared) wanted(t *testing.T, spec spi.DecodeSpec, want captured.Table) (rows [][]string) {
	if d.rows != nil {
		return nil
	}
	used := map[string]bool{}
	for _, r := range want.Rows {
		cells := make([]string, len(spec.Columns))
		for i, c := range spec.Columns {
			raw, ok := r[c.Name]
			if !ok {
				t.Fatalf("the table has no column %s", c.Name)
			}
			cells[i] = captured.Canonical(raw, c.Type, want.Columns[c.Name])
		}
		key := keyOf(cells, spec.Key)
		for i, c := range spec.Columns {
			for _, k := range []string{c.Name + " *", c.Name + " " + key} {
				if v, ok := d.reading[k]; ok {
					if cells[i] == v {
						t.Errorf("%s is %s in the database too", k, v)
					}
					cells[i], used[k] = v, true
				}
			}
		}
		rows = append(rows, cells)
	}
	for k := range d.reading {
		if !used[k] {
			t.Errorf("there is no cell %s", k)
		}
	}
	return rows
}
