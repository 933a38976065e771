// Package runtime makes a plan run: it builds the operators, divides them among goroutines, cuts the input
// into epochs, takes checkpoints and recovers from them.
package runtime

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/state"
	"github.com/sluicesql/sluice/planner"
)

// Config is what a job is started with.
type Config struct {
	Plan *planner.Plan
	// Parallelism is the number of shards, 1–128.
	Parallelism int
	// StateDir is where state is kept; empty keeps it in memory alone.
	StateDir string
	// Skips are messages of sources that are not read.
	Skips []Skip
	// Reemit are sinks, by table name, that are given the whole present result before anything is read.
	Reemit []string
	// FromSavepoint is a savepoint of which the state directory is made before the start; empty for none.
	FromSavepoint string
	// AllowRebuild lets a plan that the state does not fit drop what does not fit, and read those inputs again.
	AllowRebuild bool
	// SQL is the text that the plan was made of, without secrets, and Version that of the program: for people who
	// look into the state directory.
	SQL, Version string
	// Redact takes secrets out of what the state directory keeps of the plan and what the job tells other processes; nil
	// leaves it as it is.
	Redact func(text string) string
	// MemoryBudget bounds the state held in memory, in bytes; 0 is unlimited without a StateDir, and
	// DefaultMemoryBudget with one.
	MemoryBudget int64
	// CheckpointInterval is the time between checkpoints, with a StateDir; 0 is DefaultCheckpointInterval.
	CheckpointInterval time.Duration
	// EpochMaxAge, EpochMaxRows and EpochMaxBytes (of decoded rows) end an epoch while sources still have data; 0 for
	// the defaults. The latter two bind each reader.
	EpochMaxAge   time.Duration
	EpochMaxRows  int
	EpochMaxBytes int64
	// BatchRows is the largest number of rows that travel together; 0 for the default.
	BatchRows int
	// TimeZone is the session's; nil is UTC.
	TimeZone *time.Location
	// OpenResult opens the sink that takes the result of a top-level SELECT. It is handed the planned sink's
	// Spec with Writers filled in.
	OpenResult func(spi.SinkSpec) (spi.Sink, error)
	// PendingOutput says what to do with output that a sink may or may not have, because it has lost its marker:
	// PendingDeliver or PendingSkip. Empty refuses to start and asks.
	PendingOutput PendingOutput
	// Warn takes warnings for people, one sentence each, from any goroutine; nil drops them.
	Warn func(msg string)
	// Measure has every operator measured, for Job.Measure.
	Measure bool
	// Hooks let tests watch and steer the epochs; nil in production.
	Hooks *Hooks
}

// PendingOutput is an answer to Config.PendingOutput.
type PendingOutput string

// The answers.
const (
	PendingDeliver PendingOutput = "deliver" // it may come twice
	PendingSkip    PendingOutput = "skip"    // it may be missing
)

// Defaults of Config.
const (
	DefaultMemoryBudget       = 1536 << 20 // holds workload M of docs/performance.md, of seven million rows
	DefaultCheckpointInterval = time.Second
	DefaultEpochMaxAge        = 100 * time.Millisecond
	DefaultEpochMaxRows       = 64 << 10
	DefaultEpochMaxBytes      = 64 << 20
	DefaultBatchRows          = 1024
)

// Stats is a snapshot of a job's counters.
type Stats struct {
	// Sources are by table name, and numbered where a table is read with several sets of options; Sinks by table name.
	Sources map[string]spi.SourceStats
	Sinks   map[string]spi.SinkStats
	// Epochs and Checkpoints completed.
	Epochs, Checkpoints uint64
	// StateRows are the live rows of operators' state, in memory and on disk, and StateBytes the memory that those
	// take which are in memory: all of them, unless the budget has no room.
	StateRows, StateBytes int64
	// PeakStateBytes is the largest StateBytes seen at the end of an epoch.
	PeakStateBytes int64
	// RowsOut is the number of changes handed to sinks.
	RowsOut int64
	// UnknownDeletes is the number of deletes of keys that were not there, which changed nothing: those of rows that
	// never passed a WHERE are among them.
	UnknownDeletes int64
	Elapsed        time.Duration
}

// Hooks let tests watch and steer a job.
type Hooks struct {
	// Cut is called for every epoch when it has been cut, before its output leaves.
	Cut func(epoch uint64, positions map[string][]spi.Position)
	// Ended is called with Cut, with the time at which the epoch ended, in milliseconds since 1970.
	Ended func(epoch uint64, millis int64)
	// Done is called when all of an epoch's output is acknowledged. It must not block.
	Done func(epoch uint64)
	// Now is the clock by which epochs get their times; nil is the machine's.
	Now func() time.Time
	// FS is the file system of the state directory; nil is the operating system's.
	FS state.FS
	// MarkerRefresh is how often idle transactional sinks store their marker again; 0 for the default.
	MarkerRefresh time.Duration
	// SegmentBytes is the size of what one transaction holds, and MaxOutbox what all outboxes may hold before the
	// sources have to wait; 0 for the defaults.
	SegmentBytes, MaxOutbox int64
	// Check holds every operator's output to what the plan says of it, and ends the job where it differs.
	Check bool
}

// Job is a running plan.
type Job struct {
	cfg    Config
	store  *state.Store
	log    *state.Log // nil without a state directory
	logged [][]byte
	// logsCuts says that some sink shows epochs before their checkpoint, so that their cuts have to be logged.
	logsCuts    bool
	id          string // see jobIDKey; empty without a state directory
	generation  uint64
	outboxes    []*outbox
	outboxFiles *state.Outbox
	control     *controller
	sources     []*sourceTask
	readers     []*readerTask
	shards      []*shardTask
	sinks       map[*planner.Sink]*openSink
	tasks       []*sinkTask
	writers     int

	reemission *reemission // nil when no sink is written anew
	remote     *remote     // nil without a control channel
	group      *errgroup.Group
	cancel     context.CancelCauseFunc
	started    time.Time
	stopOnce   sync.Once
	over       chan struct{} // closed when all tasks have ended
	finished   chan struct{} // closed when everything is let go of
	err        error

	halted              atomic.Bool   // paused
	tick                time.Duration // after which an epoch is cut though nothing comes; 0 for none
	epochs, checkpoints atomic.Uint64
	peak                atomic.Int64
	ended               atomic.Int64 // nanoseconds from start to end; 0 while running
}

// sourceTask is an open source with its name in checkpoints and statistics.
type sourceTask struct {
	name   string
	table  string
	source spi.Source
	width  int
	frag   *fragment
}

type openSink struct {
	name string
	sink spi.Sink
	box  *outbox // nil unless the sink is transactional
}

func (j *Job) durable() bool { return j.cfg.StateDir != "" }

// spawn runs f in a goroutine that the job waits for.
func (j *Job) spawn(f func() error) { j.group.Go(f) }

// Start opens the plan's sources, sinks and state, recovers, and begins. ctx ends the job at once, without a
// checkpoint; Stop ends it in order.
func Start(ctx context.Context, cfg Config) (*Job, error) {
	cfg.setDefaults()
	j := &Job{cfg: cfg, sinks: map[*planner.Sink]*openSink{}, over: make(chan struct{}), finished: make(chan struct{}), started: time.Now(), tick: tickOf(cfg.Plan)}
	jobCtx, cancel := context.WithCancelCause(ctx)
	j.cancel = cancel
	if err := j.open(jobCtx); err != nil {
		cancel(err)
		return nil, j.close(err)
	}
	j.listen()
	j.launch(jobCtx)
	return j, nil
}

func (c *Config) setDefaults() {
	def := func(v *int, d int) {
		if *v == 0 {
			*v = d
		}
	}
	def(&c.Parallelism, 1)
	def(&c.EpochMaxRows, DefaultEpochMaxRows)
	def(&c.BatchRows, DefaultBatchRows)
	if c.EpochMaxBytes == 0 {
		c.EpochMaxBytes = DefaultEpochMaxBytes
	}
	if c.EpochMaxAge == 0 {
		c.EpochMaxAge = DefaultEpochMaxAge
	}
	if c.CheckpointInterval == 0 {
		c.CheckpointInterval = DefaultCheckpointInterval
	}
	if c.MemoryBudget == 0 && c.StateDir != "" {
		c.MemoryBudget = DefaultMemoryBudget
	}
	if c.TimeZone == nil {
		c.TimeZone = time.UTC
	}
	if c.Redact == nil {
		c.Redact = func(text string) string { return text }
	}
	if c.Warn == nil {
		c.Warn = func(string) {}
	}
}

// launch starts the goroutines and the one that waits for them.
func (j *Job) launch(ctx context.Context) {
	// The group's context ends with the first error; the cause is that error.
	group, gctx := errgroup.WithContext(ctx)
	j.group = group
	for _, t := range j.shards {
		t.setContext(gctx)
		group.Go(func() error { return t.run(gctx) })
	}
	for _, t := range j.readers {
		group.Go(func() error { return t.run(gctx) })
	}
	group.Go(func() error { return j.control.run(gctx) })
	go func() {
		err := group.Wait()
		if errors.Is(err, errStopped) {
			err = nil
		}
		if cause := context.Cause(ctx); err != nil && errors.Is(err, context.Canceled) && cause != nil {
			err = cause
		}
		j.ended.Store(int64(time.Since(j.started)))
		j.cancel(err)
		close(j.over)
		j.err = j.close(err)
		close(j.finished)
	}()
}

// Wait returns when the job has ended and let go of everything: nil when its bounded inputs were read to the
// end or it was stopped, else the first cause of its end.
func (j *Job) Wait() error {
	<-j.finished
	return j.err
}

// Finished is closed when Wait would return at once.
func (j *Job) Finished() <-chan struct{} { return j.finished }

// Stop asks for an orderly end: the present epoch is finished, its output acknowledged and a checkpoint taken.
// It returns at once; Wait tells when that is done.
func (j *Job) Stop() { j.stopOnce.Do(func() { close(j.control.stop) }) }

// Kill ends the job at once, as a crash would.
func (j *Job) Kill() { j.cancel(context.Canceled) }

// Stats returns a snapshot of the job's counters. It may be called from any goroutine, also after the end.
func (j *Job) Stats() Stats {
	s := Stats{
		Sources: map[string]spi.SourceStats{}, Sinks: map[string]spi.SinkStats{},
		Epochs: j.epochs.Load(), Checkpoints: j.checkpoints.Load(), Elapsed: time.Duration(j.ended.Load()),
	}
	if s.Elapsed == 0 {
		s.Elapsed = time.Since(j.started)
	}
	for _, t := range j.sources {
		s.Sources[t.name] = t.source.Stats()
	}
	for _, o := range j.sinks {
		s.Sinks[o.name] = o.sink.Stats()
	}
	for _, t := range j.tasks {
		s.RowsOut += t.rows.Load()
	}
	s.StateRows = j.store.Restored()
	for _, t := range j.shards {
		s.StateRows += t.stateRows.Load()
		s.StateBytes += t.stateBytes.Load()
		s.UnknownDeletes += t.unknown.Load()
	}
	s.PeakStateBytes = max(j.peak.Load(), s.StateBytes)
	return s
}

// notePeak keeps the largest size of the state.
func (j *Job) notePeak() {
	var n int64
	for _, t := range j.shards {
		n += t.stateBytes.Load()
	}
	if n > j.peak.Load() {
		j.peak.Store(n)
	}
}
