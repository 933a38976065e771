package e2e

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
)

// badSQL reads one topic with keys in its messages; OPTIONS are further options.
const badSQL = `
CREATE TABLE i (id INT, v STRING, n BIGINT, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'kafka', 'topic' = '$IN',
  'properties.bootstrap.servers' = '$KAFKA', 'scan.startup.mode' = 'earliest-offset', 'scan.bounded.mode' = 'latest-offset', 'format' = 'debezium-json'$OPTIONS);
CREATE TABLE o (id INT, v STRING, n BIGINT) WITH ('connector' = 'kafka', 'topic' = '$OUT', 'properties.bootstrap.servers' = '$KAFKA', 'format' = 'debezium-json');
INSERT INTO o SELECT id, v, n FROM i;`

// A message that cannot be decoded ends the job in front of it: what came before
// is out, what comes after is not lost. The job fails there again, without a word
// twice, until it is told to skip such messages; then it goes on from there.
func TestBadMessage(t *testing.T) {
	addr := kafka(t)
	for _, c := range []struct {
		name, message string
		says          []string
	}{
		{"wrong type", `{"before":null,"after":{"id":3,"v":"c","n":"many"},"op":"c"}`, []string{"n", "BIGINT", "many"}},
		{"no JSON", `{"before":null,"aft`, []string{"ends"}},
		{"no op", `{"before":null,"after":{"id":3,"v":"c","n":3}}`, []string{"op"}},
		{"unknown op", `{"before":null,"after":{"id":3,"v":"c","n":3},"op":"x"}`, []string{"op", `"x"`}},
		{"out of range", `{"before":null,"after":{"id":3000000000,"v":"c","n":3},"op":"c"}`, []string{"id", "3000000000", "INT"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "state")
			in, out := newTopic(t, addr, "bad", 1), newTopic(t, addr, "out", 1)
			produce(t, addr,
				inserted(in, 1, `{"id":1,"v":"a","n":1}`), inserted(in, 2, `{"id":2,"v":"b","n":9007199254740993}`),
				event(in, 3, c.message),
				inserted(in, 4, `{"id":4,"v":"d","n":4}`), event(in, 1, `{"before":{"id":1,"v":"a","n":1},"after":null,"op":"d"}`))
			sql := fillIn(badSQL, "KAFKA", addr, "IN", in, "OUT", out)
			for range 3 {
				p := run(t, fillIn(sql, "OPTIONS", ""), "--state-dir", dir).exited(1)
				p.says("kafka "+in+"/0@2: ", "ignore-parse-errors").says(c.says...)
				same(t, "rows before the message", sumOfRetractions(t, addr, out, "id", "v", "n"), []string{"1|a|1", "2|b|9007199254740993"})
				if n := length(t, addr, out); n != 2 {
					t.Fatalf("%d records are out, not 2", n)
				}
			}
			skip := fillIn(sql, "OPTIONS", ", 'debezium-json.ignore-parse-errors' = 'true'")
			p := run(t, skip, "--state-dir", dir).exited(0).says("skipped: kafka " + in + "/0@2: ")
			if s := p.summary(); s.Skipped != 1 || s.RecordsIn != 3 {
				t.Errorf("the record skipped, and two after it: %+v", s)
			}
			same(t, "rows", sumOfRetractions(t, addr, out, "id", "v", "n"), []string{"2|b|9007199254740993", "4|d|4"})
		})
	}
}

// Without a primary key a delete needs the row before: the error says what to run.
func TestNoBeforeImage(t *testing.T) {
	addr := kafka(t)
	in := newTopic(t, addr, "bag", 1)
	produce(t, addr, inserted(in, 1, `{"id":1}`), event(in, 1, `{"before":null,"after":{"id":2},"op":"u"}`))
	run(t, fillIn(`CREATE TABLE i (id INT) WITH ('connector' = 'kafka', 'topic' = '$IN', 'properties.bootstrap.servers' = '$KAFKA',
  'scan.startup.mode' = 'earliest-offset', 'scan.bounded.mode' = 'latest-offset', 'format' = 'debezium-json');
SELECT id FROM i;`, "KAFKA", addr, "IN", in)).exited(1).says("kafka "+in+"/0@1: ", "before", "REPLICA IDENTITY FULL", "PRIMARY KEY")
}

// Messages that cannot be read go to a topic that is made for them, each once although the process is killed; a missing
// output topic is made too, and when it grows no key moves.
func TestDeadLetters(t *testing.T) {
	addr := kafka(t)
	in := newTopic(t, addr, "bad", 3)
	out, dead := in+"-out", in+"-dead"
	sql := fillIn(`
CREATE TABLE i (id INT, v STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'kafka', 'topic' = '$IN', 'properties.bootstrap.servers' = '$KAFKA',
  'scan.startup.mode' = 'earliest-offset', 'scan.bounded.mode' = '$END', 'format' = 'debezium-json', 'dead-letter.topic' = '$DEAD', 'dead-letter.topic.partitions' = '2',
  'dead-letter.topic.config.retention.ms' = '-1', 'dead-letter.delivery-guarantee' = 'exactly-once', 'dead-letter.transactional-id-prefix' = '$IN');
CREATE TABLE o (id INT, v STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'upsert-kafka', 'topic' = '$OUT', 'properties.bootstrap.servers' = '$KAFKA',
  'key.format' = 'json', 'value.format' = 'json', 'sink.topic.partitions' = '2', 'sink.topic.replication-factor' = '1');
INSERT INTO o SELECT id, v FROM i;`, "KAFKA", addr, "IN", in, "OUT", out, "DEAD", dead)
	dir := filepath.Join(t.TempDir(), "state")
	const n = 300
	bad := 0
	feed := func(round int) {
		var rs []*kgo.Record
		for i := range n {
			if i%10 == 3 {
				rs = append(rs, event(in, i, fmt.Sprintf(`{"round":%d`, round)))
				bad++
			} else {
				rs = append(rs, inserted(in, i, fmt.Sprintf(`{"id":%d,"v":"%d"}`, i, round)))
			}
		}
		produce(t, addr, rs...)
	}
	feed(0)
	p := start(t, fillIn(sql, "END", "unbounded"), "--state-dir", dir)
	until(t, "the job writes", func() bool { p.running(); return exists(t, addr, out) && length(t, addr, out) > 0 })
	p.kill()
	partitions(t, addr, out, 5)
	feed(1)
	p = start(t, fillIn(sql, "END", "unbounded"), "--state-dir", dir)
	until(t, "the job writes again", func() bool { p.running(); return length(t, addr, dead) > 0 })
	p.kill()
	run(t, fillIn(sql, "END", "latest-offset"), "--state-dir", dir).exited(0).says("grew from 2 to 5 partitions")

	places := map[string]int32{}
	for _, r := range contents(t, addr, out) {
		if p, ok := places[string(r.Key)]; ok && p != r.Partition || r.Partition > 1 {
			t.Errorf("key %s is in partitions %d and %d", r.Key, p, r.Partition)
		}
		places[string(r.Key)] = r.Partition
	}
	if want := n - n/10; len(places) != want {
		t.Errorf("%d keys, not %d", len(places), want)
	}
	all := contents(t, addr, dead)
	letters := map[string]bool{}
	for _, r := range all {
		at := ""
		for _, h := range r.Headers {
			if h.Key == "sluice.partition" || h.Key == "sluice.offset" {
				at += "/" + string(h.Value)
			}
		}
		if letters[at] {
			t.Errorf("the message at %s is a dead letter twice", at)
		}
		letters[at] = true
	}
	if len(all) != bad {
		t.Errorf("%d dead letters, not %d", len(all), bad)
	}
}
