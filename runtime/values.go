package runtime

import (
	"context"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/changelog"
	"github.com/sluicesql/sluice/engine/op"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/types"
	"github.com/sluicesql/sluice/planner"
)

// valuesSource delivers the constant rows of a Values node. Its position is the number of rows delivered, so
// that a restart does not deliver them again.
type valuesSource struct {
	name  string // as positions call it: that of the plan's input
	node  *planner.Values
	phys  []types.Phys
	at    int
	limit int // −1 for none
	ready chan struct{}
}

func newValuesSource(name string, n *planner.Values, start []spi.Position) *valuesSource {
	s := &valuesSource{name: name, node: n, phys: op.Phys(n.Types()), limit: -1, ready: make(chan struct{}, 1)}
	if len(start) > 0 {
		s.at = int(start[0].Offset)
	}
	return s
}

func (s *valuesSource) Positions() []spi.Position {
	return []spi.Position{{Topic: s.name, Offset: int64(s.at), Epoch: -1}}
}
func (s *valuesSource) Reader(int) spi.Reader                     { return valuesReader{s} }
func (s *valuesSource) Committed(context.Context, []spi.Position) {}
func (s *valuesSource) Stats() spi.SourceStats                    { return spi.SourceStats{Lag: -1} }
func (s *valuesSource) Close() error                              { return nil }

type valuesReader struct{ s *valuesSource }

func (r valuesReader) end() int {
	if r.s.limit >= 0 {
		return min(r.s.limit, len(r.s.node.Rows))
	}
	return len(r.s.node.Rows)
}

func (r valuesReader) Read(b *changelog.Batch, maxRecords int) (int, error) {
	var rb row.Builder
	n := 0
	for ; n < maxRecords && r.s.at < r.end(); n++ {
		rb.Begin(b.Buf(), len(r.s.phys))
		for i, d := range r.s.node.Rows[r.s.at] {
			rb.Datum(i, r.s.phys[i], d)
		}
		b.Commit(changelog.Insert, rb.Finish(r.s.phys))
		r.s.at++
	}
	return n, nil
}

func (r valuesReader) Ready() <-chan struct{} { return r.s.ready }
func (r valuesReader) Positions(dst []spi.Position) []spi.Position {
	return append(dst, r.s.Positions()...)
}

func (r valuesReader) Limit(pos []spi.Position) {
	r.s.limit = -1
	if len(pos) > 0 {
		r.s.limit = 0
	}
	for _, p := range pos {
		if p.Topic == r.s.name { // the positions are those of all sources
			r.s.limit = int(p.Offset)
		}
	}
}
func (r valuesReader) AtLimit() bool { return r.s.limit >= 0 && r.s.at >= r.s.limit }
func (r valuesReader) Done() bool    { return r.s.at >= len(r.s.node.Rows) }
func (r valuesReader) Barrier()      {}
