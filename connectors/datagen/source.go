package datagen

import (
	"context"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/changelog"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/types"
	"github.com/sluicesql/sluice/internal/fault"
)

// splits is the number of partitions: rows n with n mod splits = p are partition p, whatever the number of
// readers, so that a restart may change it.
const splits = 64

// topic names the rows in positions.
const topic = "datagen"

type source struct {
	plan    *plan
	readers []*reader
	start   []spi.Position
	records atomic.Int64
	bytes   atomic.Int64

	stop chan struct{}
	wg   sync.WaitGroup
}

func newSource(p *plan, s spi.Scan) (*source, error) {
	src := &source{plan: p, stop: make(chan struct{})}
	at := make([]int64, splits)
	for _, pos := range s.Start {
		if pos.Topic != topic || pos.Partition < 0 || pos.Partition >= splits || pos.Offset < 0 {
			return nil, fault.Errorf(fault.StatePlan, "datagen: the checkpoint's position %s/%d@%d is none of this table", pos.Topic, pos.Partition, pos.Offset).Fix("start with another --state-dir")
		}
		at[pos.Partition] = pos.Offset
	}
	n := max(s.Readers, 1)
	for i := range n {
		r := &reader{src: src, ready: make(chan struct{}, 1), began: time.Now(), rate: float64(p.rate) / float64(n)}
		if r.rate == 0 {
			r.rate = math.Inf(1)
		}
		for _, c := range s.Columns {
			r.columns = append(r.columns, &p.fields[c])
			r.phys = append(r.phys, p.fields[c].col.Type.Phys())
		}
		for k := i; k < splits; k += n {
			r.parts = append(r.parts, part{id: int32(k), next: at[k], end: p.splitEnd(k), limit: math.MaxInt64})
		}
		src.readers = append(src.readers, r)
	}
	for i := range splits {
		src.start = append(src.start, position(int32(i), at[i]))
	}
	if p.rate > 0 {
		src.wg.Add(1)
		go src.tick()
	}
	return src, nil
}

// splitEnd is the number of rows of split k.
func (p *plan) splitEnd(k int) int64 {
	if p.rows < 0 {
		return math.MaxInt64
	}
	return (p.rows - int64(k) + splits - 1) / splits
}

func position(id int32, at int64) spi.Position {
	return spi.Position{Topic: topic, Partition: id, Offset: at, Epoch: -1}
}

// tick wakes readers that wait for their next row.
func (s *source) tick() {
	defer s.wg.Done()
	t := time.NewTicker(5 * time.Millisecond)
	defer t.Stop()
	for {
		select {
		case <-s.stop:
			return
		case <-t.C:
			for _, r := range s.readers {
				r.signal()
			}
		}
	}
}

func (s *source) Positions() []spi.Position                 { return s.start }
func (s *source) Reader(i int) spi.Reader                   { return s.readers[i] }
func (s *source) Committed(context.Context, []spi.Position) {}

func (s *source) Stats() spi.SourceStats {
	n := s.records.Load()
	return spi.SourceStats{Records: n, Events: n, Bytes: s.bytes.Load(), Lag: -1}
}

func (s *source) Close() error {
	close(s.stop)
	s.wg.Wait()
	return nil
}

// part is one split being read: next is the index of its next row.
type part struct {
	id               int32
	next, end, limit int64
}

type reader struct {
	src     *source
	ready   chan struct{}
	parts   []part
	turn    int
	columns []*field
	phys    []types.Phys
	rb      row.Builder
	began   time.Time
	given   int64 // rows since began
	rate    float64
}

func (r *reader) signal() {
	select {
	case r.ready <- struct{}{}:
	default:
	}
}

func (r *reader) Ready() <-chan struct{} { return r.ready }

// Read implements spi.Reader. The splits take turns, so that rows come in the order of their numbers.
func (r *reader) Read(b *changelog.Batch, maxRecords int) (n int, err error) {
	if !math.IsInf(r.rate, 1) {
		due := int64(time.Since(r.began).Seconds()*r.rate) - r.given
		maxRecords = int(min(int64(maxRecords), due))
	}
	size := b.Size()
	for idle := 0; n < maxRecords && idle < len(r.parts); {
		p := &r.parts[r.turn]
		r.turn = (r.turn + 1) % len(r.parts)
		if p.next >= min(p.end, p.limit) {
			idle++
			continue
		}
		idle = 0
		number := p.next*splits + int64(p.id)
		r.rb.Begin(b.Buf(), len(r.columns))
		for i, f := range r.columns {
			f.set(&r.rb, i, number)
		}
		b.Commit(changelog.Insert, r.rb.Finish(r.phys))
		p.next++
		n++
	}
	r.given += int64(n)
	r.src.records.Add(int64(n))
	r.src.bytes.Add(int64(b.Size() - size))
	return n, nil
}

func (r *reader) Positions(dst []spi.Position) []spi.Position {
	for i := range r.parts {
		dst = append(dst, position(r.parts[i].id, r.parts[i].next))
	}
	return dst
}

func (r *reader) Limit(pos []spi.Position) {
	for i := range r.parts {
		p := &r.parts[i]
		p.limit = math.MaxInt64
		for _, l := range pos {
			if l.Topic == topic && l.Partition == p.id {
				p.limit = l.Offset
			}
		}
	}
}

func (r *reader) AtLimit() bool {
	for i := range r.parts {
		if p := &r.parts[i]; p.limit != math.MaxInt64 && p.next < p.limit {
			return false
		}
	}
	return true
}

func (r *reader) Done() bool {
	for i := range r.parts {
		if p := &r.parts[i]; p.next < p.end {
			return false
		}
	}
	return true
}

func (r *reader) Barrier() {}
