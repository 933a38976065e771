SELECT nam FROM users;
