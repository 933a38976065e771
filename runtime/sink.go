package runtime

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/changelog"
	"github.com/sluicesql/sluice/engine/keyenc"
	"github.com/sluicesql/sluice/engine/op"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/internal/fault"
	"github.com/sluicesql/sluice/planner"
)

// sinkTask gathers an epoch's changes for one writer and, at the barrier, writes their net effect.
//
// Nothing of an epoch leaves before the barrier: only then is it known what cancels, and only then has the
// epoch's cut been logged. An insert sent without its cut on record, and its delete, could after a crash fall
// into one epoch and cancel there, and the row that was sent would stay in the sink for ever.
type sinkTask struct {
	job    *Job
	node   *planner.Sink
	name   string
	cons   *op.Consolidate
	writer spi.Writer // nil for a transactional sink, which has box
	box    *boxWriter
	// notNull are the columns that the table declares NOT NULL although the query may give NULL.
	notNull []int
	columns []planner.Column
	rows    atomic.Int64
}

func (j *Job) newSinkTask(s *planner.Sink, index int) *sinkTask {
	open := j.sinks[s]
	t := &sinkTask{job: j, node: s, name: open.name, notNull: s.NotNull, columns: s.Out().Columns}
	spec := op.ConsolidateSpec{Upsert: s.Spec.Mode == spi.Upsert, Choose: s.Chooses}
	if s.PairKey != nil {
		spec.Pair = keyenc.Columns(s.Input.Out().Types(), s.PairKey)
		spec.Doubt, spec.SameKey = len(trusted(s)) > 0, t.sameKey
	}
	t.cons = op.NewConsolidate(spec)
	t.cons.SpillTo(j.store.Scratch(), j.epochMemory())
	if open.box != nil {
		t.box = open.box.writer(index)
	} else {
		t.writer = open.sink.Writer(index)
	}
	return t
}

// sameKey is the error of an epoch that brings, or takes away, two rows of one key.
func (t *sinkTask) sameKey(x, y row.Row, taken bool) error {
	var key []string
	for _, i := range t.node.PairKey {
		key = append(key, t.columns[i].Name)
	}
	what := "gives"
	if taken {
		what = "takes away"
	}
	err := fault.Errorf(fault.RowContradiction, "an epoch %s two rows of one (%s): %s and %s",
		what, strings.Join(key, ", "), describe(x, t.columns, t.job.cfg.TimeZone), describe(y, t.columns, t.job.cfg.TimeZone))
	if tables := trusted(t.node); len(tables) > 0 {
		return err.Fix("the events of %s do not respect the PRIMARY KEY, for which they are trusted: leave '%s' at true", strings.Join(tables, " or "), planner.OptEventsDuplicate)
	}
	return err.Fix("the plan holds the key to be unique: please report the query")
}

// trusted names the tables that n reads and whose events are taken at their word for the PRIMARY KEY, as no state below
// keeps one row of each.
func trusted(n planner.Node) (tables []string) {
	eachUnder(n, func(n planner.Node) {
		if s, ok := n.(*planner.Scan); ok && len(s.Spec.Table.PrimaryKey) > 0 && s.Spec.Mode != spi.Upsert {
			tables = append(tables, s.Table)
		}
	})
	return tables
}

const (
	minEpochMemory = 4 << 10
	maxEpochMemory = 64 << 20
)

// epochMemory is how much of an epoch's output a writer's task keeps in memory; more goes through the disk. It is a
// third of what the task may take, since to write a run copies and sorts the rows.
func (j *Job) epochMemory() int {
	share := j.memoryShare(len(j.cfg.Plan.Sinks)*j.cfg.Parallelism, 3*minEpochMemory)
	if share == 0 {
		return maxEpochMemory
	}
	return int(min(share/3, maxEpochMemory))
}

// Push implements op.Output.
func (t *sinkTask) Push(b *changelog.Batch) error { return t.cons.Push(b) }

// barrier writes the epoch, and has its acknowledgement reported to the controller. Nobody sees what is in an
// outbox, so that it waits for nothing: after a crash it is written anew.
func (t *sinkTask) barrier(ctx context.Context, b *barrier) error {
	if b.logged != nil && t.box == nil {
		select {
		case <-b.logged:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	if err := t.cons.Finish(writeTo{ctx, t}); err != nil {
		return fmt.Errorf("%s: %w", t.name, err)
	}
	if t.box != nil {
		if b.checkpoint {
			if err := t.box.checkpoint(); err != nil {
				return fmt.Errorf("%s: %w", t.name, err)
			}
		}
		t.job.control.acked(b.epoch, nil)
		return nil
	}
	t.writer.Barrier(ctx, b.epoch, func(err error) {
		if err != nil {
			err = fmt.Errorf("%s: %w", t.name, err)
		}
		t.job.control.acked(b.epoch, err)
	})
	return nil
}

// writeTo is the op.Output that hands consolidated changes to the writer.
type writeTo struct {
	ctx context.Context
	t   *sinkTask
}

// Push implements op.Output.
func (w writeTo) Push(b *changelog.Batch) error {
	if err := w.t.checkNotNull(b); err != nil {
		return err
	}
	w.t.rows.Add(int64(b.Len()))
	if w.t.box != nil {
		return w.t.box.write(b)
	}
	return w.t.writer.Write(w.ctx, b)
}

// checkNotNull is table.exec.sink.not-null-enforcer = ERROR.
func (t *sinkTask) checkNotNull(b *changelog.Batch) error {
	for _, c := range t.notNull {
		for i := range b.Len() {
			if r := b.Row(i); r.IsNull(c) && !b.Op(i).Negative() {
				return fault.Errorf(fault.RowNull, "column %s is declared NOT NULL and the query gives NULL in %s", t.columns[c].Name, describe(r, t.columns, t.job.cfg.TimeZone)).
					Fix("declare it without NOT NULL, or keep such rows away by WHERE … IS NOT NULL")
			}
		}
	}
	return nil
}
