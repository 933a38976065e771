-- Debezium's envelopes as they are: a stream of events, whose fields are columns.
CREATE TABLE events (
  `before` ROW<id INT, firstname STRING, lastname STRING>,
  op       STRING,
  `after`  ROW<id INT, firstname STRING, lastname STRING>
) WITH (
  'connector' = 'kafka',
  'topic' = 'pg.public.users',
  'properties.bootstrap.servers' = '${KAFKA_BROKERS}',
  'scan.startup.mode' = 'earliest-offset',
  'scan.bounded.mode' = 'latest-offset',
  'format' = 'json'
);

-- The same topic as the table that it captures.
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

CREATE VIEW deleted AS
SELECT `before`.id AS id, `before`.firstname AS firstname FROM events WHERE op = 'd';

CREATE VIEW operations AS
SELECT op, COUNT(*) AS events FROM events WHERE op IS NOT NULL GROUP BY op;

CREATE TABLE operations_out (op STRING, events BIGINT) WITH ('connector' = 'print');
INSERT INTO operations_out SELECT * FROM operations;
