package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	goruntime "runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/sluicesql/sluice/cmd/sluice/internal/diag"
	"github.com/sluicesql/sluice/cmd/sluice/internal/pipeline"
	"github.com/sluicesql/sluice/cmd/sluice/internal/sqltest"
	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/internal/fault"
	"github.com/sluicesql/sluice/planner"
	"github.com/sluicesql/sluice/sql/ast"
)

// testFlags are the flags of sluice test.
type testFlags struct {
	run      string
	update   bool
	format   string
	coverage bool
	parallel int
	timeout  time.Duration
}

func newTest(sources sourceTexts) *cobra.Command {
	f := &testFlags{}
	cmd := &cobra.Command{
		Use:   "test [flags] [PATH…]",
		Short: "Run the tests of pipelines",
		Long: `Run tests: files NAME.test, of the pipelines below each PATH, or named themselves; without a PATH
those below the folder at hand. A test gives records to topics and says what tables and views hold
then. The pipeline runs as it is, with its own connectors, on a broker inside the process. See
docs/testing.md.

Exit codes: 0 all passed, 1 a test failed, 2 a file or flag is wrong.`,
		Example: `  sluice test demo
  sluice test --run moved demo/tests/join.test
  sluice test --update demo                       write what was found as what is expected`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				args = []string{"."}
			}
			return runTests(cmd.Context(), f, sources, cmd.OutOrStdout(), args)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.run, "run", "", "run the tests whose names `REGEXP` matches")
	flags.BoolVar(&f.update, "update", false, "write what was found as what is expected")
	addChoice(flags, &f.format, "format", "text", "report as %s", "text", "tap", "junit")
	flags.BoolVar(&f.coverage, "coverage", false, "say which tables, views and results no test has seen change, and which operators gave none")
	flags.IntVar(&f.parallel, "parallel", goruntime.GOMAXPROCS(0), "run `N` tests at once")
	flags.DurationVar(&f.timeout, "timeout", 10*time.Second, "the `TIME` that a pipeline may take for a step")
	return cmd
}

// suite are the tests of one pipeline.
type suite struct {
	dir   string // of the pipeline; for a SQL file without one, the file
	tests *sqltest.Pipeline
	files []*sqltest.File
}

// testCase is one test and, in the end, how it went.
type testCase struct {
	suite  *suite
	file   *sqltest.File
	test   *sqltest.Case
	result *sqltest.Result
}

func runTests(ctx context.Context, f *testFlags, sources sourceTexts, out io.Writer, paths []string) error {
	only, err := regexp.Compile(f.run)
	if err != nil {
		return wrong(fmt.Errorf("--run: %w", err))
	}
	if f.parallel < 1 {
		return wrong(fmt.Errorf("--parallel %d: at least one test runs at a time", f.parallel))
	}
	suites, err := findSuites(sources, paths)
	if err != nil {
		return err
	}
	var cases []*testCase
	var others []string
	for _, s := range suites {
		for _, file := range s.files {
			for _, c := range file.Cases {
				if only.MatchString(c.Name) {
					cases = append(cases, &testCase{suite: s, file: file, test: c})
				} else {
					others = append(others, c.Name)
				}
			}
		}
	}
	if len(cases) == 0 && others != nil {
		if len(others) > maxNames {
			others = append(others[:maxNames], "…")
		}
		return wrong(fault.Errorf(fault.Test, "--run %s: no test has a name that matches it", f.run).
			Fix("there are: %s", strings.Join(others, ", ")))
	}
	if len(cases) == 0 {
		return wrong(fault.Errorf(fault.Test, "there is no test to run").
			Fix("a test is a file NAME.test in the folder tests of a pipeline, or beside a SQL file of the same name"))
	}
	began := time.Now()
	var group errgroup.Group
	group.SetLimit(f.parallel)
	for _, c := range cases {
		group.Go(func() error {
			c.result = sqltest.Run(ctx, c.suite.tests, c.file, c.test, sqltest.Options{Timeout: f.timeout, Update: f.update, Coverage: f.coverage})
			return nil
		})
	}
	_ = group.Wait() // none of them returns an error
	if f.update {
		if err := update(cases); err != nil {
			return &failure{exitFailed, err}
		}
	}
	r := &testReport{cases: cases, elapsed: time.Since(began), sources: sources, coverage: f.coverage}
	if err := reports[f.format](r, out); err != nil {
		return &failure{exitFailed, err}
	}
	if r.failed() > 0 {
		return &failure{code: exitFailed}
	}
	return nil
}

// update writes the files whose expectations have changed.
func update(cases []*testCase) error {
	seen := map[*sqltest.File]bool{}
	for _, c := range cases {
		if seen[c.file] {
			continue
		}
		seen[c.file] = true
		if text := c.file.Updated(); text != c.file.Text {
			if err := replaceFile(c.file.Path, text); err != nil {
				return err
			}
		}
	}
	return nil
}

// findSuites finds the tests below the paths, by pipeline.
func findSuites(sources sourceTexts, paths []string) ([]*suite, error) {
	suites := map[string]*suite{}
	var order []*suite
	seen := map[string]bool{}
	var mistakes ast.ErrorList
	add := func(path string) error {
		if seen[path] {
			return nil
		}
		seen[path] = true
		b, err := os.ReadFile(path)
		if err != nil {
			return wrong(err)
		}
		file, err := sqltest.Parse(path, string(b))
		sources.show(path, string(b))
		if list, ok := errors.AsType[ast.ErrorList](err); ok {
			mistakes = append(mistakes, list...)
		}
		of := pipeline.Find(filepath.Dir(path))
		if of == "" {
			of = strings.TrimSuffix(path, sqltest.Extension) + ".sql"
			if _, err := os.Stat(of); err != nil {
				return wrong(fault.Errorf(fault.Test, "%s: there is neither a %s in its folder or above, nor a %s beside it, for it to test", path, pipeline.FileName, filepath.Base(of)).
					Fix("put it into the folder tests of a pipeline, or beside a SQL file of the same name"))
			}
		}
		s := suites[of]
		if s == nil {
			tests, err := tested(sources, of)
			if err != nil {
				return err
			}
			s = &suite{dir: of, tests: tests}
			suites[of] = s
			order = append(order, s)
		}
		s.files = append(s.files, file)
		return nil
	}
	for _, p := range paths {
		info, err := os.Stat(p)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, wrong(noSuchFile(p))
		case err != nil:
			return nil, wrong(err)
		case !info.IsDir() && !strings.HasSuffix(p, sqltest.Extension):
			return nil, wrong(fault.Errorf(fault.Test, "%s is no test", p).
				Fix("tests are files NAME%s, or folders of them", sqltest.Extension))
		case !info.IsDir():
			if err := add(p); err != nil {
				return nil, err
			}
			continue
		}
		err = walkVisible(p, func(path string, e fs.DirEntry) error {
			if e.IsDir() || !strings.HasSuffix(path, sqltest.Extension) {
				return nil
			}
			return add(filepath.Clean(path))
		})
		if err != nil {
			return nil, err
		}
	}
	if err := mistakes.Err(); err != nil {
		return nil, wrong(err)
	}
	return order, nil
}

// maxNames is how many tests a message names.
const maxNames = 10

// testEnvironment is the environment that tests take, where a pipeline has one of the name.
const testEnvironment = "test"

// tested is a pipeline, or a SQL file, as its tests run it.
func tested(sources sourceTexts, of string) (*sqltest.Pipeline, error) {
	p := &project{files: []string{of}}
	given := map[string]string{brokersVariable: embeddedBroker}
	if pipeline.Is(of) {
		loaded, err := sources.loadPipeline(of)
		if err != nil {
			return nil, err
		}
		env := environmentFlag("")
		if slices.Contains(loaded.Environments(), testEnvironment) {
			env = testEnvironment
		}
		if p, err = inEnvironment(loaded, env); err != nil {
			return nil, err
		}
		for name, v := range p.placeholders() {
			if name != brokersVariable {
				given[name] = v
			}
		}
	}
	return &sqltest.Pipeline{
		Registry: func() *spi.Registry { return newRegistry(io.Discard, io.Discard) },
		Prepare: func(r *spi.Registry, variables map[string]string) (*planner.Session, []ast.Statement, func(error) error, error) {
			own := maps.Clone(given)
			maps.Copy(own, variables)
			set, err := variableFlag(nil).set(own)
			if err != nil {
				return nil, nil, nil, err
			}
			texts := sources.apart() // tests run at once, each with its variables
			stmts, err := texts.parse(p.files, set)
			for _, file := range p.files { // for the lines that the report shows
				if text, read := texts.text(file); read {
					sources.show(file, text)
				}
			}
			if err != nil {
				return nil, nil, nil, err
			}
			session := planner.NewSession(r)
			return session, stmts, texts.locate, p.apply(session)
		},
	}, nil
}

// testReport is what a report tells.
type testReport struct {
	cases    []*testCase
	elapsed  time.Duration
	sources  sourceTexts
	coverage bool
}

func (r *testReport) failed() int {
	n := 0
	for _, c := range r.cases {
		if c.result.Failed() {
			n++
		}
	}
	return n
}

// name is a case's name with its file.
func (c *testCase) name() string {
	return filepath.ToSlash(filepath.Join(filepath.Dir(c.file.Path), c.test.Name))
}

// details says why a case failed.
func (r *testReport) details(c *testCase) string {
	var b strings.Builder
	c.result.Write(&b)
	rows := r.sources.secrets.Row(b.String())
	b.Reset()
	if err := c.result.Err; err != nil {
		p := diag.Printer{Out: &b, Source: r.sources.text}
		p.Print(err)
	}
	return rows + r.sources.secrets.Text(b.String())
}
