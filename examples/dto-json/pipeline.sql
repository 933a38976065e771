-- A table whose column json_c holds documents: their fields become columns, and the latest version of each
-- document is kept, from the raw events in two ways and from the changing table.

-- Every event as a row: an append-only stream of versions, also of deleted rows.
CREATE TABLE events (
  `before`  ROW<id BIGINT, json_c STRING>,
  `after`   ROW<id BIGINT, json_c STRING>,
  op        STRING,
  source    ROW<`txId` BIGINT>,
  position_ BIGINT METADATA FROM 'offset' VIRTUAL
) WITH (
  'connector' = 'kafka',
  'topic' = '${TOPIC_PREFIX:-pg.public}.dto',
  'properties.bootstrap.servers' = '${KAFKA_BROKERS:-localhost:9092}',
  'scan.startup.mode' = 'earliest-offset',
  'scan.bounded.mode' = 'latest-offset', -- so that the demonstration ends; leave it out to go on for ever
  'format' = 'json'
);

-- The same topic as a changing table: one row for each id, with the transaction that wrote it.
CREATE TABLE documents (
  id         BIGINT NOT NULL,
  json_c     STRING,
  properties MAP<STRING, STRING> METADATA FROM 'value.source.properties' VIRTUAL,
  position_  BIGINT METADATA FROM 'offset' VIRTUAL,
  PRIMARY KEY (id) NOT ENFORCED
) WITH (
  'connector' = 'kafka',
  'topic' = '${TOPIC_PREFIX:-pg.public}.dto',
  'properties.bootstrap.servers' = '${KAFKA_BROKERS:-localhost:9092}',
  'scan.startup.mode' = 'earliest-offset',
  'scan.bounded.mode' = 'latest-offset',
  'format' = 'debezium-json'
);

CREATE VIEW versions AS
SELECT COALESCE(`after`.id, `before`.id) AS id, `after`.json_c AS json_c, op, source.`txId` AS tx_id, position_
FROM events
WHERE op IS NOT NULL;

-- The latest version by the greatest transaction id: two rows where a transaction changed a document twice.
CREATE VIEW latest_by_transaction AS
SELECT v.id, v.json_c, v.op, v.tx_id
FROM versions v
JOIN (SELECT id, MAX(tx_id) AS tx_id FROM versions GROUP BY id) m ON v.id = m.id AND v.tx_id = m.tx_id;

-- The latest version by transaction id and then by place in the topic: always one row.
CREATE VIEW latest AS
SELECT id, json_c, op, tx_id
FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY id ORDER BY tx_id DESC, position_ DESC) AS row_num
  FROM versions
)
WHERE row_num = 1;

-- Over the changing table both ways say the same: it holds one version of each document.
CREATE VIEW stored AS
SELECT id, json_c, CAST(properties['txId'] AS BIGINT) AS tx_id, position_ FROM documents;

CREATE VIEW stored_by_transaction AS
SELECT s.id, s.json_c, s.tx_id
FROM stored s
JOIN (SELECT id, MAX(tx_id) AS tx_id FROM stored GROUP BY id) m ON s.id = m.id AND s.tx_id = m.tx_id;

CREATE VIEW stored_latest AS
SELECT id, json_c, tx_id
FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY id ORDER BY tx_id DESC, position_ DESC) AS row_num
  FROM stored
)
WHERE row_num = 1;

-- What is a document has fields; what is none has NULLs.
CREATE VIEW dto AS
SELECT id, JSON_VALUE(json_c, '$.id_c') AS id_c, JSON_VALUE(json_c, '$.int_c' RETURNING BIGINT) AS int_c
FROM latest
WHERE op <> 'd';

SELECT a.id_c, b.int_c + a.int_c AS int_c
FROM dto a
LEFT JOIN dto b ON a.id_c = b.id_c
WHERE a.int_c > 0;
