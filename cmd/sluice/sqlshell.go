package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sort"
	"strings"
	"sync/atomic"
	"time"

	"github.com/sluicesql/sluice/cmd/sluice/internal/diag"
	"github.com/sluicesql/sluice/cmd/sluice/internal/display"
	"github.com/sluicesql/sluice/cmd/sluice/internal/repl"
	"github.com/sluicesql/sluice/cmd/sluice/internal/result"
	"github.com/sluicesql/sluice/cmd/sluice/internal/termguard"
	"github.com/sluicesql/sluice/cmd/sluice/internal/vars"
	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/internal/fault"
	"github.com/sluicesql/sluice/planner"
	"github.com/sluicesql/sluice/runtime"
	"github.com/sluicesql/sluice/sql/ast"
	"github.com/sluicesql/sluice/sql/parser"
)

// shell is a session of sluice sql: statements that are run one after another, and jobs in the background.
type shell struct {
	*runner
	session  *planner.Session
	registry *spi.Registry
	set      *vars.Set
	jobs     *sqlJobs
	front    foreground

	interactive bool
	layout      display.Layout
	timing      bool
	pager       bool
	file        *os.File // of \o; nil for the terminal
	last        string   // the statement run last as it was written, for \g, \e and \watch
	inputs      int      // typed so far
	depth       int      // of files that run files
	quit        bool
	loading     bool // a pipeline, whose jobs are left out
	left        bool // there were such
	held        *heldWriter
	history     *repl.History // nil unless somebody types
	guard       *termguard.Guard
}

func newShell(f *runFlags, sources sourceTexts, set *vars.Set, layout display.Layout, broker *localBroker, interactive bool) *shell {
	s := &shell{set: set, layout: layout, interactive: interactive, pager: true}
	s.runner = &runner{flags: f, sources: sources, started: time.Now(), stdout: &output{file: os.Stdout}, stderr: os.Stderr}
	s.held = &heldWriter{w: s.stdout}
	s.out = s.held
	if interactive && isTerminal(os.Stderr) {
		s.console = newConsole()
		s.held.w = s.console.Wrap(s.stdout)
		s.stderr = &heldWriter{w: s.console.Wrap(os.Stderr), as: s.held}
	}
	s.notes = sources.secrets.Writer(s.stderr)
	s.broker = broker
	s.registry = broker.registry(newRegistry(s.out, s.stderr))
	s.session = planner.NewSession(s.registry)
	s.defaults()
	s.jobs = &sqlJobs{shell: s}
	if interactive {
		var err error
		if s.guard, err = termguard.Start(os.Stdin, os.Stdout); err != nil {
			s.complain(fmt.Errorf("a crash would leave the terminal as it is: %w", err))
		}
	}
	s.watch()
	return s
}

// defaults sets the options whose defaults in a shell are others than in a script.
func (s *shell) defaults() {
	if err := s.session.SetOption(planner.OptResultMode, "TABLE"); err != nil {
		panic(err)
	}
}

func (s *shell) close() {
	s.jobs.stopAll()
	s.front.unwatch()
	if s.file != nil {
		_ = s.file.Close()
	}
}

// maxDepth is how deeply files may run files by \i.
const maxDepth = 16

func (s *shell) runFile(file string) error {
	if s.depth++; s.depth > maxDepth {
		return wrong(fmt.Errorf("%s: files run one another by \\i more than %d deep", file, maxDepth))
	}
	defer func() { s.depth-- }()
	name, text, err := readScript(file)
	if err != nil {
		return wrong(err)
	}
	return s.runText(name, text)
}

// load runs those statements of a pipeline that start no jobs. These may run elsewhere already, and what is typed here
// must not meddle with their state.
func (s *shell) load(p *project) error {
	s.loading = true
	defer func() { s.loading = false }()
	for _, file := range p.files {
		if err := s.runFile(file); err != nil || s.quit {
			return err
		}
	}
	for _, key := range []string{planner.OptPipelineName, planner.OptCheckpointDir, planner.OptStateCheckpointsDir} {
		if _, err := s.session.Run([]ast.Statement{&ast.Reset{Key: key}}); err != nil {
			return wrong(err)
		}
	}
	if s.interactive && s.left {
		fmt.Fprintf(s.notes, "the tables of %s are here; its jobs are left to sluice run\n", p.pipeline.Name)
	}
	return nil
}

// runText runs the statements and backslash commands of a text in order, up to the first that fails.
func (s *shell) runText(name, text string) error {
	sql, commands := cutCommands(text)
	stmts, err := s.sources.parseText(name, sql, s.set)
	list, mistakes := errors.AsType[ast.ErrorList](err)
	if err != nil && !mistakes {
		return wrong(err)
	}
	s.sources.texts.of(name).Original = text // with its commands
	// What comes before the first mistake is run.
	limit := len(text)
	if mistakes && list[0].Pos.IsValid() {
		limit = list[0].Pos.Offset
	}
	runCommands := func(before int) error {
		for len(commands) > 0 && commands[0].at < before && !s.quit {
			c := commands[0]
			commands = commands[1:]
			if err := s.command(c.text); err != nil {
				return placed(err, vars.Place(name, text, c.at))
			}
		}
		return nil
	}
	spans := parser.Split(sql)
	for _, st := range stmts {
		at := s.place(st.Position())
		if err := runCommands(min(at, limit)); err != nil || s.quit {
			return err
		}
		if at >= limit {
			break
		}
		s.last = statementAt(sql, spans, at)
		if err := s.statement(st); err != nil || s.quit {
			return err
		}
	}
	if err := runCommands(limit); err != nil || s.quit {
		return err
	}
	if mistakes {
		s.last = statementAt(sql, spans, limit)
		return wrong(list)
	}
	return nil
}

// placed gives the mistake in a command its place, unless it has one: that of a file that the command runs.
func placed(err error, pos ast.Pos) error {
	f, ok := errors.AsType[*failure](err)
	if !ok || f.code != exitWrong {
		return err
	}
	var list ast.ErrorList
	var e *ast.Error
	switch {
	case errors.As(f.err, &list):
		e = list[0]
	case !errors.As(f.err, &e):
		e = ast.Placed(ast.Pos{}, f.err, fault.CommandLine)
	}
	if e.Pos.IsValid() && e.Pos.File != commandSQL {
		return err
	}
	moved := *e
	moved.Pos = pos
	return &failure{f.code, &moved}
}

// statementAt is the statement of a text in which a place lies, or the last before it, as it was written.
func statementAt(text string, spans []parser.Span, at int) string {
	i := sort.Search(len(spans), func(i int) bool { return spans[i].Start > at })
	if i == 0 {
		return ""
	}
	return text[spans[i-1].Start:spans[i-1].End] + ";"
}

// place is where a statement stands in the text as it was written.
func (s *shell) place(pos ast.Pos) int {
	at, _ := s.sources.texts.of(pos.File).Locate(pos)
	return at.Offset
}

// lineCommand is a backslash command between statements.
type lineCommand struct {
	at   int // of its first character
	text string
}

// cutCommands takes the lines that are backslash commands out of a text: blanks of the same length stand in their
// place, so that all else keeps its own. Within a statement a backslash begins none.
func cutCommands(text string) (string, []lineCommand) {
	var commands []lineCommand
	b := []byte(text)
	start, at := 0, 0 // of the statement that is open, and of the line
	for line := range strings.Lines(text) {
		if trimmed := strings.TrimSpace(line); trimmed != "" && repl.IsCommand(trimmed) && parser.Complete(string(b[start:at])) {
			commands = append(commands, lineCommand{at + strings.Index(line, trimmed), trimmed})
			copy(b[at:], bytes.Repeat([]byte{' '}, len(strings.TrimRight(line, "\r\n"))))
			start = at
		}
		at += len(line)
	}
	return string(b), commands
}

// statement runs one statement.
func (s *shell) statement(st ast.Statement) error {
	start := time.Now()
	script, err := s.plan(st)
	if err != nil {
		return wrong(s.sources.locate(err))
	}
	if r, ok := st.(*ast.Reset); ok && (r.Key == "" || r.Key == planner.OptResultMode) {
		s.defaults()
	}
	for _, step := range script.Steps {
		if err := s.do(step, st); err != nil {
			return err
		}
	}
	if s.timing {
		fmt.Fprintf(s.notes, "Time: %.3f ms\n", float64(time.Since(start).Microseconds())/1000)
	}
	return nil
}

// plan plans a statement. The table of a query that never ends is seen only while somebody looks at it: elsewhere what
// is shown are its changes, which have no order.
func (s *shell) plan(st ast.Statement) (*planner.Script, error) {
	script, err := s.session.Run([]ast.Statement{st})
	if err != nil || s.looks() || len(script.Steps) != 1 {
		return script, err
	}
	if j, ok := script.Steps[0].(*planner.Job); ok && j.Query && !bounded(j.Plan) {
		s.session.ShowResults(result.Tableau.String())
		defer s.session.ShowResults("")
		return s.session.Run([]ast.Statement{st})
	}
	return script, nil
}

// looks reports whether somebody looks at results while they change.
func (s *shell) looks() bool { return s.interactive && s.file == nil }

func (s *shell) do(step planner.Step, st ast.Statement) error {
	switch t := step.(type) {
	case *planner.Text:
		return s.show(t)
	case *planner.Explain:
		if s.loading && t.Analyze {
			s.left = true
			return nil
		}
		if t.Analyze {
			if err := s.broker.load(s.session, s.registry); err != nil {
				return err
			}
		}
		return s.explain(t)
	case *planner.ShowJobs:
		return s.jobs.show()
	case *planner.StopJob:
		return s.jobs.stop(t)
	case *planner.Job:
		if s.loading {
			s.left = true
			return nil
		}
		if err := s.broker.load(s.session, s.registry); err != nil {
			return err
		}
		if t.Query {
			return s.query(t, s.title(st))
		}
		return s.jobs.start(t, s.title(st))
	default:
		panic(fmt.Sprintf("step %T", step))
	}
}

// title is a statement on one line, for those who look at what it does.
func (s *shell) title(st ast.Statement) string {
	return strings.Join(strings.Fields(s.sources.secrets.Text(diag.Mask(ast.String(st)))), " ")
}

// show writes the answer of a statement.
func (s *shell) show(t *planner.Text) error {
	for _, row := range t.Rows {
		for i := range row {
			row[i] = s.sources.secrets.Text(row[i])
		}
	}
	if len(t.Columns) == 0 {
		return s.emit(textOf(t))
	}
	return s.emit(display.Write(s.layout, t.Columns, t.Rows))
}

// explain shows the answer to an EXPLAIN.
func (s *shell) explain(e *planner.Explain) error {
	err := s.answer(e, func(cfg runtime.Config, wait func(*runtime.Job) error) (job *runtime.Job, err error) {
		err = s.inFront(cfg, func(started *runtime.Job) error {
			job = started
			return wait(job)
		})
		if err == nil && s.front.interrupted() {
			err = errStopped
		}
		return job, err
	}, s.emit)
	if errors.Is(err, errStopped) {
		return s.cancelled()
	}
	return err
}

// emit writes something as a whole: into the file of \o, else to standard output, through a pager where there is
// somebody who reads.
func (s *shell) emit(text []byte) error {
	var err error
	switch {
	case s.file != nil:
		_, err = s.file.Write(text)
	case s.interactive && s.pager:
		width, height := terminalSize(os.Stdout)
		err = s.held.during(func() error { return repl.Page(os.Stdout, text, width, height, s.front.program) })
	default:
		_, err = s.out.Write(text)
	}
	if err != nil {
		if s.stdout.closed.Load() {
			s.quit = true // whoever read our output has seen enough
			return nil
		}
		return &failure{exitFailed, err}
	}
	return nil
}

// configOf is how the runtime is to run a job of the shell. A query keeps its state in memory: the state directory is
// for what goes on after the shell.
func (s *shell) configOf(j *planner.Job) (runtime.Config, error) {
	if j.Query {
		keepInMemory(j)
	}
	cfg, err := s.config(j)
	if err != nil {
		return cfg, wrong(s.sources.locate(ast.Placed(j.Pos, err, ast.CodeOptionValue)))
	}
	cfg.SQL = s.sources.secrets.Text(diag.Mask(s.last))
	return cfg, nil
}

// query shows the result of a SELECT, which title names.
func (s *shell) query(j *planner.Job, title string) error {
	cfg, err := s.configOf(j)
	if err != nil {
		return err
	}
	mode := s.settings(j).resultMode()
	endless := !bounded(j.Plan)
	o := result.Options{Mode: mode, Layout: s.layout, MaxRows: s.settings(j).int(planner.OptResultMaxRows), Plain: !s.looks()}
	var whole bytes.Buffer // a result that is shown as a whole
	switch {
	case mode == result.Table && endless && s.looks():
		return s.live(cfg, o, title)
	case mode == result.Table && endless:
		o.Mode = result.Tableau // see plan
		o.Out = s.destination()
	case mode == result.Table:
		o.Out = &whole
	default:
		o.Out = s.destination()
	}
	var view *result.Sink
	cfg.OpenResult = func(spec spi.SinkSpec) (spi.Sink, error) {
		var err error
		view, err = result.Open(spec, o)
		return view, err
	}
	err = s.inFront(cfg, func(job *runtime.Job) error {
		if s.console != nil && mode == result.Table && !endless {
			defer s.showProgress(job)()
		}
		return job.Wait()
	})
	if view != nil {
		err = errors.Join(err, view.Finish(err == nil && !s.front.interrupted()))
	}
	switch {
	case s.stdout.closed.Load():
		s.quit = true
		return nil
	case err != nil:
		return &failure{exitFailed, s.sources.locate(err)}
	case s.front.interrupted():
		return s.cancelled()
	}
	if o.Out == &whole {
		return s.emit(whole.Bytes())
	}
	return nil
}

// cancelled is what comes of a statement that was interrupted.
func (s *shell) cancelled() error {
	if s.interactive {
		fmt.Fprintln(s.notes, "interrupted")
		return nil
	}
	return &failure{code: exitInterrupted}
}

// waited is what comes of having waited for jobs, which has ended with err: a script that was interrupted doesn't go on.
func (s *shell) waited(err error) error {
	if err == nil && !s.interactive && s.front.interrupted() {
		return s.cancelled()
	}
	return err
}

func (s *shell) destination() io.Writer {
	if s.file != nil {
		return s.file
	}
	return s.out
}

// inFront runs a job while Ctrl-C means it, until wait returns, which waits for its end. An interrupt is no error.
func (s *shell) inFront(cfg runtime.Config, wait func(*runtime.Job) error) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	s.front.begin(cancel, cancel)
	defer s.front.end()
	job, err := runtime.Start(ctx, cfg)
	if err != nil {
		if s.front.interrupted() {
			return nil
		}
		return err
	}
	s.front.begin(job.Stop, job.Kill)
	err = wait(job)
	if s.front.interrupted() && errors.Is(err, context.Canceled) {
		return nil // by a second Ctrl-C
	}
	return err
}

// live shows the result of a query over inputs without an end.
func (s *shell) live(cfg runtime.Config, o result.Options, title string) error {
	o.Live = result.NewLive()
	cfg.OpenResult = func(spec spi.SinkSpec) (spi.Sink, error) { return result.Open(spec, o) }
	var running atomic.Pointer[runtime.Job]
	err := s.inFront(cfg, func(job *runtime.Job) error {
		running.Store(job)
		return s.held.during(func() error {
			return repl.View(repl.LiveOptions{
				Title: title, Result: o.Live, Stats: job.Stats, Stop: job.Stop, Kill: job.Kill, Wait: job.Wait,
				Status: liveStatus(&running), In: os.Stdin, Out: os.Stdout, Color: colorful(os.Stdout),
			})
		})
	})
	switch {
	case err != nil && !errors.Is(err, context.Canceled):
		return &failure{exitFailed, s.sources.locate(err)}
	case running.Load() == nil:
		return s.cancelled() // before it had started
	}
	rows, changes := o.Live.Size()
	fmt.Fprintf(s.notes, "stopped: %s changes, which left %s\n", display.Count(changes), rows)
	return nil
}
