SELECT id FROM users WHERE name;
