SELECT id FROM users WHERE id = name;
