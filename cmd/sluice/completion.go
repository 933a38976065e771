package main

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sluicesql/sluice/planner"
)

// completeValues has shells complete the values of flags: those that a flag's own help lists, and the names of session options.
// Other flags complete as cobra does, by files.
func completeValues(cmd *cobra.Command) {
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		name, _ := pflag.UnquoteUsage(f)
		var complete cobra.CompletionFunc
		switch {
		case strings.Contains(name, "|"):
			complete = cobra.FixedCompletions(strings.Split(name, "|"), cobra.ShellCompDirectiveNoFileComp)
		case f.Name == "set":
			complete = completeOption
		default:
			return
		}
		if err := cmd.RegisterFlagCompletionFunc(f.Name, complete); err != nil {
			panic(err) // the flag is there, and is registered once
		}
	})
	for _, sub := range cmd.Commands() {
		completeValues(sub)
	}
}

// completeOption completes the KEY= of --set. Values it leaves alone: bash takes the = for the end of a word.
func completeOption(_ *cobra.Command, _ []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var out []cobra.Completion
	for _, o := range planner.SessionOptions() {
		if o.Unsupported == "" && strings.HasPrefix(o.Name, begun) {
			out = append(out, cobra.CompletionWithDesc(o.Name+"=", o.Help))
		}
	}
	return out, cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveNoFileComp
}
