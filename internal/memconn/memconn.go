// Package memconn is a connector for tests: tables whose events lie in memory, read in an order that a seed
// decides, and sinks that keep what they are handed, epoch by epoch.
package memconn

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/changelog"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/types"
)

// Event is one change of a table as a database's log would tell it. Before is nil for an insert, After for a
// delete.
type Event struct {
	Before, After []row.Datum
	// Step is the epoch that the event shall fall into, not below that of the event before it in its partition;
	// see steps. 0, in all events, leaves the cuts to the job.
	Step int
}

// Hub holds the tables and sinks of a test, by name. It is a spi.Connector: 'connector' = 'mem'.
type Hub struct {
	mu      sync.Mutex
	tables  map[string][][]Event // by partition
	sinks   map[string]*Sink
	ledgers map[string]*Ledger
	readers []*reader // of all open sources
	seed    uint64
	steps   steps
}

// NewHub returns an empty hub; seed decides the order in which partitions are read.
func NewHub(seed uint64) *Hub {
	return &Hub{tables: map[string][][]Event{}, sinks: map[string]*Sink{}, ledgers: map[string]*Ledger{}, seed: seed}
}

// SetTable sets the events of a table, by partition, before any job reads it.
func (h *Hub) SetTable(name string, partitions [][]Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.tables[name] = partitions
}

// Append adds an event to a partition of a table that may be being read, and wakes its readers.
func (h *Hub) Append(name string, partition int, e Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.tables[name][partition] = append(h.tables[name][partition], e)
	for _, r := range h.readers {
		r.wake()
	}
}

// Len is the number of events in a partition of a table.
func (h *Hub) Len(name string, partition int) int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return int64(len(h.tables[name][partition]))
}

// Parts is the number of partitions of a table; 0 when there is none of that name.
func (h *Hub) Parts(name string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.tables[name])
}

// Event returns an event of a partition.
func (h *Hub) Event(name string, partition int, at int64) Event {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.tables[name][partition][at]
}

// Sink returns the sink of that name.
func (h *Hub) Sink(name string) *Sink {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.sinks[name]
	if s == nil {
		s = &Sink{}
		h.sinks[name] = s
	}
	return s
}

// TakeSink takes the sink of that name out of the hub, so that the next job gets a new one; nil when there is none.
func (h *Hub) TakeSink(name string) *Sink {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.sinks[name]
	delete(h.sinks, name)
	return s
}

// PutSink puts a sink that was taken out back in its place.
func (h *Hub) PutSink(name string, s *Sink) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sinks[name] = s
}

// Name implements spi.Connector.
func (h *Hub) Name() string { return "mem" }

// Help implements spi.Connector.
func (h *Hub) Help() string { return "tables in memory, for tests" }

// Options implements spi.Connector.
func (h *Hub) Options() []spi.Option {
	return []spi.Option{
		{Name: "name", Required: true, Help: "the table's name in the hub"},
		{Name: "bounded", Kind: spi.BoolOption, Default: "true", Help: "whether the table ends with its last event"},
		{Name: "native", Kind: spi.EnumOption, Values: []string{"retract", "append", "upsert"}, Default: "retract", Help: "what the events mean"},
		{Name: "accepts", Kind: spi.EnumOption, Values: []string{"retract", "append", "upsert"}, Default: "retract", Help: "what the sink takes"},
		{Name: "metadata", Kind: spi.BoolOption, Default: "false", Help: "whether the source tells the partition and the offset of its events"},
		{Name: "transactional", Kind: spi.BoolOption, Default: "false", Help: "whether the sink is a Ledger"},
	}
}

// Metadata implements spi.Connector.
func (h *Hub) Metadata() []spi.Column { return nil }

func mode(s string) spi.Mode {
	switch s {
	case "append":
		return spi.AppendOnly
	case "upsert":
		return spi.Upsert
	}
	return spi.Retract
}

// CheckSource implements spi.Connector.
func (h *Hub) CheckSource(t *spi.Table) (spi.SourceTraits, error) {
	m := mode(t.Options.Get("native", "retract"))
	traits := spi.SourceTraits{Native: m, CanUpsert: m == spi.Retract}
	var err error
	if traits.Bounded, err = t.Options.Bool("bounded", true); err != nil {
		return traits, err
	}
	tells, err := t.Options.Bool("metadata", false)
	if tells {
		traits.Metadata = []spi.Column{
			{Metadata: "partition", Type: types.Of(types.Int).Required(), Virtual: true},
			{Metadata: "offset", Type: types.Of(types.BigInt).Required(), Virtual: true},
		}
	}
	return traits, err
}

// CheckSink implements spi.Connector.
func (h *Hub) CheckSink(t *spi.Table) (spi.SinkTraits, error) {
	transactional, err := t.Options.Bool("transactional", false)
	return spi.SinkTraits{Accepts: mode(t.Options.Get("accepts", "retract")), Transactional: transactional}, err
}

// OpenSource implements spi.Connector.
func (h *Hub) OpenSource(_ context.Context, s spi.Scan) (spi.Source, error) {
	name := s.Table.Options.Get("name", "")
	bounded, err := s.Table.Options.Bool("bounded", true)
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	parts, ok := h.tables[name]
	if !ok {
		return nil, fmt.Errorf("no table %q in the hub", name)
	}
	src := &source{hub: h, name: name, scan: s, bounded: bounded, at: make([]int64, len(parts))}
	for _, p := range s.Start {
		src.at[p.Partition] = p.Offset
	}
	for i := range s.Readers {
		r := &reader{s: src, ready: make(chan struct{}, 1), rng: rand.New(rand.NewPCG(h.seed, uint64(i)+uint64(len(name))))}
		r.out = spi.NewOut(columns(s))
		for p := range parts {
			if p%s.Readers == i {
				r.parts = append(r.parts, p)
			}
		}
		src.readers = append(src.readers, r)
		h.readers = append(h.readers, r)
	}
	h.steps.open(src)
	return src, nil
}

func columns(s spi.Scan) []spi.Column {
	cols := make([]spi.Column, len(s.Columns))
	for i, c := range s.Columns {
		cols[i] = s.Table.Columns[c]
	}
	return cols
}

type source struct {
	hub     *Hub
	name    string
	scan    spi.Scan
	bounded bool
	skip    []spi.Position
	at      []int64 // next event of each partition; each is used by its reader alone
	readers []*reader
}

func (s *source) position(p int) spi.Position {
	return spi.Position{Topic: s.name, Partition: int32(p), Offset: s.at[p], Epoch: -1}
}

func (s *source) Positions() []spi.Position {
	var pos []spi.Position
	for p := range s.at {
		pos = append(pos, s.position(p))
	}
	return pos
}

// Skip implements spi.Skipper.
func (s *source) Skip(at []spi.Position) { s.skip = at }

func (s *source) Reader(i int) spi.Reader                   { return s.readers[i] }
func (s *source) Committed(context.Context, []spi.Position) {}
func (s *source) Stats() spi.SourceStats                    { return spi.SourceStats{Lag: -1} }

func (s *source) Close() error {
	s.hub.closed(s)
	return nil
}

type reader struct {
	s     *source
	parts []int
	limit map[int]int64
	ready chan struct{}
	rng   *rand.Rand
	out   *spi.Out
	stepping
	partition int  // of the event that is being delivered
	shy       bool // the last Read gave nothing although there was something
}

func (r *reader) end(p int) int64 {
	if l, ok := r.limit[p]; ok {
		return l
	}
	return r.s.hub.stepEnd(r, p)
}

func (r *reader) wake() {
	select {
	case r.ready <- struct{}{}:
	default:
	}
}

// Read takes a few events from partitions in random order; now and then it pretends that there is nothing, unless
// events name their steps.
func (r *reader) Read(b *changelog.Batch, maxRecords int) (int, error) {
	if !r.s.hub.stepped() && !r.shy && len(r.parts) > 0 && r.rng.IntN(4) == 0 && !r.Done() {
		r.shy = true
		r.wake()
		return 0, nil
	}
	r.shy = false
	n := 0
	for want := 1 + r.rng.IntN(min(maxRecords, 8)); n < want && len(r.parts) > 0; n++ {
		i := r.rng.IntN(len(r.parts))
		for j := range r.parts { // the first from i on that has something
			p := r.parts[(i+j)%len(r.parts)]
			if r.s.at[p] < r.end(p) {
				if !slices.ContainsFunc(r.s.skip, func(s spi.Position) bool { return int(s.Partition) == p && s.Offset == r.s.at[p] }) {
					r.partition = p
					r.deliver(b, r.s.hub.Event(r.s.name, p, r.s.at[p]))
				}
				r.s.at[p]++
				i = -1
				break
			}
		}
		if i >= 0 {
			break
		}
	}
	if n > 0 {
		r.s.hub.read(r)
	} else if r.s.hub.lingers(r) {
		return 1, nil // nothing, but not quiet
	}
	return n, nil
}

func (r *reader) deliver(b *changelog.Batch, e Event) {
	r.out.Batch = b
	switch {
	case r.s.scan.Mode != spi.Upsert:
		if e.Before != nil {
			r.emit(pick(e.After != nil, changelog.UpdateBefore, changelog.Delete), e.Before)
		}
		if e.After != nil {
			r.emit(pick(e.Before != nil, changelog.UpdateAfter, changelog.Insert), e.After)
		}
	default:
		if e.Before != nil && (e.After == nil || !r.sameKey(e.Before, e.After)) {
			r.emit(changelog.Delete, r.keyOnly(e.Before))
		}
		if e.After != nil {
			r.emit(changelog.UpdateAfter, e.After)
		}
	}
}

func pick(c bool, a, b changelog.Op) changelog.Op {
	if c {
		return a
	}
	return b
}

func (r *reader) keyColumns() []int {
	var k []int
	for _, c := range r.s.scan.Key {
		k = append(k, r.s.scan.Columns[c])
	}
	return k
}

func (r *reader) sameKey(a, b []row.Datum) bool {
	for _, c := range r.keyColumns() {
		if a[c].I != b[c].I || string(a[c].B) != string(b[c].B) {
			return false
		}
	}
	return true
}

func (r *reader) keyOnly(v []row.Datum) []row.Datum {
	out := make([]row.Datum, len(v))
	for i := range out {
		out[i] = row.NullDatum
	}
	for _, c := range r.keyColumns() {
		out[c] = v[c]
	}
	return out
}

func (r *reader) emit(op changelog.Op, v []row.Datum) {
	b := r.out.Begin()
	for i, c := range r.s.scan.Columns {
		switch r.s.scan.Table.Columns[c].Metadata {
		case "partition":
			b.Int64(i, int64(r.partition))
		case "offset":
			b.Int64(i, r.s.at[r.partition])
		default:
			b.Datum(i, r.out.Phys[i], v[c])
		}
	}
	r.out.Commit(op)
}

func (r *reader) Ready() <-chan struct{} { return r.ready }

func (r *reader) Positions(dst []spi.Position) []spi.Position {
	for _, p := range r.parts {
		dst = append(dst, r.s.position(p))
	}
	return dst
}

func (r *reader) Limit(pos []spi.Position) {
	r.limit = nil
	if pos != nil {
		r.limit = map[int]int64{}
		r.s.hub.resume(r, pos)
	}
	for _, p := range pos {
		if p.Topic == r.s.name {
			r.limit[int(p.Partition)] = p.Offset
		}
	}
}

func (r *reader) AtLimit() bool {
	if r.limit == nil {
		return false
	}
	for _, p := range r.parts {
		if r.s.at[p] < r.end(p) {
			return false
		}
	}
	return true
}

func (r *reader) Done() bool {
	for _, p := range r.parts {
		if r.s.at[p] < r.s.hub.Len(r.s.name, p) {
			return false
		}
	}
	return r.s.bounded
}

func (r *reader) Barrier() { r.s.hub.cut(r) }

// Change is one change that a sink was handed.
type Change struct {
	Op  changelog.Op
	Row row.Row
}

// Sink keeps what its writers are handed, by epoch.
type Sink struct {
	mu     sync.Mutex
	open   [][]Change // of the present epoch, by writer
	epochs map[uint64][]Change
	acks   map[uint64]int
	all    []Change // in the order in which they came, those of epochs that came again too

	// Slow, when set, says how long the sink takes to acknowledge an epoch. It must be set before a job starts.
	Slow func() time.Duration
}

// OpenSink implements spi.Connector.
func (h *Hub) OpenSink(_ context.Context, s spi.SinkSpec) (spi.Sink, error) {
	name := s.Table.Options.Get("name", "")
	if transactional, err := s.Table.Options.Bool("transactional", false); err != nil || transactional {
		return &ledgerSink{l: h.Ledger(name)}, err
	}
	k := h.Sink(name)
	k.Open(s.Writers)
	return k, nil
}

// Open makes the sink ready for so many writers; epochs it was handed before stay, and are replaced when they come
// again.
func (k *Sink) Open(writers int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.open = make([][]Change, writers)
	if k.epochs == nil {
		k.epochs = map[uint64][]Change{}
	}
	k.acks = map[uint64]int{}
}

// Epoch returns the changes of an epoch, and whether all writers have ended it.
func (k *Sink) Epoch(n uint64) ([]Change, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.epochs[n], k.acks[n] == len(k.open)
}

// Arrived returns everything that the writers were handed, in the order of the ends of epochs, those that came again
// after a crash included: what a sink holds that knows of no epochs.
func (k *Sink) Arrived() []Change {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.all)
}

// Writer implements spi.Sink.
func (k *Sink) Writer(i int) spi.Writer { return writer{k, i} }

// Stats implements spi.Sink.
func (k *Sink) Stats() spi.SinkStats { return spi.SinkStats{} }

// Close implements spi.Sink.
func (k *Sink) Close() error { return nil }

type writer struct {
	k *Sink
	i int
}

func (w writer) Write(_ context.Context, b *changelog.Batch) error {
	for i := range b.Len() {
		w.k.open[w.i] = append(w.k.open[w.i], Change{b.Op(i), append(row.Row(nil), b.Row(i)...)})
	}
	return nil
}

func (w writer) Barrier(_ context.Context, epoch uint64, ack func(error)) {
	w.k.mu.Lock()
	if w.k.acks[epoch] == 0 {
		w.k.epochs[epoch] = nil
	}
	w.k.epochs[epoch] = append(w.k.epochs[epoch], w.k.open[w.i]...)
	w.k.all = append(w.k.all, w.k.open[w.i]...)
	w.k.acks[epoch]++
	w.k.open[w.i] = nil
	w.k.mu.Unlock()
	if w.k.Slow == nil {
		ack(nil)
		return
	}
	time.AfterFunc(w.k.Slow(), func() { ack(nil) })
}

func (w writer) Close() error { return nil }
