CREATE TABLE t (a INT) WITH ('connector' = 'print');
SELECT a FROM t;
