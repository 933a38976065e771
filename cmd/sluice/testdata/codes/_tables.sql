CREATE TABLE users (id BIGINT, name STRING, PRIMARY KEY (id) NOT ENFORCED) WITH (
  'connector' = 'kafka', 'topic' = 'users', 'properties.bootstrap.servers' = 'localhost:9092',
  'format' = 'debezium-json', 'scan.startup.mode' = 'earliest-offset'
);
CREATE TABLE orders (id BIGINT, user_id BIGINT, total DECIMAL(10, 2), PRIMARY KEY (id) NOT ENFORCED) WITH (
  'connector' = 'kafka', 'topic' = 'orders', 'properties.bootstrap.servers' = 'localhost:9092',
  'format' = 'debezium-json', 'scan.startup.mode' = 'earliest-offset'
);
CREATE TABLE clicks (user_id BIGINT, url STRING) WITH (
  'connector' = 'kafka', 'topic' = 'clicks', 'properties.bootstrap.servers' = 'localhost:9092',
  'format' = 'json', 'scan.startup.mode' = 'earliest-offset'
);
CREATE TABLE out_log (id BIGINT, note STRING) WITH (
  'connector' = 'kafka', 'topic' = 'log', 'properties.bootstrap.servers' = 'localhost:9092', 'format' = 'json'
);
CREATE TABLE out_names (name STRING, total DECIMAL(10, 2), PRIMARY KEY (name) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = 'names', 'properties.bootstrap.servers' = 'localhost:9092',
  'key.format' = 'json', 'value.format' = 'json'
);
