package kafka

import (
	"context"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/internal/fault"
	"github.com/twmb/franz-go/pkg/kadm"
)

// unknownTries is how often, at short intervals, a topic is asked for until it counts as missing.
const unknownTries = 6

// source implements spi.Source.
type source struct {
	cfg     sourceConfig
	scan    spi.Scan
	c       *cluster
	fetcher *fetcher
	readers []*reader
	bounded bool
	initial []spi.Position
	skip    []spi.Position // constant once reading has begun
	warn    func(string)

	counts struct{ records, events, skipped, bytes atomic.Int64 }

	mu      sync.Mutex
	parts   []*partition // all that have joined
	known   map[string]map[int32]bool
	next    int // the reader of the next partition found
	reasons map[string]int64
	// noChange, unknown and warned are records without a change by kind, undeclared fields by name with their first
	// place, and warnings of decoders that were given.
	noChange map[string]int64
	unknown  map[string]string
	warned   map[string]bool

	commits chan []spi.Position // the latest positions to commit; room for one
	watch   *retentionWatch
	beside  sync.WaitGroup // goroutines that run beside the fetcher
	stop    context.CancelFunc
}

// newSource is a source that has not connected.
func newSource(cfg sourceConfig, scan spi.Scan) *source {
	s := &source{cfg: cfg, scan: scan, bounded: cfg.end.kind != unbounded, warn: scan.Warn, known: map[string]map[int32]bool{}, reasons: map[string]int64{},
		noChange: map[string]int64{}, unknown: map[string]string{}, warned: map[string]bool{}, commits: make(chan []spi.Position, 1)}
	if s.warn == nil {
		s.warn = func(string) {}
	}
	return s
}

// nameOf names a message as --skip does.
func (s *source) nameOf(p *partition, offset int64) string {
	name := s.scan.Table.Name
	if s.cfg.pattern != nil || len(s.cfg.topics) > 1 {
		name += "/" + p.topic.name
	}
	return fmt.Sprintf("%s/%d@%d", name, p.id, offset)
}

// openSource connects, finds the partitions and resolves where each begins and ends.
func openSource(ctx context.Context, cfg sourceConfig, scan spi.Scan) (_ *source, err error) {
	s := newSource(cfg, scan)
	for _, n := range cfg.notes {
		s.warn(n.Msg)
	}
	if s.c, err = dial(&s.cfg.settings); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			s.c.close()
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	parts, err := s.find(ctx)
	if err != nil {
		return nil, err
	}
	if len(parts) == 0 && cfg.pattern != nil && s.bounded {
		return nil, s.c.noMatch(ctx, scan.Table.Options["topic-pattern"])
	}
	if scan.Mode == spi.Upsert {
		if err := cfg.layout.CheckPartitions(len(parts)); err != nil {
			return nil, err
		}
	}
	if err := s.place(ctx, parts); err != nil {
		return nil, err
	}
	for range max(scan.Readers, 1) {
		r, err := s.newReader()
		if err != nil {
			return nil, err
		}
		s.readers = append(s.readers, r)
	}
	s.fetcher = newFetcher(s.c, &s.cfg.settings, scan.Memory, s.warn)
	s.fetcher.retryTimeout = cfg.retryTimeout
	for _, p := range parts {
		s.assign(p)
		p.reader.parts = append(p.reader.parts, p)
		s.initial = append(s.initial, p.at())
	}
	s.parts = parts
	s.fetcher.add(parts)
	if !s.bounded && cfg.discovery > 0 {
		s.fetcher.discover, s.fetcher.interval = s.discover, cfg.discovery
	}
	run, stop := context.WithCancel(context.Background())
	s.stop = stop
	if cfg.group != "" && cfg.commitOffsets {
		s.beside.Add(1)
		go s.commitLoop(run)
	}
	if s.watch = (&retentionWatch{s: s, seen: map[*partition]retentionSeen{}}); !s.bounded {
		s.beside.Add(1)
		go func() {
			defer s.beside.Done()
			s.watch.run(run)
		}()
	}
	s.fetcher.start()
	return s, nil
}

// find lists the partitions of the topics that are not known yet. Each is at offset −1.
func (s *source) find(ctx context.Context) ([]*partition, error) {
	var names []string
	if s.cfg.pattern == nil {
		names = s.cfg.topics
	}
	ask := s.c.connect
	if s.fetcher != nil { // it is a look for new ones
		ask = func(ctx context.Context, topics []string) (*clusterMeta, error) {
			return s.c.metadata(ctx, topics, false)
		}
	}
	m, err := ask(ctx, names)
	// A topic made a moment ago is not known to every broker.
	for try := 1; err == nil && s.cfg.pattern == nil && len(m.missing) > 0 && try < unknownTries; try++ {
		pauseFor(ctx)
		m, err = ask(ctx, names)
	}
	if err != nil {
		return nil, err
	}
	if s.cfg.pattern == nil && len(m.missing) > 0 {
		return nil, s.c.noTopic(ctx, m.missing[0], false)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []*partition
	refs := map[string]*topicRef{}
	if s.fetcher != nil {
		s.fetcher.mu.Lock()
		for n, t := range s.fetcher.topics {
			refs[n] = t
		}
		s.fetcher.mu.Unlock()
	}
	for name, tm := range m.topics {
		if s.cfg.pattern != nil && !s.cfg.pattern.MatchString(name) {
			continue
		}
		ref := refs[name]
		if ref == nil {
			ref = &topicRef{name: name, id: tm.id}
		}
		for id := range tm.partitions {
			if s.known[name][int32(id)] {
				continue
			}
			found = append(found, &partition{topic: ref, id: int32(id), end: noEnd, limit: noEnd, epoch: -1, fetchEpoch: -1, leader: -1, pos: -1, it: newIter(s.cfg.checkCRC)})
		}
	}
	for _, p := range found {
		if s.known[p.topic.name] == nil {
			s.known[p.topic.name] = map[int32]bool{}
		}
		s.known[p.topic.name][p.id] = true
	}
	sortPartitions(found)
	return found, nil
}

// place sets where each of the first partitions begins and ends.
func (s *source) place(ctx context.Context, parts []*partition) error {
	fresh := parts
	if s.scan.Start != nil {
		var err error
		if fresh, err = s.resume(ctx, parts); err != nil {
			return err
		}
		s.tellFound(fresh)
	}
	start := s.cfg.start
	if s.scan.Start != nil {
		start = point{kind: earliest} // found since the checkpoint
	}
	at, err := s.c.resolve(ctx, &s.cfg.settings, fresh, start, s.cfg.offsetReset, "'scan.startup.mode'")
	if err != nil {
		return err
	}
	for _, p := range fresh {
		p.pos = at[p]
	}
	if err := s.checkNamed(parts, s.cfg.start, "scan.startup.specific-offsets", false); err != nil && s.scan.Start == nil {
		return err
	}
	if s.bounded {
		if err := s.checkNamed(parts, s.cfg.end, "scan.bounded.specific-offsets", true); err != nil {
			return err
		}
		ends, err := s.c.resolve(ctx, &s.cfg.settings, parts, s.cfg.end, "none", "'scan.bounded.mode'")
		if err != nil {
			return err
		}
		for _, p := range parts {
			p.end = ends[p]
		}
	}
	if err := s.checkRange(ctx, parts); err != nil {
		return err
	}
	for _, p := range parts {
		p.fetchAt, p.fetchEpoch = p.pos, p.epoch
		p.position.Store(p.pos)
		p.logEnd.Store(-1)
	}
	return nil
}

// checkNamed checks that specific offsets name partitions that exist, and with all that they name every one.
func (s *source) checkNamed(parts []*partition, pt point, option string, all bool) error {
	if pt.kind != specific {
		return nil
	}
	here := map[int32]bool{}
	for _, p := range parts {
		here[p.id] = true
		if _, ok := pt.offsets[p.id]; !ok && all {
			return &spi.OptionError{Name: option, Value: true, Msg: fmt.Sprintf("option %q gives no end for partition %d of %s; name every partition", option, p.id, p.topic.name)}
		}
	}
	for id := range pt.offsets {
		if !here[id] {
			return &spi.OptionError{Name: option, Value: true, Msg: fmt.Sprintf("option %q names partition %d, which no topic of the table has", option, id)}
		}
	}
	return nil
}

// resume sets the positions of a checkpoint, and returns the partitions that it does not know.
func (s *source) resume(_ context.Context, parts []*partition) (fresh []*partition, err error) {
	type tp struct {
		t string
		p int32
	}
	start := map[tp]spi.Position{}
	for _, p := range s.scan.Start {
		start[tp{p.Topic, p.Partition}] = p
	}
	for _, p := range parts {
		k := tp{p.topic.name, p.id}
		from, ok := start[k]
		if !ok {
			fresh = append(fresh, p)
			continue
		}
		delete(start, k)
		if id := p.topic.idText(); from.TopicID != "" && id != "" && id != from.TopicID {
			return nil, fault.Errorf(fault.KafkaTopicChanged, "kafka topic %s at %s: it was deleted and created again since the checkpoint (its id was %s, now %s), so that offset %d of partition %d means nothing any more", p.topic.name, s.c.seeds, shortID(from.TopicID), shortID(id), from.Offset, p.id).
				Fix("start anew with a new state directory")
		}
		p.pos, p.epoch = from.Offset, from.Epoch
	}
	for k, from := range start {
		return nil, fault.Errorf(fault.KafkaTopicChanged, "kafka %s/%d@%d: the checkpoint has read this partition, but the table's topics at %s have it no more; was the topic replaced, or 'topic' changed?", k.t, k.p, from.Offset, s.c.seeds).
			Fix("start anew with a new state directory")
	}
	return fresh, nil
}

func shortID(hexID string) string {
	if b, err := hex.DecodeString(hexID); err != nil || len(b) != 16 {
		return hexID
	}
	return hexID[:8] + "…"
}

// checkRange refuses positions that the log does not hold, before anything is read, unless auto.offset.reset says
// where to go on.
func (s *source) checkRange(ctx context.Context, parts []*partition) error {
	first, err := s.c.listOffsets(ctx, parts, listEarliest, false)
	if err != nil {
		return err
	}
	last, err := s.c.listOffsets(ctx, parts, listLatest, false)
	if err != nil {
		return err
	}
	for _, p := range parts {
		first, last := first[p].offset, last[p].offset
		if (p.pos >= first || p.pos >= p.end) && p.pos <= last {
			continue
		}
		to, ok := s.cfg.resetTo(first, last)
		if !ok {
			return rangeError(p.topic.name, p.id, p.pos, first, last)
		}
		s.warn(resetWarning(p, p.pos, first, last, to, s.cfg.offsetReset))
		p.pos, p.epoch = to, -1
	}
	return nil
}

// assign gives p to the next reader.
func (s *source) assign(p *partition) {
	p.reader = s.readers[s.next%len(s.readers)]
	s.next++
}

// discover looks for new topics and partitions; they start at their beginning and join at a barrier.
func (s *source) discover(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	found, err := s.find(ctx)
	if err == nil && len(found) > 0 {
		var at map[*partition]listed
		if at, err = s.c.listOffsets(ctx, found, listEarliest, false); err == nil {
			for _, p := range found {
				p.pos, p.fetchAt = at[p].offset, at[p].offset
				p.position.Store(p.pos)
				p.logEnd.Store(-1)
				s.assign(p)
				p.reader.join(p)
			}
			s.fetcher.add(found)
			s.tellFound(found)
			return
		}
		s.mu.Lock()
		for _, p := range found { // found again the next time
			delete(s.known[p.topic.name], p.id)
		}
		s.mu.Unlock()
	}
	if err != nil && ctx.Err() == nil {
		s.fetcher.errors.Add(1)
		s.warn(fmt.Sprintf("looking for new partitions failed, trying again in %s: %v", s.cfg.discovery, err))
	}
}

// tellFound warns of partitions that were not there before, and of what they mean for a table with a key.
func (s *source) tellFound(found []*partition) {
	if len(found) == 0 {
		return
	}
	s.warn(fmt.Sprintf("kafka at %s: found new partitions %s, read from their beginning", s.c.seeds, names(found)))
	// A topic that is new as a whole has a partition 0.
	grown := slices.DeleteFunc(slices.Clone(found), func(p *partition) bool {
		return slices.ContainsFunc(found, func(q *partition) bool { return q.topic == p.topic && q.id == 0 })
	})
	if len(grown) == 0 || len(s.scan.Table.PrimaryKey) == 0 {
		return
	}
	s.warn(fmt.Sprintf("kafka topic %s at %s grew: a row may have changes in two partitions now, which no offset orders; a change in an old partition that is read after one in %s wins although it is older; "+
		"if partitions were added before all was read, have a new snapshot taken", grown[0].topic.name, s.c.seeds, names(grown)))
}

func names(parts []*partition) string {
	n := make([]string, 0, len(parts))
	for _, p := range parts {
		n = append(n, p.String())
	}
	sort.Strings(n)
	if len(n) > 8 {
		n = append(n[:8], "…")
	}
	return strings.Join(n, ", ")
}

// joined notes partitions that a reader has taken up.
func (s *source) joined(parts []*partition) {
	s.mu.Lock()
	s.parts = append(s.parts, parts...)
	s.mu.Unlock()
}

// partitionCount is the number of partitions of all topics of the table.
func (s *source) partitionCount() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, ids := range s.known {
		n += len(ids)
	}
	return n
}

// newReader builds a reader with decoders of its own.
func (s *source) newReader() (*reader, error) {
	l := s.cfg.layout
	r := &reader{src: s, zone: s.scan.TimeZone, ready: make(chan struct{}, 1), noChange: map[string]int64{}, maxRecords: s.cfg.maxPollRecords}
	spec := spi.DecodeSpec{Key: s.scan.Key, Mode: s.scan.Mode, Partial: s.scan.Partial, TimeZone: s.scan.TimeZone, Warn: r.warn, Unknown: r.unknown}
	if l.upsert {
		spec.Key, spec.Mode = nil, spi.AppendOnly // what upserts and deletes is the record, not its value
	}
	var places []place
	keySpec := spi.DecodeSpec{Mode: spi.AppendOnly, TimeZone: s.scan.TimeZone, Warn: s.warn}
	for i, c := range s.scan.Columns {
		col, at := s.scan.Table.Columns[c], l.placeToRead(c)
		places = append(places, at)
		if at == inKey {
			k := l.KeyColumn(c)
			keySpec.Columns = append(keySpec.Columns, k)
			keySpec.Skip = append(keySpec.Skip, false)
			r.keyTo, r.keyPhys = append(r.keyTo, i), append(r.keyPhys, k.Type.Phys())
		}
		if at == inValue {
			col.Metadata = strings.TrimPrefix(col.Metadata, "value.")
		}
		spec.Columns = append(spec.Columns, col)
		spec.Skip = append(spec.Skip, at != inValue)
	}
	spec.Fields, keySpec.Fields = l.ValueFields(), l.keyColumns()
	if s.scan.DeadLetters != nil {
		r.dead = newDeadLetterBox()
	}
	r.out = spi.NewOut(spec.Columns)
	r.out.Fill = r.fill(r.fillers(spec.Columns, places))
	var err error
	if r.value, err = l.ValueFormat.NewDecoder(spec, l.ValueOptions); err != nil {
		return nil, err
	}
	if r.ignoreValueErrors, err = spi.SkipsErrors(l.ValueOptions); err != nil {
		return nil, err
	}
	if len(r.keyTo) > 0 {
		r.keyOut = spi.NewOut(keySpec.Columns)
		r.keyOut.Batch = &r.keyBatch
		if r.key, err = l.KeyFormat.NewDecoder(keySpec, l.KeyOptions); err != nil {
			return nil, err
		}
		if r.ignoreKeyErrors, err = spi.SkipsErrors(l.KeyOptions); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// canIgnore reports whether the format at prefix, the value's or the key's, has the option ignore-parse-errors.
func (s *source) canIgnore(prefix string) bool {
	f := s.cfg.layout.ValueFormat
	if strings.HasPrefix(prefix, "key.") {
		f = s.cfg.layout.KeyFormat
	}
	return option(f.Options(), spi.IgnoreParseErrors) != nil
}

// skipped counts a record left out, and tells of the first for each code.
func (s *source) skipped(code fault.Code, err error) {
	s.counts.skipped.Add(1)
	s.mu.Lock()
	s.reasons[string(code)]++
	first := s.reasons[string(code)] == 1
	s.mu.Unlock()
	if first {
		what := "skipped"
		if s.scan.DeadLetters != nil {
			what = "put aside as a dead letter"
		}
		s.warn(fmt.Sprintf("%s: %s (further such records are only counted)", what, fault.Text(err)))
	}
}

// Skip implements spi.Skipper.
func (s *source) Skip(at []spi.Position) { s.skip = at }

// skips reports whether a record is to be left out, as somebody asked for by name.
func (s *source) skips(p *partition, offset int64) bool {
	for i := range s.skip {
		if at := &s.skip[i]; at.Offset == offset && at.Partition == p.id && (at.Topic == "" || at.Topic == p.topic.name) {
			s.counts.skipped.Add(1)
			s.mu.Lock()
			s.reasons["by name"]++
			s.mu.Unlock()
			s.warn(fmt.Sprintf("skipped, as asked for: kafka %s@%d", p, offset))
			return true
		}
	}
	return false
}

// Positions implements spi.Source.
func (s *source) Positions() []spi.Position { return s.initial }

// Reader implements spi.Source.
func (s *source) Reader(i int) spi.Reader { return s.readers[i] }

// Committed implements spi.Source. It does not wait: the group's offsets are for monitoring.
func (s *source) Committed(_ context.Context, pos []spi.Position) {
	if s.cfg.group == "" || !s.cfg.commitOffsets {
		return
	}
	pos = append([]spi.Position(nil), pos...)
	for {
		select {
		case s.commits <- pos:
			return
		default:
		}
		select { // an older one that nobody has taken yet is of no interest any more
		case <-s.commits:
		default:
		}
	}
}

func (s *source) commitLoop(ctx context.Context) {
	defer s.beside.Done()
	failed := false
	for {
		var pos []spi.Position
		select {
		case <-ctx.Done():
			select { // the last checkpoint of a job that ends
			case pos = <-s.commits:
			default:
				return
			}
		case pos = <-s.commits:
		}
		var offsets kadm.Offsets
		for _, p := range pos {
			offsets.Add(kadm.Offset{Topic: p.Topic, Partition: p.Partition, At: p.Offset, LeaderEpoch: p.Epoch})
		}
		limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), 3*time.Second)
		err := s.c.commit(limit, s.cfg.group, offsets)
		cancel()
		if err != nil && !failed {
			s.warn(fmt.Sprintf("kafka group %s at %s: offsets cannot be committed; the job goes on without: %v", s.cfg.group, s.c.seeds, err))
		}
		failed = err != nil
	}
}

// Stats implements spi.Source.
func (s *source) Stats() spi.SourceStats {
	st := spi.SourceStats{
		Records: s.counts.records.Load(), Events: s.counts.events.Load(), Skipped: s.counts.skipped.Load(), Bytes: s.counts.bytes.Load(), Errors: s.fetcher.errors.Load(),
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.reasons) > 0 {
		st.SkippedFor = maps.Clone(s.reasons)
	}
	if len(s.noChange) > 0 {
		st.NoChange = maps.Clone(s.noChange)
	}
	if len(s.unknown) > 0 {
		st.Unknown = maps.Clone(s.unknown)
	}
	for _, p := range s.parts {
		end := min(p.logEnd.Load(), p.end)
		if end < 0 {
			st.Lag = -1
			return st
		}
		st.Lag += max(end-p.position.Load(), 0)
	}
	return st
}

// Close implements spi.Source.
func (s *source) Close() error {
	s.fetcher.close()
	s.stop()
	s.beside.Wait()
	s.c.close()
	return nil
}
