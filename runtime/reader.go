package runtime

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/changelog"
	"github.com/sluicesql/sluice/engine/op"
)

// readerState tells the controller what a reader is doing.
type readerState int32

const (
	reading readerState = iota
	idle                // nothing there at the moment
	full                // its part of the epoch is as large as it may be
	halted              // paused
	atLimit             // at the limit it was given
	done                // at the bounded end
	failed              // met bad input; stopped in front of it
)

// readerTask runs one reader and the source fragment behind it: one goroutine.
type readerTask struct {
	job    *Job
	source *sourceTask
	inst   *instance
	r      spi.Reader
	cmds   chan command

	bytes   int64            // of rows since the last cut
	limited bool             // reads up to a limit: an epoch is being replayed
	paused  bool             // reads nothing
	begin   *changelog.Batch // to be pushed before anything is read; nil for nothing
	state   atomic.Int32
	rows    atomic.Int64 // records since the last cut
	share   int64        // the reader's share of a full epoch: how often to make the controller look
	err     atomic.Pointer[error]
}

// command tells a reader to cut (barrier set), to pause or to go on (pause set), or sets its limit.
type command struct {
	barrier *barrier
	pause   *bool
	limit   []spi.Position
}

func (t *readerTask) run(ctx context.Context) error {
	var batch changelog.Batch
	if t.begin != nil {
		n := t.begin.Len()
		if err := t.push(t.inst.source, t.begin); err != nil {
			return err
		}
		t.begin = nil
		t.rows.Add(int64(n))
		t.job.control.wake()
	}
	for {
		select {
		case c := <-t.cmds:
			if final, err := t.obey(ctx, c); err != nil || final {
				return err
			}
			continue
		case <-ctx.Done():
			return context.Cause(ctx)
		default:
		}
		n := 0
		most, crowded := t.room()
		if t.err.Load() == nil && most > 0 {
			var err error
			n, err = t.r.Read(&batch, most)
			if perr := t.push(t.inst.source, &batch); perr != nil {
				return perr
			}
			if t.inst.dead != nil {
				t.r.(spi.DeadLetterReader).DeadLetters(&batch)
				if perr := t.push(t.inst.dead, &batch); perr != nil {
					return perr
				}
			}
			if err != nil {
				t.err.Store(&err)
			}
		}
		if n > 0 {
			if was := t.rows.Add(int64(n)) - int64(n); was/t.share != (was+int64(n))/t.share || was == 0 {
				t.job.control.wake()
			}
			t.setState(reading)
			continue
		}
		if final, err := t.wait(ctx, most == 0, crowded); err != nil || final {
			return err
		}
	}
}

// room is the number of records that may be read at once: none when the epoch is full, or when changed state that
// waits for a checkpoint crowds the memory. A replayed epoch is as large as it was.
func (t *readerTask) room() (most int, crowded bool) {
	c := &t.job.cfg
	switch left := int64(c.EpochMaxRows) - t.rows.Load(); {
	case t.paused:
		return 0, false
	case t.limited:
		return c.BatchRows, false
	case left <= 0 || t.bytes >= c.EpochMaxBytes:
		return 0, false
	case t.job.store.Crowded():
		return 0, true
	default:
		return int(min(left, int64(c.BatchRows))), false
	}
}

func (t *readerTask) push(to op.Output, b *changelog.Batch) error {
	if b.Len() == 0 {
		return nil
	}
	t.bytes += int64(b.Size())
	err := to.Push(b)
	b.Reset()
	if err != nil {
		return fmt.Errorf("table %s: %w", t.source.table, err)
	}
	return nil
}

// crowdedPause is how often a reader looks whether there is memory again.
const crowdedPause = 2 * time.Millisecond

// wait hands on what is held back, says that nothing is there, and sleeps until something is. When the epoch is
// full it sleeps until that has been cut. What crowds the memory may be gone by now, without a word to this reader, so
// that it looks again by itself.
func (t *readerTask) wait(ctx context.Context, epochFull, crowded bool) (final bool, err error) {
	for _, r := range t.inst.routers {
		if err := r.Flush(); err != nil {
			return false, err
		}
	}
	switch {
	case t.err.Load() != nil:
		t.setState(failed)
	case t.paused:
		t.setState(halted)
	case epochFull:
		t.setState(full)
	case t.r.Done():
		t.setState(done)
	case t.r.AtLimit():
		t.setState(atLimit)
	default:
		t.setState(idle)
	}
	t.job.control.wake()
	ready := t.r.Ready()
	var relief <-chan time.Time
	if epochFull {
		ready = nil
	}
	if crowded {
		relief = time.After(crowdedPause)
	}
	select {
	case <-ready:
		return false, nil
	case <-relief:
		return false, nil
	case c := <-t.cmds:
		return t.obey(ctx, c)
	case <-ctx.Done():
		return false, context.Cause(ctx)
	}
}

func (t *readerTask) setState(s readerState) { t.state.Store(int32(s)) }

func (t *readerTask) obey(ctx context.Context, c command) (final bool, err error) {
	b := c.barrier
	if b == nil {
		t.setState(reading) // until it has looked
		if c.pause != nil {
			t.paused = *c.pause
		} else {
			t.limit(c.limit)
		}
		t.job.control.reply(cutReply{})
		return false, nil
	}
	for _, o := range t.inst.barrier {
		if err := o.Barrier(); err != nil {
			return false, err
		}
	}
	if err := t.inst.checkEpoch(b.epoch); err != nil {
		return false, err
	}
	t.rows.Store(0)
	t.bytes = 0
	t.job.control.reply(cutReply{source: t.source, positions: t.r.Positions(nil)})
	for _, e := range t.inst.out {
		if err := e.post(message{edge: e, barrier: b}); err != nil {
			return false, err
		}
	}
	t.r.Barrier()
	t.inst.setTime(b.nextTime)
	return b.final, nil
}

// limit makes the reader stop at positions; nil lets it read freely.
func (t *readerTask) limit(pos []spi.Position) {
	t.limited = pos != nil
	t.r.Limit(pos)
}
