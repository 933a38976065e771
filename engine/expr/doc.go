// Package expr holds typed scalar expressions as data, the declarations of all functions, and the compiler
// that turns an expression into a closure over packed rows.
//
// Resolve types a call by its function's declaration, Cast a conversion, Fold computes what is constant,
// Compile and Predicate make closures. The declarations (Functions) are also where the documentation of the
// functions comes from, and their examples are run as tests.
//
// # How special forms are written
//
// Operators and special forms are calls of functions named by their symbol or keywords in upper case. Words of
// the syntax become constant strings (StringConst), in upper case:
//
//	a <> b, a != b                       "<>"(a, b)
//	-a, +a                               "-"(a), "+"(a)
//	a AND b AND c                        "AND"(a, b, c), two arguments or more; likewise "OR"
//	a IS NULL, a IS NOT TRUE, …          "IS NULL"(a), "IS NOT TRUE"(a), …
//	a IS [NOT] DISTINCT FROM b           "IS DISTINCT FROM"(a, b), "IS NOT DISTINCT FROM"(a, b)
//	a BETWEEN [SYMMETRIC] b AND c        "BETWEEN"(a, b, c), "BETWEEN SYMMETRIC"(a, b, c)
//	a IN (b, c)                          "IN"(a, b, c)
//	a LIKE b [ESCAPE c]                  "LIKE"(a, b[, c]); likewise "SIMILAR TO"
//	NOT IN, NOT LIKE, NOT BETWEEN, …     "NOT" of the above
//	CASE WHEN a THEN b … [ELSE c] END    "CASE"(a, b, …[, c]); for CASE x WHEN a each condition is "="(x, a)
//	CAST(a AS t), TRY_CAST(a AS t)       Cast(a, t, false), Cast(a, t, true)
//	EXTRACT(u FROM a)                    "EXTRACT"('u', a)
//	FLOOR(a TO u), CEIL(a TO u)          "FLOOR"(a, 'u'), "CEIL"(a, 'u')
//	TIMESTAMPADD(u, n, a)                "TIMESTAMPADD"('u', n, a); likewise TIMESTAMPDIFF
//	TRIM([mode] [chars] FROM a)          "TRIM"('BOTH' | 'LEADING' | 'TRAILING', chars, a), or "TRIM"(a)
//	SUBSTRING(a FROM b [FOR c])          "SUBSTRING"(a, b[, c])
//	POSITION(a IN b)                     "POSITION"(a, b)
//	OVERLAY(a PLACING b FROM c [FOR d])  "OVERLAY"(a, b, c[, d])
//	a[b]                                 "ITEM"(a, b)
//	a.f, of a ROW                        "FIELD"(a, 'f'), the name as it is written in the type
//	ARRAY[…], MAP[…], ROW(…)             "ARRAY"(…), "MAP"(k, v, …), "ROW"(…)
//	CURRENT_TIMESTAMP, LOCALTIME, …      "CURRENT_TIMESTAMP"(), …
//	JSON_VALUE(a, p …)                   "JSON_VALUE"(a, p), or with any of its clauses all seven of (a, p, NULL of
//	                                     the RETURNING type, 'NULL' | 'ERROR' | 'DEFAULT', the default or NULL, on
//	                                     empty, then the same two on error)
//	JSON_QUERY(a, p …)                   "JSON_QUERY"(a, p), or all six of (a, p, NULL of the RETURNING type, 'WITHOUT' |
//	                                     'CONDITIONAL' | 'UNCONDITIONAL', on empty, on error), each of the last two
//	                                     'NULL' | 'ERROR' | 'EMPTY ARRAY' | 'EMPTY OBJECT'
//	JSON_EXISTS(a, p …)                  "JSON_EXISTS"(a, p[, 'TRUE' | 'FALSE' | 'UNKNOWN' | 'ERROR'])
//	JSON_OBJECT(k VALUE v, …)            "JSON_OBJECT"('NULL' | 'ABSENT', k, v, …)
//	JSON_ARRAY(a, …)                     "JSON_ARRAY"('NULL' | 'ABSENT', a, …)
//	a IS [NOT] JSON [kind]               "IS JSON"(a), "IS NOT JSON OBJECT"(a), …
//
// # Where the results differ from Flink's
//
//   - Integers that leave their type are an error in arithmetic and casts; Flink wraps. DECIMAL that leaves its
//     precision is an error; Flink gives NULL. Floats beyond an integer's range are an error; Flink saturates.
//   - Division by zero is an error for FLOAT and DOUBLE too.
//   - NaN equals NaN and is above every number, in comparisons as in keys; the zeros of both signs are equal.
//   - Strings compare and count by code points, not by UTF-16 units.
//   - Dates before 1970 are floored to the right day.
//   - A value other than a string that is too long for VARCHAR(n) or CHAR(n) is an error in a cast; Flink cuts it.
//   - JSON numbers keep their digits; JSON_EXISTS is TRUE for a member that is null, as the standard says.
//   - UNIX_TIMESTAMP of a text that is no time is NULL; Flink gives the smallest BIGINT, and overlooks what follows a
//     time.
//   - A wildcard that finds nothing makes JSON_EXISTS FALSE; Flink says TRUE.
//   - Regular expressions are RE2's: without backreferences and lookaround, and never exponential in time. One that is
//     malformed is an error; Flink's REGEXP_COUNT and its like give NULL.
//   - DECODE of bytes that the character set does not hold, and ENCODE of such text, is an error; Flink writes ? or
//     U+FFFD.
//   - A DATE plus a constant INTERVAL that is no whole number of days is a TIMESTAMP by the interval's value, not by its
//     unit.
//   - MAP_KEYS, MAP_VALUES and MAP_ENTRIES keep the order in which the map was made; Flink has none.
package expr
