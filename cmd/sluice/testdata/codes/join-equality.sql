SELECT name, total FROM users JOIN orders ON users.id < orders.user_id;
