package runtime

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/state"
	"github.com/sluicesql/sluice/internal/fault"
)

// Where a state directory keeps whose output its outboxes hold.
const (
	jobIDKey      = "job-id"     // 32 hexadecimal digits, made at the first start
	generationKey = "generation" // decimal; 0 when it is not there
)

// markerRefresh is how often the marker of a sink without output is written again: Kafka, for one, forgets offsets
// after a week.
const markerRefresh = 10 * time.Minute

// outboxRecord is what a checkpoint says of the output that belongs to it.
type outboxRecord struct {
	Generation uint64                        `json:"generation"`
	Sinks      map[string][]state.SegmentRef `json:"sinks"` // by sink name
}

// refs are the segments of all sinks.
func (r *outboxRecord) refs() []state.SegmentRef {
	var all []state.SegmentRef
	if r != nil {
		for _, s := range r.Sinks {
			all = append(all, s...)
		}
	}
	return all
}

// waiting is the number of bytes that wait to be delivered to a sink. Segments are removed when they are delivered.
func (r *outboxRecord) waiting(fs state.FS, dir, sink string) (n int64, err error) {
	for _, s := range r.Sinks[sink] {
		there, err := state.HasSegment(fs, dir, s)
		if err != nil {
			return 0, err
		}
		if there {
			n += s.Length
		}
	}
	return n, nil
}

// identify reads the job's id and generation, and gives a new state directory its id.
func (j *Job) identify() error {
	id, err := j.store.Meta(jobIDKey)
	if err != nil {
		return err
	}
	if id == nil {
		var random [16]byte
		_, _ = rand.Read(random[:]) // never fails
		id = hex.AppendEncode(nil, random[:])
		if err := j.store.SetMeta(jobIDKey, id); err != nil {
			return err
		}
	}
	j.id = string(id)
	generation, err := j.store.Meta(generationKey)
	if err != nil || generation == nil {
		return err
	}
	if j.generation, err = strconv.ParseUint(string(generation), 10, 64); err != nil {
		return state.Damaged("state directory %s: its generation %q is no number", j.cfg.StateDir, generation)
	}
	return nil
}

// openOutboxes gives every transactional sink its outbox. Segments that the last checkpoint does not name go.
func (j *Job) openOutboxes(last cutRecord) error {
	var files *state.Outbox
	for _, s := range j.cfg.Plan.Sinks {
		open := j.sinks[s]
		sink, ok := open.sink.(spi.TransactionalSink)
		if !ok {
			j.logsCuts = j.durable()
			continue
		}
		if files == nil {
			var err error
			if files, err = state.OpenOutbox(j.fs(), j.cfg.StateDir, last.Outbox.refs()); err != nil {
				return err
			}
			j.outboxFiles = files
		}
		open.box = &outbox{job: j, name: open.name, sink: sink, files: files, oldest: &round{}}
		j.outboxes = append(j.outboxes, open.box)
	}
	return nil
}

// checkPending refuses a plan that leaves output of the last checkpoint without a sink to deliver it to.
func (j *Job) checkPending(last cutRecord) error {
	if last.Outbox == nil {
		return nil
	}
	taken := map[string]bool{}
	for i, name := range boxNames(j.cfg.Plan) {
		taken[name] = j.cfg.Plan.Sinks[i].Transactional
	}
	for _, name := range slices.Sorted(maps.Keys(last.Outbox.Sinks)) {
		n, err := last.Outbox.waiting(j.fs(), j.cfg.StateDir, name)
		switch {
		case err != nil:
			return err
		case n == 0 || taken[name]:
		case j.cfg.PendingOutput == PendingSkip:
			j.warner(name)(fmt.Sprintf("%d bytes of output that waited for it are dropped, as asked for", n))
		default:
			return fault.Errorf(fault.StateOutput, "%d bytes of output of checkpoint %d wait in %s/outbox for table %s, which this SQL does not write exactly once", n, last.Epoch, j.cfg.StateDir, name).
				Fix("start the job once more with the SQL as it was, and stop it, before the SQL changes; or start with --pending-output=skip to drop them")
		}
	}
	return nil
}

// startOutboxes makes sure that the sinks are this job's, keeps other processes out of them, and delivers what the
// last checkpoint left to be delivered.
func (j *Job) startOutboxes(ctx context.Context, last cutRecord) error {
	g, ctx := errgroup.WithContext(ctx)
	for _, o := range j.outboxes {
		g.Go(func() error {
			if err := o.start(ctx, last); err != nil {
				return fmt.Errorf("table %s: %w", o.name, err)
			}
			return nil
		})
	}
	return g.Wait()
}

func (o *outbox) start(ctx context.Context, last cutRecord) error {
	// Another job's sink is left alone, and its process with it: hence a look before Fence.
	m, found, err := o.sink.Marker(ctx)
	if err == nil && found {
		err = o.check(m, last)
	}
	if err != nil {
		return err
	}
	if err := o.sink.Fence(ctx); err != nil {
		return err
	}
	if m, found, err = o.sink.Marker(ctx); err == nil && found {
		err = o.check(m, last)
	}
	if err != nil {
		return err
	}
	var pending []state.SegmentRef
	of := spi.Marker{Job: o.job.id, Checkpoint: last.Epoch}
	if last.Outbox != nil {
		pending, of.Generation = last.Outbox.Sinks[o.name], last.Outbox.Generation
	}
	delivered, err := o.delivered(m, found, of, pending)
	if err != nil {
		return err
	}
	for i, r := range pending {
		if i >= delivered {
			of.Chunk = i + 1
			o.held.Add(r.Length)
			if err := o.deliver(ctx, of, r); err != nil {
				return err
			}
		} else if err := o.files.Remove(r); err != nil {
			return err
		}
	}
	// The sink is this job's from here on, and whether it lets itself be written is known before anything is read.
	if m = (spi.Marker{Job: o.job.id, Generation: o.job.generation, Checkpoint: last.Epoch, Chunk: len(pending)}); m == o.marker {
		return nil
	}
	return o.mark(ctx, m)
}

// check refuses a sink whose marker this job did not store, or not in the state that it is in.
func (o *outbox) check(m spi.Marker, last cutRecord) error {
	j := o.job
	switch {
	case m.Job != j.id:
		return fault.Errorf(fault.StateSink, "the sink holds the output of job %s, and the state in %s is that of job %s", m.Job, j.cfg.StateDir, j.id).
			Fix("give this job a sink of its own (another topic and another 'sink.transactional-id-prefix'), or start it with the state directory of that job. %s", o.markerPlace())
	case m.Generation > j.generation:
		return fault.Errorf(fault.StateSink, "the sink holds output of generation %d of this job, and the state in %s is of generation %d: the job was restored from a savepoint since, and goes on with another state directory", m.Generation, j.cfg.StateDir, j.generation).Fix("start it with that directory")
	case m.Generation == j.generation && m.Checkpoint > last.Epoch:
		return fault.Errorf(fault.StateSink, "the sink holds the output of checkpoint %d, and the state in %s is of checkpoint %d, which is older: is it a copy?", m.Checkpoint, j.cfg.StateDir, last.Epoch).
			Fix("start from the directory that the job ran with last, or from a savepoint")
	}
	return nil
}

// markerPlace says where the marker can be removed from by hand.
func (o *outbox) markerPlace() string {
	if p, ok := o.sink.(interface{ MarkerPlace() string }); ok {
		return p.MarkerPlace()
	}
	return ""
}

// delivered is the number of a checkpoint's segments that the sink has.
func (o *outbox) delivered(m spi.Marker, found bool, of spi.Marker, pending []state.SegmentRef) (int, error) {
	if found {
		switch {
		case m.Generation == of.Generation && m.Checkpoint == of.Checkpoint:
			return m.Chunk, nil
		case m.Before(of):
			return 0, nil
		}
		return len(pending), nil // restored from a savepoint that the job had gone on from
	}
	var left int
	var bytes int64
	for _, r := range pending {
		there, err := o.files.Has(r)
		if err != nil {
			return 0, err
		}
		if there { // segments are removed when they are delivered, in order
			left++
			bytes += r.Length
		}
	}
	switch {
	case left == 0:
		if of.Checkpoint > 0 {
			o.job.warner(o.name)("the sink has lost its marker; what was written before may be gone with it, if its topic was deleted")
		}
		return len(pending), nil
	case o.job.cfg.PendingOutput == PendingDeliver:
		return len(pending) - left, nil
	case o.job.cfg.PendingOutput == PendingSkip:
		return len(pending), nil
	}
	return 0, fault.Errorf(fault.StateOutput, "the sink has lost its marker, so that nobody knows whether the %d bytes of output of checkpoint %d that wait in %s/outbox were delivered", bytes, of.Checkpoint, o.job.cfg.StateDir).
		Fix("look into it, and start with --pending-output=deliver to deliver them (perhaps for the second time) or with --pending-output=skip to drop them")
}

// deliver delivers a segment, and forgets it.
func (o *outbox) deliver(ctx context.Context, m spi.Marker, r state.SegmentRef) error {
	if err := o.sink.Deliver(ctx, m, o.files.Blocks(r)); err != nil {
		return err
	}
	o.marker = m
	o.held.Add(-r.Length)
	return o.files.Remove(r)
}

// mark stores a marker alone.
func (o *outbox) mark(ctx context.Context, m spi.Marker) error {
	if err := o.sink.Deliver(ctx, m, func(func([]byte, error) bool) {}); err != nil {
		return err
	}
	o.marker = m
	return nil
}

// seal puts into c what belongs to the checkpoint, durably. It comes before the commit that names it.
func (j *Job) seal(c *cutRecord) error {
	if len(j.outboxes) == 0 {
		return nil
	}
	c.Outbox = &outboxRecord{Generation: j.generation, Sinks: map[string][]state.SegmentRef{}}
	for _, o := range j.outboxes {
		refs, err := o.seal()
		if err != nil {
			return err
		}
		if len(refs) > 0 {
			c.Outbox.Sinks[o.name] = refs
		}
	}
	if len(c.Outbox.Sinks) == 0 {
		return nil
	}
	return j.outboxFiles.Sync()
}

// deliver delivers a checkpoint that is durable, to all sinks at once.
func (j *Job) deliver(ctx context.Context, c cutRecord) error {
	g, ctx := errgroup.WithContext(ctx)
	for _, o := range j.outboxes {
		refs := c.Outbox.Sinks[o.name]
		if len(refs) == 0 {
			continue
		}
		g.Go(func() error {
			for i, r := range refs {
				m := spi.Marker{Job: j.id, Generation: j.generation, Checkpoint: c.Epoch, Chunk: i + 1}
				if err := o.deliver(ctx, m, r); err != nil {
					return fmt.Errorf("%s: %w", o.name, err)
				}
			}
			return nil
		})
	}
	return g.Wait()
}

// refreshMarkers stores every marker once more, so that no sink forgets it.
func (j *Job) refreshMarkers(ctx context.Context) error {
	for _, o := range j.outboxes {
		if err := o.mark(ctx, o.marker); err != nil {
			return fmt.Errorf("%s: %w", o.name, err)
		}
	}
	return nil
}

// outboxFull reports whether the sources have to wait for a delivery.
func (j *Job) outboxFull() bool {
	var n int64
	for _, o := range j.outboxes {
		n += o.held.Load()
	}
	return n > j.maxOutbox()
}
