package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pmezard/go-difflib/difflib"
	"github.com/spf13/cobra"

	"github.com/sluicesql/sluice/sql/format"
)

func newFmt(sources sourceTexts) *cobra.Command {
	var check, diff bool
	cmd := &cobra.Command{
		Use:   "fmt [flags] PATH…",
		Short: "Lay out SQL files",
		Long: `Lay out SQL files, and the .sql files of folders: keywords in upper case, one blank
between tokens, lines indented by what they belong to, none longer than 120
characters where it can be broken, the types of a table's columns below one another.
Line breaks and comments stay where they are. The files are rewritten; - is standard
input, which goes to standard output. What a statement means never changes, and a file
with a syntax error stays as it is.

Exit codes: 0 done, 1 with --check or --diff when a file is not laid out so, 2 a file is wrong.`,
		Example: `  sluice fmt pipelines/
  sluice fmt --check .                          in a build: names the files to format
  sluice fmt - < pipeline.sql`,
		Args: needFiles,
		RunE: func(cmd *cobra.Command, paths []string) error {
			f := &formatter{sources: sources, out: cmd.OutOrStdout(), check: check, diff: diff}
			return f.paths(paths)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.BoolVar(&check, "check", false, "write nothing; name the files that are not laid out so")
	flags.BoolVar(&diff, "diff", false, "write nothing; show what would change")
	return cmd
}

// formatter formats files.
type formatter struct {
	sources     sourceTexts
	out         io.Writer
	check, diff bool
	changed     bool
}

func (f *formatter) paths(paths []string) error {
	files, folders, err := sortPaths(paths)
	if err != nil {
		return wrong(err)
	}
	for _, folder := range folders {
		_, below, err := sqlFiles(folder, false)
		if err != nil {
			return wrong(err)
		}
		files = append(files, below...)
	}
	var errs []error
	for _, file := range files {
		errs = append(errs, f.file(file))
	}
	switch err := errors.Join(errs...); {
	case err != nil:
		return wrong(err)
	case f.changed && (f.check || f.diff):
		return &failure{code: exitFailed}
	}
	return nil
}

func (f *formatter) file(file string) error {
	name, text, err := readScript(file)
	if err != nil {
		return err
	}
	f.sources.show(name, text)
	laid, err := format.Text(name, text)
	if err != nil {
		return err
	}
	if laid != text {
		f.changed = true
	}
	switch {
	case f.diff && laid != text:
		return difflib.WriteUnifiedDiff(f.out, difflib.UnifiedDiff{
			A: linesOf(text), B: linesOf(laid), FromFile: name, ToFile: name, Context: 2,
		})
	case f.diff:
		return nil
	case f.check:
		if laid != text {
			fmt.Fprintln(f.out, name)
		}
		return nil
	case file == "-":
		_, err := io.WriteString(f.out, laid)
		return err
	case laid != text:
		return replaceFile(file, laid)
	}
	return nil
}

// linesOf are the lines of a text, each with its line break.
func linesOf(text string) []string { return slices.Collect(strings.Lines(text)) }

// replaceFile puts a text in the place of a file at once, so that a crash leaves the one or the other.
func replaceFile(file, text string) error {
	file, err := filepath.EvalSymlinks(file)
	if err != nil {
		return err
	}
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(file), ".sluice-*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name()) // gone already when all went well
	_, err = tmp.WriteString(text)
	err = errors.Join(err, tmp.Chmod(info.Mode().Perm()), tmp.Close())
	if err != nil {
		return err
	}
	return os.Rename(tmp.Name(), file)
}
