package runtime

import (
	"context"

	"github.com/goccy/go-json"
	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/state"
)

// cutRecord is where an epoch ended: what the epoch log holds of every epoch, and a checkpoint of its last one.
type cutRecord struct {
	// Epoch is the epoch that ended. 0 is checkpoint 0: resolved start positions, nothing read.
	Epoch uint64 `json:"epoch"`
	// NextTime is the time of the epoch that follows, in milliseconds since 1970.
	NextTime int64 `json:"next_time"`
	// Sources are the positions after the epoch, by source name.
	Sources map[string][]spi.Position `json:"sources"`
	// Outbox names the output that a checkpoint's commit makes deliverable; nil in the epoch log, and without
	// transactional sinks.
	Outbox *outboxRecord `json:"outbox,omitempty"`
	// Reemit are the sinks that were written anew in the epoch; nil for none.
	Reemit []string `json:"reemit,omitempty"`
	// Swept is the id of the last sweep that is part of what lies before; 0 for none.
	Swept int64 `json:"swept,omitempty"`
}

func (c *cutRecord) add(r cutReply) {
	if c.Sources == nil {
		c.Sources = map[string][]spi.Position{}
	}
	c.Sources[r.source.name] = append(c.Sources[r.source.name], r.positions...)
}

func (c *cutRecord) encode() ([]byte, error) { return json.Marshal(c) }

func decodeCut(b []byte, where string) (cutRecord, error) {
	var c cutRecord
	if err := json.Unmarshal(b, &c); err != nil {
		return c, state.Damaged("%s holds no readable cut: %w", where, err)
	}
	return c, nil
}

// logCut makes a cut durable before its epoch's output leaves.
func (j *Job) logCut(c cutRecord) error {
	b, err := c.encode()
	if err != nil {
		return err
	}
	return j.log.Append(c.Epoch, b)
}

// commit makes a checkpoint of a finished epoch: all shards' changed state, the cut and the names of the output
// segments, in one commit. What is in the segments may be shown from then on, and is delivered before this returns: so
// at most one checkpoint is durable and not delivered, and the next one is cut when it is. The epochs go on meanwhile.
func (j *Job) commit(ctx context.Context, f *flight) error {
	if err := j.seal(&f.cut); err != nil {
		return err
	}
	b, err := f.cut.encode()
	if err != nil {
		return err
	}
	if err := j.store.Commit(f.frozen, b); err != nil {
		return err
	}
	for i, t := range f.owners {
		t.durable.Store(f.frozen[i])
	}
	j.checkpoints.Add(1)
	for _, s := range j.sources {
		s.source.Committed(ctx, f.cut.Sources[s.name])
	}
	return j.deliver(ctx, f.cut)
}

// recover reads the last checkpoint and the cuts logged since. found is false on the first start.
func (j *Job) recover() (last cutRecord, replay []cutRecord, found bool, err error) {
	b := j.store.Cut()
	if b == nil {
		return last, nil, false, nil
	}
	if last, err = decodeCut(b, j.cfg.StateDir); err != nil {
		return last, nil, false, err
	}
	for _, e := range j.logged {
		c, err := decodeCut(e, "the epoch log in "+j.cfg.StateDir)
		if err != nil {
			return last, nil, false, err
		}
		if c.Epoch <= last.Epoch {
			continue // a crash between commit and truncation leaves older ones
		}
		if next := last.Epoch + uint64(len(replay)) + 1; c.Epoch != next {
			return last, nil, false, state.Damaged("the state in %s holds epochs up to %d, and its epoch log goes on with %d: a checkpoint is lost. A file was damaged, or replaced by one from an older copy", j.cfg.StateDir, next-1, c.Epoch)
		}
		replay = append(replay, c)
	}
	return last, replay, true, nil
}

// positions are those of all sources together. Never nil.
func (c *cutRecord) positions() []spi.Position {
	all := []spi.Position{}
	for _, p := range c.Sources {
		all = append(all, p...)
	}
	return all
}
