package runtime_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/sluicesql/sluice/internal/memconn"
	"github.com/sluicesql/sluice/internal/oracle"
	"github.com/sluicesql/sluice/planner"
)

// oracleQueries are valid for both engines and mean the same in both.
var oracleQueries = []string{
	`SELECT users.id, firstname, domain_name FROM users JOIN domains ON users.id = domains.user_id`,
	`SELECT firstname, domain_name FROM users JOIN domains ON users.id = domains.user_id`,
	`SELECT domains.id, firstname, domain_name FROM domains JOIN users ON users.id = domains.user_id WHERE age > 3 AND domain_name <> 'b'`,
	`SELECT users.id AS uid, domains.id AS did FROM users JOIN domains ON users.id = domains.user_id AND users.age < domains.id`,
	`SELECT id, firstname, age FROM users WHERE age > 4`,
	`SELECT a.id AS a_id, b.id AS b_id FROM users a JOIN users b ON a.age = b.age`,
	`SELECT a.firstname, b.firstname AS other FROM users a JOIN users b ON a.id = b.age`,
	`SELECT u.id, d.id AS did, o.region, o.no, o.amount FROM users u JOIN domains d ON u.id = d.user_id JOIN orders o ON o.domain_id = d.id`,
	`SELECT u.id, firstname, age, domain_name, o.region, o.no, o.amount FROM users u JOIN domains d ON u.id = d.user_id JOIN orders o ON o.domain_id = d.id`,
	`SELECT u.firstname, o.amount FROM orders o JOIN domains d ON o.domain_id = d.id JOIN users u ON u.id = d.user_id WHERE o.amount > 2`,
	`SELECT u.id, age, d.id AS did, domain_name FROM users u JOIN domains d ON u.id + 1 = d.user_id`,
	`SELECT d.id, o.no FROM domains d JOIN orders o ON d.id = o.no AND d.domain_name = o.region`,
	`SELECT u.id, d.domain_name, u.age + d.id AS s FROM users u JOIN domains d ON u.id = d.user_id WHERE u.age + d.id > 8`,
	`SELECT age, COUNT(*) AS n, SUM(id) AS s, COUNT(firstname) AS f FROM users GROUP BY age`,
	`SELECT COUNT(*) AS n, SUM(age) AS s FROM users WHERE age > 3`,
	`SELECT DISTINCT age, firstname FROM users`,
	`SELECT domain_name, COUNT(*) AS n, SUM(age) FILTER (WHERE age > 3) AS s FROM users u JOIN domains d ON u.id = d.user_id GROUP BY domain_name HAVING COUNT(*) > 1`,
	`SELECT age, MIN(id) AS lo, MAX(firstname) AS hi, COUNT(DISTINCT firstname) AS d, SUM(DISTINCT id) AS s FROM users GROUP BY age`,
	`SELECT MIN(age) AS lo, MAX(age) AS hi, AVG(CAST(age AS DOUBLE)) AS m FROM users`,
	`SELECT id, firstname FROM users WHERE age > 3 UNION ALL SELECT user_id, domain_name FROM domains`,
	`SELECT age FROM users UNION SELECT user_id FROM domains`,
	`SELECT age FROM users INTERSECT SELECT user_id FROM domains`,
	`SELECT age, firstname FROM users EXCEPT SELECT user_id, domain_name FROM domains WHERE id > 2`,
	`SELECT x, COUNT(*) AS n FROM (SELECT age AS x FROM users UNION ALL SELECT user_id FROM domains UNION ALL SELECT amount FROM orders) AS u GROUP BY x`,
	`SELECT n, COUNT(*) AS groups_of FROM (SELECT user_id, COUNT(*) AS n FROM domains GROUP BY user_id) AS g GROUP BY n`,
	`SELECT u.id, firstname, d.id AS did, domain_name FROM users u LEFT JOIN domains d ON u.id = d.user_id`,
	`SELECT d.id, d.user_id, u.firstname FROM domains d LEFT JOIN users u ON u.id = d.user_id`,
	`SELECT firstname, domain_name FROM users u LEFT JOIN domains d ON u.id = d.user_id AND u.age > d.id WHERE u.age <> 2`,
	`SELECT u.id, d.id AS did, domain_name FROM users u RIGHT JOIN domains d ON u.id = d.user_id AND firstname <> domain_name`,
	`SELECT u.id, d.id AS did, firstname, domain_name FROM users u FULL JOIN domains d ON u.id = d.user_id`,
	`SELECT u.id, d.id AS did, o.no FROM users u FULL JOIN domains d ON u.age = d.user_id AND u.id < d.id LEFT JOIN orders o ON o.domain_id = d.id`,
	`SELECT u.id, d.id AS did, o.region, o.no FROM users u LEFT JOIN domains d ON u.id = d.user_id LEFT JOIN orders o ON o.domain_id = d.id AND o.amount > 2`,
	`SELECT a.id, b.id AS other FROM users a LEFT JOIN users b ON a.age = b.id`,
	`SELECT u.firstname, x.did, x.no FROM users u LEFT JOIN (SELECT d.id AS did, d.user_id, o.no FROM domains d JOIN orders o ON o.domain_id = d.id) x ON x.user_id = u.id`,
	`SELECT u.id, d.id AS did, o.no, o.region FROM users u JOIN domains d ON u.id = d.user_id JOIN orders o ON o.domain_id = d.user_id`,
	`SELECT u.firstname, d.domain_name, a.id FROM users u JOIN domains d ON u.id = d.user_id JOIN users a ON a.age = d.user_id`,
	`SELECT u.firstname, d.domain_name, a.id, o.amount FROM users u JOIN domains d ON u.age = d.user_id JOIN users a ON a.id = d.user_id JOIN orders o ON o.domain_id = u.age AND o.amount < a.age`,
	`SELECT u.id, d.id AS did FROM users u JOIN domains d ON u.age IS NOT DISTINCT FROM d.user_id`,
	`SELECT u.id, d.id AS did FROM users u FULL JOIN domains d ON u.firstname IS NOT DISTINCT FROM d.domain_name AND u.id = d.user_id`,
	`SELECT id, firstname FROM users WHERE id IN (SELECT user_id FROM domains WHERE domain_name <> 'b')`,
	`SELECT id, firstname FROM users u WHERE EXISTS (SELECT 1 FROM domains d WHERE d.user_id = u.id AND d.domain_name <> u.firstname)`,
	`SELECT id, firstname FROM users u WHERE NOT EXISTS (SELECT 1 FROM domains d WHERE d.user_id = u.id) AND age > 2`,
	`SELECT id, user_id FROM domains d WHERE NOT EXISTS (SELECT 1 FROM users u WHERE d.user_id = u.id AND u.age > d.id)`,
	`SELECT id, age FROM users WHERE age NOT IN (SELECT user_id FROM domains)`,
	`SELECT id, age FROM users u WHERE age NOT IN (SELECT d.user_id FROM domains d WHERE d.domain_name = u.firstname)`,
	`SELECT id FROM users WHERE EXISTS (SELECT 1 FROM domains WHERE domain_name = 'a')`,
	`SELECT id, age IN (SELECT user_id FROM domains WHERE id > 4) AS y, NOT EXISTS (SELECT 1 FROM orders o WHERE o.domain_id = u.id) AS n FROM users u`,
	`SELECT id, firstname FROM users u WHERE age > 6 OR id IN (SELECT user_id FROM domains) OR EXISTS (SELECT 1 FROM orders o WHERE o.domain_id = u.id AND o.amount > u.age)`,
	`SELECT id, firstname FROM users u WHERE (id, firstname) IN (SELECT user_id, domain_name FROM domains)`,
	`SELECT u.id, (SELECT COUNT(*) FROM domains d WHERE d.user_id = u.id) AS n, (SELECT SUM(o.amount) + 1 FROM orders o WHERE o.domain_id = u.id) AS s FROM users u`,
	`SELECT u.id FROM users u WHERE u.age > (SELECT COUNT(*) FROM domains d WHERE d.user_id = u.id AND d.domain_name <> 'a')`,
	`SELECT d.id, (SELECT SUM(age) FROM users u WHERE u.id = d.user_id) AS f FROM domains d WHERE (SELECT COUNT(*) FROM users) > 3`,
	`SELECT domain_name, COUNT(*) AS n, (SELECT SUM(age) FROM users u WHERE u.firstname = d.domain_name) AS m FROM domains d GROUP BY domain_name HAVING COUNT(*) <= (SELECT COUNT(*) FROM users)`,
}

// planOver plans a query over a hub that holds the oracle's tables.
func planOver(t *testing.T, hub *memconn.Hub, query string) *planner.Plan {
	t.Helper()
	c := oracle.Case{Tables: oracle.Tables(), Query: query}
	plan, err := c.Plan(hub)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// orderedQueries are oracle queries whose ORDER BY leaves no ties where the tables have their primary keys. Between rows
// that tie, the two engines may choose differently.
var orderedQueries = []string{
	`SELECT id, user_id, domain_name FROM (SELECT id, user_id, domain_name, ROW_NUMBER() OVER (PARTITION BY user_id ORDER BY domain_name DESC, id) AS rn FROM domains) AS x WHERE rn = 1`,
	`SELECT id, user_id, rn FROM (SELECT id, user_id, ROW_NUMBER() OVER (PARTITION BY user_id ORDER BY id DESC) AS rn FROM domains) AS x WHERE rn BETWEEN 2 AND 3 AND user_id > 1`,
	`SELECT id, age, r FROM (SELECT id, age, RANK() OVER (ORDER BY age) AS r FROM users) AS x WHERE r <= 3`,
	`SELECT id, age, DENSE_RANK() OVER (PARTITION BY firstname ORDER BY age DESC) AS r, COUNT(*) OVER (PARTITION BY firstname) AS n FROM users`,
	`SELECT id, age FROM users ORDER BY age DESC, id LIMIT 3 OFFSET 1`,
	`SELECT age, COUNT(*) AS n FROM users GROUP BY age ORDER BY COUNT(*) DESC, age LIMIT 2`,
	`SELECT id, age, SUM(age) OVER (ORDER BY id ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS s, MIN(age) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) AS m, LAG(id) OVER (ORDER BY id) AS prev, LEAD(age, 2, 0) OVER (ORDER BY id) AS nxt FROM users`,
	`SELECT id, user_id, COUNT(*) OVER (PARTITION BY domain_name ORDER BY user_id) AS c, SUM(id) OVER (PARTITION BY domain_name ORDER BY user_id RANGE BETWEEN 1 PRECEDING AND 2 FOLLOWING) AS s, MAX(id) OVER (PARTITION BY domain_name ORDER BY user_id DESC RANGE BETWEEN 1 PRECEDING AND CURRENT ROW) AS m, NTILE(2) OVER (PARTITION BY domain_name ORDER BY id) AS t FROM domains`,
}

// history is how the tables of a case change.
type history struct {
	oracle.HistoryOptions
	bag bool // the tables are declared without their primary keys
}

// runOracle runs a case over generated histories of the oracle's tables.
func runOracle(t *testing.T, c oracle.Case, h history) {
	name := fmt.Sprintf("seed=%d trusted=%v bag=%v shards=%v batch=%d rows=%d durable=%v %q", c.Seed, c.Trusted, h.bag, c.Shards, c.Batch, c.EpochRows, c.Durable, c.Query)
	t.Run(name, func(t *testing.T) {
		t.Parallel()
		c.Tables, c.Events, c.Empties = oracle.Tables(), map[string][][]memconn.Event{}, h.DeleteAll
		for i, tab := range c.Tables { // with the keys, by which histories are made
			c.Events[tab.Name] = oracle.Generate(tab, c.Seed, h.HistoryOptions)
			if h.bag {
				c.Tables[i].Key = nil
			}
		}
		engine, err := oracle.OpenSQLite()
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = engine.Close() }()
		if err := c.Run(engine); err != nil {
			t.Fatal(err)
		}
	})
}

// TestPrefixOracle runs every query over generated histories in a matrix of shards, batch sizes, state backends,
// forms of the source and restarts.
func TestPrefixOracle(t *testing.T) {
	seeds := 3
	if testing.Short() {
		seeds = 1
	}
	seed := uint64(0)
	for range seeds {
		for qi, q := range slices.Concat(oracleQueries, orderedQueries) {
			for _, shards := range []int{1, 2, 4} {
				for _, batch := range []int{1, 3, 1024} {
					seed++
					c := oracle.Case{Query: q, Seed: seed, Shards: []int{shards}, Batch: batch, EpochRows: []int{1, 7, 50}[seed%3]}
					h := history{HistoryOptions: oracle.HistoryOptions{Changes: 60, Partitions: 3, Redeliver: true, DeleteAll: seed%2 == 0}}
					form := (int(seed) + qi) % 4
					if qi >= len(oracleQueries) {
						form %= 2
					}
					switch form {
					case 1: // the source is trusted
						c.Trusted, h.Redeliver = true, false
					case 2: // no primary keys
						h.bag, h.Redeliver, h.Bag = true, false, true
					}
					if seed%2 == 1 {
						c.Durable, c.Budget, c.Checkpoint = true, 1, time.Millisecond
						for range int(seed/2) % 4 { // crashes, each followed by another number of shards
							c.Shards = append(c.Shards, []int{1, 2, 3, 4}[int(seed+uint64(len(c.Shards)))%4])
						}
					}
					runOracle(t, c, h)
				}
			}
		}
	}
}

// keyedQueries are scalar subqueries that give one row as long as the tables have their keys.
var keyedQueries = []string{
	`SELECT d.id, (SELECT firstname FROM users u WHERE u.id = d.user_id) AS f FROM domains d`,
	`SELECT d.id, (SELECT u.firstname || d.domain_name FROM users u WHERE u.id = d.user_id AND u.age > d.id) AS f FROM domains d`,
	`SELECT d.id, d.domain_name FROM domains d WHERE d.user_id > (SELECT age FROM users WHERE id = 3)`,
}

// TestPrefixOracleKeyed runs them.
func TestPrefixOracleKeyed(t *testing.T) {
	for i, q := range keyedQueries {
		for seed := range uint64(12) {
			c := oracle.Case{Query: q, Seed: 3000 + seed, Shards: []int{1 + int(seed)%4}, Batch: []int{1, 3, 1024}[seed%3], EpochRows: []int{1, 7, 50}[i]}
			if seed%2 == 1 {
				c.Durable, c.Budget, c.Checkpoint, c.Shards = true, 1, time.Millisecond, []int{2, 3, 1}
			}
			runOracle(t, c, history{HistoryOptions: oracle.HistoryOptions{Changes: 60, Partitions: 3, Redeliver: seed%3 > 0, DeleteAll: true}})
		}
	}
}

// TestPrefixOracleMoves has rows move between shards of one join while they change, in large epochs, so that the
// next join gets the pieces in any order: a row's successor before its delete, and updates of both.
func TestPrefixOracleMoves(t *testing.T) {
	seeds := uint64(4)
	if testing.Short() {
		seeds = 1
	}
	for seed := range seeds {
		for _, q := range oracleQueries[8:10] {
			for _, shards := range []int{2, 4} {
				for _, batch := range []int{1, 3} {
					c := oracle.Case{Query: q, Seed: 1000 + seed, Shards: []int{shards}, Batch: batch, EpochRows: 200, Trusted: seed%2 == 0}
					h := history{HistoryOptions: oracle.HistoryOptions{Changes: 300, Partitions: 3, Redeliver: seed%2 == 1, DeleteAll: true}}
					runOracle(t, c, h)
				}
			}
		}
	}
}
