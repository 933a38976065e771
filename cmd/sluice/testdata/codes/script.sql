SELECT id FROM users;
SELECT id FROM orders;
