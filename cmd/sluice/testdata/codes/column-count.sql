INSERT INTO out_names SELECT name FROM users;
