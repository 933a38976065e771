package main

import (
	"os"

	"github.com/spf13/cobra"
	mandoc "github.com/spf13/cobra/doc"
)

// newMan is the command that writes manual pages, for those who package the binary.
func newMan() *cobra.Command {
	return &cobra.Command{
		Use:     "man DIR",
		Short:   "Write manual pages",
		Long:    `Write a manual page for each command into DIR, which is made where it is missing.`,
		Example: `  sluice man /usr/local/share/man/man1`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return wrong(err)
			}
			root := cmd.Root()
			root.DisableAutoGenTag = true // the same binary writes the same pages
			if err := mandoc.GenManTree(root, &mandoc.GenManHeader{Section: "1", Source: "sluice", Manual: "sluice"}, args[0]); err != nil {
				return &failure{exitFailed, err}
			}
			return nil
		},
	}
}
