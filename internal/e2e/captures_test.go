package e2e

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicesql/sluice/internal/realkafka"
)

const captureSQL = `
CREATE TABLE users (id INT, firstname STRING, lastname STRING, PRIMARY KEY (id) NOT ENFORCED) WITH (
  'connector' = 'kafka', 'topic' = '${USERS}', 'properties.bootstrap.servers' = '${KAFKA}',
  'scan.startup.mode' = 'earliest-offset', 'scan.bounded.mode' = 'latest-offset', 'format' = 'debezium-json');
CREATE TABLE domains (id INT, user_id INT, domain_name STRING, PRIMARY KEY (id) NOT ENFORCED) WITH (
  'connector' = 'kafka', 'topic' = '${DOMAINS}', 'properties.bootstrap.servers' = '${KAFKA}',
  'scan.startup.mode' = 'earliest-offset', 'scan.bounded.mode' = 'latest-offset', 'format' = 'debezium-json');
CREATE VIEW user_domains AS
  SELECT users.id AS user_id, firstname, lastname, domain_name FROM users JOIN domains ON users.id = domains.user_id;
SELECT * FROM user_domains;
`

const captureSinksSQL = `
CREATE TABLE retracts (user_id INT, firstname STRING, lastname STRING, domain_name STRING) WITH (
  'connector' = 'kafka', 'topic' = '${RETRACTS}', 'properties.bootstrap.servers' = '${KAFKA}', 'format' = 'debezium-json');
CREATE TABLE upserts (domain_id INT, user_id INT, firstname STRING, lastname STRING, domain_name STRING, PRIMARY KEY (domain_id) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${UPSERTS}', 'properties.bootstrap.servers' = '${KAFKA}', 'key.format' = 'json', 'value.format' = 'json');
INSERT INTO retracts SELECT * FROM user_domains;
INSERT INTO upserts SELECT d.id, u.id, firstname, lastname, domain_name FROM users u JOIN domains d ON u.id = d.user_id;
`

var joinedFields = []string{"user_id", "firstname", "lastname", "domain_name"}

// Every capture of a real Debezium ends in exactly the join of the tables as they
// were at its end: as a table, as the sum of the changes, as the sum of the
// envelopes in an output topic and as the rows of an upsert topic.
func TestCaptures(t *testing.T) {
	addr := kafka(t)
	folder := filepath.Join("..", "testdata", "debezium")
	finals, err := filepath.Glob(filepath.Join(folder, "*", "users_domains.*.final.json"))
	if err != nil || len(finals) != 5 {
		t.Fatalf("found %d captures of users and domains, not 5: %v", len(finals), err)
	}
	for _, final := range finals {
		name := strings.TrimSuffix(final, ".final.json")
		short, _ := filepath.Rel(folder, name)
		t.Run(short, func(t *testing.T) {
			want := expectedJoin(t, final)
			users, domains := loadCapture(t, addr, name+".jsonl")
			for _, parallelism := range []string{"1", "2", "4"} {
				retracts, upserts := newTopic(t, addr, "retracts", 4), newTopic(t, addr, "upserts", 4)
				vars := []string{"--parallelism", parallelism}
				for k, v := range map[string]string{"KAFKA": addr, "USERS": users, "DOMAINS": domains, "RETRACTS": retracts, "UPSERTS": upserts} {
					vars = append(vars, "--set-var", k+"="+v)
				}
				p := run(t, captureSQL, append(vars, "--result", "json")...).exited(0)
				same(t, parallelism+": sum of --result json", sumOfChanges(t, p.stdout.String(), joinedFields...), want)
				p = run(t, captureSQL+captureSinksSQL, append(vars, "--result", "table")...).exited(0)
				same(t, parallelism+": --result table", tableRows(t, p.stdout.String()), want)
				same(t, parallelism+": sum of the debezium-json topic", sumOfRetractions(t, addr, retracts, joinedFields...), want)
				same(t, parallelism+": rows of the upsert topic", lastOfUpserts(t, addr, upserts, joinedFields...), want)
			}
		})
	}
}

// loadCapture writes the records of a file into topics with names of their own.
func loadCapture(t *testing.T, addr, file string) (users, domains string) {
	t.Helper()
	records, err := realkafka.ParseJSONL(openCapture(t, file))
	if err != nil {
		t.Fatal(err)
	}
	users, domains = newTopic(t, addr, "users", 4), newTopic(t, addr, "domains", 4)
	var ours []*kgo.Record
	for _, r := range records {
		switch {
		case strings.HasSuffix(r.Topic, ".users"):
			r.Topic = users
		case strings.HasSuffix(r.Topic, ".domains"):
			r.Topic = domains
		default:
			continue
		}
		ours = append(ours, r)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := realkafka.Produce(ctx, addr, ours...); err != nil {
		t.Fatal(err)
	}
	return users, domains
}

// openCapture reads a file, from its .gz when only that is there.
func openCapture(t *testing.T, file string) io.Reader {
	t.Helper()
	b, err := os.ReadFile(file)
	if err == nil {
		return bytes.NewReader(b)
	}
	if b, err = os.ReadFile(file + ".gz"); err != nil {
		t.Fatal(err)
	}
	r, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// expectedJoin computes the join from the tables' final contents: sorted lines of
// joinedFields.
func expectedJoin(t *testing.T, final string) []string {
	t.Helper()
	b, err := os.ReadFile(final)
	if err != nil {
		t.Fatal(err)
	}
	var tables map[string]struct {
		Rows []object `json:"rows"`
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if err := d.Decode(&tables); err != nil {
		t.Fatal(err)
	}
	var rows []string
	for _, u := range tables["users"].Rows {
		for _, d := range tables["domains"].Rows {
			if u["id"] != nil && u["id"] == d["user_id"] {
				rows = append(rows, fmt.Sprintf("%v|%s|%v", u["id"], u.line("firstname", "lastname"), d["domain_name"]))
			}
		}
	}
	if len(rows) == 0 {
		t.Fatal("the expected join is empty")
	}
	slices.Sort(rows)
	return rows
}
