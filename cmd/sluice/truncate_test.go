package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/sluicesql/sluice/internal/embed"
)

const truncateSQL = `
CREATE TABLE t (id INT, k INT, v STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'kafka', 'topic' = 't', 'properties.bootstrap.servers' = '${KAFKA}',
  'scan.startup.mode' = 'earliest-offset', 'scan.bounded.mode' = 'latest-offset', 'format' = 'debezium-json', 'debezium-json.truncate' = 'clear');
CREATE TABLE u (id INT, k INT, v STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'kafka', 'topic' = 'u', 'properties.bootstrap.servers' = '${KAFKA}',
  'scan.startup.mode' = 'earliest-offset', 'scan.bounded.mode' = 'latest-offset', 'format' = 'debezium-json', 'debezium-json.truncate' = 'clear');
%s;
`

// A TRUNCATE takes away all rows that came before it and none that came after, in every shard, whatever reads the table.
func TestTruncateClears(t *testing.T) {
	type kv struct {
		k int
		v string
	}
	for seed := range uint64(3) {
		r := rand.New(rand.NewPCG(seed, 1))
		var records []embed.Record
		tables := map[string]map[int]kv{"t": {}, "u": {}}
		for range 400 {
			topic := []string{"t", "u"}[r.IntN(2)]
			id, rows := r.IntN(40), tables[topic]
			key := []byte(fmt.Sprintf(`{"id":%d}`, id))
			_, known := rows[id]
			switch n := r.IntN(50); {
			case n == 0:
				clear(rows)
				records = append(records, embed.Record{Topic: topic, Value: []byte(`{"before":null,"after":null,"op":"t"}`)})
			case n < 8 && known:
				delete(rows, id)
				records = append(records, embed.Record{Topic: topic, Key: key, Value: []byte(fmt.Sprintf(`{"before":{"id":%d},"after":null,"op":"d"}`, id))}, embed.Record{Topic: topic, Key: key})
			default:
				rows[id] = kv{r.IntN(8), fmt.Sprint("v", r.IntN(100))}
				records = append(records, embed.Record{Topic: topic, Key: key, Value: []byte(fmt.Sprintf(`{"before":null,"after":{"id":%d,"k":%d,"v":"%s"},"op":"%s"}`, id, rows[id].k, rows[id].v, map[bool]string{true: "u", false: "c"}[known]))})
			}
		}
		b, err := embed.StartWith(kfake.SeedTopics(1, "t", "u"))
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		if err := b.Produce(context.Background(), records...); err != nil {
			t.Fatal(err)
		}
		var all, joined, alone []string
		for id, a := range tables["t"] {
			all = append(all, fmt.Sprintf("%d|%s", id, a.v))
			matched := false
			for other, b := range tables["u"] {
				if a.k == b.k {
					matched = true
					joined = append(joined, fmt.Sprintf("%d|%d", id, other))
				}
			}
			if !matched {
				alone = append(alone, fmt.Sprint(id))
			}
		}
		for query, want := range map[string][]string{
			"SELECT CAST(id AS STRING) || '|' || v AS r FROM t":                                          all,
			"SELECT CAST(t.id AS STRING) || '|' || CAST(u.id AS STRING) AS r FROM t JOIN u ON t.k = u.k": joined,
			"SELECT CAST(id AS STRING) AS r FROM t WHERE k NOT IN (SELECT k FROM u)":                     alone,
		} {
			slices.Sort(want)
			for _, dir := range []string{"", "--state-dir"} {
				args := []string{"run", "--set-var", "KAFKA=" + b.Addr(), "--parallelism", "3", "--result", "json"}
				if dir != "" {
					args = append(args, dir, t.TempDir())
				}
				out := sluice(t, t.TempDir(), fmt.Sprintf(truncateSQL, query), append(args, "-")...).succeeded(t).stdout
				if got := sumOfChanges(t, out); !slices.Equal(got, want) {
					t.Errorf("seed %d, %s:\ngot  %v\nwant %v", seed, query, got, want)
				}
			}
		}
	}
}

// sumOfChanges adds up changes of rows of the one column r. On the way no row is ever taken back that is not there.
func sumOfChanges(t *testing.T, out string) (rows []string) {
	t.Helper()
	count := map[string]int{}
	for line := range strings.Lines(out) {
		var c struct {
			Op  string
			Row struct{ R string }
		}
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if c.Op == "+I" || c.Op == "+U" {
			count[c.Row.R]++
		} else if count[c.Row.R]--; count[c.Row.R] < 0 {
			t.Errorf("%s is taken back before it was there", c.Row.R)
		}
	}
	for r, n := range count {
		for range n {
			rows = append(rows, r)
		}
	}
	slices.Sort(rows)
	return rows
}

// The broker inside the process gives a topic one partition where a table wants one order, whichever command reads it.
func TestTruncateEmbedded(t *testing.T) {
	dir := t.TempDir()
	var records strings.Builder
	for _, topic := range []string{"t", "u"} {
		for id := range 20 {
			fmt.Fprintf(&records, `{"topic":%q,"key":"{\"id\":%d}","value":"{\"before\":null,\"after\":{\"id\":%d},\"op\":\"c\"}"}`+"\n", topic, id, id)
			if id == 9 {
				fmt.Fprintf(&records, `{"topic":%q,"value":"{\"before\":null,\"after\":null,\"op\":\"t\"}"}`+"\n", topic)
			}
		}
	}
	declared := strings.ReplaceAll(truncateSQL, "${KAFKA}", "${KAFKA_BROKERS}")
	declared = declared[strings.Index(declared, "CREATE TABLE u"):]
	for file, text := range map[string]string{
		"in.jsonl": records.String(), "sluice.yaml": "name: p\nsql: [p.sql]\nembed: [in.jsonl]\n",
		"p.sql": fmt.Sprintf(declared, "SELECT COUNT(*) AS n FROM u"),
	} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"run", "--embed", "in.jsonl", "--result", "json", "p.sql"}, `"row":{"n":10}`},
		{[]string{"run", "--result", "json", "."}, `"row":{"n":10}`},
		{[]string{"sql", "--embed", "in.jsonl", "--output", "csv", "p.sql"}, "n\n10\n"},
		{[]string{"sql", "--output", "csv", ".", "-e", "SELECT COUNT(*) AS n FROM u"}, "n\n10\n"},
		{[]string{"sql", "--output", "csv", ".", "-e", "EXPLAIN ANALYZE SELECT COUNT(*) AS n FROM u"}, "21 changes out"},
		{[]string{"explain", "--analyze", "--embed", "in.jsonl", "p.sql"}, "21 changes out"},
		{[]string{"check", "--sample", "100", "."}, "20 change events, 1 TRUNCATE event"},
	} {
		if out := sluice(t, dir, "", c.args...).succeeded(t).stdout; !strings.Contains(out, c.says) {
			t.Errorf("%v: without %q:\n%s", c.args, c.says, out)
		}
	}
}

// With several partitions nothing tells which rows came before a TRUNCATE, and without a key the rows are not known.
func TestTruncateRefused(t *testing.T) {
	b, err := embed.StartWith(kfake.SeedTopics(2, "t"), kfake.SeedTopics(1, "u"))
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	for _, topic := range []string{"t", "u"} {
		if err := b.Produce(context.Background(), embed.Record{Topic: topic, Value: []byte(`{"before":null,"after":null,"op":"t"}`)}); err != nil {
			t.Fatal(err)
		}
	}
	bag := strings.ReplaceAll(fmt.Sprintf(truncateSQL, "SELECT id FROM u"), ", PRIMARY KEY (id) NOT ENFORCED", "")
	for sql, says := range map[string]string{fmt.Sprintf(truncateSQL, "SELECT id FROM t"): "needs one partition, and the table has 2", bag: "needs a PRIMARY KEY"} {
		if o := sluice(t, t.TempDir(), sql, "run", "--set-var", "KAFKA="+b.Addr(), "-"); o.code == 0 || !strings.Contains(o.stderr, says) {
			t.Errorf("exit %d without %q:\n%s", o.code, says, o.stderr)
		}
	}
}
