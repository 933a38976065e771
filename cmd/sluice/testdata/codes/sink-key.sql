SET 'table.exec.sink.upsert-materialize' = 'NONE';
INSERT INTO out_names SELECT name, total FROM users JOIN orders ON users.id = orders.user_id;
