package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluicesql/sluice/cmd/sluice/internal/diag"
	"github.com/sluicesql/sluice/cmd/sluice/internal/findings"
	"github.com/sluicesql/sluice/planner"
	"github.com/sluicesql/sluice/sql/ast"
)

// placeholderBroker is what ${KAFKA_BROKERS} stands for where nothing connects.
const placeholderBroker = "localhost:9092"

func newCheck(sources sourceTexts) *cobra.Command {
	var variables variableFlag
	var options optionFlag
	var format string
	var strict bool
	cmd := &cobra.Command{
		Use:   "check [flags] PATH…",
		Short: "Look for mistakes and lints in SQL files, without connecting",
		Long: `Parse, bind and plan SQL files and tell all mistakes, and lints: what runs, and is
probably not what was meant. Nothing connects and nothing runs.

The files named are one script, in order, as they are to sluice run. Of a folder each
.sql file is a script of its own, those in folders below included.

Exit codes: 0 no errors, 2 errors (with --strict, lints too).`,
		Example: `  sluice check pipeline.sql
  sluice check --strict --format github pipelines/`,
		Args: needFiles,
		RunE: func(cmd *cobra.Command, paths []string) error {
			if !slices.Contains(findings.Formats(), format) {
				return wrong(fmt.Errorf("--format %s: it is one of %s", format, strings.Join(findings.Formats(), ", ")))
			}
			c := &checker{sources: sources, variables: variables, options: options}
			scripts, err := checkedScripts(paths)
			if err != nil {
				return wrong(err)
			}
			for _, files := range scripts {
				if err := c.script(files); err != nil {
					return err
				}
			}
			if strict {
				for i := range c.found {
					c.found[i].Severity = findings.Error
				}
			}
			out := cmd.OutOrStdout()
			if err := findings.Write(out, format, c.found, &diag.Printer{Out: out, Color: colorful(os.Stdout), Source: sources.text}); err != nil {
				return &failure{exitFailed, err}
			}
			if slices.ContainsFunc(c.found, func(f findings.Finding) bool { return f.Severity == findings.Error }) {
				return &failure{code: exitWrong}
			}
			return nil
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&format, "format", "text", "write findings as `text|json|github|sarif`")
	flags.BoolVar(&strict, "strict", false, "lints are errors")
	variables.add(flags)
	options.add(flags)
	return cmd
}

// checkedScripts are the scripts that paths name, each as its files.
func checkedScripts(paths []string) ([][]string, error) {
	var scripts [][]string
	var named []string
	for _, path := range paths {
		info, err := os.Stat(path)
		switch {
		case path == "-" || err == nil && !info.IsDir():
			named = append(named, path)
			continue
		case errors.Is(err, fs.ErrNotExist):
			return nil, noSuchFile(path)
		case err != nil:
			return nil, err
		}
		files, err := sqlFiles(path)
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			scripts = append(scripts, []string{f})
		}
	}
	if named != nil {
		scripts = append([][]string{named}, scripts...)
	}
	return scripts, nil
}

// sqlFiles are the SQL files of a folder and those below it, in order. A folder without any is an error.
func sqlFiles(dir string) ([]string, error) {
	var files []string
	err := filepath.WalkDir(dir+string(filepath.Separator), func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && strings.HasPrefix(d.Name(), "."):
			return filepath.SkipDir
		case !d.IsDir() && filepath.Ext(path) == ".sql":
			files = append(files, path)
		}
		return nil
	})
	if err == nil && files == nil {
		err = fmt.Errorf("%s: there is no .sql file in this folder", dir)
	}
	return files, err
}

// checker gathers the findings of scripts.
type checker struct {
	sources   sourceTexts
	variables variableFlag
	options   optionFlag
	found     []findings.Finding
}

// script checks the script that consists of files. Its error is one of the command line's.
func (c *checker) script(files []string) error {
	set, err := c.variables.set(nil)
	if err != nil {
		return err
	}
	if _, ok := os.LookupEnv(brokersVariable); !ok && set.Values[brokersVariable] == "" {
		set.Values[brokersVariable] = placeholderBroker
	}
	session := planner.NewSession(newRegistry(io.Discard, io.Discard))
	if err := c.options.apply(session); err != nil {
		return err
	}
	var stmts []ast.Statement
	var mistakes ast.ErrorList
	for _, file := range files {
		name, src, err := readScript(file)
		if err != nil {
			return wrong(err)
		}
		parsed, err := c.sources.parseText(name, src, set)
		if list, ok := errors.AsType[ast.ErrorList](err); ok {
			mistakes = append(mistakes, list...)
		} else if err != nil {
			return wrong(err)
		}
		stmts = append(stmts, parsed...)
	}
	planned, f := session.Check(stmts, len(mistakes) > 0)
	if len(mistakes) == 0 && len(f.Errors) == 0 {
		r := &runner{flags: &runFlags{}, screen: true}
		if e, ok := errors.AsType[*ast.Error](r.check(planned)); ok {
			f.Errors = append(f.Errors, e)
		}
	}
	var found []findings.Finding
	for _, e := range mistakes {
		found = append(found, findings.Finding{Severity: findings.Error, Error: e})
	}
	for _, e := range f.Errors {
		found = append(found, findings.Finding{Severity: findings.Error, Error: c.sources.locateOne(e)})
	}
	for _, e := range f.Lints {
		found = append(found, findings.Finding{Severity: findings.Warning, Error: c.sources.locateOne(e)})
	}
	slices.SortStableFunc(found, func(a, b findings.Finding) int {
		return cmp.Or(cmp.Compare(slices.Index(files, a.Pos.File), slices.Index(files, b.Pos.File)), cmp.Compare(a.Pos.Offset, b.Pos.Offset))
	})
	c.found = append(c.found, found...)
	return nil
}
