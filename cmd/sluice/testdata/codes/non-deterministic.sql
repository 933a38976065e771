INSERT INTO out_log SELECT user_id, UUID() AS note FROM clicks;
