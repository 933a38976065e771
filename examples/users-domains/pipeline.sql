-- Which domains belong to which user: the join of two tables that Debezium captures into Kafka, kept up to
-- date by every insert, update and delete.

CREATE TABLE users (
  id        INT NOT NULL,
  firstname STRING,
  lastname  STRING,
  PRIMARY KEY (id) NOT ENFORCED
) WITH (
  'connector' = 'kafka',
  'topic' = '${TOPIC_PREFIX:-pg.public}.users',
  'properties.bootstrap.servers' = '${KAFKA_BROKERS:-localhost:9092}',
  'properties.group.id' = 'users-domains',
  'scan.startup.mode' = 'earliest-offset',
  'scan.bounded.mode' = 'latest-offset', -- so that the demonstration ends; leave it out to go on for ever
  'format' = 'debezium-json'
);

CREATE TABLE domains (
  id          INT NOT NULL,
  user_id     INT,
  domain_name STRING,
  PRIMARY KEY (id) NOT ENFORCED
) WITH (
  'connector' = 'kafka',
  'topic' = '${TOPIC_PREFIX:-pg.public}.domains',
  'properties.bootstrap.servers' = '${KAFKA_BROKERS:-localhost:9092}',
  'properties.group.id' = 'users-domains',
  'scan.startup.mode' = 'earliest-offset',
  'scan.bounded.mode' = 'latest-offset',
  'format' = 'debezium-json'
);

CREATE VIEW user_domains AS
SELECT users.id AS user_id, firstname, lastname, domain_name
FROM users
JOIN domains ON users.id = domains.user_id;

-- The changes, a line each. Epochs are as small as can be here, so that one sees them come: all these records
-- would fit into one epoch, which shows only what is different after it.
SET 'sluice.epoch.max-rows' = '1';
SELECT * FROM user_domains;

-- The rows that are left at the end.
RESET 'sluice.epoch.max-rows';
SET 'sql-client.execution.result-mode' = 'table';
SELECT * FROM user_domains;
