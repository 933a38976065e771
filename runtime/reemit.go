package runtime

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/sluicesql/sluice/engine/op"
	"github.com/sluicesql/sluice/internal/fault"
	"github.com/sluicesql/sluice/planner"
)

// reemission is how sinks are written anew from state: in an epoch of its own, in which nothing is read, the
// operators nearest to the sinks push their whole result on. What else reads these operators is closed off in it.
//
// All state must be durable when that epoch begins, since its operators walk what is on disk. So it follows a
// checkpoint directly, and is one itself: a crash repeats it from the log, or not at all.
type reemission struct {
	sinks []string
	// from are the operators that push, way the nodes between them and the sinks, which are among them.
	from, way map[planner.Node]bool
}

// reemitting is how far a job's start has got with writing sinks anew.
type reemitting int

const (
	reemitted reemitting = iota // done, or nothing to do
	toReemit
	underWay // the epoch is cut
)

// planReemission finds what is to be written anew: what was asked for, or what a crash has left to be repeated.
func (j *Job) planReemission(replay []cutRecord, found bool) (err error) {
	c := j.control
	switch {
	case len(replay) > 0 && replay[0].Reemit != nil:
		if len(j.cfg.Reemit) > 0 && !slices.Equal(j.cfg.Reemit, replay[0].Reemit) {
			return fault.Errorf(fault.StateUnended, "--reemit %s: the job died while it wrote %s anew, and has to end that first", j.cfg.Reemit[0], strings.Join(replay[0].Reemit, ", ")).
				Fix("start it without --reemit")
		}
		j.reemission, err = newReemission(j.cfg.Plan, replay[0].Reemit)
		c.closedFirst = true
	case len(j.cfg.Reemit) == 0:
	case !j.durable() || !found:
		return fault.Errorf(fault.JobRequest, "--reemit %s: there is no state to write it from", j.cfg.Reemit[0]).
			Fix("a job that starts from the beginning writes everything")
	default:
		j.reemission, err = newReemission(j.cfg.Plan, j.cfg.Reemit)
		c.reemit, c.closedFirst = toReemit, len(replay) == 0
	}
	return err
}

// reemitStep brings the writing of sinks anew on. The readers are paused meanwhile.
func (c *controller) reemitStep(ctx context.Context) error {
	if c.committing() || c.flying() {
		return nil
	}
	switch {
	case c.reemit == underWay:
		c.reemit = reemitted
		c.wake()
		return c.readOn(ctx)
	case c.dirty: // what was repeated from the log
		return c.cut(ctx, cutOptions{checkpoint: true, closeNext: true})
	}
	c.reemit = underWay
	return c.cut(ctx, cutOptions{checkpoint: true, reemit: true})
}

// readOn has the readers read which were paused at the start, unless the job as a whole is.
func (c *controller) readOn(ctx context.Context) error {
	if c.job.halted.Load() {
		return nil
	}
	pause := false
	return c.tell(ctx, command{pause: &pause}, func(cutReply) {})
}

// newReemission finds where the rows of sinks can be taken from.
func newReemission(p *planner.Plan, sinks []string) (*reemission, error) {
	r := &reemission{sinks: sinks, from: map[planner.Node]bool{}, way: map[planner.Node]bool{}}
	var names []string
	found := map[string]bool{}
	for _, s := range p.Sinks {
		name := sinkName(s)
		names = append(names, name)
		if !slices.Contains(sinks, name) {
			continue
		}
		found[name] = true
		if err := r.walk(s); err != nil {
			return nil, fmt.Errorf("--reemit %s: %w", name, err)
		}
	}
	for _, name := range sinks {
		if !found[name] {
			return nil, fault.Errorf(fault.JobRequest, "--reemit %s: the job has no such sink", name).
				Fix("%s", amongKnown(name, "it writes", names))
		}
	}
	return r, nil
}

func (r *reemission) walk(n planner.Node) error {
	switch n := n.(type) {
	case *planner.Scan:
		return fault.Errorf(fault.JobRequest, "rows of table %s reach it without passing an operator that keeps them, so that there is no state to write them from", n.Table).
			Fix("read the table again from its start instead, by another --state-dir")
	case *planner.Values:
		return fault.Errorf(fault.JobRequest, "its VALUES pass no operator that keeps them").
			Fix("start with another --state-dir to write them again")
	case *planner.DeadLetters:
		return fault.Errorf(fault.JobRequest, "it holds messages that could not be read, which no state keeps").Fix("leave it out of --reemit")
	}
	if planner.StateTables(n) > 0 {
		r.from[n] = true
		return nil
	}
	r.way[n] = true
	for _, in := range n.Inputs() {
		if err := r.walk(in); err != nil {
			return err
		}
	}
	return nil
}

// gate closes off, while sinks are written anew, a consumer that is not on the way to them.
func (b *builder) gate(in *instance, from, to planner.Node, out op.Output) op.Output {
	r := b.job.reemission
	if r == nil || r.way[to] || !r.from[from] && !r.way[from] {
		return out
	}
	return op.Gate{Closed: &in.closed, Next: out}
}

// reemits notes an operator that pushes its result on.
func (b *builder) reemits(in *instance, n planner.Node, o any) error {
	if r := b.job.reemission; r == nil || !r.from[n] {
		return nil
	}
	e, ok := o.(op.Reemitter)
	if !ok {
		return fault.Errorf(fault.Internal, "--reemit: its result cannot be made of its state")
	}
	in.reemit = append(in.reemit, e)
	return nil
}
