package repl

import (
	"slices"
	"strings"
	"testing"

	"github.com/sluicesql/sluice/connectors/datagen"
	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/planner"
)

// fewTables is a catalog of tables by name.
type fewTables map[string][]string

func (f fewTables) Tables() []string {
	var out []string
	for n := range f {
		out = append(out, n)
	}
	slices.Sort(out)
	return out
}

func (f fewTables) Columns(table string) []string { return f[table] }

func testCompleter() *Completer {
	r := spi.NewRegistry()
	datagen.Register(r)
	catalog := fewTables{"users": {"id", "order", "größe", "two words", "a`b"}, "domains": {"id", "user_id"}, "My Table": {"x"}}
	return NewCompleter(catalog, r, planner.SessionOptions(), []Candidate{{Text: "timing"}, {Text: "d"}, {Text: "df"}})
}

// What is offered at the end of a text, of those that begin as the word there does. A part of the list is enough; what
// begins with ! is not in it.
func TestComplete(t *testing.T) {
	c := testCompleter()
	for _, e := range []struct {
		text string
		want []string
	}{
		{"", []string{"SELECT", "CREATE", "SHOW"}},
		{"SELECT 1; ", []string{"SELECT", "CREATE"}},
		{"sel", []string{"SELECT", "!SET"}},
		{"SHOW ", []string{"TABLES", "JOBS", "!SELECT"}},
		{"SELECT * FROM ", []string{"users", "domains", "`My Table`", "!id", "!SELECT"}},
		{"SELECT * FROM us", []string{"users", "!domains"}},
		{"INSERT INTO ", []string{"users"}},
		{"DESCRIBE `", []string{"`users`", "`My Table`", "!users"}},
		{"DROP TABLE ", []string{"users"}},
		{"SELECT  FROM users WHERE ", []string{"id", "`order`", "`two words`", "`a``b`", "größe", "!user_id"}},
		{"SELECT * FROM users WHERE `o", []string{"`order`", "!OR", "!order"}},
		{"SELECT * FROM users u JOIN domains AS d ON d.", []string{"id", "user_id", "!order", "!SELECT"}},
		{"SELECT * FROM users u JOIN domains AS d ON u.", []string{"`order`", "!user_id"}},
		{"SELECT * FROM users u JOIN domains AS d ON u.`t", []string{"`two words`", "!`user_id`"}},
		{"SELECT x FROM `My Table` WHERE ", []string{"x", "!id"}},
		{"SELECT SUBSTR", []string{"SUBSTRING"}},
		{"SELECT 'users", []string{"!users", "!'users'"}},
		{"SELECT 1 FROM -- us", []string{"!users"}},
		{"SELECT 1 FROM -- us\n", []string{"users"}},
		{"SELECT 1 FROM /* us", []string{"!users"}},
		{"SELECT 1 FROM /* us */ ", []string{"users"}},
		{"-- us", []string{"!SELECT"}},
		{"SELECT '--'; ", []string{"SELECT"}},
		{"SET 'table.local-time", []string{"'table.local-time-zone'"}},
		{"SET '", []string{"'table.local-time-zone'", "'parallelism.default'", "!'connector'"}},
		{"SET 'sql-client.execution.result-mode' = '", []string{"'TABLE'", "'TABLEAU'", "!'connector'"}},
		{"CREATE TABLE t (n INT) WITH (", []string{}},
		{"CREATE TABLE t (n INT) WITH ('", []string{"'connector'", "'rows-per-second'"}},
		{"CREATE TABLE t (n INT) WITH ('connector' = '", []string{"'datagen'"}},
		{"CREATE TABLE t (n INT) WITH ('connector' = 'datagen', '", []string{"'rows-per-second'", "!'connector'"}},
		{`\t`, []string{"timing", "!d"}},
		{`\d `, []string{"users", "`My Table`"}},
		{`\h UPS`, []string{"!UPSERT"}},
		{`\h datag`, []string{"datagen"}},
		{"HELP SEL", []string{"SELECT"}},
		{"SELECT 1;\n\\tim", []string{"!timing"}}, // a command has its line for itself
	} {
		word, found := c.complete(e.text)
		var got []string
		for _, f := range found {
			got = append(got, f.Text)
			if prefix := e.text[len(e.text)-word:]; len(f.Text) < word || !strings.EqualFold(f.Text[:word], prefix) {
				t.Errorf("%q: %q does not begin with %q", e.text, f.Text, prefix)
			}
		}
		for _, w := range e.want {
			not := strings.HasPrefix(w, "!")
			if slices.Contains(got, strings.TrimPrefix(w, "!")) == not {
				t.Errorf("%q: %s in %.300q", e.text, w, got)
			}
		}
	}
}

// Whatever is typed, at whatever place of it, completion offers something or nothing, and takes no more than there is.
func TestCompleteAnything(t *testing.T) {
	c := testCompleter()
	for _, text := range []string{
		"SELECT 'it''s', `a``b`, \"x\", U&'\\0041', X'ff', 1.5e3 /* c */ -- d\nFROM users AS ü WHERE ü.größe <> 漢字 AND id IN (SELECT user_id FROM domains);",
		"CREATE TABLE t (n INT, `order` STRING) WITH ('connector' = 'datagen', 'rows-per-second' = '1', 'fields.n.kind' = 'sequence');",
		"SET 'a' = ; RESET; \\d users\n\\i /tmp/x\nHELP 'scan", "\x00\xff\xfe'`\"\\", ";;;...==('", "'\n`\n",
	} {
		for i := range len(text) + 1 {
			word, found := c.complete(text[:i])
			if word < 0 || word > i {
				t.Errorf("%q: a word of %d bytes", text[:i], word)
			}
			m := candidates(c, text[:i])
			if len(found) > 0 && len(m.comps.PREFIX) > i {
				t.Errorf("%q: a prefix %q", text[:i], m.comps.PREFIX)
			}
		}
	}
}
