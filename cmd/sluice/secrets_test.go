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

// No error in any format shows a secret of the SQL, whatever is wrong with the statement or with the secret itself.
func TestErrorsHideSecrets(t *testing.T) {
	const jaas, login = "properties.sasl.jaas.config", "'properties.security.protocol' = 'SASL_PLAINTEXT', 'properties.sasl.mechanism' = 'PLAIN', "
	for name, option := range map[string]string{
		"unknown option":    "'" + jaas + "' = 'm required username=\"u\" password=\"HIDE\";', 'nope' = 'x'",
		"bad JAAS":          login + "'" + jaas + "' = 'HIDE HIDE HIDE'",
		"no user":           login + "'" + jaas + "' = 'm required password=\"HIDE\";'",
		"no broker":         login + "'" + jaas + "' = 'm required username=\"u\" password=\"HIDE\";'",
		"token":             strings.Replace(login, "PLAIN'", "OAUTHBEARER'", 1) + "'" + jaas + "' = 'm required token=\"HIDE\";'",
		"key password":      "'properties.ssl.key.password' = 'HIDE'",
		"key":               "'properties.security.protocol' = 'SSL', 'properties.ssl.keystore.certificate.chain' = 'x', 'properties.ssl.keystore.key' = 'HIDE'",
		"misspelt":          "'properties.sasl.jas.password' = 'HIDE'",
		"no equals sign":    "'" + jaas + "' 'm required password=\"HIDE\";'",
		"long":              "'" + jaas + "' '" + strings.Repeat("HIDE", 40) + "'",
		"arrow":             "'" + jaas + "' => 'HIDE'",
		"comment":           "'" + jaas + "' /* it */ = 'HIDE', 'nope' = 'x'",
		"name unquoted":     jaas + " = 'HIDE'",
		"value unquoted":    "'" + jaas + "' = HIDE",
		"double quotes":     "\"" + jaas + "\" = \"HIDE\"",
		"address":           "'properties.client.id' = 'http://u:HIDE@h/', 'nope' = 'x'",
		"bootstrap address": "'topic-pattern' = 'x', 'properties.bootstrap.servers' = 'u:HIDE@127.0.0.1:1'",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name != "bootstrap address" {
				option = "'topic' = 't', 'properties.bootstrap.servers' = '127.0.0.1:1', 'properties.request.timeout.ms' = '500', " + option
			}
			sql := "CREATE TABLE t (a INT) WITH ('connector' = 'kafka', 'format' = 'json', 'scan.startup.mode' = 'earliest-offset',\n " + option + ");\nSELECT * FROM t;"
			for _, args := range [][]string{{"run", "-"}, {"explain", "-"}, {"check", "-"}, {"check", "--format", "json", "-"}, {"check", "--format", "github", "-"}, {"check", "--format", "sarif", "-"}} {
				o := sluice(t, t.TempDir(), sql, args...)
				if args[0] == "run" && o.code == 0 {
					t.Errorf("nothing is wrong with\n%s", sql)
				}
				if strings.Contains(o.stdout+o.stderr, "HIDE") {
					t.Errorf("%v shows it:\n%s%s", args, o.stdout, o.stderr)
				}
			}
		})
	}
}
