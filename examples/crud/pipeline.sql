CREATE TABLE users (
  id        INT NOT NULL,
  firstname STRING,
  lastname  STRING,
  PRIMARY KEY (id) NOT ENFORCED
) WITH (
  'connector' = 'kafka',
  'topic' = 'pg.public.users',
  'properties.bootstrap.servers' = '${KAFKA_BROKERS}',
  'scan.startup.mode' = 'earliest-offset',
  'scan.bounded.mode' = 'latest-offset',
  'format' = 'debezium-json'
);

CREATE TABLE domains (
  id          INT NOT NULL,
  user_id     INT,
  domain_name STRING,
  PRIMARY KEY (id) NOT ENFORCED
) WITH (
  'connector' = 'kafka',
  'topic' = 'pg.public.domains',
  'properties.bootstrap.servers' = '${KAFKA_BROKERS}',
  'scan.startup.mode' = 'earliest-offset',
  'scan.bounded.mode' = 'latest-offset',
  'format' = 'debezium-json'
);

-- The latest row of each domain, as a topic that holds one record for a key; a row that is gone is a null.
CREATE TABLE user_domains (
  domain_id   INT NOT NULL,
  user_id     INT,
  firstname   STRING,
  lastname    STRING,
  domain_name STRING,
  PRIMARY KEY (domain_id) NOT ENFORCED
) WITH (
  'connector' = 'upsert-kafka',
  'topic' = 'user-domains',
  'properties.bootstrap.servers' = '${KAFKA_BROKERS}',
  'key.format' = 'json',
  'value.format' = 'json'
);

INSERT INTO user_domains
SELECT d.id, u.id, firstname, lastname, domain_name
FROM users u JOIN domains d ON u.id = d.user_id;
