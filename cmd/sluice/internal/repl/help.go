package repl

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/expr"
	"github.com/sluicesql/sluice/internal/near"
)

// statement is a topic of HELP.
type statement struct {
	name, what, syntax, example string
}

// statements are the statements that HELP explains. The examples are planned by a test.
var statements = []statement{
	{"CREATE TABLE", "Declares a table: its columns, and the connector that reads or writes it.",
		"CREATE [TEMPORARY] TABLE [IF NOT EXISTS] name (\n  column type [NOT NULL] [PRIMARY KEY NOT ENFORCED] [COMMENT 'text'],\n  column type METADATA [FROM 'key'] [VIRTUAL],\n  column AS expression,\n  PRIMARY KEY (column, …) NOT ENFORCED\n) WITH ('connector' = '…', 'option' = 'value', …) [LIKE table]",
		"CREATE TABLE numbers (n INT) WITH ('connector' = 'datagen', 'number-of-rows' = '3', 'fields.n.kind' = 'sequence', 'fields.n.start' = '1', 'fields.n.end' = '3');"},
	{"CREATE VIEW", "Gives a query a name.",
		"CREATE [TEMPORARY] VIEW [IF NOT EXISTS] name [(column, …)] AS query",
		"CREATE VIEW small AS SELECT * FROM (VALUES (1), (2)) AS t(n);"},
	{"DROP", "Forgets a table or a view. What a connector holds stays.",
		"DROP [TEMPORARY] TABLE|VIEW [IF EXISTS] name", "DROP VIEW IF EXISTS small;"},
	{"SELECT", "Shows the result of a query: the rows of bounded inputs, else a live table.",
		"[WITH name AS (query), …]\nSELECT [DISTINCT] expression [[AS] alias], …\nFROM table [JOIN table ON condition | USING (column, …)] …\n[WHERE condition] [GROUP BY expression, …] [HAVING condition]\n[WINDOW name AS (…)] [QUALIFY condition]\n[UNION|INTERSECT|EXCEPT [ALL] query]\n[ORDER BY expression [DESC], … LIMIT n [OFFSET n]]",
		"SELECT name, COUNT(*) AS n FROM (VALUES ('a'), ('b'), ('a')) AS t(name) GROUP BY name;"},
	{"INSERT", "Starts a job in the background that keeps a table up to date with a query.",
		"INSERT INTO table [(column, …)] query", "CREATE TABLE out (n INT) WITH ('connector' = 'blackhole'); INSERT INTO out VALUES (1);"},
	{"STATEMENT SET", "Runs several INSERTs as one job, which reads what they share once.",
		"EXECUTE STATEMENT SET BEGIN INSERT INTO …; INSERT INTO …; END",
		"CREATE TABLE a (n INT) WITH ('connector' = 'blackhole'); EXECUTE STATEMENT SET BEGIN INSERT INTO a VALUES (1); INSERT INTO a VALUES (2); END;"},
	{"EXPLAIN", "Shows the plan of a statement, which does not run.",
		"EXPLAIN SELECT …|INSERT INTO …|STATEMENT SET …", "EXPLAIN SELECT 1 AS one;"},
	{"DESCRIBE", "Shows the columns of a table or view.", "DESCRIBE|DESC name", "CREATE VIEW v AS SELECT 1 AS one; DESCRIBE v;"},
	{"SHOW", "Lists what there is.",
		"SHOW TABLES|VIEWS|FUNCTIONS|JOBS|CATALOGS|DATABASES [[NOT] LIKE 'pattern']\nSHOW CREATE TABLE|VIEW name", "SHOW FUNCTIONS LIKE 'SUB%';"},
	{"SET", "Sets a session option, or lists them all.", "SET ['key' = 'value']", "SET 'table.local-time-zone' = 'Europe/Berlin';"},
	{"RESET", "Gives a session option, or all, their defaults again.", "RESET ['key']", "RESET 'table.local-time-zone';"},
	{"USE", "Checks the name of a catalog or database; there is one of each.", "USE [CATALOG] name", "USE default_database;"},
	{"STOP JOB", "Stops a job in order: what it has read is in its sinks afterwards.",
		"STOP JOB 'id' [WITH SAVEPOINT]", ""},
}

// topics are what HELP can be asked for beside options.
func topics(r *spi.Registry) []string {
	var t []string
	for _, s := range statements {
		t = append(t, s.name)
	}
	t = append(t, r.Connectors()...)
	t = append(t, r.Formats()...)
	for _, f := range functions() {
		t = append(t, f.Text)
	}
	return t
}

// Help is the text about a topic: a statement, function, connector, format or option; an empty one lists them.
func Help(topic string, r *spi.Registry, session []spi.Option) (string, error) {
	topic = strings.Trim(strings.Join(strings.Fields(topic), " "), "'`\"; ")
	var b strings.Builder
	if topic == "" {
		b.WriteString("HELP NAME explains a statement, a function, a connector, a format or an option. The statements:\n\n")
		for _, s := range statements {
			fmt.Fprintf(&b, "  %-14s %s\n", s.name, s.what)
		}
		fmt.Fprintf(&b, "\nConnectors: %s. Formats: %s.\nSHOW FUNCTIONS lists the functions, SET the session options, \\? the commands of this shell.\n",
			strings.Join(r.Connectors(), ", "), strings.Join(r.Formats(), ", "))
		return b.String(), nil
	}
	for _, s := range statements {
		if strings.EqualFold(s.name, topic) || strings.EqualFold(strings.Fields(s.name)[0], topic) {
			fmt.Fprintf(&b, "%s: %s\n\n%s\n", s.name, s.what, indent(s.syntax))
			if s.example != "" {
				fmt.Fprintf(&b, "\nFor example:\n\n%s\n", indent(s.example))
			}
			b.WriteByte('\n')
		}
	}
	if b.Len() > 0 {
		return strings.TrimSuffix(b.String(), "\n"), nil
	}
	if helpFunction(&b, topic) || helpConnector(&b, topic, r) || helpOption(&b, topic, r, session) {
		return b.String(), nil
	}
	if known := near.Name(strings.ToUpper(topic), topics(r)); known != "" {
		return "", fmt.Errorf("there is no help about %q; did you mean %s?", topic, known)
	}
	return "", fmt.Errorf("there is no help about %q; HELP lists what there is", topic)
}

func indent(s string) string { return "  " + strings.ReplaceAll(s, "\n", "\n  ") }

func helpFunction(b *strings.Builder, topic string) bool {
	is := func(name string, aliases []string) bool {
		return strings.EqualFold(name, topic) || slices.ContainsFunc(aliases, func(a string) bool { return strings.EqualFold(a, topic) })
	}
	for _, f := range expr.Functions() {
		if is(f.Name, f.Aliases) {
			fmt.Fprintf(b, "%s\n  %s\n", f.Signature, f.Help)
			for _, e := range f.Examples {
				fmt.Fprintf(b, "  %s is %s\n", e.Show(f), e.Want)
			}
		}
	}
	for _, f := range expr.Aggregates() {
		if is(f.Name, f.Aliases) {
			fmt.Fprintf(b, "%s\n  %s\n", f.Signature, f.Help)
		}
	}
	for _, f := range expr.WindowFunctions() {
		if is(f.Name, nil) {
			fmt.Fprintf(b, "%s\n  %s\n", f.Signature, f.Help)
		}
	}
	return b.Len() > 0
}

func helpConnector(b *strings.Builder, topic string, r *spi.Registry) bool {
	if c := r.Connector(strings.ToLower(topic)); c != nil {
		fmt.Fprintf(b, "Connector %s: %s\n\n", c.Name(), c.Help())
		for _, o := range c.Options() {
			writeOption(b, "", o)
		}
	}
	if f := r.Format(strings.ToLower(topic)); f != nil {
		fmt.Fprintf(b, "Format %s: %s\n\n", f.Name(), f.Help())
		for _, o := range f.Options() {
			writeOption(b, f.Name()+".", o)
		}
	}
	return b.Len() > 0
}

func helpOption(b *strings.Builder, topic string, r *spi.Registry, session []spi.Option) bool {
	look := func(where, prefix string, options []spi.Option) {
		for _, o := range options {
			if strings.EqualFold(prefix+o.Name, topic) {
				fmt.Fprintf(b, "An option of %s:\n", where)
				writeOption(b, prefix, o)
			}
		}
	}
	look("the session", "", session)
	for _, n := range r.Connectors() {
		look("the connector "+n, "", r.Connector(n).Options())
	}
	for _, n := range r.Formats() {
		look("the format "+n, n+".", r.Format(n).Options())
	}
	return b.Len() > 0
}

func writeOption(b *strings.Builder, prefix string, o spi.Option) {
	fmt.Fprintf(b, "  '%s%s'", prefix, o.Name)
	switch {
	case o.Unsupported != "":
		fmt.Fprintf(b, "\n      refused: %s\n", o.Unsupported)
		return
	case o.Required:
		b.WriteString(" (required)")
	case o.Default != "":
		fmt.Fprintf(b, " = '%s'", o.Default)
	}
	fmt.Fprintf(b, "\n      %s\n", o.Help)
	if len(o.Values) > 0 {
		fmt.Fprintf(b, "      one of %s\n", strings.Join(o.Values, ", "))
	}
}

// functions are all functions with a name that can be called, for completion and HELP.
func functions() []Candidate {
	var out []Candidate
	add := func(help string, names ...string) {
		for _, n := range names {
			if n != "" && (n[0] >= 'A' && n[0] <= 'Z') && !strings.Contains(n, " ") {
				out = append(out, Candidate{Text: n, Help: help, Group: "function"})
			}
		}
	}
	for _, f := range expr.Functions() {
		add(f.Help, append([]string{f.Name}, f.Aliases...)...)
	}
	for _, f := range expr.Aggregates() {
		add(f.Help, append([]string{f.Name}, f.Aliases...)...)
	}
	for _, f := range expr.WindowFunctions() {
		add(f.Help, f.Name)
	}
	return out
}
