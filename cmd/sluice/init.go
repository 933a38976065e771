package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluicesql/sluice/cmd/sluice/internal/pipeline"
	"github.com/sluicesql/sluice/cmd/sluice/internal/scaffold"
)

func newInit() *cobra.Command {
	return &cobra.Command{
		Use:   "init [DIR]",
		Short: "Write a pipeline that runs and is tested",
		Long: `Write a pipeline into DIR, or into the folder at hand: a sluice.yaml, the join of two tables in SQL,
records to try it with, and its test. Files that are there already are left alone: then nothing is written.`,
		Example: `  sluice init demo && sluice test demo && sluice run demo`,
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := "."
			if len(args) == 1 {
				dir = args[0]
			}
			abs, err := filepath.Abs(dir)
			if err != nil {
				return wrong(err)
			}
			written, err := scaffold.Write(dir, pipeline.NameOf(filepath.Base(abs)))
			if err != nil {
				return wrong(err)
			}
			for _, name := range written {
				fmt.Fprintln(cmd.OutOrStdout(), "wrote", name)
			}
			at := shellQuoted(dir)
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "now: sluice test %s && sluice run %s\n", at, at)
			return err
		},
	}
}

// shellQuoted is a path as a shell wants it.
func shellQuoted(path string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789./_-"
	if strings.Trim(path, plain) == "" {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}
