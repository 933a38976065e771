package infer

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/sluicesql/sluice/connectors/format/debezium"
	jsonformat "github.com/sluicesql/sluice/connectors/format/json"
	"github.com/sluicesql/sluice/connectors/kafka"
	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/changelog"
	"github.com/sluicesql/sluice/engine/text"
	"github.com/sluicesql/sluice/internal/captured"
	"github.com/sluicesql/sluice/planner"
	"github.com/sluicesql/sluice/sql/parser"
)

// TestCaptures declares every table of every capture by what its messages show, reads the capture with the printed
// statement, and wants the rows of the database, but for what unknowable lists.
func TestCaptures(t *testing.T) {
	used := map[string]bool{}
	for _, name := range captured.Names(t) {
		for table, want := range captured.Finals(t, name) {
			t.Run(name+"/"+table, func(t *testing.T) {
				var messages []spi.Message
				for _, r := range captured.Records(t, name) {
					if captured.TopicOf(r.Topic, table) {
						messages = append(messages, spi.Message{Key: r.Key, Value: r.Value})
					}
				}
				inferred, err := Infer("pg.public."+table, messages)
				if err != nil {
					t.Fatal(err)
				}
				sql := inferred.SQL([]Setting{{"connector", "kafka"}, {"topic", "t"}, {"properties.bootstrap.servers", "b:9092"}, {"scan.startup.mode", "earliest-offset"}})
				compare(t, name, table, sql+"SELECT * FROM "+quoted(inferred.Name)+";", messages, want, used)
				if t.Failed() {
					t.Log(sql)
				}
			})
		}
	}
	for _, e := range unknowable {
		for _, column := range strings.Fields(e.columns) {
			if !used[e.captures+" "+e.table+" "+column] {
				t.Errorf("the exception %s %s %s is not needed", e.captures, e.table, column)
			}
		}
	}
}

// planned is the scan of the table that a statement creates.
func planned(t *testing.T, sql string) (spi.DecodeSpec, spi.Options) {
	t.Helper()
	r := spi.NewRegistry()
	kafka.Register(r)
	debezium.Register(r)
	jsonformat.Register(r)
	stmts, err := parser.Parse("inferred.sql", sql)
	if err != nil {
		t.Fatalf("%v\n%s", err, sql)
	}
	script, err := planner.NewSession(r).Run(stmts)
	if err != nil {
		t.Fatalf("%v\n%s", err, sql)
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
			o := spi.Options{}
			for k, v := range scan.Table.Options {
				if rest, ok := strings.CutPrefix(k, debezium.Name+"."); ok {
					o[rest] = v
				}
			}
			return spec, o
		}
	}
	t.Fatal("nothing was planned")
	return spi.DecodeSpec{}, nil
}

// exception is a table's columns that no declaration by the messages alone reads as the database has them; rows are
// the keys of all of them.
type exception struct{ captures, table, columns, reason string }

// excepted reports whether a column may differ, and notes that it did.
func excepted(name, table, column string, used map[string]bool) bool {
	found := false
	for _, e := range unknowable {
		for _, pattern := range strings.Fields(e.captures) {
			if ok, err := path.Match(pattern, name); !ok || err != nil || e.table != table {
				continue
			}
			if slices.Contains(strings.Fields(e.columns), column) {
				used[e.captures+" "+e.table+" "+column] = true
				found = true
			}
		}
	}
	return found
}

// rows are a column's cells by key after all messages; without a key the cells themselves, counted.
func rows(t *testing.T, spec spi.DecodeSpec, o spi.Options, messages []spi.Message) map[string]string {
	t.Helper()
	d, err := debezium.Format{}.NewDecoder(spec, o)
	if err != nil {
		t.Fatal(err)
	}
	out := spi.NewOut(spec.Columns)
	out.Batch = &changelog.Batch{}
	got, bag := map[string]string{}, map[string]int{}
	for _, m := range messages {
		out.Batch.Reset()
		failed := d.Decode(m, out)
		for i := range out.Batch.Len() {
			if out.Batch.Op(i) == changelog.Clear {
				clear(got)
				continue
			}
			r := out.Batch.Row(i)
			var key, all []string
			for c := range spec.Columns {
				cell := string(text.Append(nil, spec.Columns[c].Type, r.Get(c, spec.Columns[c].Type.Phys()), nil))
				if all = append(all, cell); slices.Contains(spec.Key, c) {
					key = append(key, cell)
				}
			}
			switch {
			case spec.Mode == spi.Retract:
				bag[strings.Join(all, "|")] += out.Batch.Op(i).Weight()
			case out.Batch.Op(i).Negative():
				delete(got, strings.Join(key, "|"))
			default:
				got[strings.Join(key, "|")] = all[len(all)-1]
			}
		}
		if failed != nil {
			return map[string]string{"": "error: " + failed.Error()}
		}
	}
	for r, n := range bag {
		for i := range n {
			got[fmt.Sprintf("%s #%d", r, i)] = r
		}
	}
	return got
}

func compare(t *testing.T, name, table, sql string, messages []spi.Message, want captured.Table, used map[string]bool) {
	spec, o := planned(t, sql)
	var keys []spi.Column
	for _, k := range spec.Key {
		keys = append(keys, spec.Columns[k])
	}
	for column, from := range want.Columns {
		at := slices.IndexFunc(spec.Columns, func(c spi.Column) bool { return c.Name == column })
		if at < 0 {
			if !excepted(name, table, column, used) {
				t.Errorf("the column %s %s was not found", column, from)
			}
			continue
		}
		one := spi.DecodeSpec{Mode: spec.Mode}
		for i, c := range keys {
			one.Columns, one.Key = append(one.Columns, c), append(one.Key, i)
		}
		one.Columns = append(one.Columns, spec.Columns[at]) // last, also where it is one of the key's
		if slices.Contains(spec.Key, at) {
			one.Columns = one.Columns[:len(keys)]
		}
		expected, bag := map[string]string{}, map[string]int{}
		for _, r := range want.Rows {
			var all []string
			for _, c := range one.Columns {
				all = append(all, captured.Canonical(r[c.Name], c.Type, want.Columns[c.Name]))
			}
			if spec.Mode == spi.Retract {
				row := strings.Join(all, "|")
				expected[fmt.Sprintf("%s #%d", row, bag[row])] = row
				bag[row]++
				continue
			}
			expected[strings.Join(all[:len(keys)], "|")] = all[len(all)-1]
		}
		got := rows(t, one, o, messages)
		if text := got[""]; strings.HasPrefix(text, "error: ") && name != "postgres/toast.default" {
			t.Errorf("%s as %s: %s", column, spec.Columns[at].Type, text)
		}
		if !maps.Equal(got, expected) && !excepted(name, table, column, used) {
			t.Errorf("%s %s as %s:\ngot  %v\nwant %v", column, from, spec.Columns[at].Type, got, expected)
		}
	}
}
