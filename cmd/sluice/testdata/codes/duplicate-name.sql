CREATE VIEW users AS SELECT id FROM orders;
