INSERT INTO out_log SELECT id, name FROM users;
