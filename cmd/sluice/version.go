package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is set when releases are built (-ldflags -X main.version=…).
var version string

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Long:    "Print the version of sluice, the commit it was built from, Go's version and the platform.",
		Example: "  sluice version",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), versionLine())
			return err
		},
	}
}

// versionLine is, for example, sluice v0.1.0 (commit 0123456789ab) go1.26.0 linux/amd64; without git at the build there is no commit.
func versionLine() string {
	v, commit := version, ""
	if info, ok := debug.ReadBuildInfo(); ok {
		if v == "" {
			v = info.Main.Version
		}
		for _, setting := range info.Settings {
			switch {
			case setting.Key == "vcs.revision":
				commit = " (commit " + setting.Value[:min(len(setting.Value), 12)] + ")"
			case setting.Key == "vcs.modified" && setting.Value == "true":
				v += "+modified"
			}
		}
	}
	if v == "" {
		v = "(devel)"
	}
	return fmt.Sprintf("sluice %s%s %s %s/%s", v, commit, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
