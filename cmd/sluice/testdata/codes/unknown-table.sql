SELECT id FROM usrs;
