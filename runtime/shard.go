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
	waiting int                          // edges whose barrier is still to come

	stateRows, stateBytes, unknown atomic.Int64
}

func (t *shardTask) run(ctx context.Context) error {
	t.waiting = len(t.in)
	for {
		select {
		case m := <-t.inbox.c:
			if final, err := t.take(ctx, m); err != nil || final {
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

func (t *shardTask) process(m message) error {
	if err := t.inst.entry[m.edge.entry].Push(m.batch); err != nil {
		return err
	}
	m.edge.done(m.batch)
	if s := t.inst.shard; s != nil {
		if err := t.settle(); err != nil {
			return err
		}
		if err := s.Maintain(); err != nil {
			return err
		}
		if s.Pressure() {
			t.job.control.pressed()
		}
	}
	return nil
}

// settle tells the shard of a checkpoint that has become durable.
func (t *shardTask) settle() error {
	if f := t.durable.Swap(nil); f != nil {
		return t.inst.shard.Durable(f)
	}
	return nil
}

func (t *shardTask) atBarrier(ctx context.Context, b *barrier) error {
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
		if err := s.barrier(ctx, b); err != nil {
			return err
		}
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
			rows += int64(table.Len())
			bytes += table.Bytes()
		}
		t.stateRows.Store(rows)
		t.stateBytes.Store(bytes)
	}
	var unknown int64
	for _, n := range t.inst.unknown {
		unknown += *n
	}
	t.unknown.Store(unknown)
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
