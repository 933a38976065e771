package runtime

import (
	"time"

	"github.com/sluicesql/sluice/engine/op"
	"github.com/sluicesql/sluice/engine/state"
	"github.com/sluicesql/sluice/planner"
)

// timedTable is a table whose entries have a time to live, and the operator that drops them with all that belongs to
// them.
type timedTable struct {
	table *state.Table
	of    op.Forgetter
}

// lifeTable is table for one that has a time to live where l says so.
func (b *builder) lifeTable(in *instance, n planner.Node, port int, bag bool, l *planner.Lifetime) *state.Table {
	t := b.table(in, n, port, bag)
	if l.Timed {
		t.MakeTimed(l.TTL.Milliseconds())
	}
	return t
}

// forgets notes those of an operator's tables that are timed.
func (in *instance) forgets(o op.Forgetter, tables ...*state.Table) {
	for _, t := range tables {
		if t != nil && t.Timed() {
			in.timed = append(in.timed, timedTable{t, o})
		}
	}
}

// forget goes on looking for what is too old in the timed tables, and ends their epoch at time end.
func (in *instance) forget(end int64) error {
	for _, t := range in.timed {
		if err := t.table.Sweep(t.of.Forget); err != nil {
			return err
		}
	}
	for _, t := range in.timed {
		if err := t.table.Settle(end); err != nil {
			return err
		}
	}
	return nil
}

// Between shortestTick and longestTick an idle job that forgets cuts an epoch, a sixteenth of its shortest time to live
// after the last.
const (
	shortestTick = 50 * time.Millisecond
	longestTick  = time.Minute
)

// tickOf is how often time goes on in an idle job; 0 where nothing is forgotten.
func tickOf(p *planner.Plan) time.Duration {
	ttl := p.ShortestTTL()
	if ttl == 0 {
		return 0
	}
	return min(max(ttl/16, shortestTick), longestTick)
}
