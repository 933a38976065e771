CREATE TABLE t (a INT) WITH (
  'connector' = 'kafka', 'topic' = 't', 'properties.bootstrap.servers' = 'localhost:9092',
  'format' = 'raw', 'scan.startup.mode' = 'earliest-offset'
);
SELECT a FROM t;
