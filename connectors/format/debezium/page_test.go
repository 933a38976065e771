package debezium

import (
	"flag"
	"os"
	"strings"
	"testing"

	_ "github.com/cockroachdb/datadriven" // declares the flag -rewrite
)

// TestPage holds the tables of encodings in the documentation to those that TestEncodings and TestExtendedJSON
// read.
func TestPage(t *testing.T) {
	const page = "../../../docs/debezium.md"
	b, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	want := string(b)
	for name, table := range map[string]string{"encodings": encodingsTable(), "documents": documentsTable()} {
		begin, end := "<!-- "+name+": written by go test ./connectors/format/debezium -run TestPage -rewrite -->\n", "<!-- end of "+name+" -->"
		head, rest, ok := strings.Cut(want, begin)
		_, tail, ended := strings.Cut(rest, end)
		if !ok || !ended {
			t.Fatal("the page has no place for the table of ", name)
		}
		want = head + begin + table + end + tail
	}
	if want == string(b) {
		return
	}
	if flag.Lookup("rewrite").Value.String() != "true" {
		t.Fatalf("%s is not what the tests say; run go test ./connectors/format/debezium -run TestPage -rewrite", page)
	}
	if err := os.WriteFile(page, []byte(want), 0o600); err != nil {
		t.Fatal(err)
	}
}

func encodingsTable() string {
	var b strings.Builder
	b.WriteString("| | told by | value | declared | read as |\n|---|---|---|---|---|\n")
	for _, c := range encodings {
		told := "the declared type"
		switch {
		case c.schema != "" && c.options != "":
			told = "the schema " + schemaName(c.schema) + ", not `" + c.options + "`"
		case c.schema != "":
			told = "the schema " + schemaName(c.schema)
		case c.options != "":
			told = "`" + c.options + "`"
		}
		writeCells(&b, c.what, told, "`"+c.value+"`", "`"+c.typ.String()+"`", result(c.want))
	}
	return b.String()
}

func documentsTable() string {
	var b strings.Builder
	b.WriteString("| | value | declared | read as |\n|---|---|---|---|\n")
	for _, c := range extendedValues {
		writeCells(&b, c.what, "`"+c.value+"`", "`"+c.typ.String()+"`", result(c.want))
	}
	return b.String()
}

// result is what a value is read as, or why it is not.
func result(want string) string {
	switch want {
	case "type":
		return "an error: it is no such value, or cannot be told"
	case "range":
		return "an error: it does not fit"
	case "":
		return "the empty string"
	default:
		return "`" + want + "`"
	}
}

func writeCells(b *strings.Builder, cells ...string) {
	for _, cell := range cells {
		b.WriteString("| " + strings.ReplaceAll(cell, "|", `\|`) + " ")
	}
	b.WriteString("|\n")
}

// schemaName is what a field's schema tells: its name, or else its type, and what parameters are read.
func schemaName(schema string) string {
	for _, key := range []string{`"name":"`, `"type":"`} {
		if _, rest, ok := strings.Cut(schema, key); ok {
			name, _, _ := strings.Cut(rest, `"`)
			name = name[strings.LastIndexByte(name, '.')+1:]
			for _, p := range []string{"scale", "length"} {
				if _, rest, ok := strings.Cut(schema, `"`+p+`":"`); ok {
					n, _, _ := strings.Cut(rest, `"`)
					name += ", " + p + " " + n
				}
			}
			return "`" + name + "`"
		}
	}
	return ""
}
