package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The option that the error of an unreadable message names can be set as it stands there, and then helps:
// wherever the message lies, and however the table names its formats.
func TestNamedRemediesWork(t *testing.T) {
	named := regexp.MustCompile(`'([a-z.-]+)' = '(true|false)'`)
	const kafka = `'connector' = 'kafka', 'scan.startup.mode' = 'earliest-offset'`
	for name, c := range map[string]struct{ key, value, columns, options string }{
		"format":            {`"k"`, `"{\"a\":\"x\"}"`, "a INT", kafka + `, 'format' = 'json'`},
		"value.format":      {`"k"`, `"{\"a\":\"x\"}"`, "a INT", kafka + `, 'value.format' = 'json'`},
		"missing field":     {`"k"`, `"{}"`, "a INT", kafka + `, 'value.format' = 'json', 'value.json.fail-on-missing-field' = 'true'`},
		"debezium":          {`"k"`, `"{}"`, "a INT", kafka + `, 'value.format' = 'debezium-json'`},
		"key":               {`"{\"k\":\"x\"}"`, `"{\"a\":1}"`, "a INT, k INT", kafka + `, 'value.format' = 'json', 'key.format' = 'json', 'key.fields' = 'k', 'value.fields-include' = 'EXCEPT_KEY'`},
		"key beside format": {`"{\"k\":\"x\"}"`, `"{\"a\":1}"`, "a INT, k INT", kafka + `, 'format' = 'json', 'key.format' = 'json', 'key.fields' = 'k', 'value.fields-include' = 'EXCEPT_KEY'`},
		"upsert value":      {`"{\"k\":1}"`, `"{\"a\":\"x\"}"`, "a INT, k INT, PRIMARY KEY (k) NOT ENFORCED", `'connector' = 'upsert-kafka', 'value.format' = 'json', 'key.format' = 'json'`},
		"upsert key":        {`"{\"k\":null}"`, `"{\"a\":1}"`, "a INT, k INT, PRIMARY KEY (k) NOT ENFORCED", `'connector' = 'upsert-kafka', 'value.format' = 'json', 'key.format' = 'json'`},
	} {
		t.Run(name, func(t *testing.T) {
			records := filepath.Join(t.TempDir(), "t.jsonl")
			if err := os.WriteFile(records, []byte(`{"topic": "t", "key": `+c.key+`, "value": `+c.value+"}\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			run := func(more string) outcome {
				return sluice(t, t.TempDir(), "CREATE TABLE t ("+c.columns+") WITH ('topic' = 't', 'properties.bootstrap.servers' = '${KAFKA_BROKERS}', 'scan.bounded.mode' = 'latest-offset', "+
					c.options+more+"); SELECT * FROM t;", "run", "--quiet", "--embed", records, "-")
			}
			o := run("")
			options := named.FindAllStringSubmatch(o.stderr, -1)
			if o.code != 1 || len(options) == 0 {
				t.Fatalf("exit code %d\n%s", o.code, o.stderr)
			}
			m := options[len(options)-1]
			c.options = strings.Replace(c.options, ", '"+m[1]+"' = 'true'", "", 1) // what it asks to take back
			if again := run(", '" + m[1] + "' = '" + m[2] + "'"); again.code != 0 {
				t.Errorf("%s\nbut then: exit code %d\n%s", o.stderr, again.code, again.stderr)
			}
		})
	}
}
