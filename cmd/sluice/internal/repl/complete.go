package repl

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/sql/parser"
)

// Catalog is what completion knows of the session.
type Catalog interface {
	// Tables are the names of tables and views.
	Tables() []string
	// Columns are those of a table or view; nil when there is none of that name.
	Columns(table string) []string
}

// Candidate is a way to go on.
type Candidate struct {
	// Text replaces the word before the cursor.
	Text string
	// Help is one line.
	Help string
	// Group is what kind of thing it is: "table", "keyword".
	Group string
}

// Completer knows how statements can go on. Its lists are those that statements are checked by.
type Completer struct {
	catalog   Catalog
	registry  *spi.Registry
	session   []spi.Option
	functions []Candidate
	commands  []Candidate
	topics    []string
}

// NewCompleter returns a completer over what the binary has, the session's catalog, and the backslash commands, which
// are named without the backslash.
func NewCompleter(catalog Catalog, r *spi.Registry, session []spi.Option, commands []Candidate) *Completer {
	return &Completer{catalog: catalog, registry: r, session: session, functions: functions(), commands: commands, topics: topics(r)}
}

// complete returns the candidates for the word that ends at the cursor, which follows text, and the number of bytes
// of that word.
func (c *Completer) complete(text string) (word int, candidates []Candidate) {
	line := text[strings.LastIndexByte(text, '\n')+1:]
	if trimmed := strings.TrimLeft(line, " \t"); strings.HasPrefix(trimmed, `\`) && strings.TrimSpace(text[:len(text)-len(line)]) == "" {
		return c.command(trimmed[1:])
	}
	toks := parser.Tokens(text)
	prefix, end := "", 0
	if n := len(toks); n > 0 {
		end = toks[n-1].End
	}
	toks = toks[lastStatement(toks):]
	if n := len(toks); n > 0 {
		last := toks[n-1]
		switch {
		case last.Kind == parser.WrongToken && strings.HasPrefix(text[last.Start:], "'"):
			prefix, toks = text[last.Start:], toks[:n-1]
			return len(prefix), filter(c.strings(text, toks), prefix)
		case last.Kind == parser.WrongToken && strings.HasPrefix(text[last.Start:], "`"):
			prefix, toks = text[last.Start:], toks[:n-1]
			return len(prefix), filter(backquoted(c.words(toks)), prefix)
		case last.Kind == parser.WrongToken:
			return 0, nil // a comment that is open, or nothing that could go on
		case last.End == len(text) && (last.Kind == parser.WordToken || last.Kind == parser.QuotedToken):
			prefix, toks = text[last.Start:], toks[:n-1]
		}
	}
	if rest := text[end:]; strings.Contains(rest[strings.LastIndexByte(rest, '\n')+1:], "--") {
		return 0, nil // a comment up to the end of the line
	}
	return len(prefix), filter(c.words(toks), prefix)
}

// lastStatement is the index of the token that the last statement begins with.
func lastStatement(toks []parser.Token) int {
	for i := len(toks) - 1; i >= 0; i-- {
		if toks[i].Kind == parser.SignToken && toks[i].Text == ";" {
			return i + 1
		}
	}
	return 0
}

func filter(all []Candidate, prefix string) []Candidate {
	var out []Candidate
	seen := map[string]bool{}
	for _, c := range all {
		if len(c.Text) < len(prefix) || !strings.EqualFold(c.Text[:len(prefix)], prefix) || seen[c.Text] {
			continue
		}
		seen[c.Text] = true
		out = append(out, c)
	}
	return out
}

// command completes a backslash command, or the file it wants.
func (c *Completer) command(text string) (int, []Candidate) {
	name, arg, found := strings.Cut(text, " ")
	if !found {
		return len(name), filter(c.commands, name)
	}
	arg = strings.TrimLeft(arg, " ")
	switch name {
	case "i", "o", "g":
		return len(arg), files(arg)
	case "d":
		return len(arg), filter(names("table", c.catalog.Tables()), arg)
	case "h":
		return len(arg), filter(group("topic", c.topics), arg)
	}
	return 0, nil
}

// files are those whose names begin with prefix.
func files(prefix string) []Candidate {
	dir, base := filepath.Split(prefix)
	in := FileName(dir)
	if in == "" {
		in = "."
	}
	entries, err := os.ReadDir(in)
	if err != nil {
		return nil
	}
	var out []Candidate
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), base) || base == "" && strings.HasPrefix(e.Name(), ".") {
			continue
		}
		name := dir + e.Name()
		if info, err := os.Stat(filepath.Join(in, e.Name())); err == nil && info.IsDir() {
			name += "/"
		}
		out = append(out, Candidate{Text: name, Group: "file"})
	}
	return out
}

func group(name string, texts []string) []Candidate {
	out := make([]Candidate, len(texts))
	for i, t := range texts {
		out[i] = Candidate{Text: t, Group: name}
	}
	return out
}

// names are names of the catalog as statements write them: in backquotes where they have to.
func names(what string, all []string) []Candidate {
	out := group(what, all)
	for i := range out {
		n := out[i].Text
		if toks := parser.Tokens(n); len(toks) != 1 || toks[0].Kind != parser.WordToken || len(toks[0].Text) != len(n) || parser.Reserved(toks[0].Word) {
			out[i].Text = backquote(n)
		}
	}
	return out
}

func backquote(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

// backquoted are those of the candidates that are names, in backquotes.
func backquoted(all []Candidate) []Candidate {
	var out []Candidate
	for _, c := range all {
		if c.Group != "table" && c.Group != "column" {
			continue
		}
		if !strings.HasPrefix(c.Text, "`") {
			c.Text = backquote(c.Text)
		}
		out = append(out, c)
	}
	return out
}

func isWord(t parser.Token, words ...string) bool {
	return t.Kind == parser.WordToken && slices.Contains(words, strings.ToUpper(t.Text))
}

// words are what can stand where a word does.
func (c *Completer) words(toks []parser.Token) []Candidate {
	n := len(toks)
	if n == 0 {
		return group("statement", parser.Statements())
	}
	last := toks[n-1]
	if isWord(toks[0], "HELP") {
		return group("topic", c.topics)
	}
	if last.Kind == parser.SignToken && last.Text == "." && n >= 2 {
		return names("column", c.columns(toks, toks[n-2].Text))
	}
	if isWord(last, "FROM", "JOIN", "INTO", "DESCRIBE", "DESC") || n >= 2 && isWord(last, "TABLE", "VIEW") && !isWord(toks[0], "CREATE") {
		out := names("table", c.catalog.Tables())
		return append(out, group("keyword", []string{"LATERAL", "UNNEST"})...)
	}
	if isWord(last, "SHOW") {
		return group("keyword", parser.Shown())
	}
	out := names("column", c.columns(toks, ""))
	out = append(out, names("table", c.catalog.Tables())...)
	out = append(out, c.functions...)
	return append(out, group("keyword", parser.Keywords())...)
}

// columns are those of the tables that a statement names; with a qualifier those of the table that it is the name or
// the alias of.
func (c *Completer) columns(toks []parser.Token, qualifier string) []string {
	var out []string
	for i, t := range toks {
		if t.Kind != parser.WordToken && t.Kind != parser.QuotedToken {
			continue
		}
		cols := c.catalog.Columns(t.Text)
		if cols == nil || qualifier != "" && qualifier != t.Text && qualifier != alias(toks[i+1:]) {
			continue
		}
		for _, col := range cols {
			if !slices.Contains(out, col) {
				out = append(out, col)
			}
		}
	}
	return out
}

// alias is the alias that follows the name of a table, or empty.
func alias(toks []parser.Token) string {
	if len(toks) > 0 && isWord(toks[0], "AS") {
		toks = toks[1:]
	}
	if len(toks) > 0 && (toks[0].Kind == parser.QuotedToken || toks[0].Kind == parser.WordToken && !parser.Reserved(strings.ToUpper(toks[0].Text))) {
		return toks[0].Text
	}
	return ""
}

// strings are what can stand in a '…': the names and values of options.
func (c *Completer) strings(text string, toks []parser.Token) []Candidate {
	if len(toks) == 0 {
		return nil
	}
	var options []spi.Option
	switch {
	case isWord(toks[0], "SET", "RESET"):
		options = c.session
	case isWord(toks[0], "CREATE", "SELECT", "INSERT"):
		options = c.tableOptions(toks)
	default:
		return nil
	}
	n := len(toks)
	if last := toks[n-1]; last.Kind == parser.SignToken && last.Text == "=" && n >= 2 {
		return values(options, toks[n-2].Text, c.registry)
	}
	var out []Candidate
	for _, o := range options {
		if o.Unsupported == "" && !strings.ContainsAny(o.Name, "*#") && !given(toks, o.Name) {
			out = append(out, Candidate{Text: quoted(o.Name), Help: o.Help, Group: "option"})
		}
	}
	return out
}

func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

func given(toks []parser.Token, name string) bool {
	return slices.ContainsFunc(toks, func(t parser.Token) bool { return t.Kind == parser.StringToken && t.Text == name })
}

// values are those of an option.
func values(options []spi.Option, name string, r *spi.Registry) []Candidate {
	switch name {
	case "connector":
		return describe(r.Connectors(), func(n string) string { return r.Connector(n).Help() })
	case "format", "key.format", "value.format":
		return describe(r.Formats(), func(n string) string { return r.Format(n).Help() })
	}
	for _, o := range options {
		if o.Name != name {
			continue
		}
		vals := o.Values
		if o.Kind == spi.BoolOption {
			vals = []string{"true", "false"}
		}
		if len(vals) == 0 && o.Default != "" {
			vals = []string{o.Default}
		}
		return describe(vals, func(v string) string {
			if v == o.Default {
				return "the default"
			}
			return ""
		})
	}
	return nil
}

func describe(names []string, help func(string) string) []Candidate {
	var out []Candidate
	for _, n := range names {
		out = append(out, Candidate{Text: quoted(n), Help: help(n), Group: "value"})
	}
	return out
}

// tableOptions are those of the connector and the formats that the tokens name; of all connectors when none is named.
func (c *Completer) tableOptions(toks []parser.Token) []spi.Option {
	set := map[string]string{}
	for i := 0; i+2 < len(toks); i++ {
		if toks[i].Kind == parser.StringToken && toks[i+1].Text == "=" && toks[i+2].Kind == parser.StringToken {
			set[toks[i].Text] = toks[i+2].Text
		}
	}
	options := []spi.Option{{Name: "connector", Help: "the kind of table"}}
	names := c.registry.Connectors()
	if n := set["connector"]; n != "" {
		names = []string{n}
	}
	for _, n := range names {
		if conn := c.registry.Connector(n); conn != nil {
			options = append(options, conn.Options()...)
		}
	}
	for _, key := range []string{"format", "key.format", "value.format"} {
		f := c.registry.Format(set[key])
		if f == nil {
			continue
		}
		for _, o := range f.Options() {
			o.Name = strings.TrimSuffix(key, "format") + f.Name() + "." + o.Name
			options = append(options, o)
		}
	}
	return options
}
