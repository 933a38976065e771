package infer

// unknowable are the columns that are not read as the database has them, with the reason. Every one is read without an
// error all the same.
var unknowable = []exception{
	// What Debezium loses, so that nothing in the topic tells it.
	{"*/alter_table", "a", "renamed w", "the last records of rows that exist keep their old columns when a column is renamed or added"},
	{"postgres/resnapshot", "a", "id v", "a second snapshot tells nothing of rows that are gone"},
	{"postgres/truncate.skipped", "a", "id v", "a TRUNCATE that is skipped leaves no trace"},
	{"postgres/truncate.skipped", "b", "id v", "a TRUNCATE that is skipped leaves no trace"},
	{"postgres/unwrap.drop", "users", "id firstname lastname", "no delete reaches the topic"},
	{"postgres/unwrap.drop", "domains", "id user_id domain_name", "no delete reaches the topic"},
	{"*/null_default", "d", "n t b ts", "NULL comes as the default"},
	{"postgres/null_default", "d", "now", "NULL comes as the default"},
	{"*/types_num.*", "t_num", "c_dflt", "NULL comes as the default"},
	{"postgres/types_num.precise postgres/types_num.precise.schema postgres/types_num.converter_numeric", "t_num", "c_num", "a numeric without a scale loses the zeros at its end"},
	{"postgres/types_text postgres/types_text.schema", "t_text", "c_name", "the type name is null when streamed"},
	{"mariadb/types_text mariadb/types_text.schema", "t_text", "c_enum", "an enum's comma is escaped when streamed"},
	{"postgres/types_misc*", "t_misc", "c_box c_circle c_composite c_generated c_enuma", "left out, or null"},
	{"postgres/types_numeric_special.*", "t_numeric_special", "c_num", "NaN and infinities come as null, or as words"},
	{"postgres/types_numeric_special_fixed.*", "t_numeric_special", "c_num_10_2", "NaN and infinities come as null, or as words"},
	{"postgres/types_time.nanoseconds", "t_time", "c_ts c_ts0 c_ts3 c_ts6", "null before 1677 and after 2262"},
	{"mariadb/types_time_zero", "t_time_zero", "c_date c_date_nn c_dt c_dt_nn c_ts c_ts_nn", "zero dates come as null or 1970"},
	{"postgres/types_time.*", "t_time", "c_timetz c_timetz3", "moved to UTC"},
	{"mariadb/types_num.*", "t_num", "c_year", "the year 0 comes as 1900"},
	{"postgres/toast.default", "t", "big bin js ta ia", "a key change loses what was not sent"},
	{"postgres/types_bin.*", "t_bin", "c_varbit", "the length of a varying bit string is lost"},
	{"postgres/types_numeric_negative_scale.*", "t_negscale", "c_num", "the scale -2 comes as 2046"},

	// What a topic without schemas does not tell: doubts in the statement.
	{"postgres/types_num.precise", "t_num", "c_num_5_0 c_num_10_2 c_num_38_10 c_money", "the scale is in no message"},
	{"mariadb/types_num.precise mariadb/types_num.bigint_unsigned_precise", "t_num", "c_dec c_dec_10_2 c_dec_38_10 c_udec", "the scale is in no message"},
	{"*/null_default*", "d", "num", "the scale is in no message"},
	{"postgres/not_null.full", "n", "num by", "the scale is in no message; base64 of few bytes may be a number"},
	{"postgres/types_misc postgres/types_misc.hstore_map postgres/types_misc.unknown", "t_misc", "c_numa", "the scale is in no message"},
	{"postgres/types_misc postgres/types_misc.hstore_map postgres/types_misc.unknown", "t_misc", "c_datea c_tsa", "no name says that the numbers are times"},
	{"postgres/not_null.full", "n", "d", "no name says that the numbers are days"},
	{"postgres/keys", "keytypes", "u t n d v", "the key has a date and a number of unknown scale"},
	{"postgres/types_bin.hex postgres/types_bin.base64-url-safe", "t_bin", "c_bytea", "nothing says that the strings are bytes"},
	{"mariadb/types_bin.hex", "t_bin", "c_binary c_varbinary c_blob c_longblob", "nothing says that the strings are bytes"},
	{"mariadb/types_bin.bytes mariadb/types_bin.base64", "t_bin", "c_binary", "base64 of few bytes may be a number"},
	{"postgres/types_bin.bytes postgres/types_bin.base64 postgres/types_bin.base64-url-safe postgres/types_bin.hex", "t_bin", "c_bit8 c_bit12 c_bit64", "nothing says that the bytes are bits"},
	{"mariadb/types_num.*", "t_num", "c_ubigint", "the upper half of BIGINT UNSIGNED is negative, or base64"},

	// What no type holds, and so is declared as a wider one.
	{"postgres/types_time.*", "t_time", "c_time c_time0 c_time3 c_time6", "24:00"},
	{"mariadb/types_time.*", "t_time", "c_time c_time3 c_time6", "times beyond a day"},
	{"postgres/types_time_extreme.*", "t_time_extreme", "c_date c_ts c_ts3 c_tstz", "infinite times, and years beyond those of TIMESTAMP"},

	// What is the same, and shown in another way by the database.
	{"postgres/types_num.*", "t_num", "c_real", "a REAL in decimal digits is a DOUBLE, which shows one more"},
	{"mariadb/types_num.*", "t_num", "c_float c_float_7_2", "a FLOAT has more digits than MariaDB shows"},
	{"mariadb/types_num.*", "t_num", "c_bit8 c_bit64", "bits as BIGINT or base64, and in binary digits by the database"},
	{"postgres/types_num.string", "t_num", "c_money", "the database shows a currency"},
	{"postgres/types_time.*", "t_time", "c_interval", "microseconds, or in words of ISO 8601"},
	{"postgres/types_misc*", "t_misc", "c_point c_hstore c_json c_jsonb", "a ROW, MAP or JSON text of the same content"},
	{"mariadb/types_geo", "t_geo", "c_point c_geom", "a ROW, where the database shows text"},
}
