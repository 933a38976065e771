package op

import (
	"bytes"
	"sort"

	"github.com/sluicesql/sluice/engine/changelog"
	"github.com/sluicesql/sluice/engine/expr"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/types"
)

// WindowCall is a call of a window function.
type WindowCall struct {
	Kind expr.WindowKind
	// Arg is the argument's column, of those that have one.
	Arg int
	// N is the distance of LAG and LEAD, and NTILE's number of parts.
	N int64
	// Default is the column of LAG's and LEAD's third argument; −1 for none.
	Default int
	// Frame is what WindowFirst, WindowLast and WindowAggregate see.
	Frame expr.Frame
	// Aggregate is the call of WindowAggregate, without a bag.
	Aggregate AggregateCall
	// Result is the result's type.
	Result types.Type
}

// partition are the rows of one partition, in order, while its results are made. They are borrowed from the state.
type partition struct {
	rows    []row.Row
	orders  [][]byte
	peers   []int32 // for each row, the first row of equal order
	dense   []int32 // for each row, the number of different orders up to it
	key     int     // the order column of RANGE with distances
	phys    []types.Phys
	windows []frameAggregate // by call
	rb      row.Builder
}

func (p *partition) compile(spec *WindowSpec) error {
	p.phys = Phys(spec.Types)
	p.windows = make([]frameAggregate, len(spec.Calls))
	for i := range spec.Calls {
		c := &spec.Calls[i]
		p.phys = append(p.phys, c.Result.Phys())
		if c.Kind == expr.WindowAggregate {
			if err := p.windows[i].compile(spec.Types, &c.Aggregate); err != nil {
				return err
			}
		}
	}
	if len(spec.Order) > 0 {
		p.key = spec.Order[0].Index
	}
	return nil
}

func (p *partition) reset() {
	p.rows, p.orders, p.peers, p.dense = p.rows[:0], p.orders[:0], p.peers[:0], p.dense[:0]
}

func (p *partition) add(order []byte, r row.Row) {
	n := len(p.rows)
	peer, dense := int32(n), int32(1)
	if n > 0 {
		dense = p.dense[n-1] + 1
		if bytes.Equal(order, p.orders[n-1]) {
			peer, dense = p.peers[n-1], dense-1
		}
	}
	p.rows, p.orders, p.peers, p.dense = append(p.rows, r), append(p.orders, order), append(p.peers, peer), append(p.dense, dense)
}

// rank is a row's rank of a kind.
func (p *partition) rank(kind expr.WindowKind, i int) int64 {
	switch kind {
	case expr.WindowRank:
		return int64(p.peers[i]) + 1
	case expr.WindowDenseRank:
		return int64(p.dense[i])
	}
	return int64(i) + 1
}

// enough reports whether the last row is beyond the limit. All the calls of a limited window are of its own kind.
func (p *partition) enough(l *WindowLimit) bool {
	return l != nil && l.Hi > 0 && len(p.rows) > 0 && p.rank(l.Kind, len(p.rows)-1) > l.Hi
}

// show appends the rows with their results.
func (p *partition) show(out *changelog.Batch, spec *WindowSpec) error {
	for i := range p.windows {
		p.windows[i].begin()
	}
	for i, r := range p.rows {
		if l := spec.Limit; l != nil {
			if n := p.rank(l.Kind, i); n < l.Lo || l.Hi > 0 && n > l.Hi {
				continue
			}
		}
		if len(spec.Calls) == 0 {
			out.AppendRow(changelog.Insert, r)
			continue
		}
		p.rb.Begin(out.Buf(), len(p.phys))
		for c := range spec.Types {
			p.rb.Copy(c, r, c, p.phys[c])
		}
		for k := range spec.Calls {
			if err := p.result(&spec.Calls[k], k, i, len(spec.Types)+k); err != nil {
				return err
			}
		}
		out.Commit(changelog.Insert, p.rb.Finish(p.phys))
	}
	return nil
}

// result sets column col to what call k gives for row i.
func (p *partition) result(c *WindowCall, k, i, col int) error {
	n := len(p.rows)
	switch c.Kind {
	case expr.WindowRowNumber, expr.WindowRank, expr.WindowDenseRank:
		p.rb.Int64(col, p.rank(c.Kind, i))
	case expr.WindowNtile:
		p.rb.Int64(col, ntile(int64(i), int64(n), c.N))
	case expr.WindowPercentRank:
		x := 0.0
		if n > 1 {
			x = float64(p.peers[i]) / float64(n-1)
		}
		p.rb.Float64(col, x)
	case expr.WindowCumeDist:
		p.rb.Float64(col, float64(p.peerEnd(i))/float64(n))
	case expr.WindowLag:
		p.neighbour(c, i, int64(i)-c.N, col)
	case expr.WindowLead:
		p.neighbour(c, i, int64(i)+c.N, col)
	default:
		from, to := p.frame(&c.Frame, i)
		switch {
		case c.Kind == expr.WindowAggregate:
			return p.windows[k].result(p.rows, from, to, &p.rb, col)
		case from >= to:
		case c.Kind == expr.WindowFirst:
			p.rb.Copy(col, p.rows[from], c.Arg, p.phys[col])
		default:
			p.rb.Copy(col, p.rows[to-1], c.Arg, p.phys[col])
		}
	}
	return nil
}

// ntile is the part, of parts, of row i of n: the first parts have one row more where n does not divide evenly.
func ntile(i, n, parts int64) int64 {
	size, more := n/parts, n%parts
	if i < more*(size+1) {
		return i/(size+1) + 1
	}
	return more + (i-more*(size+1))/size + 1
}

// neighbour sets col to the argument of row at, or to the default of row i.
func (p *partition) neighbour(c *WindowCall, i int, at int64, col int) {
	switch {
	case at >= 0 && at < int64(len(p.rows)):
		p.rb.Copy(col, p.rows[at], c.Arg, p.phys[col])
	case c.Default >= 0:
		p.rb.Copy(col, p.rows[i], c.Default, p.phys[col])
	}
}

// peerEnd is the end of the rows of row i's order.
func (p *partition) peerEnd(i int) int {
	peer := p.peers[i]
	return i + sort.Search(len(p.peers)-i, func(k int) bool { return p.peers[i+k] != peer })
}

// frame are the rows from (included) to (excluded) that a frame shows to row i.
func (p *partition) frame(f *expr.Frame, i int) (from, to int) {
	n := len(p.rows)
	if f.Rows {
		from, to = p.rowBound(f.Start, i), p.rowBound(f.End, i)+1
	} else {
		from, to = p.rangeStart(f.Start, i), p.rangeEnd(f.End, i)
	}
	return max(from, 0), min(to, n)
}

func (p *partition) rowBound(b expr.FrameBound, i int) int {
	d := int(min(b.N, int64(len(p.rows))))
	switch b.Kind {
	case expr.UnboundedPreceding:
		return 0
	case expr.Preceding:
		return i - d
	case expr.CurrentRow:
		return i
	case expr.Following:
		return i + d
	}
	return len(p.rows) - 1
}

func (p *partition) rangeStart(b expr.FrameBound, i int) int {
	switch b.Kind {
	case expr.UnboundedPreceding:
		return 0
	case expr.CurrentRow:
		return int(p.peers[i])
	case expr.UnboundedFollowing:
		return len(p.rows)
	}
	if p.rows[i].IsNull(p.key) {
		return int(p.peers[i])
	}
	return p.search(i, b, false)
}

func (p *partition) rangeEnd(b expr.FrameBound, i int) int {
	switch b.Kind {
	case expr.UnboundedPreceding:
		return 0
	case expr.CurrentRow:
		return p.peerEnd(i)
	case expr.UnboundedFollowing:
		return len(p.rows)
	}
	if p.rows[i].IsNull(p.key) {
		return p.peerEnd(i)
	}
	return p.search(i, b, true)
}

// search finds the first row that is not before the bound, or with after the first that is behind it. The order may
// ascend or descend; the NULLs stand at one end, and are as far away as that.
func (p *partition) search(i int, b expr.FrameBound, after bool) int {
	lo := sort.Search(len(p.rows), func(k int) bool { return !p.rows[k].IsNull(p.key) || k > i })
	hi := lo + sort.Search(len(p.rows)-lo, func(k int) bool { return p.rows[lo+k].IsNull(p.key) })
	down := p.rows[lo].Int64(p.key) > p.rows[hi-1].Int64(p.key)
	limit := p.rows[i].Int64(p.key)
	if (b.Kind == expr.Following) != down {
		limit = saturated(limit, b.N)
	} else {
		limit = saturated(limit, -b.N)
	}
	return lo + sort.Search(hi-lo, func(k int) bool {
		x := p.rows[lo+k].Int64(p.key)
		if down {
			return x < limit || !after && x == limit
		}
		return x > limit || !after && x == limit
	})
}

// saturated is a + b, at the ends of the range at most.
func saturated(a, b int64) int64 {
	c := a + b
	switch {
	case b > 0 && c < a:
		return 1<<63 - 1
	case b < 0 && c > a:
		return -1 << 63
	}
	return c
}
