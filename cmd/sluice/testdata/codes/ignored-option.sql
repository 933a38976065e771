CREATE TABLE t (a INT) WITH (
  'connector' = 'kafka', 'topic' = 't', 'properties.bootstrap.servers' = 'localhost:9092',
  'format' = 'json', 'properties.linger.ms' = '5'
);
INSERT INTO t SELECT 1;
