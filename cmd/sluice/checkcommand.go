package main

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluicesql/sluice/cmd/sluice/internal/diag"
	"github.com/sluicesql/sluice/cmd/sluice/internal/findings"
	"github.com/sluicesql/sluice/cmd/sluice/internal/pipeline"
	"github.com/sluicesql/sluice/internal/fault"
	"github.com/sluicesql/sluice/planner"
	"github.com/sluicesql/sluice/sql/ast"
)

func newCheck(sources sourceTexts) *cobra.Command {
	var variables variableFlag
	var options optionFlag
	var env environmentFlag
	var format string
	var strict bool
	var sampled sampleFlags
	cmd := &cobra.Command{
		Use:   "check [flags] PATH…",
		Short: "Look for mistakes and lints in SQL files, without connecting",
		Long: `Parse, bind and plan SQL files and tell all mistakes, and lints: what runs, and is
probably not what was meant. Nothing connects and nothing runs; with --sample N the topics of
the sources are looked into.

The files named are one script, in order, as they are to sluice run. In a folder and those
below it, a folder with a sluice.yaml is a pipeline, and every other .sql file is a script
of its own.

Exit codes: 0 no errors, 2 errors (with --strict, lints too).`,
		Example: `  sluice check pipeline.sql
  sluice check --strict --format github pipelines/
  sluice check --sample 1000 pipeline.sql               hold the columns against the topics`,
		Args: needFiles,
		RunE: func(cmd *cobra.Command, paths []string) error {
			if err := sampled.check(cmd); err != nil {
				return err
			}
			out := sources.secrets.Writer(cmd.OutOrStdout())
			c := &checker{sources: sources, env: env, variables: variables, options: options, sample: sampled, report: out, reported: format == "text"}
			if err := c.paths(paths); err != nil {
				return err
			}
			if strict {
				for i := range c.found {
					c.found[i].Severity = findings.Error
				}
			}
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
	addChoice(flags, &format, "format", "text", "write findings as %s", findings.Formats()...)
	flags.BoolVar(&strict, "strict", false, "lints are errors")
	sampled.add(flags)
	variables.add(flags)
	options.add(flags)
	env.add(flags)
	return cmd
}

// checker gathers the findings of scripts.
type checker struct {
	sources   sourceTexts
	env       environmentFlag
	variables variableFlag
	options   optionFlag
	found     []findings.Finding

	sample   sampleFlags
	report   io.Writer // for the samples' tables
	reported bool      // whether they are written
}

// paths checks what the command line names.
func (c *checker) paths(paths []string) error {
	named, folders, err := sortPaths(paths)
	if err != nil {
		return wrong(err)
	}
	if c.env != "" && folders == nil {
		return c.env.refuse()
	}
	if named != nil {
		if err := c.script(&project{files: named}); err != nil {
			return err
		}
	}
	for _, folder := range folders {
		pipelines, files, err := sqlFiles(folder, true)
		if err != nil {
			return wrong(err)
		}
		for _, dir := range pipelines {
			p, err := c.sources.openPipeline(dir, c.env)
			if list := mistakesOf(err); list != nil {
				c.add(findings.Error, list)
				continue
			} else if err != nil {
				return err
			}
			if err := c.script(p); err != nil {
				return err
			}
		}
		for _, file := range files {
			if err := c.script(&project{files: []string{file}}); err != nil {
				return err
			}
		}
	}
	return nil
}

// sortPaths tells files, and - for standard input, from folders.
func sortPaths(paths []string) (files, folders []string, err error) {
	for _, path := range paths {
		info, err := os.Stat(path)
		switch {
		case path == "-" || err == nil && !info.IsDir():
			files = append(files, path)
		case errors.Is(err, fs.ErrNotExist):
			return nil, nil, noSuchFile(path)
		case err != nil:
			return nil, nil, err
		default:
			folders = append(folders, path)
		}
	}
	return files, folders, nil
}

// sqlFiles are the SQL files of a folder and those below it. With apart, folders of pipelines are told apart from the files
// that lie in none of these.
func sqlFiles(dir string, apart bool) (pipelines, files []string, err error) {
	err = walkVisible(dir, func(path string, d fs.DirEntry) error {
		switch {
		case d.IsDir() && apart:
			if pipeline.Is(path) {
				pipelines = append(pipelines, filepath.Clean(path))
				return filepath.SkipDir
			}
		case filepath.Ext(path) == ".sql":
			files = append(files, path)
		}
		return nil
	})
	if err == nil && files == nil && pipelines == nil {
		err = fault.Errorf(fault.File, "%s: there is no pipeline and no .sql file in this folder", dir).Fix("name a folder that has one, or the files themselves")
	}
	return pipelines, files, err
}

// walkVisible calls f for a folder and all that is below it, but for what lies in hidden folders, such as .git, that are
// not named themselves. Links to folders are followed where they are named, as a path that ends in a slash is.
func walkVisible(dir string, f func(path string, e fs.DirEntry) error) error {
	root := dir + string(filepath.Separator)
	return filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && path != root && strings.HasPrefix(e.Name(), "."):
			return filepath.SkipDir
		}
		return f(path, e)
	})
}

// mistakesOf are the mistakes with places that an error consists of.
func mistakesOf(err error) ast.ErrorList {
	if list, ok := errors.AsType[ast.ErrorList](err); ok {
		return list
	}
	if e, ok := errors.AsType[*ast.Error](err); ok {
		return ast.ErrorList{e}
	}
	return nil
}

func (c *checker) add(s findings.Severity, list ast.ErrorList) {
	for _, e := range list {
		c.found = append(c.found, findings.Finding{Severity: s, Error: c.sources.locateOne(e)})
	}
}

// given are the values of the pipeline's variables. Secrets need not be there: nothing connects.
func (c *checker) given(p *project) map[string]string {
	given := map[string]string{}
	if p.settings != nil {
		for name := range p.settings.Secrets {
			given[name] = name
		}
		maps.Copy(given, p.settings.Variables)
	}
	if _, ok := os.LookupEnv(brokersVariable); !ok && given[brokersVariable] == "" {
		given[brokersVariable] = embeddedBroker
	}
	return given
}

// script checks a script. Its error is one of the command line's.
func (c *checker) script(p *project) (err error) {
	given := c.given(p)
	var broker *localBroker
	if c.sample.n > 0 { // it connects, with the secrets
		if broker, err = startBroker(slices.Concat(p.embed(), c.sample.embed)); err != nil {
			return err
		}
		defer broker.close()
		secrets, err := p.variables(c.sources)
		if err != nil {
			return err
		}
		maps.Copy(given, secrets)
		maps.Copy(given, broker.variables())
	}
	set, err := c.variables.set(given)
	if err != nil {
		return err
	}
	registry := newRegistry(io.Discard, io.Discard)
	session := planner.NewSession(registry)
	if err := p.apply(session); err != nil {
		return err
	}
	if err := c.options.apply(session); err != nil {
		return err
	}
	var stmts []ast.Statement
	start := len(c.found)
	for _, file := range p.files {
		name, src, err := readScript(file)
		if err != nil {
			return wrong(err)
		}
		parsed, err := c.sources.parseText(name, src, set)
		for _, e := range mistakesOf(err) {
			c.found = append(c.found, findings.Finding{Severity: findings.Error, Error: e})
		}
		stmts = append(stmts, parsed...)
	}
	parsed := len(c.found) == start
	planned, f := session.Check(stmts, !parsed)
	if parsed && len(f.Errors) == 0 {
		r := &runner{flags: &runFlags{}, project: p, screen: true}
		f.Errors = mistakesOf(r.check(planned))
	}
	c.add(findings.Error, f.Errors)
	c.add(findings.Warning, f.Lints)
	if c.sample.n > 0 && !slices.ContainsFunc(c.found[start:], func(f findings.Finding) bool { return f.Severity == findings.Error }) {
		if err := broker.load(session, registry); err != nil {
			return err
		}
		more, err := c.samples(broker, planned, registry, stmts)
		if err != nil {
			return err
		}
		c.found = append(c.found, more...)
	}
	slices.SortStableFunc(c.found[start:], func(a, b findings.Finding) int {
		return cmp.Or(cmp.Compare(slices.Index(p.files, a.Pos.File), slices.Index(p.files, b.Pos.File)), cmp.Compare(a.Pos.Offset, b.Pos.Offset))
	})
	return nil
}
