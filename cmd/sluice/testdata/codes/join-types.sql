SELECT name, id_text FROM users JOIN (SELECT CAST(user_id AS DECIMAL(20, 0)) AS id_text FROM orders) AS o ON users.id = o.id_text;
