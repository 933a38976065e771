SELECT name, user_id FROM users JOIN orders ON users.id = orders.user_id;
