SELECT name, url FROM users JOIN clicks ON users.id = clicks.user_id;
