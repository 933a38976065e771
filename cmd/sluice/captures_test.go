package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const joinSQL = `
CREATE TABLE users (id INT, firstname STRING, lastname STRING, PRIMARY KEY (id) NOT ENFORCED) WITH (
  'connector' = 'kafka', 'topic' = '${PREFIX}.users', 'properties.bootstrap.servers' = '${KAFKA_BROKERS}',
  'scan.startup.mode' = 'earliest-offset', 'scan.bounded.mode' = 'latest-offset', 'format' = 'debezium-json');
CREATE TABLE domains (id INT, user_id INT, domain_name STRING, PRIMARY KEY (id) NOT ENFORCED) WITH (
  'connector' = 'kafka', 'topic' = '${PREFIX}.domains', 'properties.bootstrap.servers' = '${KAFKA_BROKERS}',
  'scan.startup.mode' = 'earliest-offset', 'scan.bounded.mode' = 'latest-offset', 'format' = 'debezium-json');
SELECT users.id, firstname, lastname, domain_name FROM users JOIN domains ON users.id = domains.user_id;
`

// Every capture of a real Debezium ends in exactly the join of the tables as they were at its end.
func TestCaptures(t *testing.T) {
	folder := filepath.Join(repository(t), "internal/testdata/debezium")
	finals, err := filepath.Glob(filepath.Join(folder, "*", "users_domains.*.final.json"))
	if err != nil || len(finals) != 5 {
		t.Fatalf("found %d captures of users and domains, not 5: %v", len(finals), err)
	}
	for _, final := range finals {
		name := strings.TrimSuffix(final, ".final.json")
		prefix := "pg.public"
		if strings.Contains(name, "mariadb") {
			prefix = "my.app"
		}
		want := expectedJoin(t, final)
		records := uncompressed(t, name+".jsonl")
		for _, parallelism := range []int{1, 2, 4} {
			short, _ := strings.CutPrefix(name, folder+string(filepath.Separator))
			t.Run(fmt.Sprintf("%s/%d", short, parallelism), func(t *testing.T) {
				t.Parallel()
				args := []string{"run", "--embed", records, "--set-var", "PREFIX=" + prefix, "--parallelism", fmt.Sprint(parallelism), "-"}
				if got := tableRows(t, sluice(t, t.TempDir(), joinSQL, append(args, "--result", "table")...).succeeded(t).stdout); !slices.Equal(got, want) {
					t.Errorf("--result table:\ngot  %v\nwant %v", got, want)
				}
				if got := sumOfJSON(t, sluice(t, t.TempDir(), joinSQL, append(args, "--result", "json")...).succeeded(t).stdout); !slices.Equal(got, want) {
					t.Errorf("--result json:\ngot  %v\nwant %v", got, want)
				}
			})
		}
	}
}

// Rows without an envelope, with their deletes by field and by tombstone, end in the same join.
func TestUnwrappedCaptures(t *testing.T) {
	folder := filepath.Join(repository(t), "internal/testdata/debezium")
	finals, err := filepath.Glob(filepath.Join(folder, "*", "unwrap.*.final.json"))
	if err != nil || len(finals) != 9 {
		t.Fatalf("found %d captures of rows without an envelope, not 9: %v", len(finals), err)
	}
	for _, final := range finals {
		name := strings.TrimSuffix(final, ".final.json")
		if strings.HasSuffix(name, ".drop") {
			continue // the deletes are not in it
		}
		prefix := "pg.public"
		if strings.Contains(name, "mariadb") {
			prefix = "my.app"
		}
		t.Run(strings.TrimPrefix(name, folder+string(filepath.Separator)), func(t *testing.T) {
			t.Parallel()
			args := []string{"run", "--embed", uncompressed(t, name+".jsonl"), "--set-var", "PREFIX=" + prefix, "--parallelism", "2", "--result", "json", "-"}
			if got, want := sumOfJSON(t, sluice(t, t.TempDir(), joinSQL, args...).succeeded(t).stdout), expectedJoin(t, final); !slices.Equal(got, want) {
				t.Errorf("got  %v\nwant %v", got, want)
			}
		})
	}
}

// uncompressed is the file of that name, from its .gz when only that is there.
func uncompressed(t *testing.T, name string) string {
	t.Helper()
	if _, err := os.Stat(name); err == nil {
		return name
	}
	b, err := os.ReadFile(name + ".gz")
	if err != nil {
		t.Fatal(err)
	}
	r, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), filepath.Base(name))
	if err := os.WriteFile(out, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return out
}

// A partitioned table of PostgreSQL is what the topics of its partitions say; a row that moves is in two of them.
func TestPartitionedCapture(t *testing.T) {
	name := filepath.Join(repository(t), "internal/testdata/debezium/postgres/partitioned")
	got := tableRows(t, sluice(t, t.TempDir(), `
CREATE TABLE m (id INT, region STRING, v INT, PRIMARY KEY (id, region) NOT ENFORCED) WITH (
  'connector' = 'kafka', 'topic-pattern' = 'pg\.public\.m_.*', 'properties.bootstrap.servers' = '${KAFKA_BROKERS}',
  'scan.startup.mode' = 'earliest-offset', 'scan.bounded.mode' = 'latest-offset', 'format' = 'debezium-json');
SELECT id, region, v FROM m;
`, "run", "--embed", uncompressed(t, name+".jsonl"), "--result", "table", "-").succeeded(t).stdout)
	var want []string
	for _, r := range finalTables(t, name+".final.json")["m"].Rows {
		want = append(want, fmt.Sprintf("%v|%v|%v", r["id"], r["region"], r["v"]))
	}
	slices.Sort(want)
	if len(want) == 0 || !slices.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

// finalTables are the rows of a capture's tables at its end.
func finalTables(t *testing.T, final string) map[string]finalTable {
	t.Helper()
	b, err := os.ReadFile(final)
	if err != nil {
		t.Fatal(err)
	}
	var tables map[string]finalTable
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if err := d.Decode(&tables); err != nil {
		t.Fatal(err)
	}
	return tables
}

type finalTable struct {
	Rows []map[string]any `json:"rows"`
}

// expectedJoin computes the join from the tables' final contents, as sorted lines.
func expectedJoin(t *testing.T, final string) []string {
	t.Helper()
	tables := finalTables(t, final)
	var rows []string
	for _, u := range tables["users"].Rows {
		for _, d := range tables["domains"].Rows {
			if u["id"] != nil && u["id"] == d["user_id"] {
				rows = append(rows, fmt.Sprintf("%v|%v|%v|%v", u["id"], u["firstname"], u["lastname"], d["domain_name"]))
			}
		}
	}
	if len(rows) == 0 {
		t.Fatal("the expected join is empty")
	}
	slices.Sort(rows)
	return rows
}

// tableRows reads a table as it was printed.
func tableRows(t *testing.T, out string) []string {
	t.Helper()
	var rows []string
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	if len(lines) < 4 {
		t.Fatalf("no table:\n%s", out)
	}
	for _, l := range lines[3 : len(lines)-1] {
		if !strings.HasPrefix(l, "|") {
			continue
		}
		cells := strings.Split(strings.Trim(l, "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		rows = append(rows, strings.Join(cells, "|"))
	}
	if want := fmt.Sprintf("%d %s in set", len(rows), map[bool]string{true: "row", false: "rows"}[len(rows) == 1]); lines[len(lines)-1] != want {
		t.Errorf("%q below %d rows", lines[len(lines)-1], len(rows))
	}
	slices.Sort(rows)
	return rows
}

// sumOfJSON adds up changes. On the way no row is ever taken back that is not there.
func sumOfJSON(t *testing.T, out string) []string {
	t.Helper()
	count := map[string]int{}
	for line := range strings.Lines(out) {
		var change struct {
			Op  string         `json:"op"`
			Row map[string]any `json:"row"`
		}
		d := json.NewDecoder(strings.NewReader(line))
		d.UseNumber()
		d.DisallowUnknownFields()
		if err := d.Decode(&change); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		r := change.Row
		key := fmt.Sprintf("%v|%v|%v|%v", r["id"], r["firstname"], r["lastname"], r["domain_name"])
		switch change.Op {
		case "+I", "+U":
			count[key]++
		case "-U", "-D":
			if count[key]--; count[key] < 0 {
				t.Errorf("%s is taken back before it was there", key)
			}
		default:
			t.Errorf("unknown op in %s", line)
		}
	}
	var rows []string
	for k, n := range count {
		for range n {
			rows = append(rows, k)
		}
	}
	slices.Sort(rows)
	return rows
}
