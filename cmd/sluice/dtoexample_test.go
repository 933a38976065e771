package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// dtoChanges are the changes of a query over the views of examples/dto-json, an epoch for each event.
func dtoChanges(t *testing.T, query string) string {
	t.Helper()
	src, err := os.ReadFile(filepath.Join(repository(t), "examples", "dto-json", "pipeline.sql"))
	if err != nil {
		t.Fatal(err)
	}
	views, _, ok := strings.Cut(string(src), "\nSELECT a.id_c")
	if !ok {
		t.Fatal("pipeline.sql has no SELECT a.id_c")
	}
	sql := views + "\nSET 'sluice.epoch.max-rows' = '1';\n" + query + ";"
	return sluice(t, workspace(t), sql, "run", "--quiet", "--embed", "examples/dto-json/events.jsonl", "-").succeeded(t).stdout
}

// The two ways to keep the latest version differ in the one transaction that changes a row twice, from its second
// change on, and agree at every other event; over the table with a key they agree at every one.
func TestDtoLatest(t *testing.T) {
	only := func(a, b string) string { return "SELECT * FROM " + a + " EXCEPT ALL SELECT * FROM " + b }
	for _, c := range []struct{ name, query, want string }{
		{"events, the join alone", only("latest_by_transaction", "latest"), `+I[1, {"id_c":"t1","int_c":1}, u, 1715]` + "\n"},
		{"events, ROW_NUMBER alone", only("latest", "latest_by_transaction"), ""},
		{"table, the join alone", only("stored_by_transaction", "stored_latest"), ""},
		{"table, ROW_NUMBER alone", only("stored_latest", "stored_by_transaction"), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := dtoChanges(t, c.query); got != c.want {
				t.Errorf("got\n%swant\n%s", got, c.want)
			}
		})
	}
}

// Versions that one transaction wrote are told apart by their place in the topic, also where the query does not name it:
// behind DESC the later one is first.
func TestDtoTies(t *testing.T) {
	const table = "CREATE TABLE plain (`after` ROW<id BIGINT, json_c STRING>, op STRING, source ROW<`txId` BIGINT>) WITH (" +
		"'connector' = 'kafka', 'topic' = '${TOPIC_PREFIX:-pg.public}.dto', 'properties.bootstrap.servers' = '${KAFKA_BROKERS}', " +
		"'scan.startup.mode' = 'earliest-offset', 'scan.bounded.mode' = 'latest-offset', 'format' = 'json');\n"
	for direction, want := range map[string]string{
		"DESC": "+I[{\"id_c\":\"t1\",\"int_c\":1}, 1715]\n-U[{\"id_c\":\"t1\",\"int_c\":1}, 1715]\n+U[{\"id_c\":\"t1\",\"int_c\":3}, 1715]\n",
		"ASC":  "+I[{\"id_c\":\"t1\",\"int_c\":1}, 1715]\n",
	} {
		got := dtoChanges(t, table+"SELECT `after`.json_c, source.`txId` FROM plain WHERE `after`.id = 1 AND source.`txId` = 1715 QUALIFY ROW_NUMBER() OVER (ORDER BY source.`txId` "+direction+") = 1")
		if got != want {
			t.Errorf("%s: got\n%swant\n%s", direction, got, want)
		}
	}
}

// The join of the documents with themselves takes back what a change, a NULL, a text that is no JSON and a
// delete make untrue.
func TestDtoJoin(t *testing.T) {
	// Sorted: documents lie in several partitions, whose order is not known.
	want := []string{
		"+I[a1, 10]", "+I[a1, 14]", "+I[a2, 12]", "+I[a2, 16]", "+I[b1, 18014398509481986]", "+I[t1, 2]", "+I[t1, 6]", "+I[t2, 4]",
		"-D[a1, 10]", "-D[a1, 14]", "-D[a2, 12]", "-D[a2, 16]", "-D[t1, 2]",
	}
	got := strings.Fields(strings.ReplaceAll(dtoChanges(t, `SELECT a.id_c, b.int_c + a.int_c AS int_c FROM dto a LEFT JOIN dto b ON a.id_c = b.id_c WHERE a.int_c > 0`), ", ", ","))
	for i := range got {
		got[i] = strings.ReplaceAll(strings.NewReplacer("+U[", "+I[", "-U[", "-D[").Replace(got[i]), ",", ", ")
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
