SELECT u.name, w.name AS other FROM users u CROSS JOIN users w;
