package main

import (
	"strings"
	"testing"
)

// Tab completes what can stand where the cursor is, by what the session and the binary know.
func TestSQLCompletionOfEachKind(t *testing.T) {
	t.Parallel()
	c := startConsole(t, "", nil, "sql")
	c.runs("CREATE VIEW customers AS SELECT 1 AS customer_number, 'x' AS größe;")
	for _, e := range []struct{ name, typed, want string }{
		{"a statement", "DESCR", "DESCRIBE"},
		{"in small letters", "descr", "DESCRIBE"},
		{"a keyword", "SELECT 1 AS x INTERS", "SELECT 1 AS x INTERSECT"},
		{"a table", "SELECT * FROM cust", "SELECT * FROM customers"},
		{"a table to describe", "DESCRIBE cu", "DESCRIBE customers"},
		{"a column", "SELECT 1 FROM customers WHERE customer_n", "SELECT 1 FROM customers WHERE customer_number"},
		{"a column of an alias", "SELECT 1 FROM customers AS k WHERE k.cu", "SELECT 1 FROM customers AS k WHERE k.customer_number"},
		{"a function", "SELECT REGEXP_SU", "SELECT REGEXP_SUBSTR"},
		{"what is shown", "SHOW CATA", "SHOW CATALOGS"},
		{"an option of the session", "SET 'sql-client.execution.result-m", "SET 'sql-client.execution.result-mode'"},
		{"its value", "SET 'sql-client.execution.result-mode' = 'TABLEA", "SET 'sql-client.execution.result-mode' = 'TABLEAU'"},
		{"an option of a table", "CREATE TABLE t (n INT) WITH ('connec", "CREATE TABLE t (n INT) WITH ('connector'"},
		{"a connector", "CREATE TABLE t (n INT) WITH ('connector' = 'data", "CREATE TABLE t (n INT) WITH ('connector' = 'datagen'"},
		{"an option of the connector", "CREATE TABLE t (n INT) WITH ('connector' = 'datagen', 'rows-", "CREATE TABLE t (n INT) WITH ('connector' = 'datagen', 'rows-per-second'"},
		{"a format", "CREATE TABLE t (n INT) WITH ('connector' = 'kafka', 'format' = 'debez", "CREATE TABLE t (n INT) WITH ('connector' = 'kafka', 'format' = 'debezium-json'"},
		{"a command", `\timi`, `\timing`},
		{"a table for a command", `\d cus`, `\d customers`},
		{"a topic of help", "HELP upser", "HELP upsert-kafka"},
		{"a file", `\i examples/users-domains/pip`, `\i examples/users-domains/pipeline.sql`},
		{"a word beyond ASCII", "SELECT 1 FROM customers WHERE grö", "SELECT 1 FROM customers WHERE größe"},
		{"a word beyond ASCII in large letters", "SELECT 1 FROM customers AS é WHERE é.GRÖß", "SELECT 1 FROM customers AS é WHERE é.größe"},
		{"behind words beyond ASCII", "SELECT 'größe', '漢字' FROM cust", "SELECT 'größe', '漢字' FROM customers"},
	} {
		c.asks()
		c.types(e.typed + "\t")
		c.until(e.name+": "+e.want, func(s string) bool { return strings.HasSuffix(s, "sluice> "+e.want+"\n") })
		c.types(ctrl('U'))
	}
	c.quits()
}

// Where there are several ways to go on, Tab completes what they have in common and shows them; the next ones go
// through them. The line stays in sight however many there are.
func TestSQLCompletionMenu(t *testing.T) {
	t.Parallel()
	c := startConsole(t, "", nil, "sql")
	c.asks()
	c.types("SELECT REGEXP_EX\t")
	c.shows("sluice> SELECT REGEXP_EXTRACT\nfunction\n", "REGEXP_EXTRACT      -- The first part that matches", "REGEXP_EXTRACT_ALL  -- ")
	c.types("\t\t")
	c.shows("sluice> SELECT REGEXP_EXTRACT_ALL\nfunction\n")
	c.types("('a', 'a'")
	c.until("the menu goes when one types on", func(s string) bool { return strings.HasSuffix(s, "sluice> SELECT REGEXP_EXTRACT_ALL('a', 'a'\n") })
	c.types(ctrl('U') + "SHOW \t")
	c.shows("sluice> SHOW\nkeyword\n", "CATALOGS", "FUNCTIONS")
	c.types("\t\t\x1b[Z")
	c.shows("sluice> SHOW CATALOGS\n")
	c.types(ctrl('C'))
	c.until("the candidate is gone", func(s string) bool { return strings.HasSuffix(s, "sluice> SHOW\n") })
	c.types(ctrl('U') + "SELECT \t")
	c.shows("sluice> SELECT\n", " more: type how they begin", "ABS ")
	c.types(ctrl('C'))
	c.asks()
	for range consoleHeight {
		c.runs("")
	}
	c.types("SELECT \t")
	c.shows("sluice> SELECT\n", " more: type how they begin", "ABS ")
	c.types("1;\r")
	c.shows("1 row in set")
	c.quits()
}

// Candidates beyond ASCII are gone through too, and replace what was typed and nothing else.
func TestSQLCompletionMenuBeyondASCII(t *testing.T) {
	t.Parallel()
	c := startConsole(t, "", nil, "sql")
	c.runs("CREATE VIEW sizes AS SELECT 1 AS größe_a, 2 AS größe_b, 3 AS größer;")
	for _, typed := range []string{"gr", "grö", "größe_"} {
		c.asks()
		c.types("SELECT 'ö', 1 FROM sizes WHERE " + typed + "\t")
		c.until("the menu", func(string) bool {
			all := c.prompted()
			return containsAll(all[len(all)-1], "\ncolumn\n", "größe_a", "größe_b")
		})
		c.types("\t")
		c.shows("WHERE größe_b\n")
		c.types(" = 2")
		c.until("what was typed behind it", func(s string) bool {
			return strings.HasSuffix(s, "sluice> SELECT 'ö', 1 FROM sizes WHERE größe_b = 2\n")
		})
		c.types(ctrl('U'))
	}
	c.quits()
}
