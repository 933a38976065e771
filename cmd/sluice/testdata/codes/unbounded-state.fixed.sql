SELECT name, n FROM users JOIN (SELECT user_id, COUNT(*) AS n FROM clicks GROUP BY user_id) AS c ON users.id = c.user_id;
