package main

import (
	"testing"

	"github.com/sluicesql/sluice/internal/cdcbench"
)

func TestQueryText(t *testing.T) {
	q := query{size: cdcbench.Size{Name: "S"}, trust: trusted, bounded: true, output: "out_topic", durable: true}
	const want = `SET 'table.exec.source.cdc-events-duplicate' = 'false';
SET 'execution.checkpointing.interval' = '1 s';
CREATE TABLE users (id INT, firstname STRING, lastname STRING, PRIMARY KEY (id) NOT ENFORCED) WITH (
  'connector' = 'kafka',
  'topic' = 'users_S',
  'properties.bootstrap.servers' = '${KAFKA_BROKERS}',
  'properties.group.id' = 'bench',
  'scan.startup.mode' = 'earliest-offset',
  'format' = 'debezium-json',
  'scan.bounded.mode' = 'latest-offset');
CREATE TABLE domains (id INT, user_id INT, domain_name STRING, PRIMARY KEY (id) NOT ENFORCED) WITH (
  'connector' = 'kafka',
  'topic' = 'domains_S',
  'properties.bootstrap.servers' = '${KAFKA_BROKERS}',
  'properties.group.id' = 'bench',
  'scan.startup.mode' = 'earliest-offset',
  'format' = 'debezium-json',
  'scan.bounded.mode' = 'latest-offset');
CREATE TABLE joined (id INT, firstname STRING, lastname STRING, domain_name STRING) WITH (
  'connector' = 'kafka',
  'topic' = 'out_topic',
  'properties.bootstrap.servers' = '${KAFKA_BROKERS}',
  'format' = 'debezium-json');
INSERT INTO joined SELECT users.id, firstname, lastname, domain_name
  FROM users JOIN domains ON users.id = domains.user_id;
`
	if got := q.text(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
