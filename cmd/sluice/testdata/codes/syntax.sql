SELECT id, FROM users;
