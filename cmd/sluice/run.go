package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sluicesql/sluice/cmd/sluice/internal/result"
	"github.com/sluicesql/sluice/cmd/sluice/internal/vars"
	"github.com/sluicesql/sluice/internal/fault"
	"github.com/sluicesql/sluice/runtime"
	"github.com/sluicesql/sluice/sql/ast"
)

// runFlags are the flags of sluice run.
type runFlags struct {
	env            environmentFlag
	embed          embedFlag
	vars           variableFlag
	options        optionFlag
	parallelism    int
	parallelismSet bool // as opposed to left to the options
	stateDir       string
	pendingOutput  string
	reemit         []string
	skip           []string
	skips          []runtime.Skip // of skip
	fromSavepoint  string
	allowRebuild   bool
	result         string
	quiet          bool
	summaryJSON    string
	profiles       profiles
}

func newRun(sources sourceTexts) *cobra.Command {
	f := &runFlags{}
	cmd := &cobra.Command{
		Use:   "run [flags] FILE.sql…|FOLDER",
		Short: "Run the statements of SQL files, or a pipeline",
		Long: `Run the statements of SQL files, in order, as one script; - is standard input. The folder of a
pipeline stands for what its sluice.yaml names.

All INSERT INTO statements of the script run together as one job, and each SELECT is a
job whose result is printed. A job over bounded inputs ends by itself; any other
runs until it is interrupted: the first SIGINT or SIGTERM finishes the work in
hand and takes a checkpoint, the second ends the process at once.

${NAME} and ${NAME:-default} in the SQL are replaced by --set-var and from the environment.

Exit codes: 0 done, 1 a job failed, 2 the SQL, a flag or a file is wrong,
130 interrupted before anything was finished.`,
		Example: `  sluice run pipeline.sql
  sluice run --env prod DIR                             a pipeline: the folder of a sluice.yaml
  sluice run --embed events.jsonl pipeline.sql          on a broker inside the process
  sluice run --set-var KAFKA_BROKERS=kafka:9092 --state-dir /var/lib/sluice/p pipeline.sql
  sluice run --result json pipeline.sql | jq .row
  sluice run ddl.sql queries.sql
  echo "SELECT 1 AS one;" | sluice run -`,
		Args: needFiles,
		RunE: func(cmd *cobra.Command, files []string) error {
			f.parallelismSet = cmd.Flags().Changed("parallelism")
			if err := refuseEmpty(cmd.Flags(), "state-dir", "from-savepoint", "summary-json"); err != nil {
				return err
			}
			return run(f, sources, files)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	f.env.add(flags)
	f.embed.add(flags, "")
	f.vars.add(flags)
	f.options.add(flags)
	flags.IntVar(&f.parallelism, "parallelism", 0, "run `N` shards, 1–128; without it parallelism.default, else the number of cores")
	flags.StringVar(&f.stateDir, "state-dir", "", "keep state and checkpoints in `DIR`, and go on from there when started again")
	addChoice(flags, &f.pendingOutput, "pending-output", "", "%s the output that an exactly-once sink may or may not have, once it has lost its marker", string(runtime.PendingDeliver), string(runtime.PendingSkip))
	flags.StringArrayVar(&f.reemit, "reemit", nil, "write the whole present result into `SINK`, a table, before anything is read (repeatable)")
	flags.StringArrayVar(&f.skip, "skip", nil, "leave out one message, `TABLE/PARTITION@OFFSET` (repeatable)")
	flags.StringVar(&f.fromSavepoint, "from-savepoint", "", "make the state directory, which must be new or empty, of the savepoint in `DIR`")
	flags.BoolVar(&f.allowRebuild, "allow-rebuild", false, "where the SQL has changed so that state does not fit, drop that state and read its inputs again")
	addChoice(flags, &f.result, "result", "", "show the result of a SELECT as %s; default changelog, or what the SQL sets", result.Modes...)
	flags.BoolVar(&f.quiet, "quiet", false, "neither progress nor summary on standard error")
	flags.StringVar(&f.summaryJSON, "summary-json", "", "write the summary as JSON to `FILE`")
	f.profiles.add(flags)
	return cmd
}

// refuseEmpty refuses flags that were given an empty name, as that of an unset variable is: a job meant to have state
// would run without.
func refuseEmpty(flags *pflag.FlagSet, names ...string) error {
	for _, name := range names {
		if flag := flags.Lookup(name); flag.Changed && flag.Value.String() == "" {
			return wrong(fault.Errorf(fault.CommandLine, "--%s is empty", name).Fix("give it a name, or leave the flag out"))
		}
	}
	return nil
}

// check refuses flags that make no sense, before anything is read.
func (f *runFlags) check() error {
	if f.parallelism < 1 && f.parallelismSet || f.parallelism > maxParallelism {
		return wrong(fmt.Errorf("--parallelism %d: the number of shards is 1 to %d", f.parallelism, maxParallelism))
	}
	for _, text := range f.skip {
		s, err := runtime.ParseSkip(text)
		if err != nil {
			return wrong(fmt.Errorf("--skip: %w", err))
		}
		f.skips = append(f.skips, s)
	}
	if f.stateDir != "" {
		if info, err := os.Stat(f.stateDir); err == nil && !info.IsDir() {
			return wrong(fmt.Errorf("--state-dir %s is no directory", f.stateDir))
		}
	}
	return nil
}

// open finds what the arguments name, starts the broker inside the process where one is asked for, and sets the
// variables. The caller closes the broker.
func (f *runFlags) open(sources sourceTexts, args []string) (p *project, set *vars.Set, broker *localBroker, err error) {
	p, err = sources.open(args, f.env)
	if err != nil {
		return nil, nil, nil, err
	}
	given, err := p.variables(sources)
	if err != nil {
		return nil, nil, nil, err
	}
	if broker, err = startBroker(slices.Concat(p.embed(), f.embed)); err != nil {
		return nil, nil, nil, err
	}
	maps.Copy(given, broker.variables())
	if set, err = f.vars.set(given); err != nil {
		broker.close()
		return nil, nil, nil, err
	}
	return p, set, broker, nil
}

// run executes sluice run.
func run(f *runFlags, sources sourceTexts, files []string) error {
	return f.withScript(sources, files, (*runner).script)
}

// withScript calls do for the statements of what a command names, with a runner for their jobs.
func (f *runFlags) withScript(sources sourceTexts, files []string, do func(*runner, []ast.Statement) error) (err error) {
	if err := f.check(); err != nil {
		return err
	}
	p, set, broker, err := f.open(sources, files)
	if err != nil {
		return err
	}
	defer broker.close()
	stmts, err := sources.parse(p.files, set)
	if err != nil {
		return err
	}
	stopProfiles, err := f.profiles.start()
	if err != nil {
		return wrong(err)
	}
	defer func() {
		if perr := stopProfiles(); perr != nil {
			err = errors.Join(err, &failure{exitFailed, perr})
		}
	}()
	r := newRunner(f, sources)
	r.project, r.broker = p, broker
	r.sql = sources.script(p.files)
	defer r.close()
	return do(r, stmts)
}
