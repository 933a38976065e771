package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/sluicesql/sluice/cmd/sluice/internal/display"
)

// sqlFlags are the flags of sluice sql.
type sqlFlags struct {
	runFlags
	statements []string
	layout     string
	history    string
}

func newSQL(sources sourceTexts) *cobra.Command {
	f := &sqlFlags{}
	cmd := &cobra.Command{
		Use:   "sql [flags] [FILE.sql…|FOLDER]",
		Short: "Work with SQL interactively, or statement by statement from a file or pipe",
		Long: `Run the statements of the files and of -e, one after another, and then those that are typed.
Without a terminal, or with -e, nothing is asked for: without files and -e, standard input is run.
The folder of a pipeline gives its tables, views and options; its jobs are left to sluice run.

A SELECT shows its rows, or a live table when its inputs have no end; INSERT INTO starts a job in
the background. HELP explains statements, functions, connectors and options; \? lists the commands.

The first error ends a run without a terminal. Exit codes: 0 done, 1 a job failed, 2 the SQL, a
flag or a file is wrong, 130 interrupted.`,
		Example: `  sluice sql
  sluice sql --embed events.jsonl tables.sql            with a broker inside the process
  sluice sql --env prod DIR                             on a pipeline: the folder of a sluice.yaml
  sluice sql -e "SELECT 1 AS one" --output json
  sluice sql --output csv <queries.sql >result.csv`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, files []string) error {
			f.parallelismSet = cmd.Flags().Changed("parallelism")
			return runSQL(f, sources, files)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	f.env.add(flags)
	flags.StringArrayVarP(&f.statements, "execute", "e", nil, "run these `STATEMENTS` after the files, and end (repeatable)")
	addChoice(flags, &f.layout, "output", display.Aligned.String(), "write rows as %s", display.Layouts...)
	f.embed.add(flags, "")
	f.vars.add(flags)
	f.options.add(flags)
	flags.IntVar(&f.parallelism, "parallelism", 0, "run `N` shards, 1–128; without it parallelism.default, else the number of cores")
	flags.StringVar(&f.history, "history", defaultHistory(), "keep what is typed in `FILE`; empty keeps nothing")
	return cmd
}

// defaultHistory is where XDG's rules want a history; empty where there is no home.
func defaultHistory() string {
	dir := os.Getenv("XDG_STATE_HOME")
	if dir == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return ""
		}
		dir = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(dir, "sluice", "history")
}

func runSQL(f *sqlFlags, sources sourceTexts, args []string) error {
	if err := f.check(); err != nil {
		return err
	}
	p, set, broker, err := f.open(sources, args)
	if err != nil {
		return err
	}
	defer broker.close()
	files := p.files
	if p.pipeline != nil {
		files = nil // see load
	}
	// A FILE that is - is standard input, which then is no one to ask.
	interactive := len(f.statements) == 0 && !slices.Contains(files, "-") && isTerminal(os.Stdin) && isTerminal(os.Stdout)
	if len(files) == 0 && len(f.statements) == 0 && !interactive {
		files = []string{"-"}
	}
	s := newShell(&f.runFlags, sources, set, display.LayoutNamed(f.layout), broker, interactive)
	defer s.close()
	err = s.work(f, p, files)
	s.guard.Dismiss()
	return err
}

// work runs what the command line says, and then what is typed.
func (s *shell) work(f *sqlFlags, p *project, files []string) error {
	if err := p.apply(s.session); err != nil {
		return err
	}
	if err := f.options.apply(s.session); err != nil {
		return err
	}
	if p.pipeline != nil {
		if err := s.load(p); err != nil || s.quit {
			return err
		}
	}
	for _, file := range files {
		if err := s.runFile(file); err != nil || s.quit {
			return err
		}
	}
	for i, text := range f.statements {
		if err := s.runText(argumentName(i, len(f.statements)), text); err != nil || s.quit {
			return err
		}
	}
	if s.interactive {
		return s.converse(f.history)
	}
	return s.jobs.waitAll()
}

// argumentName is the name that errors give to the text of a -e.
func argumentName(i, n int) string {
	if n == 1 {
		return "-e"
	}
	return fmt.Sprintf("-e %d", i+1)
}
