package debezium

import "maps"

const (
	usersDDL   = "id INT, firstname STRING, lastname STRING, PRIMARY KEY (id) NOT ENFORCED"
	domainsDDL = "id INT, user_id INT, domain_name STRING, PRIMARY KEY (id) NOT ENFORCED"
	pairDDL    = "id INT, v STRING, PRIMARY KEY (id) NOT ENFORCED"
	numbersDDL = `id INT, c_smallint SMALLINT, c_int INT, c_bigint BIGINT, c_real FLOAT, c_double DOUBLE, c_num_5_0 DECIMAL(5, 0), c_num_10_2 DECIMAL(10, 2),
  c_num_38_10 DECIMAL(38, 10), c_num STRING, c_money DECIMAL(19, 2), c_bool BOOLEAN, c_dflt INT, c_dflt_nn INT, c_oid BIGINT, PRIMARY KEY (id) NOT ENFORCED`
	myNumbersDDL = `id INT, c_tiny TINYINT, c_tiny1 TINYINT, c_bool TINYINT, c_utiny SMALLINT, c_small SMALLINT, c_usmall INT, c_medium INT, c_umedium INT, c_int INT, c_uint BIGINT,
  c_bigint BIGINT, c_ubigint DECIMAL(20, 0), c_double DOUBLE, c_float_7_2 FLOAT, c_dec_10_2 DECIMAL(10, 2), c_dec_38_10 DECIMAL(38, 10), c_dec DECIMAL(10, 0), c_udec DECIMAL(6, 3),
  c_bit1 BOOLEAN, c_year INT, c_zerofill BIGINT, c_dflt INT, c_dflt_nn INT, PRIMARY KEY (id) NOT ENFORCED`
	binDDL  = "id INT, c_bytea BYTES, c_bit1 BOOLEAN, PRIMARY KEY (id) NOT ENFORCED"
	timeDDL = `id INT, c_date DATE, c_time TIME(6), c_time0 TIME(0), c_time3 TIME(3), c_time6 TIME(6), c_ts TIMESTAMP(6), c_ts0 TIMESTAMP(0), c_ts3 TIMESTAMP(3), c_ts6 TIMESTAMP(6),
  c_tstz TIMESTAMP_LTZ(6), c_tstz0 TIMESTAMP_LTZ(0), c_tstz3 TIMESTAMP_LTZ(3), PRIMARY KEY (id) NOT ENFORCED`
	myTimeDDL = `id INT, c_date DATE, c_time TIME(0), c_time3 TIME(3), c_time6 TIME(6), c_dt TIMESTAMP(0), c_dt3 TIMESTAMP(3), c_dt6 TIMESTAMP(6), c_ts TIMESTAMP_LTZ(0), c_ts3 TIMESTAMP_LTZ(3),
  c_ts6 TIMESTAMP_LTZ(6), PRIMARY KEY (id) NOT ENFORCED`
	extremeDDL = "id INT, c_date DATE, c_ts TIMESTAMP(6), c_ts3 TIMESTAMP(3), c_tstz TIMESTAMP_LTZ(6), PRIMARY KEY (id) NOT ENFORCED"
	hardDDL    = "id INT, `user` STRING, `order` INT, `CamelCase` STRING, `with space` STRING, `naïve` STRING, `имя` STRING, `before` STRING, `after` STRING, `op` STRING, `source` STRING, ts_ms BIGINT, " +
		"payload STRING, `schema` STRING, `quo\"te` STRING, `a.b` STRING, `a-b` STRING, `1st` STRING, __deleted STRING, `$ref` STRING, `select` STRING, `back``tick` STRING, PRIMARY KEY (id) NOT ENFORCED"
	textDDL = `id INT, c_char STRING, c_char1 STRING, c_varchar STRING, c_text STRING, c_citext STRING, c_enum STRING, c_domain STRING, c_uuid STRING, c_xml STRING, PRIMARY KEY (id) NOT ENFORCED`
	miscDDL = `id INT, c_json STRING, c_jsonb STRING, c_inta ARRAY<INT>, c_biginta ARRAY<BIGINT>, c_texta ARRAY<STRING>, c_boola ARRAY<BOOLEAN>, c_numa ARRAY<DECIMAL(6, 2)>, c_datea ARRAY<DATE>,
  c_tsa ARRAY<TIMESTAMP(6)>, c_uuida ARRAY<STRING>, c_inet STRING, c_cidr STRING, c_macaddr STRING, c_int4range STRING, c_int8range STRING, c_numrange STRING, c_daterange STRING, c_tsrange STRING,
  c_tstzrange STRING, c_ltree STRING, c_tsvector STRING, PRIMARY KEY (id) NOT ENFORCED`
	specialDDL = "id INT, c_num DECIMAL(10, 2), PRIMARY KEY (id) NOT ENFORCED"
	fixedDDL   = "id INT, c_num_10_2 DECIMAL(10, 2), PRIMARY KEY (id) NOT ENFORCED"
	defaultDDL = "id INT, n INT, t STRING, b BOOLEAN, num DECIMAL(6, 2), ts TIMESTAMP(6), now TIMESTAMP_LTZ(6), plain INT, PRIMARY KEY (id) NOT ENFORCED"
)

// declarations are all tables of the captures. A later one goes before an earlier one.
var declarations = []declared{
	{captures: "*/*", table: "users", columns: usersDDL},
	{captures: "*/*", table: "domains", columns: domainsDDL},
	{captures: "postgres/*", table: "t_num", columns: numbersDDL, reading: stripped},
	{captures: "postgres/types_num.double", table: "t_num", columns: `id INT, c_num_5_0 DECIMAL(5, 0), c_num_10_2 DECIMAL(10, 2), c_num_38_10 DOUBLE, c_num DOUBLE, c_money DOUBLE, PRIMARY KEY (id) NOT ENFORCED`},
	{captures: "postgres/*", table: "t_numeric_special", columns: specialDDL, reading: noNumbers},
	{captures: "postgres/*", table: "t_negscale", columns: "id INT, c_num DECIMAL(10, 0), PRIMARY KEY (id) NOT ENFORCED"},
	{captures: "postgres/*", table: "t_float", columns: "id INT, c_real FLOAT, c_double DOUBLE, PRIMARY KEY (id) NOT ENFORCED"},
	{captures: "postgres/*", table: "t_text", columns: textDDL},
	{captures: "mariadb/*", table: "t_text", columns: "id INT, c_char STRING, c_varchar STRING, c_tinytext STRING, c_text STRING, c_longtext STRING, c_latin1 STRING, c_enum STRING, c_set STRING, c_json STRING, c_ci STRING, PRIMARY KEY (id) NOT ENFORCED", reading: noEnumsEscape},
	{captures: "postgres/*", table: "t_bin", columns: binDDL},
	{captures: "postgres/types_bin.base64-url-safe", table: "t_bin", columns: binDDL, options: "binary-handling-mode=base64-url-safe"},
	{captures: "postgres/types_bin.hex", table: "t_bin", columns: binDDL, options: "binary-handling-mode=hex"},
	{captures: "postgres/types_bin.bytes.schema", table: "t_bin", columns: "id INT, c_bytea BYTES, c_bit1 BOOLEAN, c_bit8 STRING, c_bit12 STRING, c_bit64 DECIMAL(20, 0), PRIMARY KEY (id) NOT ENFORCED"},
	{captures: "mariadb/*", table: "t_bin", columns: "id INT, c_binary BYTES, c_varbinary BYTES, c_blob BYTES, c_longblob BYTES, PRIMARY KEY (id) NOT ENFORCED"},
	{captures: "mariadb/types_bin.hex", table: "t_bin", columns: "id INT, c_binary BYTES, c_varbinary BYTES, c_blob BYTES, c_longblob BYTES, PRIMARY KEY (id) NOT ENFORCED", options: "binary-handling-mode=hex"},
	{captures: "postgres/*", table: "t_time", columns: timeDDL, reading: midnight},
	{captures: "postgres/types_time.adaptive_time_microseconds", table: "t_time", columns: timeDDL, options: "time-precision-mode=adaptive_time_microseconds", reading: midnight},
	{captures: "postgres/types_time.connect", table: "t_time", columns: timeDDL, options: "time-precision-mode=connect", reading: merged(midnight, millis)},
	{captures: "postgres/types_time.microseconds", table: "t_time", columns: timeDDL, options: "time-precision-mode=microseconds", reading: midnight},
	{captures: "postgres/types_time.nanoseconds", table: "t_time", columns: timeDDL, options: "time-precision-mode=nanoseconds", reading: merged(midnight, nanos)},
	{captures: "postgres/types_time.isostring", table: "t_time", columns: timeDDL, options: "time-precision-mode=isostring", reading: map[string]string{"c_time 5": "00:00:00.000000", "c_time0 5": "00:00:00", "c_time3 5": "00:00:00.000", "c_time6 5": "00:00:00.000000"}},
	{captures: "postgres/*", table: "t_time_extreme", columns: extremeDDL, reading: extremes},
	{captures: "postgres/*.connect", table: "t_time_extreme", columns: extremeDDL, options: "time-precision-mode=connect", reading: merged(extremes, map[string]string{"c_ts 8": "error: range"})},
	{captures: "mariadb/*", table: "t_time", columns: myTimeDDL, options: "time-precision-mode=adaptive_time_microseconds", reading: map[string]string{"c_time 3": "error: range", "c_time3 3": "error: range", "c_time6 3": "error: range", "c_time 5": "error: range", "c_time3 5": "error: range", "c_time6 5": "error: range", "c_time 7": "error: range", "c_time3 7": "error: range", "c_time6 7": "error: range"}},
	{captures: "mariadb/*", table: "t_time_zero", columns: "id INT, c_date DATE, c_date_nn DATE, c_dt TIMESTAMP(0), c_dt_nn TIMESTAMP(0), c_ts TIMESTAMP_LTZ(0), c_ts_nn TIMESTAMP_LTZ(0), PRIMARY KEY (id) NOT ENFORCED", reading: map[string]string{"c_date_nn 1": "1970-01-01", "c_dt 1": "NULL", "c_dt_nn 1": "1970-01-01 00:00:00", "c_ts 1": "NULL", "c_ts_nn 1": "1970-01-01 00:00:00", "c_date 2": "NULL", "c_date_nn 2": "1970-01-01", "c_dt 2": "NULL", "c_dt_nn 2": "1970-01-01 00:00:00", "c_date 3": "NULL", "c_date_nn 3": "1970-01-01", "c_dt 3": "NULL", "c_dt_nn 3": "1970-01-01 00:00:00", "c_ts 3": "NULL", "c_ts_nn 3": "1970-01-01 00:00:00", "c_date 4": "NULL", "c_date_nn 4": "1970-01-01", "c_dt 4": "NULL", "c_dt_nn 4": "1970-01-01 00:00:00"}},
	{captures: "mariadb/*", table: "t_geo", columns: "id INT, v INT, PRIMARY KEY (id) NOT ENFORCED"},
	{captures: "mariadb/*", table: "t_num", columns: myNumbersDDL, options: "bigint-unsigned-handling-mode=long", reading: map[string]string{"c_dflt 4": "42", "c_dflt 5": "42", "c_year 5": "1900"}},
	{captures: "mariadb/types_num.string", table: "t_num", columns: myNumbersDDL, options: "bigint-unsigned-handling-mode=long decimal-handling-mode=string", reading: map[string]string{"c_dflt 4": "42", "c_dflt 5": "42", "c_year 5": "1900"}},
	{captures: "postgres/*", table: "t_misc", columns: miscDDL, reading: jsonNull},
	{captures: "*/null_default.not_replaced", table: "d", columns: defaultDDL},
	{captures: "*/*", table: "n", columns: "id INT, i INT, b BIGINT, t STRING, f DOUBLE, bo BOOLEAN, num DECIMAL(6, 2), `by` BYTES, d DATE, ts TIMESTAMP(6), tz TIMESTAMP_LTZ(6), u STRING, j STRING, a ARRAY<STRING>, dflt INT, nullable INT, PRIMARY KEY (id) NOT ENFORCED"},
	{captures: "*/messages", table: "a", columns: pairDDL},
	{captures: "*/heartbeat", table: "a", columns: pairDDL},
	{captures: "*/restart", table: "a", columns: pairDDL},
	{captures: "*/resnapshot", table: "a", columns: pairDDL, rows: []string{"1, one!", "3, after the restart", "6, six", "9, while down"}},
	{captures: "*/alter_table", table: "a", columns: "id INT, renamed STRING, added STRING, w STRING, PRIMARY KEY (id) NOT ENFORCED", reading: map[string]string{"renamed 1": "NULL", "renamed 2": "NULL", "renamed 5": "NULL", "renamed 6": "NULL", "w 1": "10", "w 5": "50"}},
	{captures: "*/toast*", table: "t", columns: "id INT, v INT, big STRING, bin BYTES, js STRING, ta ARRAY<STRING>, ia ARRAY<INT>, small STRING, PRIMARY KEY (id) NOT ENFORCED", alone: []string{"js"}, reading: map[string]string{"big 2": "error: unavailable", "bin 2": "error: unavailable", "ta 2": "error: unavailable", "ia 2": "error: unavailable"}},
	{captures: "*/hard_names", table: "hard", columns: hardDDL},
	{captures: "*/hard_names", table: "order", columns: pairDDL},
	{captures: "*/hard_names", table: "таблица", columns: pairDDL},
	{captures: "*/hard_names", table: "Order Lines", columns: "`Order Id` INT, `Line` INT, `naïve` STRING, PRIMARY KEY (`Order Id`, `Line`) NOT ENFORCED"},
	{captures: "*/keys", table: "composite", columns: "a INT, b STRING, v INT, PRIMARY KEY (a, b) NOT ENFORCED"},
	{captures: "*/keys", table: "nokey", columns: "a INT, b STRING"},
	{captures: "*/keys", table: "uniq", columns: "k INT, v STRING, PRIMARY KEY (k) NOT ENFORCED"},
	{captures: "*/keys", table: "keytypes", columns: "u STRING, t TIMESTAMP_LTZ(6), n DECIMAL(10, 2), d DATE, v INT, PRIMARY KEY (u, t, n, d) NOT ENFORCED"},
	{captures: "*/keys", table: "bigkey", columns: "id BIGINT, v STRING, PRIMARY KEY (id) NOT ENFORCED"},
	{captures: "*/dto", table: "dto", columns: "id BIGINT, json_c STRING, PRIMARY KEY (id) NOT ENFORCED"},
	{captures: "*/partitioned", table: "m", columns: "id INT, region STRING, v INT, PRIMARY KEY (id, region) NOT ENFORCED"},
	{captures: "postgres/types_num.string", table: "t_num", columns: numbersDDL, reading: defaulted},
	{captures: "postgres/types_numeric_special.precise", table: "t_numeric_special", columns: specialDDL, reading: nullNumbers},
	{captures: "postgres/types_numeric_special_fixed.precise", table: "t_numeric_special", columns: fixedDDL, reading: map[string]string{"c_num_10_2 2": "NULL"}},
	{captures: "postgres/types_numeric_special_fixed.string", table: "t_numeric_special", columns: fixedDDL, reading: map[string]string{"c_num_10_2 2": "error: type"}},
	{captures: "mariadb/types_num.double", table: "t_num", columns: "id INT, c_dec_10_2 DECIMAL(10, 2), c_dec_38_10 DOUBLE, c_dec DECIMAL(10, 0), c_udec DECIMAL(6, 3), c_ubigint DECIMAL(20, 0), PRIMARY KEY (id) NOT ENFORCED", options: "bigint-unsigned-handling-mode=long decimal-handling-mode=double"},
	{captures: "mariadb/types_time.isostring", table: "t_time", columns: myTimeDDL, options: "time-precision-mode=isostring", reading: map[string]string{"c_time 3": "NULL", "c_time3 3": "NULL", "c_time6 3": "NULL", "c_time 5": "NULL", "c_time3 5": "NULL", "c_time6 5": "NULL", "c_time 7": "NULL", "c_time3 7": "NULL", "c_time6 7": "NULL"}},
	{captures: "*/null_default", table: "d", columns: defaultDDL, reading: map[string]string{"n 2": "42", "t 2": "dflt", "b 2": "TRUE", "t 3": "dflt", "b 3": "TRUE", "num 3": "9.99", "ts 3": "2024-01-01 00:00:00.000000", "now 3": "1970-01-01 00:00:00.000000"}},
	{captures: "mariadb/null_default", table: "d", columns: "id INT, n INT, t STRING, b TINYINT, num DECIMAL(6, 2), ts TIMESTAMP(0), now TIMESTAMP_LTZ(0), plain INT, PRIMARY KEY (id) NOT ENFORCED", reading: map[string]string{"n 2": "42", "t 2": "dflt", "b 2": "1", "t 3": "dflt", "b 3": "1", "num 3": "9.99", "ts 3": "2024-01-01 00:00:00"}},
	{captures: "mariadb/alter_table", table: "a", columns: "id INT, renamed STRING, added STRING, w STRING, PRIMARY KEY (id) NOT ENFORCED", reading: map[string]string{"renamed 1": "NULL", "renamed 2": "NULL", "renamed 5": "NULL", "renamed 6": "NULL", "w 1": "10", "w 5": "50", "w 9": "true"}},
	// The scale -2 comes as 2046, which only a schema would tell.
	{captures: "postgres/*negative_scale.precise", table: "t_negscale", columns: "id INT, c_num DECIMAL(10, 0), PRIMARY KEY (id) NOT ENFORCED", reading: map[string]string{"c_num *": "error: range"}},
	{captures: "*/truncate", table: "a", columns: pairDDL, options: "truncate=clear"},
	{captures: "*/truncate", table: "b", columns: pairDDL, options: "truncate=clear"},
	// The TRUNCATE is not in it: the rows before it stay.
	{captures: "postgres/truncate.skipped", table: "a", columns: pairDDL, rows: []string{"1, one again", "2, two", "3, three", "4, four", "5, five"}},
	{captures: "postgres/truncate.skipped", table: "b", columns: pairDDL, rows: []string{"1, one", "2, two", "9, nine"}},
	// No delete reaches the topic.
	{captures: "*/unwrap.drop", table: "users", columns: usersDDL, rows: []string{"-1, Txn, One!", "1, Egor, Myasnikov", "10, Txn, Three", "12, Kept, Row", "2, Pavel II, Hvastun", "3, Mitya, Volk", "4, Anna, C", "5, Ivan, Nobody", "50, Ivan II, Nobody", "7, Late, Comer", "77, Here, Gone", "8, Txn, Two!", "9, Txn, One!"}},
	{captures: "*/unwrap.drop", table: "domains", columns: domainsDDL, rows: []string{"1, 4, Approval reborn", "11, 8, Both", "2, 2, Rejection II", "3, 1, Stoppage", "4, 3, Cancellation", "40, 3, Cancellation", "5, 99, Escalation", "6, 7, Orphan"}},
	{captures: "postgres/*.isostring", table: "t_time_extreme", columns: extremeDDL, options: "time-precision-mode=isostring", reading: merged(extremes, map[string]string{"c_date 1": "error: type", "c_date 2": "error: type", "c_date 3": "error: type", "c_date 4": "error: type", "c_date 8": "error: type", "c_ts 8": "error: range"})},
}

// What Debezium itself loses or changes, so that a reader can do nothing about it.
var (
	// A NULL in a column with a DEFAULT comes as the default.
	defaulted = map[string]string{"c_dflt 4": "42", "c_dflt 5": "42"}
	// A numeric without a declared scale loses the zeros at its end.
	stripped = merged(defaulted, map[string]string{"c_num 4": "0.1", "c_num 7": "12.3"})
	// 24:00 is a time of the day in PostgreSQL, and in no other SQL.
	midnight = map[string]string{"c_time 5": "error: range", "c_time0 5": "error: range", "c_time3 5": "error: range", "c_time6 5": "error: range"}
	// final.json cannot tell JSON's null from SQL's.
	jsonNull = map[string]string{"c_json 4": "null", "c_jsonb 4": "null"}
	// Numerics that are no numbers have no DECIMAL: they are errors, and null in the mode precise.
	noNumbers   = map[string]string{"c_num 2": "error: type", "c_num 3": "error: type", "c_num 4": "error: type"}
	nullNumbers = map[string]string{"c_num 2": "NULL", "c_num 3": "NULL", "c_num 4": "NULL"}
	// The mode connect has milliseconds at most.
	millis = map[string]string{"c_ts 1": "2024-02-29 12:34:56.789000", "c_ts 3": "1969-12-31 23:59:59.999000", "c_ts 5": "9999-12-31 23:59:59.999000", "c_ts6 1": "2024-02-29 12:34:56.789000", "c_ts6 3": "1969-12-31 23:59:59.999000", "c_ts6 5": "9999-12-31 23:59:59.999000", "c_time 1": "12:34:56.789000", "c_time 3": "23:59:59.999000", "c_time 6": "00:00:00.000000", "c_time6 1": "12:34:56.789000", "c_time6 3": "23:59:59.999000", "c_time6 6": "00:00:00.000000"}
	// Nanoseconds in 64 bits reach from 1677 to 2262.
	nanos = map[string]string{"c_ts 5": "NULL", "c_ts 6": "NULL", "c_ts 7": "NULL", "c_ts0 5": "NULL", "c_ts0 6": "NULL", "c_ts0 7": "NULL", "c_ts3 5": "NULL", "c_ts3 6": "NULL", "c_ts3 7": "NULL", "c_ts6 5": "NULL", "c_ts6 6": "NULL", "c_ts6 7": "NULL"}
	// Infinite dates come with days that overflow, and the last timestamp of PostgreSQL is beyond 64 bits of microseconds.
	extremes      = map[string]string{"c_date 1": "error: range", "c_date 2": "error: range", "c_date 3": "error: range", "c_date 4": "error: range", "c_date 8": "error: range", "c_ts 8": "-290308-12-21 19:59:06.224190", "c_ts3 8": "error: range", "c_tstz 8": "error: range"}
	noEnumsEscape = map[string]string{"c_enum 1": `comma\,quote'"`, "c_enum 8": `comma\,quote'"`}
)

func merged(all ...map[string]string) map[string]string {
	m := map[string]string{}
	for _, one := range all {
		maps.Copy(m, one)
	}
	return m
}
