CREATE VIEW rich AS SELECT user_id FROM orders WHERE total > 1000;
SELECT user_id FROM rich;
