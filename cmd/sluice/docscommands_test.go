package main

import (
	"errors"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

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
	list, _, _ := strings.Cut(text, "\n## ")
	everyCommand(newRoot(newSourceTexts()), func(c *cobra.Command) {
		if c.Name() != "resume" && !strings.Contains(list, "\n    "+c.CommandPath()+" ") { // resume stands beside pause
			t.Errorf("the list at the beginning of docs/cli.md has no %s", c.CommandPath())
		}
	})
}
