CREATE TABLE t (a INT) WITH ('topic' = 't', 'format' = 'json');
