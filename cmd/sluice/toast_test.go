package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const placeholderValue = "__debezium_unavailable_value"

const toastSQL = `
CREATE TABLE doc (id INT, owner INT, n INT, body STRING, tags ARRAY<STRING>, bin BYTES, PRIMARY KEY (id) NOT ENFORCED) WITH (
  'connector' = 'kafka', 'topic' = 'doc', 'properties.bootstrap.servers' = '${KAFKA_BROKERS}',
  'scan.startup.mode' = 'earliest-offset', 'scan.bounded.mode' = 'latest-offset', 'format' = 'debezium-json'%s);
CREATE TABLE own (id INT, name STRING, body STRING, PRIMARY KEY (id) NOT ENFORCED) WITH (
  'connector' = 'kafka', 'topic' = 'own', 'properties.bootstrap.servers' = '${KAFKA_BROKERS}',
  'scan.startup.mode' = 'earliest-offset', 'scan.bounded.mode' = 'latest-offset', 'format' = 'debezium-json'%[1]s);
%s;
`

// doc is a row of the table doc.
type doc struct {
	ID    int      `json:"id"`
	Owner any      `json:"owner"`
	N     int      `json:"n"`
	Body  any      `json:"body"`
	Tags  []string `json:"tags"`
	Bin   any      `json:"bin"`
}

// toasted writes a random history of both tables as Debezium would with REPLICA IDENTITY DEFAULT: an update leaves out
// the large values that it does not change. moves says that a row may get another owner. whole is the same history with
// all values.
func toasted(t *testing.T, r *rand.Rand, moves bool) (partial, whole string) {
	t.Helper()
	var a, b strings.Builder
	write := func(to *strings.Builder, topic string, id int, op string, after any) {
		line := func(value *string) {
			key := fmt.Sprintf(`{"id":%d}`, id)
			text, err := json.Marshal(map[string]*string{"topic": &topic, "key": &key, "value": value})
			if err != nil {
				t.Fatal(err)
			}
			to.Write(append(text, '\n'))
		}
		text, err := json.Marshal(map[string]any{"before": nil, "after": after, "op": op})
		if op == "d" {
			text, err = json.Marshal(map[string]any{"before": map[string]any{"id": id}, "after": nil, "op": op})
		}
		if err != nil {
			t.Fatal(err)
		}
		s := string(text)
		line(&s)
		if op == "d" {
			line(nil)
		}
	}
	both := func(topic string, id int, op string, after any) {
		write(&a, topic, id, op, after)
		write(&b, topic, id, op, after)
	}
	large := func() string { return fmt.Sprint("value ", r.IntN(6)) }
	owner := func() any {
		if r.IntN(6) == 0 {
			return nil
		}
		return r.IntN(4)
	}
	docs, owners := map[int]doc{}, map[int]map[string]any{}
	for range 300 {
		if id := r.IntN(4); r.IntN(4) == 0 {
			o, known := owners[id]
			switch {
			case !known:
				o = map[string]any{"id": id, "name": large(), "body": large()}
				both("own", id, "c", o)
			case r.IntN(3) == 0:
				both("own", id, "d", nil)
				delete(owners, id)
				continue
			default:
				o = map[string]any{"id": id, "name": large(), "body": o["body"]}
				write(&b, "own", id, "u", o)
				write(&a, "own", id, "u", map[string]any{"id": id, "name": o["name"], "body": placeholderValue})
			}
			owners[id] = o
			continue
		}
		id := r.IntN(12)
		d, known := docs[id]
		switch {
		case !known:
			d = doc{id, owner(), r.IntN(5), large(), []string{large(), large()}, "q6ur"}
			both("doc", id, "c", d)
		case r.IntN(5) == 0:
			both("doc", id, "d", nil)
			delete(docs, id)
			continue
		default:
			left := d
			left.Body, left.Tags, left.Bin = placeholderValue, []string{placeholderValue}, "X19kZWJleml1bV91bmF2YWlsYWJsZV92YWx1ZQ=="
			d.N = r.IntN(5)
			if moves && r.IntN(2) == 0 {
				d.Owner = owner()
			}
			switch r.IntN(4) {
			case 0:
				d.Body = large()
				left.Body = d.Body
			case 1:
				d.Tags, d.Bin = nil, nil
				left.Tags, left.Bin = nil, nil
			}
			left.N, left.Owner = d.N, d.Owner
			write(&b, "doc", id, "u", d)
			write(&a, "doc", id, "u", left)
		}
		docs[id] = d
	}
	dir := t.TempDir()
	partial, whole = filepath.Join(dir, "partial.jsonl"), filepath.Join(dir, "whole.jsonl")
	for name, text := range map[string]string{partial: a.String(), whole: b.String()} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return partial, whole
}

// Values that events leave out come from the state: every query gives what it gives when no value is left out, by
// each of the ways in which rows are kept, as long as what the query reads before that is there.
func TestLeftOutValues(t *testing.T) {
	const keep = ", 'debezium-json.unavailable-value' = 'keep-rows'"
	for _, c := range []struct {
		name, query, options string
		moves                bool
	}{
		{"rows kept for a query of no join", "SELECT id, n, body, tags, bin FROM doc WHERE n < 9", "", true},
		{"the join's own state", "SELECT doc.id, n, doc.body, tags, own.body AS b FROM doc JOIN own ON doc.id = own.id", "", true},
		{"an index", "SELECT doc.id, n, doc.body, tags, bin, name, own.body AS b FROM doc JOIN own ON doc.owner = own.id", "", false},
		{"an outer join", "SELECT doc.id, n, doc.body, tags, bin, name, own.body AS b FROM doc FULL JOIN own ON doc.owner = own.id", "", false},
		{"an outer join with a condition", "SELECT doc.id, n, doc.body, tags, name FROM doc LEFT JOIN own ON doc.owner = own.id AND n < 3", "", false},
		{"three inputs", "SELECT doc.id, doc.n, doc.body, own.body AS b, d2.body AS c FROM doc JOIN own ON doc.id = own.id JOIN doc d2 ON d2.id = own.id", "", true},
		{"two reads", "SELECT id, body FROM doc WHERE n < 3 UNION ALL SELECT id, CAST(CARDINALITY(tags) AS STRING) FROM doc", "", true},
		{"a row that moves", "SELECT doc.id, n, doc.body, tags, bin, name FROM doc JOIN own ON doc.owner = own.id", keep, true},
		{"a condition", "SELECT doc.id, n, bin, name FROM doc LEFT JOIN own ON doc.id = own.id WHERE doc.body LIKE '%1' AND n < 4 OR n = 4", keep, true},
		{"an expression", "SELECT id, UPPER(body) AS b, tags[1] AS t FROM doc WHERE n < 3", keep, true},
		{"a group", "SELECT body, COUNT(*) AS n FROM doc GROUP BY body", keep, true},
		{"a join by it", "SELECT doc.id, own.id AS o FROM doc JOIN own ON doc.body = own.body", keep, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			partial, whole := toasted(t, rand.New(rand.NewPCG(1, uint64(len(c.name)))), c.moves)
			sql := fmt.Sprintf(toastSQL, c.options, c.query)
			var got [2][]string
			for i, file := range []string{partial, whole} {
				out := sluice(t, t.TempDir(), sql, "run", "--embed", file, "--parallelism", "2", "--result", "table", "-").succeeded(t).stdout
				got[i] = tableRows(t, out)
			}
			if len(got[1]) == 0 || !slices.Equal(got[0], got[1]) {
				t.Errorf("got  %s\nwant %s", strings.Join(got[0], "\n     "), strings.Join(got[1], "\n     "))
			}
		})
	}
}

// A value that is left out and that nothing knows is an error that says what to do, or NULL where that was asked for.
func TestUnknownValues(t *testing.T) {
	events := func(lines ...string) string {
		name := filepath.Join(t.TempDir(), "events.jsonl")
		var b strings.Builder
		for _, l := range lines {
			topic, value, _ := strings.Cut(l, " ")
			text, err := json.Marshal(map[string]any{"topic": topic, "key": `{"id":1}`, "value": value})
			if err != nil {
				t.Fatal(err)
			}
			b.Write(append(text, '\n'))
		}
		if err := os.WriteFile(name, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	insert := `doc {"before":null,"after":{"id":1,"owner":1,"n":1,"body":"long","tags":null,"bin":null},"op":"c"}`
	own := `own {"before":null,"after":{"id":1,"name":"Egor","body":"x"},"op":"c"}`
	moved := `doc {"before":null,"after":{"id":1,"owner":2,"n":1,"body":"` + placeholderValue + `","tags":null,"bin":null},"op":"u"}`
	keyChange := `doc {"before":null,"after":{"id":1,"owner":1,"n":1,"body":"` + placeholderValue + `","tags":null,"bin":null},"op":"c"}`
	own2 := `own {"before":null,"after":{"id":2,"name":"Pavel","body":"x"},"op":"c"}`
	join := "SELECT doc.id, doc.body, name FROM doc LEFT JOIN own ON doc.owner = own.id"
	for _, c := range []struct {
		name, query string
		file        string
		want        string // with the option null; empty where it is an error too
		says        []string
	}{
		{"a key change", "SELECT id, body FROM doc", events(keyChange, own), "1|<NULL>", []string{"REPLICA IDENTITY FULL", "keep-rows", "body", "id: 1"}},
		{"a row that moves", join, events(insert, own, own2, moved), "1|<NULL>|Pavel", []string{"REPLICA IDENTITY FULL", "'debezium-json.unavailable-value' = 'keep-rows'", "body", "id: 1"}},
		{"a condition", "SELECT id FROM doc WHERE body = 'long'", events(insert, own, moved), "", []string{"doc/", "after.body", "'debezium-json.unavailable-value' = 'keep-rows'"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			args := []string{"run", "--embed", c.file, "--result", "table", "-"}
			o := sluice(t, t.TempDir(), fmt.Sprintf(toastSQL, "", c.query), args...)
			for _, s := range c.says {
				if o.code == 0 || !strings.Contains(o.stderr, s) {
					t.Errorf("exit %d without %q:\n%s", o.code, s, o.stderr)
				}
			}
			o = sluice(t, t.TempDir(), fmt.Sprintf(toastSQL, ", 'debezium-json.unavailable-value' = 'null'", c.query), args...)
			if c.want == "" {
				if o.code == 0 {
					t.Error("NULL was read where the value decides which rows there are")
				}
				return
			}
			if got := tableRows(t, o.succeeded(t).stdout); !slices.Equal(got, []string{c.want}) {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}
