INSERT INTO out_names
  SELECT name, CAST(SUM(total) AS DECIMAL(10, 2)) AS total FROM users JOIN orders ON users.id = orders.user_id GROUP BY name;
