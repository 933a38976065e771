SELECT user_id FROM orders WHERE SUM(total) > 100 GROUP BY user_id;
