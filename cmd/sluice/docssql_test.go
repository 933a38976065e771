package main

import (
	"errors"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/sluicesql/sluice/cmd/sluice/internal/vars"
	"github.com/sluicesql/sluice/planner"
)

// heldElsewhere are the pages whose SQL is wrong on purpose: TestCodePages holds it to what sluice check says of it.
var heldElsewhere = []string{"docs/errors.md", "docs/lints.md"}

// TestDocsSQL plans the SQL of each page. The blocks ```sql of a page are one script, in their order, so that a
// block may use the tables of those before it, and so are those ```sql after sluice init, whose first tables are those
// that it writes. A block ```sql alone is a script of its own, and ```sql postgres is for another program.
func TestDocsSQL(t *testing.T) {
	dir := t.TempDir()
	sluice(t, dir, "", "init").succeeded(t)
	ofInit, _, ok := strings.Cut(string(read(t, filepath.Join(dir, "pipeline.sql"))), "CREATE VIEW")
	if !ok {
		t.Fatal("sluice init writes no view")
	}
	for _, page := range pagesOf(t, docs...) {
		if slices.Contains(heldElsewhere, page) {
			continue
		}
		scripts := map[string]string{"sql": "", "sql after sluice init": ofInit}
		for _, b := range blocksOf(t, page) {
			before, script := scripts[b.info]
			switch {
			case script:
				scripts[b.info] += b.text
			case b.info == "sql postgres", !strings.HasPrefix(b.info, "sql"):
				continue
			case b.info != "sql alone":
				t.Errorf("%s:%d: a block cannot be %q", page, b.line, b.info)
			}
			if err := planned(before + b.text); err != nil {
				t.Errorf("%s:%d: %v", page, b.line, err)
			}
		}
	}
}

var variable = regexp.MustCompile(`\$\{(\w+)\}`)

// planned reads and plans a script, in which every variable without a default has a value.
func planned(sql string) error {
	set := &vars.Set{Values: map[string]string{}}
	for _, m := range variable.FindAllStringSubmatch(sql, -1) {
		set.Values[m[1]] = "x"
	}
	stmts, err := newSourceTexts().parseText("t.sql", sql, set)
	if err != nil {
		return err
	}
	_, err = planner.NewSession(newRegistry(io.Discard, io.Discard)).Run(stmts)
	return err
}

var (
	inlineCode      = regexp.MustCompile("`(sluice [^`\n]+)`")
	indentedCommand = regexp.MustCompile(`(?m)^    (sluice .*)$`)
	commandLine     = regexp.MustCompile(`(?m)^[ -]*(?:run: *)?(sluice .*)$`) // also in a workflow
	cliPart         = regexp.MustCompile(`(?m)^## sluice (.*)$`)
	flagName        = regexp.MustCompile(`(?:^|[\s\x60[])--([a-z][a-z-]*)`)
)

// commandLines are the lines of a page that run sluice: in its blocks, and as inline code.
func commandLines(t *testing.T, page string) []string {
	text := string(read(t, filepath.Join(repository(t), page)))
	var lines []string
	add := func(in *regexp.Regexp, text string) {
		for _, m := range in.FindAllStringSubmatch(text, -1) {
			lines = append(lines, m[1])
		}
	}
	for _, b := range blocksOf(t, page) {
		add(commandLine, b.text)
	}
	prose := fence.ReplaceAllString(text, "")
	add(indentedCommand, prose)
	add(inlineCode, prose)
	return lines
}

// TestDocsCommands holds each command line of the pages to the commands and flags that there are.
func TestDocsCommands(t *testing.T) {
	seen := 0
	for _, page := range pagesOf(t, append([]string{"CONTRIBUTING.md"}, docs...)...) {
		if page == "docs/status.md" { // it names what there is not yet
			continue
		}
		for _, text := range commandLines(t, page) {
			// Several may stand in one line, and in a list what the command does follows after two blanks.
			for _, line := range strings.Split(text, "sluice ")[1:] {
				line, _, _ = strings.Cut(line, "  ")
				seen++
				if err := knownLine(line); err != nil {
					t.Errorf("%s: sluice %s: %v", page, line, err)
				}
			}
		}
	}
	if seen < 50 {
		t.Errorf("only %d commands were found", seen)
	}
}

// knownLine says what of a command line, without its program, there is not.
func knownLine(line string) error {
	cmd, args, err := newRoot(newSourceTexts()).Find(strings.Fields(line))
	if err != nil {
		return err
	}
	cmd.InitDefaultHelpFlag()
	if !cmd.HasParent() && len(args) > 0 && !strings.HasPrefix(args[0], "-") && args[0] != "help" && args[0] != "completion" {
		return errors.New("no such command")
	}
	for _, m := range flagName.FindAllStringSubmatch(line, -1) {
		if cmd.Flags().Lookup(m[1]) == nil {
			return errors.New("no flag --" + m[1])
		}
	}
	return nil
}

// TestCommandLinePage holds each part of docs/cli.md to the flags of the commands that it is about.
func TestCommandLinePage(t *testing.T) {
	text := string(read(t, filepath.Join(repository(t), "docs/cli.md")))
	parts := cliPart.FindAllStringSubmatchIndex(text, -1)
	for i, m := range parts {
		end := len(text)
		if i+1 < len(parts) {
			end = parts[i+1][0]
		}
		names := strings.Split(text[m[2]:m[3]], ", ")
		known := map[string]bool{"help": true}
		for _, name := range names {
			cmd, _, err := newRoot(newSourceTexts()).Find(strings.Fields(name))
			if err != nil {
				t.Errorf("docs/cli.md: %v", err)
				continue
			}
			cmd.Flags().VisitAll(func(f *pflag.Flag) { known[f.Name] = true })
		}
		for _, f := range flagName.FindAllStringSubmatch(fence.ReplaceAllString(text[m[1]:end], ""), -1) {
			if !known[f[1]] {
				t.Errorf("docs/cli.md: sluice %s has no flag --%s", text[m[2]:m[3]], f[1])
			}
		}
	}
	if len(parts) < 8 {
		t.Errorf("docs/cli.md has %d parts", len(parts))
	}
}
