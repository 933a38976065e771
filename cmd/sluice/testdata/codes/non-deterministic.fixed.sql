INSERT INTO out_log SELECT user_id, MD5(url) AS note FROM clicks;
