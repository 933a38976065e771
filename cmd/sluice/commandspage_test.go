package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sluicesql/sluice/cmd/sluice/internal/pipeline"
)

// commandsPage is the reference of the commands.
func commandsPage() string {
	var b strings.Builder
	b.WriteString("# Commands\n\nWritten from the declarations in the binary: what `sluice help COMMAND` says. [cli.md](cli.md) tells how to use them.\n")
	commandSections(&b, newRoot(newSourceTexts()))
	return b.String()
}

func commandSections(b *strings.Builder, c *cobra.Command) {
	if c.HasParent() && c.Runnable() {
		fmt.Fprintf(b, "\n## %s\n\n%s\n\n    %s\n", c.CommandPath(), strings.TrimSpace(c.Long), c.UseLine())
		if c.Long == "" {
			fmt.Fprintf(b, "\n%s.\n", c.Short)
		}
		if c.HasAvailableLocalFlags() {
			b.WriteString("\n| flag | |\n|---|---|\n")
			c.LocalFlags().VisitAll(func(f *pflag.Flag) {
				if f.Hidden {
					return
				}
				name, usage := pflag.UnquoteUsage(f)
				fmt.Fprintf(b, "| `%s` | %s |\n", strings.TrimSpace("--"+f.Name+" "+cell(name)), cell(usage))
			})
		}
		if c.Example != "" {
			fmt.Fprintf(b, "\n```\n%s\n```\n", c.Example)
		}
	}
	for _, sub := range c.Commands() {
		if !sub.IsAdditionalHelpTopicCommand() {
			commandSections(b, sub)
		}
	}
}

// pipelinePage is the reference of sluice.yaml.
func pipelinePage() string {
	var b strings.Builder
	b.WriteString("# The keys of sluice.yaml\n\nWritten from the declarations that the file is checked by. [pipelines.md](pipelines.md) tells how to use them.\n\n| key | | |\n|---|---|---|\n")
	for _, k := range pipeline.Keys() {
		where := ""
		switch {
		case k.Required:
			where = "required"
		case k.Environment:
			where = "also in an environment"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", k.Name, where, cell(k.Help))
	}
	return b.String()
}
