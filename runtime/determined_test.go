package runtime_test

import (
	"fmt"
	"maps"
	"testing"

	"github.com/sluicesql/sluice/internal/memconn"
	"github.com/sluicesql/sluice/internal/oracle"
)

// TestDeterminedColumns writes groups by a user's id and firstname into a table by the id, which determines the name.
// When a user is renamed, the old group goes on one shard and the new one comes on another: whatever the shards and the
// epochs, the table shows each user once, under the last name. The groups are also joined by the id, whose state then
// meets both.
func TestDeterminedColumns(t *testing.T) {
	for name, query := range map[string]string{
		"sink":   "SELECT u.id, u.firstname, COUNT(*) FROM users u JOIN domains d ON d.user_id = u.id GROUP BY u.id, u.firstname",
		"join":   "SELECT g.id, g.firstname, g.n FROM users v JOIN (SELECT u.id, u.firstname, COUNT(*) AS n FROM users u JOIN domains d ON d.user_id = u.id GROUP BY u.id, u.firstname) g ON g.id = v.id",
		"filled": "SELECT id, firstname, n FROM (SELECT u.id, u.firstname, COUNT(*) AS n FROM domains d LEFT JOIN users u ON d.user_id = u.id GROUP BY u.id, u.firstname) WHERE id IS NOT NULL OR n < 0",
	} {
		for seed := range uint64(6) {
			for _, shards := range []int{1, 2, 4} {
				for _, rows := range []int{1, 9, 1000} {
					t.Run(fmt.Sprintf("%s/seed=%d/shards=%d/rows=%d", name, seed, shards, rows), func(t *testing.T) {
						t.Parallel()
						runDetermined(t, query, seed, shards, rows)
					})
				}
			}
		}
	}
}

func runDetermined(t *testing.T, query string, seed uint64, shards, rows int) {
	o := oracle.HistoryOptions{Changes: 300, Partitions: 2, Redeliver: true, IntValues: 8, Strings: []string{"a", "b", "c"}}
	users, domains := oracle.Generate(oracle.Users, seed, o), oracle.Generate(oracle.Domains, seed+100, o)
	for _, accepts := range []string{"upsert", "retract"} {
		hub := memconn.NewHub(seed)
		hub.SetTable("users", users)
		hub.SetTable("domains", domains)
		sql := oracle.Users.DDL() + ";\n" + oracle.Domains.DDL() + `;
CREATE TABLE per_user (id INT, name STRING, n BIGINT, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'mem', 'name' = 'out', 'accepts' = '` + accepts + `');
INSERT INTO per_user `
		got := shownByKey(t, hub, shards, rows, sql+query)
		if want := domainsOfUsers(users, domains); len(want) == 0 || !maps.Equal(got, want) {
			t.Fatalf("%s\ngot  %v\nwant %v", accepts, got, want)
		}
	}
}

// domainsOfUsers are the users with domains at the end of the events, with their number.
func domainsOfUsers(users, domains [][]memconn.Event) map[int64]string {
	count := map[int64]int{}
	for _, d := range lastByKey(domains) {
		if !d[1].Null {
			count[d[1].I]++
		}
	}
	want := map[int64]string{}
	for id, u := range lastByKey(users) {
		if count[id] > 0 {
			want[id] = fmt.Sprintf("%d|%s|%d", id, nameOf(u), count[id])
		}
	}
	return want
}
