-- Which domains belong to which user: the join of two tables that Debezium captures into Kafka, kept up to date by
-- every insert, update and delete.

CREATE TABLE users (
  id        INT NOT NULL,
  firstname STRING,
  lastname  STRING,
  PRIMARY KEY (id) NOT ENFORCED
) WITH (
  'connector' = 'kafka',
  'topic' = 'shop.public.users',
  'properties.bootstrap.servers' = '${KAFKA_BROKERS}',
  'properties.group.id' = 'PIPELINE',
  'scan.startup.mode' = 'earliest-offset',
  'scan.bounded.mode' = '${BOUNDED:-unbounded}',
  'format' = 'debezium-json'
);

CREATE TABLE domains (
  id          INT NOT NULL,
  user_id     INT,
  domain_name STRING,
  PRIMARY KEY (id) NOT ENFORCED
) WITH (
  'connector' = 'kafka',
  'topic' = 'shop.public.domains',
  'properties.bootstrap.servers' = '${KAFKA_BROKERS}',
  'properties.group.id' = 'PIPELINE',
  'scan.startup.mode' = 'earliest-offset',
  'scan.bounded.mode' = '${BOUNDED:-unbounded}',
  'format' = 'debezium-json'
);

CREATE VIEW joined AS
SELECT users.id AS user_id, firstname, lastname, domain_name
FROM users
JOIN domains ON users.id = domains.user_id;

-- The result goes to the console. For one that others read, make this a table with the connector upsert-kafka.
CREATE TABLE user_domains (
  user_id     INT,
  firstname   STRING,
  lastname    STRING,
  domain_name STRING
) WITH (
  'connector' = 'print'
);

INSERT INTO user_domains SELECT * FROM joined;
