SELECT UPPR(name) AS name FROM users;
