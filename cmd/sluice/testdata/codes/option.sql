CREATE TABLE t (a INT) WITH (
  'connector' = 'kafka', 'topic' = 't', 'topic-pattern' = 't.*', 'properties.bootstrap.servers' = 'localhost:9092',
  'format' = 'json', 'scan.startup.mode' = 'earliest-offset'
);
SELECT a FROM t;
