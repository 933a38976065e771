package realdebezium

import (
	"context"
	_ "embed"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sluicesql/sluice/internal/realkafka"
)

// Version is the version of Debezium that is started.
const Version = "3.6.1.Final"

const slf4jVersion = "1.7.36"

//go:embed pom.xml
var pomTemplate string

// Connector is a running connector of Debezium's.
type Connector struct {
	proc *realkafka.Process
	log  string
	argv []string
}

// Capture writes the changes of tables, such as public.users, to the topics PREFIX.public.users of a broker, which exist, from a
// snapshot on, until the test ends. properties are added to the connector's, or replace what stands there. Where the
// connector cannot be had the test is skipped with the reason; with CI=true it fails.
func Capture(t testing.TB, p *Postgres, broker, prefix string, tables []string, properties map[string]string) *Connector {
	t.Helper()
	c, err := newConnector(t, p, broker, prefix, tables, properties)
	if err == nil {
		err = c.start()
	}
	if err != nil {
		realkafka.GiveUp(t, err)
	}
	t.Cleanup(func() {
		if c.proc.Exited() {
			t.Errorf("Debezium ended by itself\n%s", c.Log())
		}
		if err := c.proc.Term(stopPatience); err != nil {
			t.Errorf("stop Debezium: %v", err)
		}
	})
	return c
}

func newConnector(t testing.TB, p *Postgres, broker, prefix string, tables []string, properties map[string]string) (*Connector, error) {
	java, err := realkafka.Java()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute) // the first time fetches the jars
	defer cancel()
	libs, err := realkafka.Jars(ctx, "debezium-"+Version, strings.NewReplacer("@VERSION@", Version, "@SLF4J_VERSION@", slf4jVersion).Replace(pomTemplate))
	if err != nil {
		return nil, err
	}
	dir := t.TempDir()
	worker := map[string]string{
		"bootstrap.servers":              broker,
		"key.converter":                  "org.apache.kafka.connect.json.JsonConverter",
		"value.converter":                "org.apache.kafka.connect.json.JsonConverter",
		"key.converter.schemas.enable":   "false",
		"value.converter.schemas.enable": "false",
		"offset.storage.file.filename":   filepath.Join(dir, "offsets"),
		"offset.flush.interval.ms":       "500",
		"listeners":                      "http://127.0.0.1:0", // any that is free; nobody asks it
		"plugin.discovery":               "service_load",
	}
	connector := map[string]string{
		"name":                        prefix,
		"connector.class":             "io.debezium.connector.postgresql.PostgresConnector",
		"tasks.max":                   "1",
		"database.hostname":           p.host,
		"database.port":               p.port,
		"database.user":               account,
		"database.password":           "",
		"database.dbname":             account,
		"plugin.name":                 "pgoutput",
		"topic.prefix":                prefix,
		"slot.name":                   "sluice",
		"publication.autocreate.mode": "filtered",
		"table.include.list":          strings.Join(tables, ","),
		"poll.interval.ms":            "50",
		"slot.retry.delay.ms":         "200", // after a crash the database takes a moment to notice
		"slot.max.retries":            "100",
	}
	maps.Copy(connector, properties)
	argv := []string{java, "-Xmx512m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Duser.timezone=UTC",
		"-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-cp", filepath.Join(libs, "*"), "org.apache.kafka.connect.cli.ConnectStandalone"}
	for name, settings := range map[string]map[string]string{"worker.properties": worker, "connector.properties": connector} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(lines(settings)), 0o600); err != nil {
			return nil, err
		}
	}
	argv = append(argv, filepath.Join(dir, "worker.properties"), filepath.Join(dir, "connector.properties"))
	return &Connector{log: filepath.Join(dir, "log"), argv: argv}, nil
}

// lines are settings as a file of properties.
func lines(settings map[string]string) string {
	var b strings.Builder
	for _, k := range slices.Sorted(maps.Keys(settings)) {
		fmt.Fprintf(&b, "%s=%s\n", k, settings[k])
	}
	return b.String()
}

func (c *Connector) start() error {
	log, err := os.OpenFile(c.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }() // the child has its own descriptor
	c.proc, err = realkafka.StartProcess(c.argv, log, "")
	return err
}

// Restart kills the connector as a crash would, and starts it again: it sends again what it had sent since it last
// wrote down its position.
func (c *Connector) Restart(t testing.TB) {
	t.Helper()
	if err := c.proc.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := c.start(); err != nil {
		t.Fatal(err)
	}
}

// Log is the end of what the connector has written, without stack traces.
func (c *Connector) Log() string {
	text, _ := os.ReadFile(c.log) // without a log there is nothing to say
	return realkafka.LastLines(realkafka.WithoutFrames(string(text)), 30)
}
