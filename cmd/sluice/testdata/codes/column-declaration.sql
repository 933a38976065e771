CREATE TABLE t (a STRING, b STRING) WITH (
  'connector' = 'kafka', 'topic' = 't', 'properties.bootstrap.servers' = 'localhost:9092',
  'format' = 'raw', 'scan.startup.mode' = 'earliest-offset'
);
SELECT a FROM t;
