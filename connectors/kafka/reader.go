package kafka

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/changelog"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/types"
	"github.com/sluicesql/sluice/internal/fault"
	"github.com/twmb/franz-go/pkg/kgo"
)

// reader implements spi.Reader over some partitions of a source.
type reader struct {
	src   *source
	zone  *time.Location
	ready chan struct{}
	parts []*partition
	turn  int // the partition to begin the next Read with

	value spi.Decoder
	key   spi.Decoder // nil when no column comes from the key
	out   *spi.Out
	// keyBatch holds the row that the key of the record at hand decoded to, keyOut writes it; keyAt[i] is
	// its column for column keyTo[i] of the row, both of physical form keyPhys[i].
	keyBatch changelog.Batch
	keyOut   *spi.Out
	keyTo    []int
	keyPhys  []types.Phys
	headers  headerPacker
	// cur is the record at hand, for metadata columns.
	cur struct {
		part *partition
		rec  record
	}

	dead                               *deadLetterBox // nil without
	maxRecords                         int
	ignoreValueErrors, ignoreKeyErrors bool
	records, events, bytes             int64            // of the Read under way
	noChange                           map[string]int64 // what the decoder had counted when the source was told

	joinMu  sync.Mutex
	joining []*partition // found since; they join at the next barrier
	hasJoin atomic.Bool
}

func (r *reader) signal() {
	select {
	case r.ready <- struct{}{}:
	default:
	}
}

// Ready implements spi.Reader.
func (r *reader) Ready() <-chan struct{} { return r.ready }

// Read implements spi.Reader.
func (r *reader) Read(b *changelog.Batch, maxRecords int) (n int, err error) {
	if r.maxRecords > 0 {
		maxRecords = min(maxRecords, r.maxRecords)
	}
	r.out.Batch = b
	for range r.parts {
		if n >= maxRecords {
			break
		}
		if r.turn++; r.turn >= len(r.parts) {
			r.turn = 0
		}
		p := r.parts[r.turn]
		var k int
		k, err = r.readPartition(p, maxRecords-n)
		n += k
		p.position.Store(p.pos)
		if k > 0 {
			p.lastTime.Store(r.cur.rec.timestamp)
		}
		if p.pos >= p.end {
			r.drop(p)
		}
		if err != nil {
			break
		}
	}
	if r.records > r.events {
		r.countKinds()
	}
	c := &r.src.counts
	c.records.Add(r.records)
	c.events.Add(r.events)
	c.bytes.Add(r.bytes)
	r.records, r.events, r.bytes = 0, 0, 0
	return n, err
}

// readPartition consumes at most limit records of p.
func (r *reader) readPartition(p *partition, limit int) (n int, err error) {
	stop := p.stop()
	rec := &r.cur.rec
	r.cur.part = p
	for n < limit {
		if p.it.n == 0 {
			more, err := r.openBatch(p, stop)
			if !more {
				return n, err
			}
		}
		rest, err := p.it.peek(rec)
		if err != nil {
			return n, damaged(p, p.pos, err)
		}
		if rec.offset >= p.pos { // a batch may begin before the offset asked for
			if rec.offset >= stop {
				p.pos = max(p.pos, stop)
				return n, nil
			}
			p.pos = rec.offset
			if len(r.src.skip) > 0 && r.src.skips(p, rec.offset) {
				r.records++
			} else if err := r.decode(); err != nil {
				return n, err
			}
			p.pos, p.epoch = rec.offset+1, p.it.epoch
			n++
		}
		p.it.advance(rest)
		if p.it.n == 0 {
			p.pos = max(p.pos, min(p.it.end, stop))
		}
	}
	return n, nil
}

// openBatch moves to the next batch with records before stop.
func (r *reader) openBatch(p *partition, stop int64) (bool, error) {
	for p.pos < stop {
		ok, err := p.it.next(&p.pos, stop)
		if err != nil {
			return false, damaged(p, p.pos, err)
		}
		if ok || len(p.it.rest) > 0 {
			return ok, nil
		}
		if p.cur.held != nil {
			p.pos = max(p.pos, min(p.cur.next, stop))
			r.src.fetcher.release(p, &p.cur)
			continue
		}
		c, ok := p.take()
		switch {
		case !ok:
			return false, nil
		case c.err != nil:
			p.putBack(c) // it is the answer to every later Read too
			return false, c.err
		case c.data == nil && c.next < p.pos:
			p.pos = c.next // auto.offset.reset, in a log that was cut back
		case c.data == nil:
			p.pos = max(p.pos, min(c.next, stop)) // a gap at the log's end
		default:
			p.cur = c
			p.it.reset(c.data, c.aborted)
		}
	}
	return false, nil
}

// drop lets go of what was fetched beyond the bounded end.
func (r *reader) drop(p *partition) {
	if p.cur.held != nil {
		r.src.fetcher.release(p, &p.cur)
		p.it.reset(nil, nil)
	}
	for c, ok := p.take(); ok; c, ok = p.take() {
		r.src.fetcher.release(p, &c)
	}
}

// decode appends the changes of the record at hand.
func (r *reader) decode() error {
	rec := &r.cur.rec
	r.records++
	r.bytes += int64(len(rec.key) + len(rec.value))
	before := r.out.Batch.Len()
	if r.key != nil {
		r.keyBatch.Reset()
		if err := r.key.Decode(spi.Message{Value: rec.key}, r.keyOut); err != nil {
			return r.refuse("key: ", err, r.ignoreKeyErrors, "key."+r.src.cfg.layout.KeyFormat.Name()+".")
		}
		if n := r.keyBatch.Len(); n > 1 || n == 0 && r.src.cfg.layout.upsert {
			what := "the key holds no row"
			if rec.key == nil {
				what = "the key is null, so that nothing says which row this is"
			}
			return r.refuse("", &spi.DecodeError{Offset: -1, Code: fault.MessageKey, Msg: what, Fix: "upsert-kafka reads topics whose records are keyed by the primary key; for others use connector kafka"}, r.ignoreKeyErrors, "key."+r.src.cfg.layout.KeyFormat.Name()+".")
		}
	}
	upsert := r.src.cfg.layout.upsert
	if upsert && rec.value == nil {
		r.out.Begin()
		r.out.Commit(changelog.Delete)
		r.events++
		return nil
	}
	if err := r.value.Decode(spi.Message{Key: rec.key, Value: rec.value}, r.out); err != nil {
		var bad *spi.DecodeError
		if errors.As(err, &bad) && (r.ignoreValueErrors || r.dead != nil) {
			r.out.Batch.Truncate(before)
		}
		return r.refuse("", err, r.ignoreValueErrors, r.src.cfg.layout.valueOptionPrefix)
	}
	after := r.out.Batch.Len()
	if after > before {
		if r.out.Batch.Op(after-1) == changelog.Clear && r.src.partitionCount() > 1 {
			r.out.Batch.Truncate(before)
			return r.refuse("", &spi.DecodeError{Offset: -1, Code: fault.MessageTruncate, Msg: "the table was truncated, and the topic has several partitions: nothing tells which rows of the others came before",
				Fix: "have Debezium write the table to one topic of one partition, or start again from a new snapshot"}, r.ignoreValueErrors, r.src.cfg.layout.valueOptionPrefix)
		}
		r.events++
	}
	if upsert {
		for i := before; i < after; i++ {
			r.out.Batch.SetOp(i, changelog.UpdateAfter)
		}
	}
	return nil
}

// refuse makes the error for the record at hand, or counts it as skipped when that was asked for.
func (r *reader) refuse(part string, err error, ignore bool, prefix string) error {
	p, rec := r.cur.part, &r.cur.rec
	var bad *spi.DecodeError
	if !errors.As(err, &bad) {
		return fmt.Errorf("kafka %s@%d: %s%w", p, rec.offset, part, err)
	}
	// A format calls its options by its own name and does not know in which place of the table it stands.
	for _, place := range []string{"value.", "key."} {
		if format, ok := strings.CutPrefix(prefix, place); ok {
			bad.Fix = strings.ReplaceAll(bad.Fix, "'"+format, "'"+prefix)
		}
	}
	if r.dead != nil || ignore {
		err = fmt.Errorf("kafka %s@%d: %s%w", p, rec.offset, part, err)
		r.src.skipped(bad.Code, err)
		if r.dead != nil {
			r.dead.put(p, rec, bad.Code, err)
		}
		return nil
	}
	// Who asked for fail-on-missing-field, which this is the error of, cannot ask to skip too.
	if !strings.Contains(bad.Fix, "fail-on-missing-field") {
		if r.src.canIgnore(prefix) && !strings.Contains(bad.Fix, spi.IgnoreParseErrors) {
			bad.Fix += fmt.Sprintf("; or skip and count such records with '%s%s' = 'true'", prefix, spi.IgnoreParseErrors)
		}
		bad.Fix += fmt.Sprintf(", or keep them in a topic of their own with '%s'", deadLetterTopic)
	}
	bad.Fix += ", or leave this one out with sluice run --skip " + r.src.nameOf(p, rec.offset)
	return fmt.Errorf("kafka %s@%d: %s%w", p, rec.offset, part, err)
}

// fill sets the columns that the value's decoder leaves alone.
func (r *reader) fill(fillers []func(b *row.Builder)) func(b *row.Builder) {
	if len(fillers) == 0 && len(r.keyTo) == 0 {
		return nil
	}
	return func(b *row.Builder) {
		if len(r.keyTo) > 0 && r.keyBatch.Len() == 1 {
			key := r.keyBatch.Row(0)
			for j, to := range r.keyTo {
				b.Copy(to, key, j, r.keyPhys[j])
			}
		}
		for _, f := range fillers {
			f(b)
		}
	}
}

// Positions implements spi.Reader.
func (r *reader) Positions(dst []spi.Position) []spi.Position {
	for _, p := range r.parts {
		dst = append(dst, p.at())
	}
	return dst
}

func (p *partition) at() spi.Position {
	return spi.Position{Topic: p.topic.name, TopicID: p.topic.idText(), Partition: p.id, Offset: p.pos, Epoch: p.epoch}
}

func (t *topicRef) idText() string { return idText(t.id) }

// idText is a topic's id in positions; empty where the cluster has none.
func idText(id [16]byte) string {
	if id == [16]byte{} {
		return ""
	}
	return hex.EncodeToString(id[:])
}

// Limit implements spi.Reader.
func (r *reader) Limit(pos []spi.Position) {
	for _, p := range r.parts {
		p.limit = noEnd
		for i := range pos {
			if pos[i].Partition == p.id && pos[i].Topic == p.topic.name {
				p.limit = pos[i].Offset
			}
		}
	}
}

// AtLimit implements spi.Reader.
func (r *reader) AtLimit() bool {
	for _, p := range r.parts {
		if p.limit != noEnd && p.pos < p.limit {
			return false
		}
	}
	return true
}

// Done implements spi.Reader.
func (r *reader) Done() bool {
	for _, p := range r.parts {
		if p.pos < p.end {
			return false
		}
	}
	return r.src.bounded
}

// Barrier implements spi.Reader.
func (r *reader) Barrier() {
	if !r.hasJoin.Load() {
		return
	}
	r.joinMu.Lock()
	found := r.joining
	r.joining = nil
	r.hasJoin.Store(false)
	r.joinMu.Unlock()
	r.parts = append(r.parts, found...)
	r.src.joined(found)
	r.signal()
}

// join hands over a partition found while reading.
func (r *reader) join(p *partition) {
	r.joinMu.Lock()
	r.joining = append(r.joining, p)
	r.hasJoin.Store(true)
	r.joinMu.Unlock()
}

// newIter returns the iterator of a partition.
func newIter(check bool) batchIter {
	return batchIter{checkCRC: check, unpack: kgo.DefaultDecompressor()}
}
