package runtime

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/state"
)

// barrier separates two epochs. Every task passes the same one on.
type barrier struct {
	epoch      uint64 // the epoch that ends
	checkpoint bool
	final      bool
	reemit     bool          // sinks are written anew in this epoch
	closeNext  bool          // and in the next one
	nextTime   int64         // the next epoch's time, in milliseconds since 1970
	logged     chan struct{} // closed when the cut is durable; nil without a state directory
}

// Bounds on the epochs under way.
const (
	maxProcessing     = 2  // cut, but not through all shards: keeps epochs growing while shards are busy
	maxUnacknowledged = 32 // through, but not acknowledged by all sinks
)

// controller cuts the input into epochs and takes the checkpoints. One goroutine runs it; tasks report to it
// by the methods below, which never wait.
type controller struct {
	job     *Job
	signal  chan struct{} // room for one
	replies chan cutReply
	stop    chan struct{} // closed to ask for an orderly stop
	asked   chan *request // what people ask of the running job

	mu        sync.Mutex
	flight    []*flight // epochs under way, oldest first
	pressure  bool
	commitErr error
	inCommit  bool
	saved     uint64 // the epoch of the last checkpoint that is durable
	forget    uint64 // the log may forget the epochs up to this one; 0 for nothing new

	epoch     uint64    // the present epoch
	time      int64     // its time
	first     time.Time // when the first record of the present epoch was seen; zero for none
	lastPoint time.Time // when the last checkpoint began
	lastMark  time.Time // when the markers of the transactional sinks were last refreshed
	dirty     bool      // something was read since then
	replay    []cutRecord

	requests []*request // under way, see request.go
	last     *request   // the savepoint to end with; nil without one

	swept       int64 // see startSwept
	sweeping    bool  // the first epoch, with the deletes of a sweep, is not cut
	reemit      reemitting
	closedFirst bool // the first epoch is one in which sinks are written anew
}

// errStopped ends a job that was asked to stop while it replayed logged epochs. The epoch that is being read again
// cannot be cut short, and what was replayed comes again at the next start.
var errStopped = errors.New("stopped while replaying")

// flight is an epoch that has been cut.
type flight struct {
	barrier *barrier
	cut     cutRecord
	passed  int // shard tasks that have passed its barrier
	acked   int // writers that have acknowledged it
	frozen  []*state.Frozen
	owners  []*shardTask // whose they are
	err     error
}

// cutReply is a reader's answer to a command.
type cutReply struct {
	source    *sourceTask
	positions []spi.Position
}

func newController(j *Job) *controller {
	return &controller{job: j, signal: make(chan struct{}, 1), stop: make(chan struct{}), asked: make(chan *request)}
}

// wake makes the controller look again.
func (c *controller) wake() {
	select {
	case c.signal <- struct{}{}:
	default:
	}
}

func (c *controller) reply(r cutReply) { c.replies <- r } // has room for every reader

// pressed asks for an early checkpoint: changed state is filling the memory.
func (c *controller) pressed() {
	c.mu.Lock()
	was := c.pressure
	c.pressure = true
	c.mu.Unlock()
	if !was {
		c.wake()
	}
}

func (c *controller) find(epoch uint64) *flight {
	for _, f := range c.flight {
		if f.barrier.epoch == epoch {
			return f
		}
	}
	panic(fmt.Sprintf("runtime: report for epoch %d, which is not under way", epoch))
}

// passed reports that a shard task is through with an epoch.
func (c *controller) passed(epoch uint64, t *shardTask, frozen *state.Frozen) {
	c.mu.Lock()
	f := c.find(epoch)
	f.passed++
	if frozen != nil {
		f.frozen = append(f.frozen, frozen)
		f.owners = append(f.owners, t)
	}
	c.mu.Unlock()
	c.wake()
}

// acked reports that a writer's output of an epoch is acknowledged, or cannot be.
func (c *controller) acked(epoch uint64, err error) {
	c.mu.Lock()
	f := c.find(epoch)
	f.acked++
	if f.err == nil { // the first says why; the other writers mostly say it again
		f.err = err
	}
	c.mu.Unlock()
	c.wake()
}

// run cuts epochs until the job has ended: by itself, on request, or because a reader met bad input, whose
// error it then returns. What was read before is complete in the sinks and in the state by then.
func (c *controller) run(ctx context.Context) error {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	ending := false
	for {
		ended, wait, err := c.step(ctx, &ending)
		if err != nil || ended {
			return err
		}
		timer.Reset(wait)
		select {
		case <-c.signal:
		case r := <-c.asked:
			c.requests = append(c.requests, r)
		case <-c.stopping(ending):
		case <-timer.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// stopping is the channel that a stop request closes; nil once that has been seen.
func (c *controller) stopping(ending bool) <-chan struct{} {
	if ending {
		return nil
	}
	return c.stop
}

// step does what can be done now, and says how long to wait at most before looking again.
func (c *controller) step(ctx context.Context, ending *bool) (ended bool, wait time.Duration, err error) {
	processing, flying, err := c.reap(ctx)
	if err != nil {
		return false, 0, err
	}
	if *ending {
		if flying > 0 || c.committing() {
			return false, time.Hour, nil
		}
		if _, _, err := c.reap(ctx); err != nil { // the commit may have ended, and failed, since reap looked
			return false, 0, err
		}
		c.saveLast()
		return true, 0, c.failure()
	}
	stop := c.stopRequested()
	if stop && len(c.replay) > 0 {
		return false, 0, errStopped
	}
	if processing >= maxProcessing || flying >= maxUnacknowledged || c.job.outboxFull() && c.committing() {
		return false, time.Hour, nil
	}
	if len(c.replay) > 0 {
		return false, time.Hour, c.replayStep(ctx)
	}
	if c.reemit != reemitted {
		return false, time.Hour, c.reemitStep(ctx)
	}
	if c.sweeping {
		return false, time.Hour, c.sweepStep(ctx)
	}
	now := time.Now()
	rows, cutNow, finished := c.readers()
	wanted, err := c.serve(ctx, rows)
	if err != nil {
		return false, 0, err
	}
	if stop || finished || c.last != nil {
		if c.committing() {
			return false, time.Hour, nil
		}
		*ending = true
		return false, 0, c.cut(ctx, cutOptions{final: true, checkpoint: c.job.durable()})
	}
	if rows > 0 && c.first.IsZero() {
		c.first = now
	}
	point, untilPoint := c.pointDue(now, rows)
	point = point || wanted
	due := rows > 0 && (cutNow || rows >= int64(c.job.cfg.EpochMaxRows) || now.Sub(c.first) >= c.job.cfg.EpochMaxAge)
	untilTick := c.untilTick(rows)
	if due || point || untilTick <= 0 {
		return false, 0, c.cut(ctx, cutOptions{checkpoint: point})
	}
	wait = min(untilPoint, c.refresh(ctx, now), untilTick)
	if rows > 0 {
		wait = min(wait, c.job.cfg.EpochMaxAge-now.Sub(c.first))
	}
	return false, wait, nil
}

// untilTick is how long until an epoch is cut in which there is nothing: where state is forgotten, time has to go on,
// or what comes after a pause would find what is long too old.
func (c *controller) untilTick(rows int64) time.Duration {
	if c.job.tick == 0 || rows > 0 || c.job.halted.Load() {
		return time.Hour
	}
	if c.clock().Sub(time.UnixMilli(c.time)) >= c.job.tick {
		return 0
	}
	return c.job.tick
}

// clock is the time that epochs get.
func (c *controller) clock() time.Time {
	if h := c.job.cfg.Hooks; h != nil && h.Now != nil {
		return h.Now()
	}
	return time.Now()
}

// pointDue tells whether the next cut should be a checkpoint, or else how long until one is due.
func (c *controller) pointDue(now time.Time, rows int64) (bool, time.Duration) {
	if !c.job.durable() || !c.dirty && rows == 0 || c.committing() {
		return false, time.Hour
	}
	c.mu.Lock()
	pressed := c.pressure
	c.mu.Unlock()
	left := c.job.cfg.CheckpointInterval - now.Sub(c.lastPoint)
	return pressed || left <= 0, left
}

// refresh has the markers of the transactional sinks stored again when that is due, and returns how long until it is.
func (c *controller) refresh(ctx context.Context, now time.Time) time.Duration {
	every := markerRefresh
	if h := c.job.cfg.Hooks; h != nil && h.MarkerRefresh > 0 {
		every = h.MarkerRefresh
	}
	if left := every - now.Sub(c.lastMark); left > 0 || len(c.job.outboxes) == 0 || c.committing() {
		return max(left, time.Second)
	}
	c.lastMark = now
	c.mu.Lock()
	c.inCommit = true
	c.mu.Unlock()
	c.job.spawn(func() error { c.committed(c.job.refreshMarkers(ctx)); return nil })
	return every
}

func (c *controller) stopRequested() bool {
	select {
	case <-c.stop:
		return true
	default:
		return false
	}
}

// readers sums up what the readers do: records since the last cut, whether the epoch should end (all are quiet, or
// one can take no more), and whether the job has nothing more to read (or a reader has failed and is to be the last
// word).
func (c *controller) readers() (rows int64, cutNow, finished bool) {
	quiet, finished := true, true
	broken, filled := false, false
	for _, r := range c.job.readers {
		s := readerState(r.state.Load())
		rows += r.rows.Load()
		quiet = quiet && s != reading
		finished = finished && s == done
		broken = broken || s == failed
		filled = filled || s == full
	}
	return rows, quiet || filled, finished || broken
}

// failure is the first bad input that a reader met.
func (c *controller) failure() error {
	for _, r := range c.job.readers {
		if err := r.err.Load(); err != nil {
			return *err
		}
	}
	return nil
}

func (c *controller) committing() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.inCommit {
		return true
	}
	for _, f := range c.flight {
		if f.barrier.checkpoint {
			return true
		}
	}
	return false
}

type cutOptions struct {
	checkpoint, final bool
	reemit, closeNext bool
	nextTime          int64 // from the log, when an epoch is replayed; 0 for now
	replayed          bool  // the cut is in the log already
}

// cut ends the present epoch: every reader answers with its positions and sends the barrier on.
func (c *controller) cut(ctx context.Context, o cutOptions) error {
	if o.nextTime == 0 {
		o.nextTime = max(c.time, c.clock().UnixMilli())
	}
	b := &barrier{epoch: c.epoch, checkpoint: o.checkpoint, final: o.final, reemit: o.reemit, closeNext: o.closeNext, nextTime: o.nextTime}
	if c.job.logsCuts {
		b.logged = make(chan struct{})
	}
	f := &flight{barrier: b}
	c.mu.Lock()
	c.flight = append(c.flight, f)
	if o.checkpoint {
		c.pressure = false
	}
	c.mu.Unlock()
	if err := c.tell(ctx, command{barrier: b}, func(r cutReply) { f.cut.add(r) }); err != nil {
		return err
	}
	f.cut.Epoch, f.cut.NextTime, f.cut.Swept = b.epoch, b.nextTime, c.swept
	if o.reemit {
		f.cut.Reemit = c.job.reemission.sinks
	}
	if h := c.job.cfg.Hooks; h != nil && h.Ended != nil {
		h.Ended(b.epoch, b.nextTime)
	}
	if h := c.job.cfg.Hooks; h != nil && h.Cut != nil {
		h.Cut(b.epoch, f.cut.Sources)
	}
	if c.job.logsCuts {
		if !o.replayed {
			if err := c.job.logCut(f.cut); err != nil {
				return err
			}
		}
		close(b.logged)
	}
	c.dirty = !o.checkpoint
	if o.checkpoint {
		c.lastPoint = time.Now()
	}
	c.first, c.time = time.Time{}, b.nextTime
	c.epoch++
	return nil
}

// tell sends a command to every reader and waits for the answers.
func (c *controller) tell(ctx context.Context, cmd command, each func(cutReply)) error {
	for _, r := range c.job.readers {
		select {
		case r.cmds <- cmd:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	for range c.job.readers {
		select {
		case r := <-c.replies:
			each(r)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// replayStep cuts the next logged epoch where it was cut before, once all readers have got there. The readers'
// limits were set when the one before it was done.
func (c *controller) replayStep(ctx context.Context) error {
	for _, r := range c.job.readers {
		switch readerState(r.state.Load()) {
		case reading, idle, full:
			return nil
		case failed: // the log stays as it is, for a start that can read on
			return *r.err.Load()
		}
	}
	next := c.replay[0]
	c.replay = c.replay[1:]
	if err := c.cut(ctx, cutOptions{nextTime: next.NextTime, replayed: true, reemit: next.Reemit != nil}); err != nil {
		return err
	}
	if len(c.replay) == 0 && c.reemit == toReemit {
		pause := true
		if err := c.tell(ctx, command{pause: &pause}, func(cutReply) {}); err != nil {
			return err
		}
	}
	return c.limit(ctx)
}

// limit makes the readers stop at the next logged cut, or read freely when there is none.
func (c *controller) limit(ctx context.Context) error {
	var pos []spi.Position
	if len(c.replay) > 0 {
		pos = c.replay[0].positions()
	}
	return c.tell(ctx, command{limit: pos}, func(cutReply) {})
}

// reap takes finished epochs out and commits the checkpoint among them. It returns the number of epochs still
// on their way through the shards, and of all under way.
func (c *controller) reap(ctx context.Context) (processing, flying int, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.commitErr != nil {
		return 0, 0, c.commitErr
	}
	if c.forget > 0 { // here and not in commit, since cuts are logged meanwhile
		if err := c.job.log.TruncateThrough(c.forget); err != nil {
			return 0, 0, err
		}
		c.forget = 0
	}
	for len(c.flight) > 0 {
		f := c.flight[0]
		if f.err != nil {
			return 0, 0, f.err
		}
		if f.passed < len(c.job.shards) || f.acked < c.job.writers {
			break
		}
		if f.barrier.checkpoint {
			if c.inCommit {
				break
			}
			c.inCommit = true
			c.job.spawn(func() error { c.commit(ctx, f); return nil })
		}
		c.flight = c.flight[1:]
		c.job.epochs.Add(1)
		c.job.notePeak()
		if h := c.job.cfg.Hooks; h != nil && h.Done != nil {
			h.Done(f.barrier.epoch)
		}
	}
	for _, f := range c.flight {
		if f.err != nil {
			return 0, 0, f.err
		}
		if f.passed < len(c.job.shards) {
			processing++
		}
	}
	return processing, len(c.flight), nil
}

// commit makes a checkpoint durable, tells the shards and the sources, and has the log forget what lies before
// it. It runs beside the controller.
func (c *controller) commit(ctx context.Context, f *flight) {
	err := c.job.commit(ctx, f)
	if err == nil {
		c.mu.Lock()
		c.forget, c.saved, c.pressure = f.cut.Epoch, f.cut.Epoch, false
		c.mu.Unlock()
		for _, t := range f.owners { // after the pressure has gone, since they may find that there is more
			t.committed()
		}
	}
	c.committed(err)
}

// committed ends what commit, or refresh, began.
func (c *controller) committed(err error) {
	c.mu.Lock()
	c.inCommit, c.commitErr = false, err
	c.mu.Unlock()
	c.wake()
}
