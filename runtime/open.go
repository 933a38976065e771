package runtime

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/keyenc"
	"github.com/sluicesql/sluice/engine/op"
	"github.com/sluicesql/sluice/engine/state"
	"github.com/sluicesql/sluice/internal/fault"
	"github.com/sluicesql/sluice/planner"
)

// open opens state, sources and sinks, recovers, and builds all tasks. What it opened, close lets go of.
func (j *Job) open(ctx context.Context) error {
	if p := j.cfg.Parallelism; p < 1 || p > keyenc.KeyGroups {
		return fault.Errorf(fault.CommandLine, "parallelism %d is not between 1 and %d", p, keyenc.KeyGroups).Fix("give another --parallelism")
	}
	for _, s := range j.cfg.Plan.Sinks {
		if s.Transactional && !j.durable() {
			return fault.Errorf(fault.StateDirectory, "table %s: writing exactly once needs a state directory, where output waits until its checkpoint is durable", s.Table).
				Fix("start with --state-dir, or have the table take 'at-least-once'")
		}
	}
	if err := j.restore(); err != nil {
		return err
	}
	g, err := newGraph(j.cfg.Plan, j.cfg.Parallelism, j.readersOf)
	if err != nil {
		return err
	}
	if err := j.openState(); err != nil {
		return err
	}
	last, replay, found, err := j.recover()
	if err != nil {
		return err
	}
	adoption, err := j.adopt(g, &last, &replay, found)
	if err != nil {
		return err
	}
	if err := j.openSources(ctx, g, last); err != nil {
		return err
	}
	if err := j.applySkips(adoption, replay); err != nil {
		return err
	}
	if err := j.openSinks(ctx); err != nil {
		return err
	}
	if !found {
		last.NextTime = time.Now().UnixMilli()
	}
	if err := j.settle(adoption, &last); err != nil {
		return err
	}
	if err := j.store.Divide(j.cfg.Parallelism, g.stages); err != nil {
		return err
	}
	if err := j.openOutboxes(last); err != nil {
		return err
	}
	if err := j.startOutboxes(ctx, last); err != nil {
		return err
	}
	j.control = newController(j)
	j.control.epoch, j.control.time, j.control.replay = last.Epoch+1, last.NextTime, replay
	if j.durable() {
		j.control.epoch = max(j.control.epoch, j.log.Through()+1) // a log that was forgotten goes further
	}
	if len(j.outboxes) == 0 { // otherwise the first output is waited for: the first checkpoint is due at once
		j.control.lastPoint = time.Now()
	}
	j.control.lastMark = time.Now()
	j.control.dirty = len(replay) > 0
	if err := j.planReemission(replay, found); err != nil {
		return err
	}
	if err := j.build(ctx, g); err != nil {
		return err
	}
	return j.startSwept(last)
}

// fs is the file system of the state directory.
func (j *Job) fs() state.FS {
	if h := j.cfg.Hooks; h != nil && h.FS != nil {
		return h.FS
	}
	return state.DefaultFS
}

func (j *Job) openState() error {
	o := state.Options{Dir: j.cfg.StateDir, Budget: j.cfg.MemoryBudget, Logf: func(f string, a ...any) { j.cfg.Warn(fmt.Sprintf(f, a...)) }}
	o.FS = j.fs()
	var err error
	if j.store, err = state.Open(o); err != nil {
		return err
	}
	if !j.durable() {
		return nil
	}
	if j.log, j.logged, err = state.OpenLog(o.FS, j.cfg.StateDir); err != nil {
		return err
	}
	if err := j.identify(); err != nil {
		return err
	}
	return j.raise()
}

func (j *Job) readersOf(s *planner.Scan) int {
	if s.Spec.Readers > 0 {
		return s.Spec.Readers
	}
	return j.cfg.Parallelism
}

// openSources opens every scan at its position of the last checkpoint.
func (j *Job) openSources(ctx context.Context, g *graph, last cutRecord) error {
	names := map[planner.Node]string{}
	for _, in := range j.cfg.Plan.Inputs() {
		names[in.Node] = in.Name
	}
	for _, f := range g.fragments {
		if f.scan == nil {
			continue
		}
		t := &sourceTask{width: f.width, frag: f, name: names[f.scan]}
		switch n := f.scan.(type) {
		case *planner.Values:
			t.table = "VALUES"
			t.source = newValuesSource(t.name, n, last.Sources[t.name])
		case *planner.Scan:
			t.table = n.Table
			spec := n.Spec
			spec.Readers, spec.Start, spec.TimeZone, spec.Warn = f.width, last.Sources[t.name], j.cfg.TimeZone, j.warner(n.Table)
			spec.Memory = j.memoryShare(len(names), minBuffer)
			var err error
			if t.source, err = n.Connector.OpenSource(ctx, spec); err != nil {
				return fmt.Errorf("table %s: %w", n.Table, err)
			}
		}
		j.sources = append(j.sources, t)
	}
	return nil
}

func (j *Job) warner(table string) func(string) {
	return func(msg string) { j.cfg.Warn("table " + table + ": " + msg) }
}

func (j *Job) openSinks(ctx context.Context) error {
	names := boxNames(j.cfg.Plan)
	for i, s := range j.cfg.Plan.Sinks {
		spec := s.Spec
		spec.Writers, spec.TimeZone = s.Width, j.cfg.TimeZone
		if spec.Writers == 0 {
			spec.Writers = j.cfg.Parallelism
		}
		spec.Memory = j.memoryShare(len(j.cfg.Plan.Sinks), minBuffer)
		name := s.Table
		spec.Name = names[i]
		var sink spi.Sink
		var err error
		if s.Connector == nil {
			name = "result"
			spec.Warn = j.cfg.Warn
			sink, err = j.cfg.OpenResult(spec)
		} else {
			spec.Warn = j.warner(name)
			sink, err = j.openPinned(ctx, s, spec)
		}
		if err != nil {
			return fmt.Errorf("table %s: %w", name, err)
		}
		j.sinks[s] = &openSink{name: spec.Name, sink: sink}
	}
	return nil
}

// boxNames are the names of a plan's sinks, by which outboxes and transactional ids are told apart: those of their tables,
// numbered where a table is written more than once.
func boxNames(p *planner.Plan) []string {
	var names []string
	written := map[string]int{}
	for _, s := range p.Sinks {
		name := s.Table
		if written[name]++; written[name] > 1 {
			name = fmt.Sprintf("%s-%d", name, written[name])
		}
		names = append(names, name)
	}
	return names
}

// pinKey is where a state directory keeps what a sink notes for its next start.
const pinKey = "sink-pin/"

// openPinned opens a sink with what it noted at the start before, and keeps what it notes now.
func (j *Job) openPinned(ctx context.Context, s *planner.Sink, spec spi.SinkSpec) (spi.Sink, error) {
	if !j.durable() {
		return s.Connector.OpenSink(ctx, spec)
	}
	was, err := j.store.Meta(pinKey + spec.Name)
	if err != nil {
		return nil, err
	}
	spec.Pin = string(was)
	sink, err := s.Connector.OpenSink(ctx, spec)
	if err != nil {
		return nil, err
	}
	if p, ok := sink.(spi.PinnedSink); ok && p.Pin() != spec.Pin {
		if err := j.store.SetMeta(pinKey+spec.Name, []byte(p.Pin())); err != nil {
			return nil, errors.Join(err, sink.Close())
		}
	}
	return sink, nil
}

// build makes the edges and tasks of the graph.
func (j *Job) build(ctx context.Context, g *graph) error {
	b := &builder{
		job: j, graph: g, edges: map[*link][][]*edge{},
		specs: map[planner.Node]*op.CheckSpec{}, ledgers: map[planner.Node]*op.Ledger{},
	}
	inboxes := map[*fragment][]*inbox{}
	edgesIn := map[*fragment][][]*edge{}
	for _, f := range g.fragments {
		edgesIn[f] = make([][]*edge, f.width)
		n := 0
		for _, l := range f.in {
			n += l.from.width
		}
		for range f.width {
			inboxes[f] = append(inboxes[f], &inbox{c: make(chan message, n*(edgeCredits+maxCuts))})
		}
		for entry, l := range f.in {
			byProducer := make([][]*edge, l.from.width)
			for p := range byProducer {
				for c := range f.width {
					e := newEdge(ctx, inboxes[f][c], entry)
					byProducer[p] = append(byProducer[p], e)
					edgesIn[f][c] = append(edgesIn[f][c], e)
				}
			}
			b.edges[l] = byProducer
		}
	}
	for _, f := range g.fragments {
		for i := range f.width {
			in, err := b.build(f, i)
			if err != nil {
				return err
			}
			in.setTime(j.control.time)
			j.tasks = append(j.tasks, in.sinks...)
			if f.scan == nil {
				j.shards = append(j.shards, &shardTask{
					job: j, inst: in, inbox: inboxes[f][i], in: edgesIn[f][i],
					nudge: make(chan struct{}, 1), staging: newStaging(len(f.in), j.memoryShare(max(g.stages, 1)*f.width, minStaging)),
				})
			} else {
				j.addReader(in)
			}
		}
	}
	j.writers = len(j.tasks)
	j.control.replies = make(chan cutReply, len(j.readers))
	j.startReplay()
	return j.startPaused()
}

// startPaused has a job that was paused when it ended read nothing. What it has to repeat it repeats first.
func (j *Job) startPaused() error {
	if j.control.reemit == toReemit && len(j.control.replay) == 0 {
		for _, r := range j.readers {
			r.paused = true
		}
	}
	if !j.durable() {
		return nil
	}
	paused, err := j.store.Meta(pausedKey)
	if err != nil || paused == nil {
		return err
	}
	j.cfg.Warn("the job is paused: it reads nothing until sluice resume")
	if len(j.control.replay) > 0 {
		j.control.requests = append(j.control.requests, &request{action: pauseJob, done: make(chan error, 1)})
		return nil
	}
	j.halted.Store(true)
	for _, r := range j.readers {
		r.paused = true
	}
	return nil
}

func (j *Job) addReader(in *instance) {
	for _, s := range j.sources {
		if s.frag == in.frag {
			j.readers = append(j.readers, &readerTask{job: j, source: s, inst: in, r: in.measureReader(s.source.Reader(in.index)), cmds: make(chan command, 1)})
		}
	}
}

// startReplay sets the readers' first limits, and their share of a full epoch.
func (j *Job) startReplay() {
	for _, r := range j.readers {
		r.share = max(1, int64(j.cfg.EpochMaxRows/len(j.readers)))
		if len(j.control.replay) > 0 {
			r.limit(j.control.replay[0].positions())
		}
	}
}

// close lets go of everything that open opened, after err ended the job, and returns err with what failed in closing.
// A failure of a kind is told once: no file can be closed well on the disk that is full. No task runs.
func (j *Job) close(err error) error {
	errs := []error{err}
	closed := func(cerr error) {
		code := fault.Of(cerr)
		told := slices.ContainsFunc(errs, func(e error) bool { return errors.Is(e, cerr) || code != "" && fault.Of(e) == code })
		if cerr != nil && !told {
			errs = append(errs, cerr)
		}
	}
	if j.remote != nil {
		closed(j.remote.close())
	}
	for _, t := range j.tasks {
		if t.writer != nil {
			closed(t.writer.Close())
		}
	}
	for _, o := range j.outboxes {
		closed(o.close())
	}
	for _, s := range j.sources {
		closed(s.source.Close())
	}
	for _, s := range j.sinks {
		closed(s.sink.Close())
	}
	if j.log != nil {
		closed(j.log.Close())
	}
	if j.store != nil {
		closed(j.store.Close())
	}
	return errors.Join(errs...)
}
