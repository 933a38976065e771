package planner

import (
	"slices"
	"strings"
	"time"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/expr"
	"github.com/sluicesql/sluice/sql/ast"
)

// Session holds what statements leave behind for those that follow: tables, views and options. One
// goroutine uses it. It plans and never runs anything: connectors are asked only what they can do.
type Session struct {
	registry *spi.Registry
	catalog  *catalog
	options  map[string]string // those set
	// resultMode goes before the option OptResultMode unless it is empty.
	resultMode string
}

// NewSession returns a session with an empty catalog.
func NewSession(r *spi.Registry) *Session {
	return &Session{registry: r, catalog: newCatalog(), options: map[string]string{}}
}

// ShowResults says how the results of top-level SELECTs are shown, whatever the option OptResultMode says: one of its
// values, or another word for a way of the caller's. The rows of a table are shown in the query's order.
func (s *Session) ShowResults(mode string) { s.resultMode = mode }

// showsTables reports whether the rows of a result are shown as a table, which has an order.
func (s *Session) showsTables() bool {
	mode := s.resultMode
	if mode == "" {
		mode = s.Option(OptResultMode)
	}
	return strings.EqualFold(mode, "TABLE")
}

func (s *Session) exprCtx() *expr.Ctx { return &expr.Ctx{Zone: s.location()} }

// Script is what a list of statements asks to be done, in order.
type Script struct {
	Steps []Step
}

// Step is one thing to do: *Job, *Explain, *Text, *StopJob or *ShowJobs.
type Step interface{ step() }

// Job is a plan to run: the INSERTs of a script, those of a statement set, or one top-level SELECT.
type Job struct {
	// Pos is the place of the job's first statement.
	Pos  ast.Pos
	Plan *Plan
	// Query says that the job is a SELECT, whose one sink has no connector: its changes are for the caller.
	Query bool
}

// Explain asks for a job's plan to be shown.
type Explain struct {
	Job *Job
	// JSON says that it is to be shown as JSON.
	JSON bool
	// Analyze says that the job, which ends by itself, is to be run, and what was measured shown too.
	Analyze bool
}

// Text is the answer of a statement that runs nothing: SHOW, DESCRIBE, SET without a key.
type Text struct {
	Pos ast.Pos
	// Columns and Rows are a table to show. Without columns Rows has one line of text in each row.
	Columns []string
	Rows    [][]string
}

// StopJob asks for a job to be stopped.
type StopJob struct {
	Stmt *ast.StopJob
	// SavepointDir is the directory for savepoints, of the session's options; empty when none is set.
	SavepointDir string
}

// ShowJobs asks for the running jobs.
type ShowJobs struct {
	Pos ast.Pos
}

func (*Job) step()     {}
func (*Explain) step() {}
func (*Text) step()    {}
func (*StopJob) step() {}

func (*ShowJobs) step() {}

// jobBuilder collects the INSERTs that form one job.
type jobBuilder struct {
	pos     ast.Pos
	at      int // the job's index among the steps
	b       *binder
	job     *logicalJob
	options map[string]string
	zone    *time.Location
}

// Run binds and plans statements in order. DDL and SET take effect at once and stay in force when a later
// statement fails. All INSERTs outside of statement sets form one job, at the place of the first of them.
// The error is an *ast.Error.
func (s *Session) Run(stmts []ast.Statement) (*Script, error) {
	r := &run{s: s, out: &Script{}, changed: map[string]ast.Pos{}}
	for _, st := range stmts {
		if err := r.statement(st); err != nil {
			return nil, err
		}
	}
	if err := r.planInserts(); err != nil {
		return nil, err
	}
	return r.out, nil
}

// run is one call of Session.Run.
type run struct {
	s       *Session
	out     *Script
	inserts *jobBuilder
	changed map[string]ast.Pos // where options were set last
}

// planInserts plans the job of the INSERTs outside of statement sets, which is left out where it cannot be or where each of
// them was wrong.
func (r *run) planInserts() error {
	jb := r.inserts
	if jb == nil {
		return nil
	}
	var plan *Plan
	var err error
	if len(jb.job.sinks) > 0 {
		plan, err = jb.plan()
	}
	if plan == nil {
		r.out.Steps = slices.Delete(r.out.Steps, jb.at, jb.at+1)
		return err
	}
	r.out.Steps[jb.at] = &Job{Pos: jb.pos, Plan: plan}
	return nil
}

func (r *run) statement(st ast.Statement) error {
	s := r.s
	switch st := st.(type) {
	case *ast.CreateTable:
		return s.createTable(st)
	case *ast.CreateView:
		return s.createView(st)
	case *ast.Drop:
		return s.drop(st)
	case *ast.Set:
		return r.set(st)
	case *ast.Reset:
		return r.reset(st)
	case *ast.Insert:
		if r.inserts == nil {
			r.inserts = s.newJob(st.Pos)
			r.inserts.at = len(r.out.Steps)
			r.out.Steps = append(r.out.Steps, nil)
		}
		if err := r.sameOptions(); err != nil {
			return err
		}
		return r.inserts.insert(st)
	case *ast.StopJob:
		if st.WithDrain {
			return notAvailable(st.Pos, "STOP JOB … WITH DRAIN", "what was read is always in the sinks when a job has stopped; leave WITH DRAIN out")
		}
		dir := s.Option(OptSavepointDir)
		if dir == "" {
			dir = s.Option(OptStateSavepointsDir)
		}
		if st.WithSavepoint && dir == "" {
			return hint(errAt(st.Pos, "STOP JOB … WITH SAVEPOINT does not know where to put the savepoint"), "SET '%s' = 'DIR' before it", OptSavepointDir)
		}
		r.out.Steps = append(r.out.Steps, &StopJob{st, dir})
		return nil
	case *ast.Show:
		if st.What == "JOBS" {
			r.out.Steps = append(r.out.Steps, &ShowJobs{st.Pos})
			return nil
		}
	case *ast.Explain:
		e, err := s.explain(st)
		if err == nil {
			r.out.Steps = append(r.out.Steps, e)
		}
		return err
	case *ast.QueryStatement, *ast.StatementSet:
		job, err := s.planStatement(st)
		if err == nil {
			r.out.Steps = append(r.out.Steps, job)
		}
		return err
	}
	text, err := s.answer(st)
	if err == nil && text != nil {
		text.Pos = st.Position()
		r.out.Steps = append(r.out.Steps, text)
	}
	return err
}

// planStatement plans a SELECT, an INSERT or a statement set as a job of its own.
func (s *Session) planStatement(st ast.Statement) (*Job, error) {
	jb := s.newJob(st.Position())
	query := false
	switch st := st.(type) {
	case *ast.QueryStatement:
		query = true
		if err := jb.selectResult(st); err != nil {
			return nil, err
		}
	case *ast.Insert:
		if err := jb.insert(st); err != nil {
			return nil, err
		}
	case *ast.StatementSet:
		if len(st.Inserts) == 0 {
			return nil, errAt(st.Pos, "the statement set is empty")
		}
		for _, in := range st.Inserts {
			if err := jb.insert(in); err != nil {
				return nil, err
			}
		}
	}
	plan, err := jb.plan()
	if err != nil {
		return nil, err
	}
	return &Job{Pos: st.Position(), Plan: plan, Query: query}, nil
}

// explain plans what an EXPLAIN is about.
func (s *Session) explain(st *ast.Explain) (*Explain, error) {
	e := &Explain{}
	var analyze ast.Pos
	for _, d := range st.Details {
		switch d.Name {
		case "JSON_EXECUTION_PLAN":
			e.JSON = true
		case "ANALYZE":
			e.Analyze, analyze = true, d.Pos
		case "CHANGELOG_MODE", "PLAN_ADVICE": // always shown, reasons where there was a choice
		default:
			return nil, notAvailable(d.Pos, "EXPLAIN "+d.Name, "plain EXPLAIN shows the tree with modes, keys, state and reasons; EXPLAIN ANALYZE runs a query and measures it")
		}
	}
	job, err := s.planStatement(st.Statement)
	if err != nil {
		return nil, err
	}
	e.Job = job
	if e.Analyze {
		err = job.Plan.checkAnalyze(analyze)
	}
	return e, err
}

// checkAnalyze refuses a plan that an EXPLAIN ANALYZE at pos cannot run.
func (p *Plan) checkAnalyze(pos ast.Pos) error {
	for _, s := range p.Sinks {
		if s.Transactional {
			return hint(errAt(pos, "EXPLAIN ANALYZE keeps state in memory alone, and table %s is written exactly once, which needs a state directory", s.Table),
				"explain the query alone, or have the table written at least once: /*+ OPTIONS('sink.delivery-guarantee' = 'at-least-once') */ behind its name")
		}
	}
	var endless []string
	p.Walk(func(n Node) {
		if s, ok := n.(*Scan); ok && !s.Bounded && !slices.Contains(endless, s.Table) {
			endless = append(endless, s.Table)
		}
	})
	if endless == nil {
		return nil
	}
	return hint(errAt(pos, "EXPLAIN ANALYZE runs its statement to the end, and this one has none: %s", endlessly(endless)),
		"bound it, as by /*+ OPTIONS('scan.bounded.mode' = 'latest-offset') */ behind the table's name, or leave ANALYZE out")
}

// endlessly says of tables that they never end.
func endlessly(tables []string) string {
	if len(tables) == 1 {
		return "table " + tables[0] + " never ends"
	}
	last := len(tables) - 1
	return "tables " + strings.Join(tables[:last], ", ") + " and " + tables[last] + " never end"
}

func (s *Session) newJob(pos ast.Pos) *jobBuilder {
	b := &binder{s: s, columns: &columnTable{}}
	return &jobBuilder{pos: pos, b: b, job: &logicalJob{columns: b.columns, ctx: s.exprCtx(), upsertMaterialise: s.Option(OptUpsertMaterialize)}, options: s.optionsInForce(), zone: s.location()}
}

// plan turns the bound statements of a job into its plan.
func (jb *jobBuilder) plan() (*Plan, error) {
	if err := jb.job.optimise(); err != nil {
		return nil, err
	}
	return build(jb)
}

func (r *run) set(st *ast.Set) error {
	if st.Key == "" {
		t := &Text{Pos: st.Pos, Columns: []string{"key", "value"}}
		for i := range sessionOptions {
			if o := &sessionOptions[i]; o.Unsupported == "" {
				t.Rows = append(t.Rows, []string{o.Name, r.s.Option(o.Name)})
			}
		}
		r.out.Steps = append(r.out.Steps, t)
		return nil
	}
	r.changed[st.Key] = st.KeyPos
	return r.s.setOption(st.Key, st.Value, st.KeyPos, st.ValuePos)
}

func (r *run) reset(st *ast.Reset) error {
	if st.Key == "" {
		for k := range r.s.options {
			r.changed[k] = st.Pos
		}
		clear(r.s.options)
		return nil
	}
	if findSessionOption(st.Key) == nil {
		return r.s.setOption(st.Key, "", st.KeyPos, st.KeyPos)
	}
	r.changed[st.Key] = st.KeyPos
	delete(r.s.options, st.Key)
	return nil
}

// sameOptions refuses an INSERT before which an option has changed since the job's first: a job has one
// set of options.
func (r *run) sameOptions() error {
	for _, key := range sortedKeys(r.inserts.options) {
		if r.s.Option(key) != r.inserts.options[key] {
			return hint(errAt(r.changed[key], "the option %q changes between the INSERTs of one job", key),
				"set it before the first INSERT; all INSERTs of a script form one job")
		}
	}
	return nil
}
