// Package sqltest runs tests of pipelines: scripts that give records to topics, and say what tables and views have to hold
// then. A pipeline runs with its own connectors on a broker inside the process.
package sqltest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/internal/embed"
	"github.com/sluicesql/sluice/internal/fault"
	"github.com/sluicesql/sluice/internal/near"
	"github.com/sluicesql/sluice/planner"
	"github.com/sluicesql/sluice/sql/ast"
	"github.com/sluicesql/sluice/sql/parser"
)

// Pipeline is what the tests are of.
type Pipeline struct {
	// Registry makes the connectors that the pipeline may use.
	Registry func() *spi.Registry
	// Prepare makes a session with the given connectors, and reads the pipeline's statements with the given variables.
	// locate turns places in its errors into places in files.
	Prepare func(r *spi.Registry, variables map[string]string) (s *planner.Session, stmts []ast.Statement, locate func(error) error, err error)
}

// Options are how tests run.
type Options struct {
	// Timeout bounds the wait for a job to take in what it was given.
	Timeout time.Duration
	// Update has expectations replaced by what was found.
	Update bool
	// Coverage has every view looked at, and the operators measured.
	Coverage bool
}

// Result is how a case went.
type Result struct {
	// Err is what kept it from its end; nil when all steps were taken.
	Err error
	// Failures are expectations that were not met.
	Failures []Failure
	Elapsed  time.Duration
	Coverage Coverage
}

// Failure is an expectation that was not met.
type Failure struct {
	Pos  ast.Pos
	What string
	// Diff are the lines, with "- " before those expected and not found, "+ " before those found and not expected.
	Diff []string
}

// Failed reports whether the case failed.
func (r *Result) Failed() bool { return r.Err != nil || len(r.Failures) > 0 }

// run is a case on its way.
type run struct {
	pipeline *Pipeline
	options  Options
	file     *File
	broker   *embed.Broker
	registry *spi.Registry
	session  *planner.Session
	jobs     []*job
	opening  *job // the one that is being started
	captures map[string]*capture
	pairs    map[string][]int  // a unique key of the rows of sinks
	dirs     string            // of state; empty when the test never restarts
	read     map[string]int64  // events by source, of runs of jobs that have ended, for coverage
	gave     map[string]int64  // changes by operator, likewise
	locate   func(error) error // turns places in the script into places in files
	result   *Result
}

// resultName is the name of the result of the pipeline's only, or first, SELECT.
const resultName = "result"

// Run runs a case of a file.
func Run(ctx context.Context, p *Pipeline, f *File, c *Case, o Options) *Result {
	r := &run{pipeline: p, options: o, file: f, captures: map[string]*capture{}, pairs: map[string][]int{}, read: map[string]int64{}, gave: map[string]int64{}, result: &Result{}}
	began := time.Now()
	r.result.Err = r.run(ctx, c)
	r.result.Elapsed = time.Since(began)
	return r.result
}

func (r *run) run(ctx context.Context, c *Case) (err error) {
	if r.broker, err = embed.StartWith(); err != nil {
		return err
	}
	defer r.broker.Close()
	for _, d := range c.directives {
		if d.name == "restart" || d.name == "crash" {
			if r.dirs, err = os.MkdirTemp("", "sluice-test-"); err != nil {
				return err
			}
			defer func() { err = errors.Join(err, os.RemoveAll(r.dirs)) }()
			break
		}
	}
	defer func() {
		for _, j := range r.jobs {
			j.stop()
		}
	}()
	rest, err := r.prepare(ctx, c)
	if err != nil {
		return err
	}
	for _, d := range rest {
		if err := r.step(ctx, d); err != nil {
			return d.blame(err)
		}
	}
	if err := r.settle(ctx); err != nil {
		return fault.Or(fault.Test, fmt.Errorf("at the end of %s: %w", c.Name, err))
	}
	if r.options.Coverage {
		r.cover()
	}
	return nil
}

// blame gives an error the place of the directive, unless it has one.
func (d *directive) blame(err error) error {
	e, ok := errors.AsType[*ast.Error](err)
	switch {
	case !ok:
		return ast.Placed(d.pos, fmt.Errorf("%s: %w", d.name, err), fault.Test)
	case !e.Pos.IsValid():
		placed := *e
		placed.Pos = d.pos
		return &placed
	}
	return err
}

// prepare plans the pipeline and starts its jobs. It returns the directives that are left.
func (r *run) prepare(ctx context.Context, c *Case) ([]*directive, error) {
	variables := map[string]string{}
	type option struct {
		key, value string
		from       *directive
	}
	var options []option
	rest := c.directives
	for len(rest) > 0 && strings.HasPrefix(rest[0].name, "set") {
		key, value, ok := strings.Cut(rest[0].args[0], "=")
		if !ok {
			return nil, rest[0].blame(errors.New("write KEY=VALUE"))
		}
		if rest[0].name == "set" {
			options = append(options, option{key, value, rest[0]})
		} else {
			variables[key] = value
		}
		rest = rest[1:]
	}
	r.registry = r.pipeline.Registry().Wrapped(func(c spi.Connector) spi.Connector { return &connector{c, r} })
	session, stmts, locate, err := r.pipeline.Prepare(r.registry, variables)
	if err != nil {
		return nil, err
	}
	r.session, r.locate = session, locate
	for _, o := range options {
		if err := session.SetOption(o.key, o.value); err != nil {
			return nil, o.from.blame(err)
		}
	}
	script, err := session.Run(stmts)
	if err != nil {
		return nil, locate(err)
	}
	if err := r.precreate(rest); err != nil {
		return nil, err
	}
	results := 0
	for _, step := range script.Steps {
		if j, ok := step.(*planner.Job); ok {
			name := ""
			if j.Query {
				if results++; results == 1 {
					name = resultName
				} else {
					name = resultName + strconv.Itoa(results)
				}
			}
			if err := r.add(ctx, j.Plan, name); err != nil {
				return nil, locate(err)
			}
		}
	}
	for _, d := range r.observed(rest) {
		if err := r.observe(ctx, d.args[0]); err != nil {
			return nil, d.blame(locate(err))
		}
	}
	if r.options.Coverage {
		for _, name := range session.Views() {
			if r.captures[name] != nil {
				continue
			}
			if err := r.observe(ctx, name); err != nil {
				return nil, locate(err)
			}
		}
	}
	return rest, nil
}

// add starts a job. A query has the name of its result.
func (r *run) add(ctx context.Context, p *planner.Plan, query string) error {
	j := newJob(p)
	for _, s := range p.Sinks {
		if s.Connector != nil {
			r.pairs[s.Spec.Table.Name] = s.PairKey
		}
	}
	if query != "" {
		j.result = newCapture()
		r.captures[query] = j.result
	}
	if r.dirs != "" {
		j.stateDir = filepath.Join(r.dirs, strconv.Itoa(len(r.jobs)))
	}
	r.jobs = append(r.jobs, j)
	return r.start(ctx, j)
}

// captureOf is the capture of a table that is written, and a unique key of its rows.
func (r *run) captureOf(table string) (*capture, []int) {
	if r.captures[table] == nil {
		r.captures[table] = newCapture()
	}
	return r.captures[table], r.pairs[table]
}

// observed are the first looks of the test at each table and view that no job writes.
func (r *run) observed(ds []*directive) []*directive {
	var out []*directive
	seen := map[string]bool{}
	for _, d := range ds {
		if d.name != "changes" && d.name != "table" {
			continue
		}
		if name := d.args[0]; !seen[name] && r.captures[name] == nil {
			seen[name] = true
			out = append(out, d)
		}
	}
	return out
}

// observe starts a SELECT of a table or view.
func (r *run) observe(ctx context.Context, name string) error {
	known := append(r.session.Tables(), r.session.Views()...)
	if !slices.Contains(known, name) {
		for n := range r.captures {
			known = append(known, n)
		}
		slices.Sort(known)
		msg := fmt.Sprintf("the pipeline has no table or view %q", name)
		if n := near.Name(name, known); n != "" {
			msg += fmt.Sprintf("; did you mean %q?", n)
		}
		return errors.New(msg)
	}
	stmts, err := parser.Parse(name, "SELECT * FROM `"+strings.ReplaceAll(name, "`", "``")+"`")
	if err != nil {
		return err
	}
	script, err := r.session.Run(stmts)
	if err != nil {
		return err
	}
	return r.add(ctx, script.Steps[0].(*planner.Job).Plan, name)
}

// precreate creates the topics of the records that the test will give.
func (r *run) precreate(ds []*directive) error {
	for _, d := range ds {
		if d.name != "records" && d.name != "load" {
			continue
		}
		records, err := r.records(d)
		if err != nil {
			return d.blame(err)
		}
		for _, rec := range records {
			if err := r.createTopic(rec.Topic); err != nil {
				return err
			}
		}
	}
	return nil
}

// step takes one step of the test.
func (r *run) step(ctx context.Context, d *directive) error {
	switch d.name {
	case "push", "records", "load":
		records, err := r.records(d)
		if err != nil {
			return err
		}
		// What came before is taken in first, so that each step is a difference of its own.
		if err := r.settle(ctx); err != nil {
			return err
		}
		return r.broker.Produce(ctx, records...)
	case "restart", "crash":
		return r.restart(ctx, d.name == "crash")
	case "error":
		return r.expectError(ctx, d)
	case "set", "set-var":
		return errors.New("comes before all other directives of a test")
	}
	if err := r.settle(ctx); err != nil {
		return err
	}
	var found []string
	switch d.name {
	case "changes":
		found = r.captures[d.args[0]].look()
	case "table":
		found = r.captures[d.args[0]].table()
		r.captures[d.args[0]].look() // changes are those since the last look of either kind
	case "state":
		var n int64
		for _, j := range r.jobs {
			n += j.running.Stats().StateRows
		}
		found = []string{fmt.Sprintf("%d rows", n)}
	}
	r.compare(d, found)
	return nil
}

// records are those of a directive that gives some.
func (r *run) records(d *directive) ([]embed.Record, error) {
	switch d.name {
	case "records":
		records, err := embed.Parse(d.pos.File, strings.NewReader(strings.Repeat("\n", d.inputLine-1)+strings.Join(d.input, "\n")))
		if err != nil {
			return nil, ast.Placed(ast.Pos{}, err, fault.Test)
		}
		return records, nil
	case "load":
		return r.load(d)
	}
	t := r.session.Table(d.args[0])
	if t == nil {
		known := r.session.Tables()
		if n := near.Name(d.args[0], known); n != "" {
			return nil, fmt.Errorf("the pipeline has no table %q; did you mean %q?", d.args[0], n)
		}
		return nil, fmt.Errorf("the pipeline has no table %q; it has %s", d.args[0], strings.Join(known, ", "))
	}
	e, err := newEvents(r.registry, t)
	if err != nil {
		return nil, err
	}
	var out []embed.Record
	for i, line := range d.input {
		records, err := e.records(line)
		if err != nil {
			return nil, ast.Placed(d.at(d.inputLine+i), err, fault.Test)
		}
		out = append(out, records...)
	}
	return out, nil
}

// load are the records of a file beside the test, or in the pipeline's folder, or of some of its lines.
func (r *run) load(d *directive) ([]embed.Record, error) {
	file := d.args[0]
	if !filepath.IsAbs(file) {
		file = filepath.Join(filepath.Dir(r.file.Path), file)
	}
	records, err := embed.Read(file)
	if err != nil || len(d.args) == 1 {
		return records, err
	}
	first, last, ok := strings.Cut(d.args[1], "-")
	a, err1 := strconv.Atoi(first)
	b, err2 := strconv.Atoi(last)
	if !ok || err1 != nil || err2 != nil || a < 1 || b < a || b > len(records) {
		return nil, fmt.Errorf("%s: write the first and the last record as 1-10; the file has %d", d.args[1], len(records))
	}
	return records[a-1 : b], nil
}

// restart ends all jobs, in order or as a crash would, and starts them from their state directories.
func (r *run) restart(ctx context.Context, crash bool) error {
	if err := r.settle(ctx); err != nil {
		return err
	}
	for _, j := range r.jobs {
		if errors.Is(j.over(), errEnded) {
			continue
		}
		if crash {
			j.stop()
		} else {
			j.running.Stop()
			if err := j.running.Wait(); err != nil {
				return err
			}
		}
		r.count(j)
		if err := r.start(ctx, j); err != nil {
			return err
		}
	}
	return nil
}

// expectError waits for a job to fail.
func (r *run) expectError(ctx context.Context, d *directive) error {
	err := r.settle(ctx)
	if err == nil {
		err = errors.New("no error")
	} else {
		for _, j := range r.jobs {
			if over := j.over(); over != nil && !errors.Is(over, errEnded) {
				j.failed = over
			}
		}
	}
	text := strings.ReplaceAll(err.Error(), r.broker.Addr(), "BROKER")
	var lines []string
	for _, l := range strings.Split(text, "\n") {
		if strings.TrimSpace(l) != "" {
			lines = append(lines, strings.TrimRight(l, " "))
		}
	}
	r.compare(d, lines)
	return nil
}

// compare holds what was found to what was expected. The order of lines is free: within a step nothing comes before
// anything else.
func (r *run) compare(d *directive, found []string) {
	diff := difference(d.expected, found)
	if diff == nil && d.wants {
		return
	}
	if r.options.Update {
		d.expected, d.wants = found, true
		return
	}
	if !d.wants {
		diff = []string{"nothing is expected here: write " + separator + " and the lines below it, or run with --update"}
	}
	r.result.Failures = append(r.result.Failures, Failure{Pos: d.pos, What: strings.Join(append([]string{d.name}, d.args...), " "), Diff: diff})
}

// difference are the lines of both, marked, the missing ones first; nil when they are the same in some order.
func difference(expected, found []string) []string {
	count := map[string]int{}
	for _, l := range expected {
		count[l]++
	}
	var out []string
	differs := false
	for _, l := range found {
		if count[l] > 0 {
			count[l]--
			out = append(out, "  "+l)
			continue
		}
		differs = true
		out = append(out, "+ "+l)
	}
	var missing []string
	for _, l := range expected {
		if count[l] > 0 {
			count[l]--
			missing = append(missing, "- "+l)
		}
	}
	if !differs && missing == nil {
		return nil
	}
	slices.Sort(missing)
	return append(missing, out...)
}

// Updated is the file's text with the expectations that its cases have. It has the line ends that the file has.
func (f *File) Updated() string {
	breaks := strings.Count(f.Text, "\r\n")
	if breaks == 0 || breaks < strings.Count(f.Text, "\n") {
		return f.updated(f.Text)
	}
	return strings.ReplaceAll(f.updated(strings.ReplaceAll(f.Text, "\r\n", "\n")), "\n", "\r\n")
}

// updated is Updated of the file's text, or of the same lines.
func (f *File) updated(text string) string {
	lines := strings.Split(text, "\n")
	var all []*directive
	for _, c := range f.Cases {
		for _, d := range c.directives {
			if kinds[d.name].shows && d.wants {
				all = append(all, d)
			}
		}
	}
	var out []string
	at := 0 // lines taken over
	for _, d := range all {
		from, to := d.expectedLine-1, d.expectedLine-1+d.had
		if d.expectedLine == 0 { // there was no separator
			from, to = d.inputLine-1, d.inputLine-1
			out = append(append(out, lines[at:from]...), separator)
		} else {
			out = append(out, lines[at:from]...)
		}
		out = append(out, d.expected...)
		at = to
	}
	return strings.Join(append(out, lines[at:]...), "\n")
}

// Write writes to w what a run without an end shows of a case's failures.
func (r *Result) Write(w io.Writer) {
	for _, f := range r.Failures {
		fmt.Fprintf(w, "%s: %s\n", f.Pos, f.What)
		for _, l := range f.Diff {
			fmt.Fprintf(w, "    %s\n", l)
		}
	}
}
