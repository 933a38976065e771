package runtime

import (
	"bytes"
	"strings"

	"github.com/goccy/go-json"

	"github.com/sluicesql/sluice/engine/state"
	"github.com/sluicesql/sluice/internal/fault"
)

// adoption is what makes a state directory that of the job's plan.
type adoption struct {
	edit   state.Edit
	forget uint64 // the epoch log forgets the epochs up to this one; 0 for none
}

// note has metadata written.
func (a *adoption) note(key string, value []byte) {
	if a.edit.Meta == nil {
		a.edit.Meta = map[string][]byte{}
	}
	a.edit.Meta[key] = value
}

// adopt compares the plan with that of the state directory, numbers the state tables, and returns the change that
// makes the directory the plan's. What last and replay say of inputs that are to be read again is taken out.
// Nothing is changed on disk before sources and sinks are open: a job that cannot start, for a topic's name that
// was wrong, leaves the state to the corrected one.
func (j *Job) adopt(g *graph, last *cutRecord, replay *[]cutRecord, found bool) (*adoption, error) {
	a := &adoption{}
	if !j.durable() || !found {
		if err := g.setTables(nil); err != nil || !j.durable() {
			return a, err
		}
		return a, j.notePlan(g, a)
	}
	was, err := j.readPlan()
	if err != nil {
		return nil, err
	}
	f := newFit(j.cfg.Plan, g, was, j.cfg.Redact)
	if len(f.losses) > 0 && !j.cfg.AllowRebuild {
		return nil, f.refusal(j.cfg.StateDir, was)
	}
	if err := j.checkPending(*last); err != nil {
		return nil, err
	}
	if err := j.checkSweep(*last, f); err != nil {
		return nil, err
	}
	if f.fresh && len(*replay) > 0 {
		// The logged epochs say nothing of what is read from its start.
		if !j.cfg.AllowRebuild {
			return nil, fault.Errorf(fault.StateUnended, "the job of %s did not end in order", j.cfg.StateDir).
				Fix("start it once more with the SQL as it was, and stop it, before the SQL changes. (Or start with --allow-rebuild: then what left after the last checkpoint may stay in the sinks although it is taken back)")
		}
		a.forget, *replay = (*replay)[len(*replay)-1].Epoch, nil
	}
	for _, msg := range append(f.losses, f.notes...) {
		msg, _, _ = strings.Cut(msg, "\n") // the reasons were asked for
		j.cfg.Warn(msg)
	}
	for name := range last.Sources {
		if !f.positions[name] {
			delete(last.Sources, name)
		}
	}
	if err := g.setTables(f.kept); err != nil {
		return nil, err
	}
	a.edit.Drop = f.drop
	return a, j.notePlan(g, a)
}

// notePlan has the plan's record written where it is not there.
func (j *Job) notePlan(g *graph, a *adoption) error {
	b, err := json.Marshal(newRecord(&j.cfg, g))
	if err != nil {
		return err
	}
	was, err := j.store.Meta(planKey)
	if err == nil && !bytes.Equal(was, b) {
		a.note(planKey, b)
	}
	return err
}

// settle makes durable, before the first fetch, what adopt found and the resolved start positions: where
// 'latest-offset' is must not be asked again after a crash.
func (j *Job) settle(a *adoption, last *cutRecord) error {
	if !j.durable() {
		return nil
	}
	changed := a.edit.Meta != nil || j.store.Cut() == nil
	for _, s := range j.sources {
		if _, ok := last.Sources[s.name]; !ok {
			last.add(cutReply{source: s, positions: s.source.Positions()})
			changed = true
		}
	}
	if !changed {
		return nil
	}
	if a.forget > 0 {
		if err := j.log.Forget(a.forget); err != nil {
			return err
		}
	}
	var err error
	if a.edit.Cut, err = last.encode(); err != nil {
		return err
	}
	return j.store.Edit(a.edit)
}
