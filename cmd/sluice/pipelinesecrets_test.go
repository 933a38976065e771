package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// check looks into topics with the secrets, and shows none either.
func TestSecretsOfSampledPipelines(t *testing.T) {
	dir := t.TempDir()
	for file, text := range map[string]string{
		"sluice.yaml":  "name: p\nsql: [pipeline.sql]\nembed: [in.jsonl]\nsecrets:\n  S: {file: secret.txt}\n",
		"secret.txt":   "geheim",
		"in.jsonl":     `{"topic":"geheim","key":null,"value":"{\"a\":\"x\"}"}` + "\n",
		"pipeline.sql": "CREATE TABLE k (a INT, `${S}` INT) WITH ('connector' = 'kafka', 'topic' = '${S}', 'properties.bootstrap.servers' = '${KAFKA_BROKERS}', 'format' = 'json', 'scan.startup.mode' = 'earliest-offset'); SELECT * FROM k;",
	} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, format := range []string{"text", "json", "github", "sarif"} {
		o := sluice(t, dir, "", "check", "--sample", "1", "--format", format, ".")
		if o.code != 2 || !strings.Contains(o.stdout, "column ****** of table k") || strings.Contains(o.stdout+o.stderr, "geheim") {
			t.Errorf("%s: exit code %d\n%s%s", format, o.code, o.stdout, o.stderr)
		}
	}
}

// The value of a secret comes out nowhere, wherever in the SQL the secret was put, in whatever quotes messages write it.
func TestSecretsOfPipelines(t *testing.T) {
	const table = "CREATE TABLE t (a STRING) WITH ('connector' = 'datagen', 'number-of-rows' = '1');\n"
	for name, sql := range map[string]string{
		"option":         "CREATE TABLE k (a STRING) WITH ('connector' = 'kafka', 'topic' = '${S}', 'properties.bootstrap.servers' = 'k:1', 'properties.client.id' = '${S}', 'format' = 'json'); SHOW CREATE TABLE k; EXPLAIN SELECT * FROM k;",
		"condition":      table + "CREATE VIEW v AS SELECT a FROM t WHERE a = '${S}'; SHOW CREATE VIEW v; EXPLAIN SELECT * FROM v; SELECT * FROM v;",
		"unknown value":  "CREATE TABLE k (a STRING) WITH ('connector' = 'kafka', 'topic' = 't', 'properties.bootstrap.servers' = 'k:1', 'format' = '${S}'); SELECT * FROM k;",
		"two strings":    "SELECT '${S}' '${S}';",
		"unknown name":   table + "SELECT `${S}` FROM t;",
		"unknown option": "SET '${S}' = 'x';",
		"bad literal":    "SELECT CAST('${S}' AS INT) AS a;",
		"no place":       "SET 'execution.checkpointing.dir' = '${S}://x'; " + table + "INSERT INTO t SELECT * FROM t;",
		"failing job":    table + "SELECT CAST(CONCAT(SUBSTRING(a, 1, 0), '${S}') AS INT) AS a FROM t;",
		"syntax":         "SELECT ${S} FROM;",
		// These passwords nobody has declared.
		"address":              table + "CREATE TABLE k (a STRING) WITH ('connector' = 'kafka', 'topic' = 't', 'properties.bootstrap.servers' = 'k:1', 'properties.client.id' = 'https://u:geheim@h', 'format' = 'json', 'scan.startup.mode' = 'earliest-offset'); SHOW CREATE TABLE k; EXPLAIN SELECT * FROM k; INSERT INTO k SELECT * FROM t;",
		"address in condition": table + "CREATE TABLE b (a STRING) WITH ('connector' = 'blackhole'); CREATE VIEW v AS SELECT a FROM t WHERE a <> 'https://u:geheim@h'; SHOW CREATE VIEW v; EXPLAIN SELECT * FROM v; INSERT INTO b SELECT * FROM v;",
		"address in name":      "SET 'pipeline.name' = 'https://u:geheim@h'; " + table + "CREATE TABLE b (a STRING) WITH ('connector' = 'blackhole'); INSERT INTO b SELECT * FROM t;",
		"address in failure":   table + "SELECT CAST(CONCAT(SUBSTRING(a, 1, 0), 'https://u:geheim@h') AS INT) AS a FROM t;",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for file, text := range map[string]string{
				"sluice.yaml":  "name: p\nsql: [pipeline.sql]\nsecrets:\n  S: {file: secret.txt}\n  ENV: {env: GREETED}\n",
				"secret.txt":   `geheim's "word\` + strings.Repeat(" geheim", 30) + "\n", // messages cut it short
				"pipeline.sql": sql,
			} {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			seen := ""
			for _, args := range [][]string{{"run", "."}, {"run", "--state-dir", "state", "."}, {"explain", "."}, {"explain", "--format", "json", "."}, {"explain", "--format", "dot", "."},
				{"explain", "--format", "mermaid", "."}, {"explain", "--format", "svg", "."}, {"explain", "--analyze", "."}, {"diff", ".", "."}, {"state", "info", "state"},
				{"sql", "."}, {"sql", ".", "-e", `\i pipeline.sql`}} {
				o := sluice(t, dir, "", args...)
				seen += o.stdout + o.stderr
			}
			if strings.Contains(seen, "geheim") {
				t.Errorf("the secret is shown:\n%s", seen)
			}
			if (name == "condition" || strings.HasPrefix(name, "address")) && strings.Count(seen, "******") < 3 {
				t.Errorf("no asterisks in\n%s", seen)
			}
		})
	}
}
