package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
)

// oneTopic is a topic of one partition with the history of two users: one is
// inserted, changed and kept, the other is inserted and deleted.
func oneTopic(t *testing.T, addr string) string {
	t.Helper()
	topic := newTopic(t, addr, "one.users", 1)
	produce(t, addr,
		inserted(topic, 1, `{"id":1,"firstname":"Egor"}`), inserted(topic, 2, `{"id":2,"firstname":"Pavel"}`),
		event(topic, 1, `{"before":{"id":1,"firstname":"Egor"},"after":{"id":1,"firstname":"Egor II"},"op":"u"}`),
		event(topic, 2, `{"before":{"id":2,"firstname":"Pavel"},"after":null,"op":"d"}`),
		&kgo.Record{Topic: topic, Key: []byte(`{"id":2}`)})
	return topic
}

const tableOptions = `'properties.bootstrap.servers' = '$KAFKA', 'scan.startup.mode' = 'earliest-offset', 'scan.bounded.mode' = 'latest-offset'`

// The same topic as a stream of envelopes and as a changing table, in one script
// and in one job.
func TestEnvelopeBesideTable(t *testing.T) {
	addr := kafka(t)
	in, events, joined := oneTopic(t, addr), newTopic(t, addr, "events", 2), newTopic(t, addr, "joined", 2)
	ddl := fillIn(`
CREATE TABLE raw (before ROW<id INT, firstname STRING>, op STRING, after ROW<id INT, firstname STRING>)
  WITH ('connector' = 'kafka', 'topic' = '$IN', 'format' = 'json', $OPTIONS);
CREATE TABLE users (id INT, firstname STRING, PRIMARY KEY (id) NOT ENFORCED)
  WITH ('connector' = 'kafka', 'topic' = '$IN', 'format' = 'debezium-json', $OPTIONS);
CREATE TABLE events (op STRING, id INT, was STRING) WITH ('connector' = 'kafka', 'topic' = '$EVENTS', 'properties.bootstrap.servers' = '$KAFKA', 'format' = 'json');
CREATE TABLE joined (op STRING, firstname STRING) WITH ('connector' = 'kafka', 'topic' = '$JOINED', 'properties.bootstrap.servers' = '$KAFKA', 'format' = 'debezium-json');
`, "OPTIONS", tableOptions, "KAFKA", addr, "IN", in, "EVENTS", events, "JOINED", joined)

	p := run(t, ddl+`SELECT op, before.firstname AS was, after.id AS id FROM raw; SELECT id, firstname FROM users;`, "--result", "json").exited(0)
	lines := strings.SplitAfter(p.stdout.String(), "\n")
	stream := strings.Join(lines[:4], "")
	same(t, "envelopes", sumOfChanges(t, stream, "op", "was", "id"), []string{"c|<nil>|1", "c|<nil>|2", "d|Pavel|<nil>", "u|Egor|1"})
	same(t, "rows", sumOfChanges(t, strings.Join(lines[4:], ""), "id", "firstname"), []string{"1|Egor II"})

	run(t, ddl+`
EXECUTE STATEMENT SET BEGIN
  INSERT INTO events SELECT op, COALESCE(after.id, before.id), before.firstname FROM raw;
  INSERT INTO joined SELECT op, firstname FROM raw JOIN users ON raw.after.id = users.id;
END;`).exited(0)
	var got []string
	for _, r := range contents(t, addr, events) {
		got = append(got, parseObject(t, r.Value).line("op", "id", "was"))
	}
	slices.Sort(got)
	same(t, "events", got, []string{"c|1|<nil>", "c|2|<nil>", "d|2|Pavel", "u|1|Egor"})
	same(t, "joined", sumOfRetractions(t, addr, joined, "op", "firstname"), []string{"c|Egor II", "u|Egor II"})
}

// The columns that come from elsewhere than a value's fields: metadata, the
// record's key, and expressions.
func TestColumnsFromElsewhere(t *testing.T) {
	addr := kafka(t)
	in := oneTopic(t, addr)
	p := run(t, fillIn(`
CREATE TABLE users (id INT, firstname STRING, shout AS UPPER(firstname), o BIGINT METADATA FROM 'offset' VIRTUAL, part INT METADATA FROM 'partition' VIRTUAL,
  topic STRING METADATA VIRTUAL, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'kafka', 'topic' = '$IN', 'format' = 'debezium-json', $OPTIONS);
SELECT * FROM users;`, "OPTIONS", tableOptions, "KAFKA", addr, "IN", in), "--result", "json").exited(0)
	same(t, "metadata and computed", sumOfChanges(t, p.stdout.String(), "id", "firstname", "shout", "o", "part", "topic"), []string{"1|Egor II|EGOR II|2|0|" + in})

	p = run(t, fillIn(`
CREATE TABLE keyed (k_id INT, op STRING) WITH ('connector' = 'kafka', 'topic' = '$IN', 'value.format' = 'json', 'key.format' = 'json',
  'key.fields' = 'k_id', 'key.fields-prefix' = 'k_', 'value.fields-include' = 'EXCEPT_KEY', $OPTIONS);
SELECT k_id, op FROM keyed;`, "OPTIONS", tableOptions, "KAFKA", addr, "IN", in), "--result", "json").exited(0)
	same(t, "key", sumOfChanges(t, p.stdout.String(), "k_id", "op"), []string{"1|c", "1|u", "2|c", "2|d"})
}

// Several topics as one table, by list and by pattern; self-joins and joins of
// three; a view with odd names; several INSERTs into one table.
func TestOddScripts(t *testing.T) {
	addr := kafka(t)
	a, b := newTopic(t, addr, "shard.a", 2), newTopic(t, addr, "shard.b", 2)
	produce(t, addr, inserted(a, 1, `{"id":1,"boss":2}`), inserted(b, 2, `{"id":2,"boss":3}`), inserted(a, 3, `{"id":3,"boss":null}`), inserted(b, 4, `{"id":4,"boss":2}`))
	_, suffix, _ := strings.Cut(a, "-")
	_, suffixB, _ := strings.Cut(b, "-")
	for option, value := range map[string]string{"topic": a + ";" + b, "topic-pattern": `shard\.[ab]-(` + suffix + "|" + suffixB + ")"} {
		out := newTopic(t, addr, "odd", 2)
		sql := fillIn("CREATE TABLE staff (id INT, boss INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'kafka', '$WHERE' = '$VALUE', 'format' = 'debezium-json', $OPTIONS);"+`
CREATE VIEW ´odd view´ (´the id´, ´select´) AS SELECT id, boss FROM staff;
SELECT l.´the id´ AS ´a "b" c´, b.id AS boss FROM ´odd view´ l JOIN staff b ON l.´select´ = b.id;
SELECT w.id, b.id AS boss, c.id AS chief FROM staff w JOIN staff b ON w.boss = b.id JOIN staff c ON b.boss = c.id;
CREATE TABLE o (id INT, v STRING) WITH ('connector' = 'kafka', 'topic' = '$OUT', 'properties.bootstrap.servers' = '$KAFKA', 'format' = 'debezium-json');
INSERT INTO o SELECT id, 'staff' FROM staff; INSERT INTO o (v) SELECT 'boss' FROM staff WHERE boss = 2; INSERT INTO o VALUES (7, 'seven');`,
			"´", "`", "WHERE", option, "VALUE", value, "OUT", out, "OPTIONS", tableOptions, "KAFKA", addr)
		sql = strings.ReplaceAll(sql, "´", "`")
		p := run(t, sql, "--result", "json").exited(0)
		two, three := strings.Builder{}, strings.Builder{}
		for l := range strings.Lines(p.stdout.String()) {
			if strings.Contains(l, "chief") {
				three.WriteString(l)
			} else {
				two.WriteString(l)
			}
		}
		same(t, option+": join of two", sumOfChanges(t, two.String(), `a "b" c`, "boss"), []string{"1|2", "2|3", "4|2"})
		same(t, option+": join of three", sumOfChanges(t, three.String(), "id", "boss", "chief"), []string{"1|2|3", "4|2|3"})
		same(t, option+": several INSERTs", sumOfRetractions(t, addr, out, "id", "v"), []string{"1|staff", "2|staff", "3|staff", "4|staff", "7|seven", "<nil>|boss", "<nil>|boss"})
	}
}

// More shards than anybody has cores, and a topic without a record.
func TestExtremes(t *testing.T) {
	addr := kafka(t)
	in, empty, out := oneTopic(t, addr), newTopic(t, addr, "empty", 3), newTopic(t, addr, "out", 1)
	sql := fillIn(copySQL, "KAFKA", addr, "OUT", out, "END", "latest-offset")
	sql = strings.ReplaceAll(sql, "v STRING", "firstname STRING")
	sql = strings.ReplaceAll(sql, "id, v", "id, firstname")
	run(t, fillIn(sql, "IN", empty)).exited(0)
	if n := length(t, addr, out); n != 0 {
		t.Errorf("an empty topic gave %d records", n)
	}
	for _, n := range []int{128, 1} {
		run(t, fillIn(sql, "IN", in), "--parallelism", fmt.Sprint(n), "--state-dir", t.TempDir()).exited(0)
	}
	same(t, "rows", sumOfRetractions(t, addr, out, "id", "firstname"), []string{"1|Egor II", "1|Egor II"})
	run(t, sql, "--parallelism", "129").exited(2).says("--parallelism 129", "1 to 128")
}
