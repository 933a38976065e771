package runtime

import (
	"context"
	"sync/atomic"

	"github.com/sluicesql/sluice/engine/state"
)

// shardTask runs one instance of a shard fragment: one goroutine, one inbox.
type shardTask struct {
	job   *Job
	inst  *instance
	inbox *inbox
	in    []*edge // incoming edges

	durable atomic.Pointer[state.Frozen] // committed, to be told to the shard
	nudge   chan struct{}                // has room for one: something was committed
	waiting int                          // edges whose barrier is still to come
	staging staging

	stateRows, stateBytes, unknown atomic.Int64
}

func (t *shardTask) run(ctx context.Context) error {
	t.waiting = len(t.in)
	warming := t.warming()
	for {
		select {
		case m := <-t.inbox.c:
			if final, err := t.take(ctx, m); err != nil || final {
				return err
			}
		case <-warming:
			if more, err := t.inst.shard.Warm(); err != nil {
				return err
			} else if !more {
				warming = nil
			}
		case <-t.nudge:
			if err := t.maintain(); err != nil {
				return err
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// take handles one message. Messages behind an edge's barrier wait until the barrier has come on all edges: they
// belong to the next epoch.
func (t *shardTask) take(ctx context.Context, m message) (final bool, err error) {
	if m.edge.closed {
		m.edge.stash = append(m.edge.stash, m)
		return false, nil
	}
	if m.barrier == nil {
		return false, t.process(m)
	}
	m.edge.closed = true
	if t.waiting--; t.waiting > 0 {
		return false, nil
	}
	if err := t.atBarrier(ctx, m.barrier); err != nil || m.barrier.final {
		return true, err
	}
	return t.reopen(ctx)
}

// reopen begins the next epoch with what came early.
func (t *shardTask) reopen(ctx context.Context) (final bool, err error) {
	t.waiting = len(t.in)
	for _, e := range t.in {
		e.closed = false
	}
	for _, e := range t.in {
		early := e.stash
		e.stash = nil
		for _, m := range early {
			if final, err := t.take(ctx, m); err != nil || final {
				return final, err
			}
		}
	}
	return false, nil
}

// warming is a channel that is always ready, so that the shard reads its state from disk whenever there is no
// message, and about as often as there is one; nil when there is no state to read.
func (t *shardTask) warming() <-chan struct{} {
	if t.inst.shard == nil {
		return nil
	}
	ready := make(chan struct{})
	close(ready)
	return ready
}

func (t *shardTask) process(m message) error {
	s := t.inst.shard
	if s == nil || t.staging.empty() && !s.Cold() {
		if err := t.inst.entry[m.edge.entry].Push(m.batch); err != nil {
			return err
		}
		m.edge.done(m.batch)
		return t.maintain()
	}
	t.staging.add(m.edge.entry, m.batch)
	m.edge.done(m.batch)
	if !t.staging.full() {
		return nil
	}
	return t.unstage()
}

// unstage processes what is staged.
func (t *shardTask) unstage() error {
	if t.staging.empty() {
		return nil
	}
	if err := t.staging.push(t.inst); err != nil {
		return err
	}
	return t.maintain()
}

// maintain keeps the shard within its budget, between two batches.
func (t *shardTask) maintain() error {
	s := t.inst.shard
	if s == nil {
		return nil
	}
	if err := t.settle(); err != nil {
		return err
	}
	if err := s.Maintain(); err != nil {
		return err
	}
	if s.Pressure() {
		t.job.control.pressed()
	}
	return nil
}

// committed tells the task that a checkpoint with its entries is durable. Any goroutine may call it.
func (t *shardTask) committed() {
	select {
	case t.nudge <- struct{}{}:
	default:
	}
}

// settle tells the shard of a checkpoint that has become durable.
func (t *shardTask) settle() error {
	if f := t.durable.Swap(nil); f != nil {
		return t.inst.shard.Durable(f)
	}
	return nil
}

func (t *shardTask) atBarrier(ctx context.Context, b *barrier) error {
	if b.reemit {
		for _, o := range t.inst.reemit {
			if err := o.Reemit(); err != nil {
				return err
			}
		}
	}
	if err := t.unstage(); err != nil {
		return err
	}
	for _, o := range t.inst.barrier {
		if err := o.Barrier(); err != nil {
			return err
		}
	}
	if err := t.inst.checkEpoch(b.epoch); err != nil {
		return err
	}
	for _, e := range t.inst.out {
		if err := e.post(message{edge: e, barrier: b}); err != nil {
			return err
		}
	}
	for _, s := range t.inst.sinks {
		from := t.inst.meters.enter(t.inst.meters.node(s.node))
		err := s.barrier(ctx, b)
		t.inst.meters.enter(from)
		if err != nil {
			return err
		}
	}
	if err := t.inst.forget(b.nextTime); err != nil {
		return err
	}
	var frozen *state.Frozen
	if s := t.inst.shard; s != nil {
		if err := t.settle(); err != nil {
			return err
		}
		if b.checkpoint {
			frozen = s.Freeze()
		}
		var rows, bytes int64
		for _, table := range t.inst.tables {
			rows += table.Rows()
			bytes += table.Bytes()
		}
		t.inst.meters.noteState()
		t.stateRows.Store(rows)
		t.stateBytes.Store(bytes)
	}
	var unknown int64
	for _, n := range t.inst.unknown {
		unknown += *n
	}
	t.unknown.Store(unknown)
	t.inst.closed = b.closeNext
	t.inst.setTime(b.nextTime)
	t.job.control.passed(b.epoch, t, frozen)
	return nil
}

// setContext makes the incoming edges end with the job.
func (t *shardTask) setContext(ctx context.Context) {
	for _, e := range t.in {
		e.ctx = ctx
	}
}
