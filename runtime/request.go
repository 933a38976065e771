package runtime

import (
	"context"

	"github.com/sluicesql/sluice/engine/state"
	"github.com/sluicesql/sluice/internal/fault"
)

// pausedKey is there in a state directory whose job is paused. A job that is started again stays paused: nobody but
// who paused it knows why.
const pausedKey = "paused"

// action is what a request asks for.
type action int

const (
	pauseJob action = iota
	resumeJob
	takeSavepoint
	stopWithSavepoint
)

// request is something that people ask of the running job. The controller brings requests on between epochs.
type request struct {
	action action
	dir    string     // of a savepoint
	done   chan error // has room for the answer
	begun  bool
	epoch  uint64 // what was read in it must be durable for the request to be done
}

// errResumed answers a pause that was ended before it was complete.
var errResumed = fault.Errorf(fault.JobRequest, "the job was resumed before the pause was complete").Fix("pause it again")

// errEnded answers requests that the job's end overtook.
var errEnded = fault.Errorf(fault.JobUnknown, "the job has ended").Fix("sluice jobs lists those that run")

// Pause has the readers stop reading. When it returns without error, what was read before is in the sinks, and
// durable. Only Resume ends it; a pause outlives the process where there is a state directory.
func (j *Job) Pause(ctx context.Context) error { return j.ask(ctx, &request{action: pauseJob}) }

// Resume ends a pause.
func (j *Job) Resume(ctx context.Context) error { return j.ask(ctx, &request{action: resumeJob}) }

// Savepoint takes a checkpoint and copies it into dir, which must be new or empty. The job goes on meanwhile.
func (j *Job) Savepoint(ctx context.Context, dir string) error {
	return j.ask(ctx, &request{action: takeSavepoint, dir: dir})
}

// StopWithSavepoint stops the job in order, as Stop does, and copies its last checkpoint into dir. It returns when
// that is done; Wait tells when the job has ended.
func (j *Job) StopWithSavepoint(ctx context.Context, dir string) error {
	return j.ask(ctx, &request{action: stopWithSavepoint, dir: dir})
}

// Paused reports whether the job reads nothing because it was paused.
func (j *Job) Paused() bool { return j.halted.Load() }

func (j *Job) ask(ctx context.Context, r *request) error {
	if (r.action == takeSavepoint || r.action == stopWithSavepoint) && !j.durable() {
		return fault.Errorf(fault.Savepoint, "a savepoint is a copy of a state directory, and this job has none").Fix("start it with --state-dir")
	}
	r.done = make(chan error, 1)
	select {
	case j.control.asked <- r:
	case <-j.over:
		return errEnded
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	select {
	case err := <-r.done:
		return err
	case <-j.over:
		select {
		case err := <-r.done:
			return err
		default:
			return errEnded
		}
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// serve brings the requests on, and reports whether one of them needs a checkpoint now.
func (c *controller) serve(ctx context.Context, rows int64) (point bool, err error) {
	var left []*request
	for _, r := range c.requests {
		if !r.begun {
			if err := c.begin(ctx, r); err != nil {
				return false, err
			}
			r.begun, r.epoch = true, c.epoch
			rows = max(rows, c.unread())
		}
		clean := rows == 0 && (!c.dirty || !c.job.durable())
		switch {
		case r.action == resumeJob || r.action == stopWithSavepoint:
			continue
		case r.action == pauseJob && !c.job.halted.Load():
			r.done <- errResumed
			continue
		case c.committing() || r.action == pauseJob && c.flying():
		case r.action == pauseJob && clean:
			r.done <- nil
			continue
		case r.action == takeSavepoint && (clean || c.savedThrough(r.epoch)):
			c.save(r)
			continue
		default:
			point = c.job.durable()
		}
		left = append(left, r)
	}
	c.requests = left
	return point, nil
}

// flying reports whether epochs are under way.
func (c *controller) flying() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.flight) > 0
}

// savedThrough reports whether a checkpoint of this epoch, or of a later one, is durable.
func (c *controller) savedThrough(epoch uint64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.saved >= epoch
}

// begin does what a request asks for at once.
func (c *controller) begin(ctx context.Context, r *request) error {
	switch r.action {
	case stopWithSavepoint:
		c.last = r
	case pauseJob, resumeJob:
		pause := r.action == pauseJob
		if c.job.durable() {
			var note []byte
			if pause {
				note = []byte("true")
			}
			if err := c.job.store.Edit(state.Edit{Meta: map[string][]byte{pausedKey: note}}); err != nil {
				return err
			}
		}
		if err := c.tell(ctx, command{pause: &pause}, func(cutReply) {}); err != nil {
			return err
		}
		c.job.halted.Store(pause)
		if !pause {
			r.done <- nil
		}
	}
	return nil
}

// unread are the records that were read since the last cut.
func (c *controller) unread() int64 {
	rows, _, _ := c.readers()
	return rows
}

// save copies the last checkpoint. It counts as a commit, so that none is made meanwhile.
func (c *controller) save(r *request) {
	c.mu.Lock()
	c.inCommit = true
	c.mu.Unlock()
	c.job.spawn(func() error {
		r.done <- c.job.savepoint(r.dir)
		c.committed(nil)
		return nil
	})
}

// saveLast copies the checkpoint that the job ended with, where that was asked for. That it cannot be copied is the
// answer to the request, not the job's failure.
func (c *controller) saveLast() {
	if c.last != nil {
		c.last.done <- c.job.savepoint(c.last.dir)
	}
}

func (j *Job) savepoint(dir string) error {
	note, err := j.savepointNote()
	if err != nil {
		return err
	}
	return j.store.Savepoint(dir, note, false)
}
