package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/sluicesql/sluice/internal/cdcbench"
	"github.com/sluicesql/sluice/internal/realkafka"
)

// trust says whether the source's events are taken as they are.
type trust bool

const (
	// trusted is Flink's default: every event is new and its before is right.
	trusted trust = true
	// exact is sluice's default: redelivered events and wrong images do no harm.
	exact trust = false
)

// query is the benchmark's join as a SQL file.
type query struct {
	size    cdcbench.Size
	trust   trust
	bounded bool
	output  string // a topic, or empty for blackhole
	durable bool   // checkpoint every second
	once    bool   // exactly once
	budget  int64  // bytes of memory for state; 0 for the default
}

func (q query) text() string {
	var b strings.Builder
	if q.trust == trusted {
		b.WriteString("SET 'table.exec.source.cdc-events-duplicate' = 'false';\n")
	}
	if q.durable {
		b.WriteString("SET 'execution.checkpointing.interval' = '1 s';\n")
	}
	if q.budget > 0 {
		fmt.Fprintf(&b, "SET 'sluice.memory.budget' = '%d b';\n", q.budget)
	}
	const users = "id INT, firstname STRING, lastname STRING, PRIMARY KEY (id) NOT ENFORCED"
	const domains = "id INT, user_id INT, domain_name STRING, PRIMARY KEY (id) NOT ENFORCED"
	const joined = "id INT, firstname STRING, lastname STRING, domain_name STRING"
	table(&b, "users", users, q.source(q.size.UsersTopic()))
	table(&b, "domains", domains, q.source(q.size.DomainsTopic()))
	table(&b, "joined", joined, q.sink())
	b.WriteString("INSERT INTO joined SELECT users.id, firstname, lastname, domain_name\n" +
		"  FROM users JOIN domains ON users.id = domains.user_id;\n")
	return b.String()
}

// option is a line of a WITH clause.
type option [2]string

func (q query) source(topic string) []option {
	o := []option{
		{"connector", "kafka"},
		{"topic", topic},
		{"properties.bootstrap.servers", "${KAFKA_BROKERS}"},
		{"properties.group.id", "bench"},
		{"scan.startup.mode", "earliest-offset"},
		{"format", "debezium-json"},
	}
	if q.bounded {
		o = append(o, option{"scan.bounded.mode", "latest-offset"})
	}
	return o
}

func (q query) sink() []option {
	if q.output == "" {
		return []option{{"connector", "blackhole"}}
	}
	o := []option{
		{"connector", "kafka"},
		{"topic", q.output},
		{"properties.bootstrap.servers", "${KAFKA_BROKERS}"},
		{"format", "debezium-json"},
	}
	if q.once {
		// Runs are jobs of their own, and each gets an id of its own.
		o = append(o, option{"sink.delivery-guarantee", "exactly-once"}, option{"sink.transactional-id-prefix", realkafka.UniqueName("bench")})
	}
	return o
}

func table(b *strings.Builder, name, columns string, with []option) {
	fmt.Fprintf(b, "CREATE TABLE %s (%s) WITH (", name, columns)
	for i, o := range with {
		if i > 0 {
			b.WriteString(",")
		}
		fmt.Fprintf(b, "\n  '%s' = '%s'", o[0], o[1])
	}
	b.WriteString(");\n")
}

// args writes q as a file and returns the arguments that run it. stateDir is
// empty for state in memory.
func (b *bench) args(q query, stateDir string) ([]string, error) {
	file := filepath.Join(b.dir, "query.sql")
	if err := os.WriteFile(file, []byte(q.text()), 0o644); err != nil {
		return nil, err
	}
	args := []string{"run", "--parallelism", fmt.Sprint(b.parallelism), "--set-var", "KAFKA_BROKERS=" + b.addr,
		"--summary-json", b.summaryFile()}
	if stateDir != "" {
		args = append(args, "--state-dir", stateDir)
	}
	return append(args, file), nil
}

// summaryFile is where a run that args describe leaves its summary.
func (b *bench) summaryFile() string { return filepath.Join(b.dir, "summary.json") }
