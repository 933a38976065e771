package main

import (
	"strings"
	"testing"
)

// What SHOW CREATE TABLE prints can be handed on: it has no values of secret options, declared one by one or
// members of properties.* alike.
func TestShowCreateTableHidesSecrets(t *testing.T) {
	for _, name := range []string{
		"properties.sasl.jaas.config", "properties.ssl.keystore.key", "properties.ssl.keystore.password", "properties.ssl.truststore.password",
	} {
		o := sluice(t, t.TempDir(), "CREATE TABLE t (a INT) WITH ('connector' = 'kafka', 'topic' = 't', 'properties.bootstrap.servers' = 'k:1', 'format' = 'json', '"+
			name+"' = 'm required password=\"HIDE\";'); SHOW CREATE TABLE t;", "run", "-").succeeded(t)
		if strings.Contains(o.stdout+o.stderr, "HIDE") || !strings.Contains(o.stdout, "'"+name+"' = '******'") {
			t.Errorf("%s: got\n%s\n%s", name, o.stdout, o.stderr)
		}
	}
}
