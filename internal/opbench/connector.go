// Package opbench measures operators: queries over generated changes in memory, beside plain Go programs over maps
// that do the same, whose results must be equal.
package opbench

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/changelog"
	"github.com/sluicesql/sluice/engine/types"
)

// table is a generated table of BIGINT columns, of which the first is the primary key: every key is inserted, in a
// scattered order, and then updated round by round until the changes are used up.
type table struct {
	name    string
	columns []string
	keys    int64
	changes int64
	// value is column c of a key after so many updates.
	value func(key, updates int64, c int) int64
	rows  atomic.Int64 // that readers have handed over
}

// stride scatters the keys: a prime that is in no table's number of keys.
const stride = 1_000_003

// change is change i: the key, and the number of updates after it; 0 is the insert.
func (t *table) change(i int64) (key, updates int64) {
	return i % t.keys * stride % t.keys, i / t.keys
}

func (t *table) ddl() string {
	s := "CREATE TABLE " + t.name + " ("
	for _, c := range t.columns {
		s += c + " BIGINT NOT NULL, "
	}
	return s + "PRIMARY KEY (" + t.columns[0] + ") NOT ENFORCED) WITH ('connector' = 'generated')"
}

// scatter is a number that looks random, from 0 to below n.
func scatter(x, n int64) int64 {
	h := uint64(x+1) * 0x9e3779b97f4a7c15
	h ^= h >> 29
	return int64(h * 0xbf58476d1ce4e5b9 >> 33 % uint64(n))
}

// connector reads tables: each reader has the keys whose rest by the number of readers is its own.
type connector struct{ tables []*table }

// Name implements spi.Connector.
func (connector) Name() string { return "generated" }

// Help implements spi.Connector.
func (connector) Help() string { return "generated changes, for benchmarks" }

// Options implements spi.Connector.
func (connector) Options() []spi.Option { return nil }

// Metadata implements spi.Connector.
func (connector) Metadata() []spi.Column { return nil }

// CheckSource implements spi.Connector.
func (connector) CheckSource(*spi.Table) (spi.SourceTraits, error) {
	return spi.SourceTraits{Native: spi.Retract, CanUpsert: true, Bounded: true}, nil
}

// CheckSink implements spi.Connector.
func (connector) CheckSink(*spi.Table) (spi.SinkTraits, error) {
	return spi.SinkTraits{}, spi.ErrNotSink
}

// OpenSink implements spi.Connector.
func (connector) OpenSink(context.Context, spi.SinkSpec) (spi.Sink, error) {
	return nil, spi.ErrNotSink
}

// OpenSource implements spi.Connector.
func (c connector) OpenSource(_ context.Context, s spi.Scan) (spi.Source, error) {
	for _, t := range c.tables {
		if t.name == s.Table.Name {
			src := &source{t: t, scan: s}
			for i := range s.Readers {
				src.readers = append(src.readers, newReader(src, int64(i)))
			}
			return src, nil
		}
	}
	return nil, fmt.Errorf("no generated table %q", s.Table.Name)
}

type source struct {
	t       *table
	scan    spi.Scan
	readers []*reader
}

func (s *source) Positions() []spi.Position {
	var pos []spi.Position
	for _, r := range s.readers {
		pos = r.Positions(pos)
	}
	return pos
}
func (s *source) Reader(i int) spi.Reader                   { return s.readers[i] }
func (s *source) Committed(context.Context, []spi.Position) {}
func (s *source) Stats() spi.SourceStats                    { return spi.SourceStats{Lag: -1} }
func (s *source) Close() error                              { return nil }

type reader struct {
	s      *source
	part   int64
	at     int64 // the next change of the table to look at
	out    *spi.Out
	upsert bool
	ready  chan struct{}
}

func newReader(s *source, part int64) *reader {
	cols := make([]spi.Column, len(s.scan.Columns))
	for i, c := range s.scan.Columns {
		cols[i] = s.scan.Table.Columns[c]
		if cols[i].Type.Kind != types.BigInt {
			panic("opbench: a column that is no BIGINT")
		}
	}
	return &reader{s: s, part: part, out: spi.NewOut(cols), upsert: s.scan.Mode == spi.Upsert, ready: make(chan struct{}, 1)}
}

// Read implements spi.Reader.
func (r *reader) Read(b *changelog.Batch, maxRecords int) (int, error) {
	r.out.Batch = b
	before, n := b.Len(), 0
	for ; n < maxRecords && r.at < r.s.t.changes; r.at++ {
		key, updates := r.s.t.change(r.at)
		if key%int64(len(r.s.readers)) != r.part {
			continue
		}
		n++
		switch {
		case updates == 0:
			r.emit(changelog.Insert, key, 0)
		case r.upsert:
			r.emit(changelog.UpdateAfter, key, updates)
		default:
			r.emit(changelog.UpdateBefore, key, updates-1)
			r.emit(changelog.UpdateAfter, key, updates)
		}
	}
	r.s.t.rows.Add(int64(b.Len() - before))
	return n, nil
}

func (r *reader) emit(op changelog.Op, key, updates int64) {
	b := r.out.Begin()
	for i, c := range r.s.scan.Columns {
		if c == 0 {
			b.Int64(i, key)
		} else {
			b.Int64(i, r.s.t.value(key, updates, c))
		}
	}
	r.out.Commit(op)
}

func (r *reader) Ready() <-chan struct{} { return r.ready }

func (r *reader) Positions(dst []spi.Position) []spi.Position {
	return append(dst, spi.Position{Topic: r.s.t.name, Partition: int32(r.part), Offset: r.at, Epoch: -1})
}

func (r *reader) Limit([]spi.Position) {}
func (r *reader) AtLimit() bool        { return false }
func (r *reader) Done() bool           { return r.at >= r.s.t.changes }
func (r *reader) Barrier()             {}
