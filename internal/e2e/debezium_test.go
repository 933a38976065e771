package e2e

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sluicesql/sluice/internal/realdebezium"
	"github.com/sluicesql/sluice/internal/realkafka"
)

// What the database's clients do: everything that changes a row of one of two tables, keys and all, by a number;
// what would not be allowed does nothing.
const actSQL = `
CREATE TABLE users (id INT PRIMARY KEY, firstname TEXT, lastname TEXT);
CREATE TABLE domains (id INT PRIMARY KEY, user_id INT, domain_name TEXT);
ALTER TABLE domains REPLICA IDENTITY FULL;
INSERT INTO users SELECT i, 'first ' || i, 'last ' || i FROM generate_series(1, 300) i;
INSERT INTO domains SELECT i, i % 250, 'domain ' || i FROM generate_series(1, 600) i;
CREATE FUNCTION act(what INT, a INT, b INT) RETURNS VOID LANGUAGE plpgsql AS $$
BEGIN
  CASE what
    WHEN 0 THEN INSERT INTO users VALUES (a, 'new ' || b, NULL);
    WHEN 1 THEN UPDATE users SET lastname = 'last ' || b WHERE id = a;
    WHEN 2 THEN DELETE FROM users WHERE id = a;
    WHEN 3 THEN UPDATE users SET id = b WHERE id = a;
    WHEN 4 THEN INSERT INTO domains VALUES (a, b, 'new ' || b);
    WHEN 5 THEN UPDATE domains SET user_id = NULLIF(b, 7), domain_name = 'moved to ' || b WHERE id = a;
    WHEN 6 THEN DELETE FROM domains WHERE id = a;
    WHEN 7 THEN UPDATE domains SET id = b WHERE id = a;
    WHEN 8 THEN UPDATE domains SET id = b, user_id = a WHERE id = a;
    WHEN 9 THEN UPDATE users SET firstname = firstname WHERE id = a;
  END CASE;
EXCEPTION WHEN unique_violation THEN NULL;
END $$;
`

// A transaction of a client: three changes, the second and third of neighbouring rows.
const clientSQL = `
\set x random(0, 9)
\set y random(0, 9)
\set a random(1, 400)
\set b random(1, 400)
BEGIN;
SELECT act(:x, :a, :b);
SELECT act(:y, :b, :a);
SELECT act(:y, :a + 1, :b + 1);
END;
`

const liveJoinSQL = `
CREATE TABLE users (id INT, firstname STRING, lastname STRING, PRIMARY KEY (id) NOT ENFORCED) WITH (
  'connector' = 'kafka', 'topic' = '$PREFIX.public.users', 'properties.bootstrap.servers' = '$KAFKA',
  'scan.startup.mode' = 'earliest-offset', 'format' = 'debezium-json');
CREATE TABLE domains (id INT, user_id INT, domain_name STRING, PRIMARY KEY (id) NOT ENFORCED) WITH (
  'connector' = 'kafka', 'topic' = '$PREFIX.public.domains', 'properties.bootstrap.servers' = '$KAFKA',
  'scan.startup.mode' = 'earliest-offset', 'format' = 'debezium-json');
CREATE TABLE joined (domain_id INT, user_id INT, firstname STRING, lastname STRING, domain_name STRING, PRIMARY KEY (domain_id) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '$OUT', 'properties.bootstrap.servers' = '$KAFKA', 'key.format' = 'json', 'value.format' = 'json');
INSERT INTO joined SELECT d.id, u.id, firstname, lastname, domain_name FROM users u JOIN domains d ON u.id = d.user_id;
`

// A live PostgreSQL, captured by a real Debezium while clients change it, keys and all, and while Debezium and the
// job are killed: the job's output ends in what the database itself answers to the same SELECT.
func TestLiveDatabase(t *testing.T) {
	addr := kafka(t)
	db := realdebezium.StartPostgres(t)
	db.Query(t, actSQL)
	prefix, out := realkafka.UniqueName("live"), newTopic(t, addr, "joined", 4)
	for _, table := range []string{"users", "domains"} {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		if err := realkafka.CreateTopic(ctx, addr, prefix+".public."+table, 4); err != nil {
			t.Fatal(err)
		}
	}
	capture := realdebezium.Capture(t, db, addr, prefix, []string{"public.users", "public.domains"}, nil)
	sql := fillIn(liveJoinSQL, "KAFKA", addr, "PREFIX", prefix, "OUT", out)
	state := t.TempDir()
	job := start(t, sql, "--state-dir", state, "--parallelism", "2")
	settle := func(what string) {
		t.Helper()
		want := db.Query(t, "SELECT d.id, u.id, firstname, lastname, domain_name FROM users u JOIN domains d ON u.id = d.user_id")
		slices.Sort(want)
		var got []string
		for deadline := time.Now().Add(2 * patience); !slices.Equal(got, want); time.Sleep(200 * time.Millisecond) {
			job.running()
			got = lastOfUpserts(t, addr, out, "domain_id", "user_id", "firstname", "lastname", "domain_name")
			if time.Now().After(deadline) {
				same(t, what, got, want)
				t.Fatalf("stderr:\n%s\nDebezium:\n%s", job.stderr.String(), capture.Log())
			}
		}
		if len(want) < 50 || !strings.Contains(strings.Join(want, "\n"), "|") {
			t.Fatalf("%s: the database's join has %d rows only", what, len(want))
		}
	}
	db.Bench(t, clientSQL, 4, 500) // while the snapshot is taken
	settle("after the snapshot")
	db.Bench(t, clientSQL, 4, 500)
	capture.Restart(t)
	db.Bench(t, clientSQL, 4, 300)
	job.kill()
	db.Bench(t, clientSQL, 4, 300)
	job = start(t, sql, "--state-dir", state, "--parallelism", "3")
	settle("after Debezium and the job were killed")
	db.Query(t, "DELETE FROM users WHERE id % 2 = 0; UPDATE domains SET user_id = user_id + 1 WHERE user_id % 2 = 0")
	settle("after statements over many rows")
	job.terminate()
}
