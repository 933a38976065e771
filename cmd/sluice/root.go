package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sluicesql/sluice/internal/fault"
	"github.com/sluicesql/sluice/internal/near"
	"github.com/sluicesql/sluice/internal/secret"
)

// newRoot builds the tree of commands. The texts of the files read are noted in sources.
func newRoot(sources sourceTexts) *cobra.Command {
	root := &cobra.Command{
		Use:   "sluice",
		Short: "Keep SQL queries over changing tables up to date",
		Long: `sluice runs Flink SQL over changing tables, such as those that Debezium captures
into Kafka, and keeps the results up to date: exactly, in real time, on one machine.`,
		Example: `  sluice run pipeline.sql                       run the statements of a file
  sluice run --embed events.jsonl pipeline.sql  the same on a broker inside the process
  sluice sql                                    work interactively
  sluice explain pipeline.sql                   show how they would run`,
		SilenceErrors: true, // main shows them
		SilenceUsage:  true,
		Args:          knownCommand,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(newRun(sources), newSQL(sources), newExplain(sources), newDiff(sources), newCheck(sources), newFmt(sources), newInfer(), newInit(), newTest(sources), newMan(), newJobs(), newStatus(), newStop(), newPause(), newResume(), newSavepoint(), newState(), newSweep(sources), newVersion())
	completeValues(root)
	return root // cobra adds the command that writes completions for several shells
}

// knownCommand refuses what is no command, with the nearest that is one.
func knownCommand(root *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, c := range root.Commands() {
		names = append(names, c.Name())
	}
	if known := near.Name(args[0], names); known != "" {
		return wrong(fault.Errorf(fault.CommandLine, "unknown command %q", args[0]).
			Fix("did you mean %s?", known))
	}
	if strings.HasSuffix(args[0], ".sql") {
		return wrong(fault.Errorf(fault.CommandLine, "unknown command %q", args[0]).
			Fix("to run a file, write sluice run %s", args[0]))
	}
	return wrong(fault.Errorf(fault.CommandLine, "unknown command %q", args[0]).
		Fix("see sluice --help"))
}

// flagError adds the nearest known name to an unknown flag, and says what kind of value a flag wants.
func flagError(cmd *cobra.Command, err error) error {
	if refused, ok := errors.AsType[*failure](err); ok {
		return refused // the flag knows better than pflag what is wrong
	}
	if bad, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		return wrong(fmt.Errorf("--%s %s: wants a value of type %s", bad.GetFlag().Name, bad.GetValue(), bad.GetFlag().Value.Type()))
	}
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok || len(unknown.GetSpecifiedName()) < 2 {
		return wrong(fault.Errorf(fault.CommandLine, "%w", err).Fix("see %s --help", cmd.CommandPath()))
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	if known := near.Name(unknown.GetSpecifiedName(), names); known != "" {
		return wrong(fault.Errorf(fault.CommandLine, "%w", err).
			Fix("did you mean --%s?", known))
	}
	return wrong(fault.Errorf(fault.CommandLine, "%w", err).Fix("see %s --help", cmd.CommandPath()))
}

// needFiles refuses a command line without files, in the words of the command.
func needFiles(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return wrong(fault.Errorf(fault.CommandLine, "%s needs a SQL file, or - for standard input", cmd.CommandPath()).
			Fix("see %s --help", cmd.CommandPath()))
	}
	return nil
}

// keyValue splits the KEY=VALUE of a flag.
func keyValue(flag, s string) (key, value string, err error) {
	key, value, ok := strings.Cut(s, "=")
	if key = strings.TrimSpace(key); !ok || key == "" {
		return "", "", wrong(fault.Errorf(fault.CommandLine, "--%s %s has no value", flag, secret.Value(s, s)).
			Fix("write --%s NAME=VALUE", flag))
	}
	return key, value, nil
}
