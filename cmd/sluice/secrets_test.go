package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// secretShapes are options as they are written, with HIDE in their secrets, in each shape that a secret has.
var secretShapes = map[string]string{
	"jaas":        `'properties.sasl.jaas.config' = 'm required password="HIDE";'`,
	"key":         "'properties.ssl.keystore.key' = 'HIDE'",
	"key_store":   "'properties.ssl.keystore.password' = 'HIDE'",
	"trust_store": "'properties.ssl.truststore.password' = 'HIDE'",

	"address":            "'properties.client.id' = 'https://user:HIDE@host:1/path'",
	"odd_address":        "'properties.client.id' = 'https://me@corp:HIDE@/HI%40DE ''HIDE?HIDE@host'",
	"long_address":       "'properties.client.id' = 'https://user:" + strings.Repeat("HIDE", 60) + "@host'",
	"address_over_lines": "'properties.client.id' = '\nhttps://user:HIDE\nHIDE@host\n'",
	"several_addresses":  "'properties.client.id' = 'http://a:HIDE@h1:1,http://b:HIDE@h2:2'",
	"no_scheme":          "'properties.client.id' = 'user:HIDE@host:1'",
	"parameter":          "'properties.client.id' = 'postgres://host/db?user=u&sslpassword=HIDE&x=y'",
	"parameter_of_jdbc":  "'properties.client.id' = 'jdbc:sqlserver://host;user=u;password=HIDE;x=y'",
	"jaas_by_other_name": `'properties.client.id' = 'm required username="u" password="HIDE";'`,
	"jaas_over_lines":    "'properties.client.id' = 'm required\n username=\"u\"\n password=\"HIDE\nHIDE\";'",
	"connection_string":  "'properties.client.id' = 'host=h user=u password=''HIDE it\\''s'' dbname=d'",
	"json":               `'properties.client.id' = '{"user": "u", "password": "HIDE"}'`,
	"key_by_other_name":  "'properties.ssl.keystore.certificate.chain' = '-----BEGIN PRIVATE KEY-----\nHIDE\n-----END PRIVATE KEY-----\n'",
}

// shaped is a statement that makes a table with an option.
func shaped(name, option string) string {
	return "CREATE TABLE " + name + " (a STRING) WITH ('connector' = 'kafka', 'format' = 'json', 'topic' = 't', 'properties.bootstrap.servers' = '127.0.0.1:1', " +
		"'properties.request.timeout.ms' = '500', 'scan.startup.mode' = 'earliest-offset',\n " + option + ");\n"
}

// What SHOW CREATE prints can be handed on: it has no secrets, and is SQL still.
func TestShowCreateTableHidesSecrets(t *testing.T) {
	for shape, option := range secretShapes {
		t.Run(shape, func(t *testing.T) {
			t.Parallel()
			view := shaped("u", "'properties.group.id' = 'g'") + "CREATE VIEW v AS SELECT a FROM u /*+ OPTIONS(" + option + ") */;\nSHOW CREATE VIEW v;\n"
			if strings.HasPrefix(shape, "jaas") || shape == "key_by_other_name" || shape == "key" {
				view = "" // the hint is refused
			}
			o := sluice(t, t.TempDir(), shaped("t", option)+"SHOW CREATE TABLE t;\n"+view, "run", "-").succeeded(t)
			if strings.Contains(o.stdout+o.stderr, "HIDE") || !strings.Contains(o.stdout, "******") {
				t.Errorf("got\n%s\n%s", o.stdout, o.stderr)
			}
			sluice(t, t.TempDir(), strings.Replace(o.stdout, "\nCREATE", ";\nCREATE", 1), "fmt", "-").succeeded(t)
		})
	}
}

// No error in any format shows a secret of the SQL, whatever is wrong with the statement or with the secret itself.
func TestErrorsHideSecrets(t *testing.T) {
	const jaas, login = "properties.sasl.jaas.config", "'properties.security.protocol' = 'SASL_PLAINTEXT', 'properties.sasl.mechanism' = 'PLAIN', "
	options := map[string]string{
		"bad_JAAS":       login + "'" + jaas + "' = 'HIDE HIDE HIDE'",
		"no_user":        login + "'" + jaas + "' = 'm required password=\"HIDE\";'",
		"no_broker":      login + "'" + jaas + "' = 'm required username=\"u\" password=\"HIDE\";'",
		"token":          strings.Replace(login, "PLAIN'", "OAUTHBEARER'", 1) + "'" + jaas + "' = 'm required token=\"HIDE\";'",
		"key_password":   "'properties.ssl.key.password' = 'HIDE'",
		"key":            "'properties.security.protocol' = 'SSL', 'properties.ssl.keystore.certificate.chain' = 'x', 'properties.ssl.keystore.key' = 'HIDE'",
		"misspelt":       "'properties.sasl.jas.password' = 'HIDE'",
		"long":           "'" + jaas + "' '" + strings.Repeat("HIDE", 40) + "'",
		"name_unquoted":  jaas + " = 'HIDE'",
		"value_unquoted": "'" + jaas + "' = HIDE",
		"double_quotes":  "\"" + jaas + "\" = \"HIDE\"",
		"bootstrap":      "'topic-pattern' = 'x', 'properties.bootstrap.servers' = 'u:HIDE@127.0.0.1:1'",
	}
	files := map[string]string{}
	for name, option := range options {
		files[name] = shaped("t", option) + "SELECT * FROM t;"
	}
	files["bootstrap"] = strings.Replace(files["bootstrap"], "'topic' = 't', 'properties.bootstrap.servers' = '127.0.0.1:1', ", "", 1)
	for shape, option := range secretShapes {
		key, value, _ := strings.Cut(option, " = ")
		wrong := map[string]string{
			"unknown_option": option + ", 'nope' = 'x'", "comment": key + " /* it */ = " + value + ", 'nope' = 'x'",
			"no_equals_sign": key + " " + value, "arrow": key + " => " + value, "no_comma": option + " 'x'",
		}
		if key == "'properties.client.id'" { // whose values are secrets wherever they stand
			for _, other := range []string{"scan.parallelism", "scan.bounded.mode", "value.format"} {
				wrong[other] = "'" + other + "' = " + value
			}
			files[shape+"-session"] = "SET 'parallelism.default' = " + value + ";"
		}
		for mistake, option := range wrong {
			files[shape+"-"+mistake] = shaped("t", option) + "SELECT * FROM t;"
		}
		files[shape+"-hint"] = shaped("t", "'properties.group.id' = 'g'") + "SELECT * FROM t /*+ OPTIONS(" + option + ", 'nope' = 'x') */;"
	}
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name+".sql"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, format := range []string{"json", "text", "github", "sarif"} {
		o := sluice(t, dir, "", "check", "--format", format, ".")
		if strings.Contains(o.stdout+o.stderr, "HIDE") {
			t.Errorf("check --format %s shows it:\n%s%s", format, o.stdout, o.stderr)
		}
		for name := range files {
			if shape, _, ok := strings.Cut(name, "-"); ok && secretShapes[shape] != "" && !strings.Contains(o.stdout, name+".sql") {
				t.Errorf("check --format %s finds nothing wrong with\n%s", format, files[name])
			}
		}
	}
	for name := range files {
		if shape, mistake, ok := strings.Cut(name, "-"); ok && mistake != "hint" && secretShapes[shape] != "" {
			continue // check has shown its message
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, command := range []string{"run", "explain"} {
				o := sluice(t, dir, "", command, name+".sql")
				if command == "run" && o.code == 0 {
					t.Errorf("nothing is wrong with\n%s", files[name])
				}
				if strings.Contains(o.stdout+o.stderr, "HIDE") {
					t.Errorf("%s shows it:\n%s%s", command, o.stdout, o.stderr)
				}
			}
		})
	}
}

// What a running job tells of itself has no passwords either.
func TestRunningJobsHideSecrets(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	sql := "SET 'pipeline.name' = 'https://u:HIDE@h'; CREATE TABLE s (a STRING) WITH ('connector' = 'datagen', 'rows-per-second' = '10'); CREATE TABLE b (a STRING) WITH ('connector' = 'blackhole');\n" +
		"INSERT INTO b SELECT a FROM s /*+ OPTIONS('rows-per-second' = '5') */ WHERE a <> 'postgres://h/db?password=HIDE';"
	p := start(t, sql, "run", "--state-dir", dir, "-")
	seen := waitFor(t, "RUNNING", "status", dir)
	for _, args := range [][]string{{"jobs"}, {"jobs", "--format", "json"}, {"status", "--format", "json", dir}, {"state", "info", dir}, {"state", "info", "--format", "json", dir}} {
		o := sluice(t, t.TempDir(), "", args...).succeeded(t)
		seen += o.stdout + o.stderr
	}
	sluice(t, t.TempDir(), "", "stop", dir).succeeded(t)
	p.end()
	if seen += p.stderr.String(); strings.Contains(seen, "HIDE") || strings.Count(seen, "******") < 8 {
		t.Errorf("got\n%s", seen)
	}
}

// Rows are data: they are shown as they are, wherever they go.
func TestRowsKeepTheirAddresses(t *testing.T) {
	const address = "https://u:SHOW@h?password=SHOW"
	dir := t.TempDir()
	for file, text := range map[string]string{
		"p.sql":  "CREATE TABLE s (a STRING) WITH ('connector' = 'kafka', 'topic' = 's', 'properties.bootstrap.servers' = 'k:1', 'format' = 'json', 'scan.startup.mode' = 'earliest-offset'); CREATE VIEW v AS SELECT a FROM s;",
		"p.test": "test rows\n\npush s\n" + address + "\n\ntable v\n----\n[" + address + "&x]\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const printed = "CREATE TABLE p (a STRING) WITH ('connector' = 'print', 'standard-error' = 'true'); INSERT INTO p VALUES ('" + address + "');"
	for _, c := range []struct {
		want   int
		stdin  string
		args   []string
		stderr bool
	}{
		{1, "", []string{"sql", "-e", "VALUES ('" + address + "');"}, false},
		{1, "VALUES ('" + address + "');", []string{"run", "-"}, false},
		{1, printed, []string{"run", "-"}, true},
		{1, printed, []string{"sql", "-"}, true},
		{2, "", []string{"test", "p.test"}, false},
	} {
		o := sluice(t, dir, c.stdin, c.args...)
		out := o.stdout
		if c.stderr {
			out = o.stderr
		}
		if strings.Count(out, address) != c.want {
			t.Errorf("%v: got\n%s\n%s", c.args, o.stdout, o.stderr)
		}
	}
}
