package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/pmezard/go-difflib/difflib"
)

// shopFiles are what the recorded session works with. All records have one key, so that they have one order.
var shopFiles = map[string]string{
	"orders.jsonl": func() string {
		var b strings.Builder
		for i, o := range []string{
			`\"customer\":\"Egor\",\"amount\":10`, `\"customer\":\"Pavel\",\"amount\":25`, `\"customer\":\"Egor\",\"amount\":7`,
			`\"customer\":\"Mitya\",\"amount\":5`, `\"customer\":\"Pavel\",\"amount\":3`, `\"customer\":\"Egor\",\"amount\":1`,
		} {
			fmt.Fprintf(&b, `{"topic":"orders","key":"shop","value":"{\"id\":%d,%s}"}`+"\n", i+1, o)
		}
		return b.String()
	}(),
	"shop.sql": `CREATE TABLE orders (id BIGINT, customer STRING, amount BIGINT) WITH (
  'connector' = 'kafka', 'topic' = 'orders', 'format' = 'json',
  'properties.bootstrap.servers' = '${KAFKA_BROKERS}', 'scan.startup.mode' = 'earliest-offset');
CREATE TABLE totals (customer STRING, total BIGINT, PRIMARY KEY (customer) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = 'totals', 'key.format' = 'json', 'value.format' = 'json',
  'properties.bootstrap.servers' = '${KAFKA_BROKERS}');
`,
	"prices.sql": "CREATE VIEW prices AS SELECT * FROM (VALUES ('tea', 3), ('coffee', 4)) AS t(item, price);\nSELECT * FROM prices ORDER BY price DESC;\n",
}

// recording writes down a session as it goes on.
type recording struct {
	*console
	page strings.Builder
}

// says adds a paragraph, or a heading.
func (r *recording) says(text string) { r.page.WriteString(text + "\n\n") }

// block adds what is on the screen, or a part of it.
func (r *recording) block(text string) {
	r.page.WriteString("```text\n" + strings.TrimRight(text, "\n ") + "\n```\n\n")
}

// does types inputs, and shows them with what they are answered.
func (r *recording) does(inputs ...string) {
	r.t.Helper()
	var b strings.Builder
	for _, input := range inputs {
		b.WriteString(strings.TrimSuffix(r.runs(input), "sluice>\n"))
	}
	r.block(b.String())
}

// line shows what is at the prompt and below it, once that has the texts; the last of them are what is written last.
func (r *recording) line(texts ...string) {
	r.t.Helper()
	r.shows(texts...)
	all := r.prompted()
	r.block(all[len(all)-1])
}

// TestREPLPage records docs/repl.md: a session on a terminal, as somebody types it. What differs from one recording to
// the next, times and rates, is not compared.
func TestREPLPage(t *testing.T) {
	t.Parallel()
	dir := workspace(t)
	for name, text := range shopFiles {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	env := []string{"XDG_RUNTIME_DIR=" + t.TempDir(), "EDITOR=sed -i s/customers/buyers/", "NO_COLOR=1"}
	r := &recording{console: startConsoleOf(t, 100, 16, dir, env, "sql", "--parallelism", "1", "--embed", "orders.jsonl", "shop.sql")}
	record(r)
	if code := r.ends(); code != 0 {
		t.Errorf("exit code %d\n%s", code, r.sees())
	}

	want := r.page.String()
	file := filepath.Join(repository(t), "docs", "repl.md")
	got, err := os.ReadFile(file)
	if err == nil && steady(string(got)) == steady(want) {
		return
	}
	if flag.Lookup("rewrite").Value.String() != "true" {
		diff, _ := difflib.GetUnifiedDiffString(difflib.UnifiedDiff{A: difflib.SplitLines(steady(string(got))), B: difflib.SplitLines(steady(want)), Context: 3})
		t.Fatalf("%s is not what the session shows; run go test ./cmd/sluice -run '%s' -rewrite (%v)\n%s", file, t.Name(), err, diff)
	}
	if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

// unsteady are the parts of a recording that differ from one to the next.
var unsteady = regexp.MustCompile(`(?m)^\d+s · .*$|: [0-9,]+/s, at most [0-9,]+/s|[▁▂▃▄▅▆▇█]|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d|Time: .*`)

// steady leaves them out, with the blanks around them.
func steady(page string) string {
	var b strings.Builder
	for line := range strings.Lines(page) {
		if line := strings.TrimRight(unsteady.ReplaceAllString(line, ""), " \n"); line != "" {
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}

func record(r *recording) {
	r.says("# The shell, in a session")
	r.says("`sluice sql` on a terminal is a shell. This page is a recording of it, written and checked by a test that types what stands behind the prompts. [cli.md](cli.md#sluice-sql) has the flags, and what is different without a terminal.")
	r.says("The session begins with a broker inside the process, loaded with six orders, and with a file that declares two tables. [The SQL dialect](sql.md), EXPLAIN and SET among it, is the same everywhere.")
	r.page.WriteString("```text\n$ sluice sql --parallelism 1 --embed orders.jsonl shop.sql\n```\n\n")

	r.says("## Statements\n\nA statement ends with a semicolon, and may take several lines; Enter behind its end runs it. `\\d` lists the tables and describes one, as `SHOW TABLES` and `DESCRIBE` do.")
	r.does(`\d`, `\d orders`)
	r.does("SELECT customer, COUNT(*) AS orders\rFROM (VALUES ('Egor', 1), ('Egor', 2), ('Mitya', 3)) AS t(customer, id)\rGROUP BY customer;")
	r.says("A mistake is shown where it is, with what was probably meant:")
	r.does("SELECT custmer FROM orders;", "SELECT UPER(customer) FROM orders;")
	r.says("HELP explains statements, functions, connectors, formats and options, from the declarations that the binary itself goes by:")
	r.does("HELP REGEXP_EXTRACT")

	r.says("## Completion\n\nTab completes what can stand where the cursor is: statements, keywords, tables, columns, functions, options and their values, commands and files. What all ways to go on have in common is written at once, the rest is shown. Further Tabs and the arrow keys go through it.")
	completed := func(typed string, shown ...string) {
		r.asks()
		r.types(typed + "\t")
		r.line(shown...)
		r.types(ctrl('C'))
	}
	completed("SELECT customer, REGEXP_EX", "of every part that matches")
	completed("CREATE TABLE t (n BIGINT) WITH ('connector' = 'datagen', '", "-- Number of readers\n")
	completed("SET 'sql-client.execution.result-mode' = '", "'TABLE'  'TABLEAU'\n")

	r.says("## A live table\n\nA SELECT whose inputs have no end shows its result on the whole terminal, and keeps it up to date.")
	r.runs("SET 'sluice.epoch.max-rows' = '1';") // so that every order is a change of its own
	r.asks()
	r.types("SELECT customer, COUNT(*) AS orders, SUM(amount) AS total FROM orders GROUP BY customer;\r")
	live := func(keys string, shown ...string) {
		r.types(keys)
		r.until(strings.Join(shown, ", "), func(s string) bool {
			return containsAll(s, shown...) && strings.Contains(s, "6 records in")
		})
		r.block(r.sees())
	}
	live("", "| Egor     |      3 |    18 |", "| Mitya ", "| Pavel    |      2 |    28 |\n", "q ends\n")
	r.says("`s` sorts by the next column, and `S` turns the order around:")
	live("sssS", "[table by total, descending]", "|    18 |\n| Mitya    |      1 |     5 |\n")
	r.says("`c`, or Tab, shows the changes instead, the newest at the end:")
	live("c", "[changelog]", "| +U | Egor     |      3 |    18 |\n")
	r.says("`r` shows how many records come in and how many changes go out in a second. Space freezes what is shown, the arrow and page keys scroll, and `e` writes the rows to a file, whose ending says how: `.csv`, `.json`, `.md`, or else a table.")
	live("tetotals.csv\r", "3 rows are in totals.csv")
	r.says("`q` or Ctrl-C ends it:")
	r.types("q")
	r.until("a prompt", func(s string) bool { return asking(s) && strings.Contains(s, "stopped: ") })
	r.block(r.answered())

	r.says("In the mode `tableau` the same query writes its changes below one another, until Ctrl-C:")
	r.runs("SET 'sql-client.execution.result-mode' = 'tableau';")
	r.types("SELECT id, customer FROM orders WHERE amount > 9;\r")
	r.shows("|                    2 | Pavel")
	r.types(ctrl('C'))
	r.until("a prompt", func(s string) bool { return asking(s) && strings.Contains(s, "interrupted") })
	r.block(r.answered())
	r.runs("RESET 'sql-client.execution.result-mode';")

	r.says("## Jobs in the background\n\nINSERT INTO starts a job, and the shell goes on. `SHOW JOBS`, or `\\jobs`, lists those of the shell and those that run elsewhere on the machine.")
	r.does("SET 'pipeline.name' = 'totals';", "INSERT INTO totals SELECT customer, SUM(amount) FROM orders GROUP BY customer;")
	r.repeats("SHOW JOBS;", "| 6          | 6 ")
	r.does("SHOW JOBS;")
	r.does("STOP JOB '1';", `\jobs`)
	r.runs("RESET 'sluice.epoch.max-rows';")
	r.says("`\\wait` waits for a job that ends by itself. `\\watch` runs the last statement again and again, until Ctrl-C:")
	r.runs("SELECT 'still here' AS x;")
	r.types("\\watch 0.5\r")
	r.until("two runs", func(s string) bool { return strings.Count(r.answered(), "| still here |") == 2 })
	r.types(ctrl('C'))
	r.asks()
	r.block(r.answered())

	r.says("## Layouts, files, and time\n\n`\\x` shows a line for each column, `\\output` chooses between table, csv, json and markdown, and `\\timing` tells how long a statement took.")
	r.does(`\x`, "SELECT * FROM (VALUES (1, 'a|b'), (2, 'c')) AS t(id, name);", `\x`)
	r.does(`\output csv`, "SELECT * FROM (VALUES (1, 'a|b'), (2, 'c')) AS t(id, name);")
	r.does(`\output json`, `\g`, `\output markdown`, `\g`, `\output table`)
	r.does(`\timing`, "SELECT 1 AS one;", `\timing`)
	r.says("`\\i` runs a file, `\\o` writes results to a file from then on, and `\\g FILE` does so for the last statement alone. `\\e` opens the last statement in `$EDITOR` and runs what comes back; here the editor is a `sed` that writes buyers for customers.")
	r.does(`\i prices.sql`)
	r.does(`\o prices.txt`, "SELECT item FROM prices;", `\o`, `\g prices.md`)
	r.does("SELECT 'customers' AS who;", `\e`)
	r.says("A result that is longer than the screen is shown by `$PAGER`, or `less`; `\\pager off` turns that off.")

	r.says("## History\n\nThe arrow keys go through what was typed before, whole statements at a time, and Ctrl-R searches it. It lies in `~/.local/state/sluice/history`, without the values of secret options, and every input is in it when it runs.")
	r.asks()
	r.types(ctrl('R') + "GROUP BY cust")
	r.line("(inc-search): GROUP BY cust_\n", "AS t...\n")
	r.types(ctrl('C'))
	r.until("the search is over", func(s string) bool { return asking(s) && !strings.Contains(s, "inc-search") })

	r.says("## All commands\n\nThe keys of the line editor are those of readline: Ctrl-A and Ctrl-E, Alt-B and Alt-F, Ctrl-W, Alt-D, Ctrl-K, Ctrl-U, Ctrl-Y, and Ctrl-_ to undo. `~/.inputrc` counts.")
	r.does(`\?`)
	r.says("`\\q`, or Ctrl-D on an empty line, ends the shell. Its jobs are stopped in order first: what they have committed stays, and the next `INSERT INTO` with the same state directory goes on from there.")
	r.asks()
	r.types(`\q` + keyEnter)
}

// answered is what stands from the last prompt with an input to the one after it.
func (r *recording) answered() string {
	all := r.prompted()
	for len(all) > 1 && all[len(all)-1] == "sluice>\n" {
		all = all[:len(all)-1]
	}
	return all[len(all)-1]
}
