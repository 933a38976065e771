package expr

// elsewhere says how to write what other dialects, and other versions of this one, have a function for.
var elsewhere = map[string]string{
	"LENGTH": "CHAR_LENGTH(string)", "LEN": "CHAR_LENGTH(string)", "UCASE": "UPPER(string)", "LCASE": "LOWER(string)",
	"STRPOS": "POSITION(part IN string)", "CHARINDEX": "LOCATE(part, string)", "SUBSTRING_INDEX": "SPLIT_INDEX(string, delimiter, index)",
	"SPLIT_PART": "SPLIT_INDEX(string, delimiter, index), whose index begins at 0", "STRING_TO_ARRAY": "SPLIT(string, delimiter)",
	"NVL": "COALESCE(value1, value2)", "ISNULL": "value IS NULL, or COALESCE(value1, value2)", "IIF": "IF(condition, value1, value2)",
	"NVL2": "IF(value1 IS NOT NULL, value2, value3)", "CONVERT": "CAST(value AS type)", "TRY_CONVERT": "TRY_CAST(value AS type)",
	"TO_CHAR": "DATE_FORMAT(timestamp, pattern), or CAST(value AS STRING)", "TO_NUMBER": "CAST(string AS DECIMAL(p, s))",
	"DATE_TRUNC": "FLOOR(temporal TO unit)", "DATE_PART": "EXTRACT(unit FROM temporal)", "DATEPART": "EXTRACT(unit FROM temporal)",
	"DATEDIFF": "TIMESTAMPDIFF(DAY, from, to)", "DATE_DIFF": "TIMESTAMPDIFF(DAY, from, to)", "DATEADD": "TIMESTAMPADD(unit, integer, temporal)",
	"DATE_ADD": "temporal + INTERVAL '1' DAY, or TIMESTAMPADD(DAY, integer, temporal)", "DATE_SUB": "temporal - INTERVAL '1' DAY, or TIMESTAMPADD(DAY, -integer, temporal)",
	"ADD_MONTHS": "TIMESTAMPADD(MONTH, integer, temporal)", "STR_TO_DATE": "TO_TIMESTAMP(string, pattern)", "GETDATE": "CURRENT_TIMESTAMP", "SYSDATE": "CURRENT_TIMESTAMP",
	"JSON_EXTRACT":        "JSON_VALUE(json, path) for a scalar, JSON_QUERY(json, path) for an object or array",
	"GET_JSON_OBJECT":     "JSON_VALUE(json, path) for a scalar, JSON_QUERY(json, path) for an object or array",
	"JSON_EXTRACT_SCALAR": "JSON_VALUE(json, path)", "TO_JSON": "JSON_STRING(value)", "JSON_BUILD_OBJECT": "JSON_OBJECT(KEY key VALUE value)",
	"JSON_BUILD_ARRAY": "JSON_ARRAY(value, …)", "PARSE_JSON": "JSON_VALUE or JSON_QUERY over the text: there is no type VARIANT", "TRY_PARSE_JSON": "JSON_VALUE or JSON_QUERY over the text: there is no type VARIANT",
	"REGEXP_LIKE": "REGEXP(string, regex)", "RLIKE": "REGEXP(string, regex)", "REGEXP_MATCHES": "REGEXP_EXTRACT_ALL(string, regex)",
	"ARRAY_LENGTH": "CARDINALITY(array)", "ARRAY_SIZE": "CARDINALITY(array)", "SIZE": "CARDINALITY(array)",
	"ARRAY_TO_STRING": "ARRAY_JOIN(array, delimiter)", "GEN_RANDOM_UUID": "UUID()", "POW": "POWER(numeric1, numeric2)", "TRUNC": "TRUNCATE(numeric, digits)",
	"RANDOM": "RAND()", "SHA": "SHA1(string)", "BASE64": "TO_BASE64(string)", "UNBASE64": "FROM_BASE64(string)",
	"TO_UNIXTIME": "UNIX_TIMESTAMP(string), or EXTRACT(EPOCH FROM timestamp)", "PROCTIME": "CURRENT_TIMESTAMP, which is the epoch's time",
	"CURRENT_DATABASE":  "the name: there is one database, default_database",
	"CURRENT_WATERMARK": "a condition on the time itself: no operator of this version waits for watermarks",
}
