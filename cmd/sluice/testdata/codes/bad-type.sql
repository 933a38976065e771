CREATE TABLE t (a DECIMAL(50, 2)) WITH ('connector' = 'print');
