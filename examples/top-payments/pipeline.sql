CREATE TABLE payments (
  id      BIGINT NOT NULL,
  user_id BIGINT,
  amount  BIGINT,
  PRIMARY KEY (id) NOT ENFORCED
) WITH (
  'connector' = 'kafka', 'topic' = 'shop.public.payments', 'properties.bootstrap.servers' = '${KAFKA_BROKERS}',
  'scan.startup.mode' = 'earliest-offset', 'format' = 'debezium-json'
);

CREATE VIEW ranked AS
SELECT user_id, place, id, amount
FROM (
  SELECT user_id, id, amount, ROW_NUMBER() OVER (PARTITION BY user_id ORDER BY amount DESC, id) AS place
  FROM payments
)
WHERE place <= 2;

CREATE TABLE top_payments (
  user_id BIGINT NOT NULL,
  place   BIGINT NOT NULL,
  id      BIGINT,
  amount  BIGINT,
  PRIMARY KEY (user_id, place) NOT ENFORCED
) WITH (
  'connector' = 'upsert-kafka', 'topic' = 'top-payments', 'properties.bootstrap.servers' = '${KAFKA_BROKERS}',
  'key.format' = 'json', 'value.format' = 'json'
);

INSERT INTO top_payments SELECT user_id, place, id, amount FROM ranked;
