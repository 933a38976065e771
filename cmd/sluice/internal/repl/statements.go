package repl

import "slices"

// Statement is a topic of HELP: what a statement does, its syntax, and an example that can be planned.
type Statement struct {
	Name, What, Syntax, Example string
}

// Statements are all statements, in the order in which they are wanted.
func Statements() []Statement { return slices.Clone(statements) }

var statements = []Statement{
	{"CREATE TABLE", "Declares a table: its columns, and the connector that reads or writes it.",
		"CREATE [TEMPORARY] TABLE [IF NOT EXISTS] name (\n  column type [NOT NULL] [PRIMARY KEY NOT ENFORCED] [COMMENT 'text'],\n  column type METADATA [FROM 'key'] [VIRTUAL],\n  column AS expression,\n  WATERMARK FOR column AS expression,\n  PRIMARY KEY (column, …) NOT ENFORCED\n) [COMMENT 'text'] WITH ('connector' = '…', 'option' = 'value', …)\n[LIKE table [(INCLUDING|EXCLUDING|OVERWRITING ALL|CONSTRAINTS|GENERATED|METADATA|OPTIONS|WATERMARKS …)]]",
		"CREATE TABLE numbers (n INT) WITH ('connector' = 'datagen', 'number-of-rows' = '3', 'fields.n.kind' = 'sequence', 'fields.n.start' = '1', 'fields.n.end' = '3');"},
	{"CREATE VIEW", "Gives a query a name.",
		"CREATE [TEMPORARY] VIEW [IF NOT EXISTS] name [(column, …)] [COMMENT 'text'] AS query",
		"CREATE VIEW small AS SELECT * FROM (VALUES (1), (2)) AS t(n);"},
	{"DROP", "Forgets a table or a view. What a connector holds stays.",
		"DROP [TEMPORARY] TABLE|VIEW [IF EXISTS] name", "DROP VIEW IF EXISTS small;"},
	{"SELECT", "Shows the result of a query: the rows of bounded inputs, else a live table.",
		"[WITH name AS (query), …]\nSELECT [DISTINCT] expression [[AS] alias], …\nFROM table [JOIN table ON condition | USING (column, …)] …\n[WHERE condition] [GROUP BY expression, …] [HAVING condition]\n[WINDOW name AS (…)] [QUALIFY condition]\n[UNION|INTERSECT|EXCEPT [ALL] query]\n[ORDER BY expression [DESC], … LIMIT n [OFFSET n]]\n\nVALUES (expression, …), …\nTABLE name",
		"SELECT name, COUNT(*) AS n FROM (VALUES ('a'), ('b'), ('a')) AS t(name) GROUP BY name;"},
	{"INSERT", "Starts a job that keeps a table up to date with a query; in the shell it runs in the background.",
		"INSERT INTO table [(column, …)] query", "CREATE TABLE out (n INT) WITH ('connector' = 'blackhole'); INSERT INTO out VALUES (1);"},
	{"STATEMENT SET", "Runs several INSERTs as one job, which reads what they share once.",
		"EXECUTE STATEMENT SET BEGIN INSERT INTO …; INSERT INTO …; END\nBEGIN STATEMENT SET; INSERT INTO …; INSERT INTO …; END",
		"CREATE TABLE a (n INT) WITH ('connector' = 'blackhole'); EXECUTE STATEMENT SET BEGIN INSERT INTO a VALUES (1); INSERT INTO a VALUES (2); END;"},
	{"EXPLAIN", "Shows the plan of a statement, which does not run; with ANALYZE it runs, and what was measured is shown too.",
		"EXPLAIN [PLAN FOR|detail, …] SELECT …|INSERT INTO …|STATEMENT SET …\ndetails: ANALYZE, JSON_EXECUTION_PLAN, CHANGELOG_MODE, PLAN_ADVICE", "EXPLAIN ANALYZE SELECT 1 AS one;"},
	{"DESCRIBE", "Shows the columns of a table or view.", "DESCRIBE|DESC [EXTENDED] name", "CREATE VIEW v AS SELECT 1 AS one; DESCRIBE v;"},
	{"SHOW", "Lists what there is.",
		"SHOW TABLES|VIEWS|FUNCTIONS|JOBS|CATALOGS|DATABASES [[NOT] LIKE 'pattern']\nSHOW CREATE TABLE|VIEW name\nSHOW CURRENT CATALOG|DATABASE", "SHOW FUNCTIONS LIKE 'SUB%';"},
	{"SET", "Sets a session option, or lists them all.", "SET ['key' = 'value']", "SET 'table.local-time-zone' = 'Europe/Berlin';"},
	{"RESET", "Gives a session option, or all, their defaults again.", "RESET ['key']", "RESET 'table.local-time-zone';"},
	{"USE", "Checks the name of a catalog or database; there is one of each.", "USE [CATALOG] name", "USE default_database;"},
	{"STOP JOB", "Stops a job in order: what it has read is in its sinks afterwards.",
		"STOP JOB 'id' [WITH SAVEPOINT]", "STOP JOB 'shop';"},
}
