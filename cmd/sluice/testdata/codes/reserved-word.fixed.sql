SELECT id AS `value` FROM users;
