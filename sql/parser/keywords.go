package parser

import "strings"

func wordSet(words string) map[string]bool {
	set := make(map[string]bool)
	for w := range strings.FieldsSeq(words) {
		set[w] = true
	}
	return set
}

// reserved are the words that can't be names without backquotes, because a
// query could not be read otherwise. Flink reserves many more; every text
// that quotes those is read the same here.
var reserved = wordSet(`
	ALL AND ANY AS ASYMMETRIC BETWEEN BY CASE CAST CREATE CROSS DELETE DISTINCT DROP
	ELSE END ESCAPE EXCEPT EXISTS FALSE FETCH FOR FROM FULL GROUP HAVING IN INNER
	INSERT INTERSECT INTO IS JOIN LATERAL LEFT LIKE LIMIT MINUS NATURAL NOT NULL ON OR
	ORDER OUTER OVERLAPS PRIMARY QUALIFY RIGHT SELECT SET SIMILAR SOME SYMMETRIC TABLE
	TABLESAMPLE THEN TRUE TRY_CAST UNION UNKNOWN UNNEST UPDATE USING VALUES WHEN WHERE
	WITH`)

// noAlias are the words that can be names, but no alias without AS: what
// follows an alias may start with them.
var noAlias = wordSet(`
	ASC BEGIN DESC DESCRIBE EXECUTE EXPLAIN FILTER FIRST FORCE IGNORE LAST LOCK
	MATCH_RECOGNIZE NULLS OFFSET OVER PARTITION PIVOT RESET RESPECT ROWS SHOW STOP
	STRAIGHT_JOIN UNPIVOT USE WINDOW WITHIN ASOF SEMI ANTI`)

// statementWords start the statements that are known.
var statementWords = []string{
	"SELECT", "INSERT", "CREATE", "DROP", "SET", "RESET", "EXPLAIN", "EXECUTE", "BEGIN",
	"SHOW", "DESCRIBE", "DESC", "USE", "STOP", "WITH", "VALUES", "TABLE",
}

// foreignStatements start statements of Flink or other dialects that are
// refused by name.
var foreignStatements = map[string]string{
	"ALTER":    "drop the table and create it again",
	"UPDATE":   "tables change through their connectors; derive a view or an INSERT INTO instead",
	"DELETE":   "tables change through their connectors; filter with WHERE instead",
	"TRUNCATE": "tables change through their connectors",
	"MERGE":    "a sink with a PRIMARY KEY is upserted by INSERT INTO",
	"REPLACE":  "a sink with a PRIMARY KEY is upserted by INSERT INTO",
	"UPSERT":   "a sink with a PRIMARY KEY is upserted by INSERT INTO",
	"ANALYZE":  "statistics are gathered while a job runs",
	"CALL":     "", "ADD": "", "REMOVE": "", "LOAD": "", "UNLOAD": "", "COMPILE": "",
	"COMMIT": "", "ROLLBACK": "", "START": "", "GRANT": "", "REVOKE": "", "REFRESH": "",
}

// clauseWords are the words that may come after a table or an expression. A
// name that resembles one of them is probably it, mistyped.
var clauseWords = []string{
	"FROM", "WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "OFFSET", "JOIN", "LEFT", "RIGHT",
	"FULL", "INNER", "CROSS", "NATURAL", "UNION", "INTERSECT", "EXCEPT", "QUALIFY", "WINDOW",
	"WITH", "USING", "PARTITION", "BETWEEN", "LIKE", "COMMENT", "METADATA", "VIRTUAL", "SELECT", "VALUES",
}
