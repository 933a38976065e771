package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/cockroachdb/datadriven" // declares the flag -rewrite

	"github.com/sluicesql/sluice/cmd/sluice/internal/pipeline"
	"github.com/sluicesql/sluice/cmd/sluice/internal/repl"
	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/expr"
	"github.com/sluicesql/sluice/planner"
)

// TestReference holds the reference pages to the declarations that they are written from; with -rewrite it
// writes them.
func TestReference(t *testing.T) {
	schema, err := pipeline.Schema()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"docs/commands.md": commandsPage(), "docs/sluice-yaml.md": pipelinePage(), "docs/sluice.schema.json": string(schema),
		"docs/statements.md": statementsPage(), "docs/functions.md": functionsPage(), "docs/options.md": optionsPage()} {
		holdPage(t, name, want)
	}
}

// holdPage holds a page to want; with -rewrite it writes it.
func holdPage(t *testing.T, name, want string) {
	t.Helper()
	file := filepath.Join(repository(t), name)
	if flag.Lookup("rewrite").Value.String() == "true" {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, []byte(want)) {
		t.Errorf("%s is not what the declarations say; run go test ./cmd/sluice -run '%s' -rewrite", name, t.Name())
	}
}

// statementsPage is what HELP says of statements.
func statementsPage() string {
	var b strings.Builder
	b.WriteString("# Statements\n\nWritten from the declarations that `HELP` in `sluice sql` shows. [sql.md](sql.md) tells what works and what is refused, form by form.\n")
	for _, s := range repl.Statements() {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n```\n%s\n```\n\n```sql alone\n%s\n```\n", s.Name, s.What, s.Syntax, strings.ReplaceAll(s.Example, "; ", ";\n"))
	}
	return b.String()
}

func functionsPage() string {
	var b strings.Builder
	b.WriteString("# Functions and operators\n\nWritten from the declarations in `engine/expr`. Names are found without regard to case.\n")
	var order []expr.Category
	rows := map[expr.Category][]string{}
	add := func(c expr.Category, signature, help string, aliases []string, example string) {
		if rows[c] == nil {
			order = append(order, c)
		}
		if len(aliases) > 0 {
			help += " Also `" + strings.Join(aliases, "`, `") + "`."
		}
		rows[c] = append(rows[c], fmt.Sprintf("| `%s` | %s |\n", cell(signature), cell(help+example)))
	}
	for _, f := range expr.Functions() {
		example := ""
		if len(f.Examples) > 0 {
			example = fmt.Sprintf(" `%s` is `%s`.", f.Examples[0].Show(f), f.Examples[0].Want)
		}
		add(f.Category, f.Signature, f.Help, f.Aliases, example)
	}
	for _, f := range expr.Aggregates() {
		add("aggregate", f.Signature, f.Help, f.Aliases, overRows(f.Examples[0], "is"))
	}
	for _, f := range expr.WindowFunctions() {
		add("window", f.Signature, f.Help, nil, overRows(f.Examples[0], "gives"))
	}
	notes := map[expr.Category]string{
		"aggregate": "Over the rows of a group, or of all input without GROUP BY. In the examples the rows have the columns x and y.\n\n",
		"window":    "Over the rows of a partition, each of which gets a result. In the examples the rows have the column x.\n\n",
	}
	for _, c := range order {
		fmt.Fprintf(&b, "\n## %s\n\n%s| | |\n|---|---|\n%s", strings.ToUpper(string(c[:1]))+string(c[1:]), notes[c], strings.Join(rows[c], ""))
	}
	return b.String()
}

func overRows(x expr.RowsExample, verb string) string {
	return fmt.Sprintf(" `%s` over `%s` %s `%s`.", x.Call, x.Rows, verb, x.Want)
}

func optionsPage() string {
	var b strings.Builder
	b.WriteString("# Options\n\nWritten from the declarations that the binary checks options by. An option that is not listed is an error, and so is one that is listed as refused.\n")
	b.WriteString("\n## Session\n\n`SET 'key' = 'value'` in the SQL, or `--set key=value`.\n\n")
	optionTable(&b, planner.SessionOptions(), "")
	r := newRegistry(io.Discard, io.Discard)
	for _, name := range r.Connectors() {
		c := r.Connector(name)
		fmt.Fprintf(&b, "\n## Connector %s\n\n%s.\n\n", name, strings.TrimSuffix(c.Help(), "."))
		optionTable(&b, c.Options(), "")
		metadataTable(&b, c.Metadata())
	}
	for _, name := range r.Formats() {
		f := r.Format(name)
		fmt.Fprintf(&b, "\n## Format %s\n\n%s.\n\n", name, strings.TrimSuffix(f.Help(), "."))
		optionTable(&b, f.Options(), name+".")
		metadataTable(&b, f.Metadata())
	}
	return b.String()
}

func optionTable(b *strings.Builder, options []spi.Option, prefix string) {
	b.WriteString("| option | default | |\n|---|---|---|\n")
	for _, o := range options {
		def, help := "", o.Help
		switch {
		case o.Required:
			def = "required"
		case o.Default != "":
			def = "`" + o.Default + "`"
		}
		if len(o.Values) > 0 {
			help = strings.TrimSpace(help + " (`" + strings.Join(o.Values, "`, `") + "`)")
		}
		if o.Unsupported != "" {
			help = "refused: " + o.Unsupported
		}
		fmt.Fprintf(b, "| `%s%s` | %s | %s |\n", prefix, o.Name, cell(def), cell(help))
	}
}

func metadataTable(b *strings.Builder, columns []spi.Column) {
	if len(columns) == 0 {
		return
	}
	b.WriteString("\n| metadata | type |\n|---|---|\n")
	for _, c := range columns {
		name := c.Metadata
		if name == "" {
			name = c.Name
		}
		fmt.Fprintf(b, "| `%s` | `%s` |\n", name, cell(c.Type.String()))
	}
}

// cell makes s fit for a cell of a Markdown table.
func cell(s string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ").Replace(s)
}
