SELECT COUNT(*) AS n FROM orders GROUP BY CUBE (id, user_id, total, id + 1, id + 2, id + 3, id + 4, id + 5, id + 6, id + 7);
