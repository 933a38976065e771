package kafka

import (
	"context"
	"errors"
	"fmt"
	"sort"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sluicesql/sluice/internal/fault"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

const (
	// maxBuffered bounds the fetched bytes of a source that no reader has read yet; a small memory budget has
	// less for it. A partition with an
	// empty queue may go over it, by one response, so that one partition that is held back (by a limit)
	// never starves another.
	maxBuffered = 28 << 20
	// partialWait replaces fetch.max.wait.ms while a partition was left out of a request because its
	// queue is full: it must not wait for the others' silence once it has room again.
	partialWait = 5 * time.Millisecond
	// missingFor is how long a topic may be unknown to the brokers, as it is for a moment after its
	// creation, until it counts as deleted.
	missingFor = 5 * time.Second
)

// fetcher reads partitions from their leaders: one goroutine a broker, with one request under way each,
// and one goroutine that follows the leaders.
type fetcher struct {
	c    *cluster
	s    *settings
	warn func(string)
	ctx  context.Context
	stop context.CancelFunc
	wg   sync.WaitGroup

	held    atomic.Int64 // bytes of responses not yet read
	buffer  int64        // what held may come to; see maxBuffered
	errors  atomic.Int64
	refresh chan struct{} // has a token when leaders must be looked up
	// discover is called by the manager every interval; nil without discovery.
	discover func(ctx context.Context)
	interval time.Duration
	// retryTimeout is how long a partition may give nothing but failures; 0 for ever.
	retryTimeout time.Duration
	alarm        alarm // the manager's

	mu      sync.Mutex
	topics  map[string]*topicRef
	byID    map[[16]byte]*topicRef
	parts   []*partition
	brokers map[int32]*brokerLoop
	missing map[string]time.Time // topics the brokers do not know at present, since when
}

// brokerLoop is the goroutine that fetches from one broker.
type brokerLoop struct {
	id   int32
	wake chan struct{} // has a token when more can be fetched
	turn int
	// used by the loop alone
	req    fetchRequest
	asked  []*partition
	failed int // requests in a row without an answer
	alarm  alarm
}

// fetchRequest is a Fetch request; its version stays below 13 while a topic has no id.
type fetchRequest struct {
	kmsg.FetchRequest
	noIDs bool
}

// MaxVersion implements kmsg.Request.
func (r *fetchRequest) MaxVersion() int16 {
	if r.noIDs {
		return 12
	}
	return r.FetchRequest.MaxVersion()
}

func newFetcher(c *cluster, s *settings, memory int64, warn func(string)) *fetcher {
	ctx, stop := context.WithCancel(context.Background())
	return &fetcher{
		c: c, s: s, buffer: atMost(maxBuffered, memory), warn: warn, ctx: ctx, stop: stop, refresh: make(chan struct{}, 1),
		topics: map[string]*topicRef{}, byID: map[[16]byte]*topicRef{}, brokers: map[int32]*brokerLoop{}, missing: map[string]time.Time{},
	}
}

// atMost is usual, or the memory that a job has for it if that is less; 0 is no bound.
func atMost(usual, memory int64) int64 {
	if memory > 0 {
		return min(usual, memory)
	}
	return usual
}

// add hands over partitions whose reader, fetchAt, fetchEpoch and end are set.
func (f *fetcher) add(parts []*partition) {
	f.mu.Lock()
	for _, p := range parts {
		t := p.topic
		for len(t.parts) <= int(p.id) {
			t.parts = append(t.parts, nil)
		}
		t.parts[p.id] = p
		f.topics[t.name] = t
		f.byID[t.id] = t
		p.leader = -1
		f.parts = append(f.parts, p)
	}
	f.mu.Unlock()
	f.askLeaders()
}

func (f *fetcher) start() {
	f.wg.Add(1)
	go f.manage()
}

// close ends all goroutines and waits for them.
func (f *fetcher) close() {
	f.stop()
	f.wg.Wait()
}

func (f *fetcher) askLeaders() {
	select {
	case f.refresh <- struct{}{}:
	default:
	}
}

// release takes back the memory of a chunk that was read.
func (f *fetcher) release(p *partition, c *chunk) {
	if c.held == nil {
		return
	}
	p.done(len(c.data))
	if c.held.refs.Add(-1) == 0 {
		f.held.Add(-c.held.size)
	}
	*c = chunk{}
	f.mu.Lock()
	b := f.brokers[p.leader]
	f.mu.Unlock()
	if b != nil {
		b.signal()
	}
}

func (b *brokerLoop) signal() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// run fetches from one broker until the fetcher is closed.
func (f *fetcher) run(b *brokerLoop) {
	defer f.wg.Done()
	broker := f.c.cl.Broker(int(b.id))
	for f.ctx.Err() == nil {
		if !f.build(b) {
			select {
			case <-b.wake:
			case <-f.ctx.Done():
			}
			continue
		}
		resp, err := broker.Request(f.ctx, &b.req)
		if f.ctx.Err() != nil {
			return
		}
		if err == nil {
			err = kerr.ErrorForCode(resp.(*kmsg.FetchResponse).ErrorCode)
		}
		if err != nil {
			f.failed(b, err)
			continue
		}
		b.failed = 0
		b.alarm.over()
		f.handle(b, resp.(*kmsg.FetchResponse))
	}
}

// closes is a broken connection, without the client's guess that SASL is missing: it has worked before.
func closes(err error) error {
	var first *kgo.ErrFirstReadEOF
	if errors.As(err, &first) {
		return errors.New("it closes the connection")
	}
	return err
}

// failed handles a request that got no answer: perhaps the broker is gone, and another one leads.
func (f *fetcher) failed(b *brokerLoop, err error) {
	err = closes(err)
	f.errors.Add(1)
	b.failed++
	if b.failed >= 3 && b.alarm.due(time.Now(), alarmEvery) {
		f.warn(fmt.Sprintf("%s does not answer, trying again: %v", f.c.broker(b.id), err))
	}
	f.mu.Lock()
	for _, p := range b.asked {
		p.inFlight, p.leader = false, -1
		f.trouble(p, err)
	}
	f.mu.Unlock()
	f.askLeaders()
	f.pause(min(time.Duration(b.failed)*50*time.Millisecond, time.Second))
}

func (f *fetcher) pause(d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-f.ctx.Done():
	}
}

// build makes the next request, and reports false when there is nothing to ask for.
func (f *fetcher) build(b *brokerLoop) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	full := f.held.Load() >= f.buffer
	partLimit := 2 * int(f.s.partitionMaxBytes)
	b.asked = b.asked[:0]
	partial, starving := false, false
	b.turn++
	for i := range f.parts {
		// Another one comes first each time: a response may be full before the last has its turn.
		p := f.parts[(i+b.turn)%len(f.parts)]
		if p.leader != b.id || p.inFlight || p.fetchAt >= p.end {
			continue
		}
		if n := p.bufferedBytes(); n > 0 && (full || n >= partLimit) {
			partial = true
			continue
		} else if n == 0 && full {
			starving = true
		}
		p.inFlight = true
		b.asked = append(b.asked, p)
	}
	if len(b.asked) == 0 {
		return false
	}
	r := &b.req
	r.FetchRequest = kmsg.FetchRequest{Topics: r.Topics[:0]}
	r.Default()
	r.MinBytes, r.MaxBytes, r.SessionEpoch = f.s.fetchMinBytes, f.s.fetchMaxBytes, -1
	r.MaxWaitMillis = int32(f.s.fetchMaxWait.Milliseconds())
	if partial {
		r.MaxWaitMillis = min(r.MaxWaitMillis, int32(partialWait.Milliseconds()))
	}
	if starving {
		r.MaxBytes = min(r.MaxBytes, f.s.partitionMaxBytes)
	}
	if f.s.readCommitted {
		r.IsolationLevel = 1
	}
	r.noIDs = false
	// Partitions of one topic go together, as far as the order allows: topics may stand in a request twice
	// for no broker.
	for _, p := range b.asked {
		rp := kmsg.NewFetchRequestTopicPartition()
		rp.Partition, rp.CurrentLeaderEpoch, rp.FetchOffset, rp.PartitionMaxBytes = p.id, p.leaderEpoch, p.fetchAt, f.s.partitionMaxBytes
		at := -1
		for i := range r.Topics {
			if r.Topics[i].Topic == p.topic.name {
				at = i
			}
		}
		if at < 0 {
			rt := kmsg.NewFetchRequestTopic()
			rt.Topic, rt.TopicID = p.topic.name, p.topic.id
			r.Topics = append(r.Topics, rt)
			at = len(r.Topics) - 1
			r.noIDs = r.noIDs || p.topic.id == [16]byte{}
		}
		r.Topics[at].Partitions = append(r.Topics[at].Partitions, rp)
	}
	return true
}

// handle hands a response's batches to the readers.
func (f *fetcher) handle(b *brokerLoop, resp *kmsg.FetchResponse) {
	size, empty := 0, resp.ThrottleMillis == 0
	for i := range resp.Topics {
		for j := range resp.Topics[i].Partitions {
			rp := &resp.Topics[i].Partitions[j]
			size += len(rp.RecordBatches)
			empty = empty && rp.ErrorCode == 0 && len(rp.RecordBatches) == 0
		}
	}
	held := &response{size: int64(size)}
	held.refs.Store(1) // handle's own, until all chunks are queued
	f.held.Add(int64(size))
	var outOfRange []*partition
	troubled := false
	f.mu.Lock()
	for i := range resp.Topics {
		rt := &resp.Topics[i]
		t := f.topics[rt.Topic]
		if resp.Version >= 13 {
			t = f.byID[rt.TopicID]
		}
		if t == nil {
			continue
		}
		for j := range rt.Partitions {
			rp := &rt.Partitions[j]
			if int(rp.Partition) >= len(t.parts) || t.parts[rp.Partition] == nil || !t.parts[rp.Partition].inFlight {
				continue
			}
			p := t.parts[rp.Partition]
			switch err := kerr.ErrorForCode(rp.ErrorCode); {
			case err == nil:
				f.accept(p, rp, held, empty)
			case errors.Is(err, kerr.OffsetOutOfRange):
				outOfRange = append(outOfRange, p)
			case retriable(err):
				f.errors.Add(1)
				p.leader = -1
				f.trouble(p, err)
				troubled = true
			default:
				f.fail(p, answered(err, "kafka %s@%d at %s: %w", p, p.fetchAt, f.c.seeds, err))
			}
		}
	}
	for _, p := range b.asked {
		p.inFlight = false
	}
	f.mu.Unlock()
	if held.refs.Add(-1) == 0 {
		f.held.Add(-held.size)
	}
	for _, p := range outOfRange {
		f.outOfRange(p)
	}
	if troubled {
		f.askLeaders()
		f.pause(20 * time.Millisecond)
	}
}

// accept queues what a response has for p. The caller holds mu.
func (f *fetcher) accept(p *partition, rp *kmsg.FetchResponseTopicPartition, held *response, allEmpty bool) {
	p.troubled = time.Time{}
	stable := rp.HighWatermark
	if f.s.readCommitted && rp.LastStableOffset >= 0 {
		stable = rp.LastStableOffset
	}
	p.logEnd.Store(stable)
	if len(rp.RecordBatches) == 0 {
		// The log goes on behind fetchAt and the broker, with nothing else to send, sends nothing: compaction
		// has removed all of it. Twice, because the end may have moved just before the answer was made.
		if p.emptyRuns++; allEmpty && stable > p.fetchAt && p.emptyRuns >= 2 {
			p.fetchAt, p.emptyRuns = stable, 0
			p.put(chunk{next: stable})
		}
		return
	}
	p.emptyRuns = 0
	data, next, epoch, err := wholeBatches(rp.RecordBatches, p.fetchAt)
	if err != nil {
		f.fail(p, damaged(p, p.fetchAt, err))
		return
	}
	if next == p.fetchAt {
		return
	}
	if f.s.readCommitted && len(rp.AbortedTransactions) > 1 {
		a := rp.AbortedTransactions
		sort.SliceStable(a, func(i, j int) bool { return a[i].FirstOffset < a[j].FirstOffset })
	}
	c := chunk{data: data, next: next, held: held}
	if f.s.readCommitted {
		c.aborted = rp.AbortedTransactions
	}
	held.refs.Add(1)
	p.fetchAt, p.fetchEpoch = next, epoch
	p.put(c)
}

// fail ends p with an error, behind what is queued already. The caller holds mu.
func (f *fetcher) fail(p *partition, err error) {
	p.fetchAt = noEnd // nothing more is fetched
	p.put(chunk{err: err})
}

// trouble notes that a request for p failed in a way that another attempt may cure, and ends p when none has for too
// long. The caller holds mu.
func (f *fetcher) trouble(p *partition, err error) {
	now := time.Now()
	switch {
	case p.fetchAt >= p.end:
	case p.troubled.IsZero():
		p.troubled = now
	case f.retryTimeout > 0 && now.Sub(p.troubled) > f.retryTimeout:
		f.fail(p, tooLate(err, "kafka %s@%d at %s: nothing could be read for %s ('%s')", p, p.fetchAt, f.c.seeds, f.retryTimeout, retryTimeoutOption))
	}
}

// outOfRange ends p with an error that says which offsets there are, or goes on elsewhere where auto.offset.reset
// says so.
func (f *fetcher) outOfRange(p *partition) {
	first, last := int64(-1), int64(-1)
	if s, err := f.c.listOffsets(f.ctx, []*partition{p}, listEarliest, false); err == nil {
		first = s[p].offset
	}
	if e, err := f.c.listOffsets(f.ctx, []*partition{p}, listLatest, false); err == nil {
		last = e[p].offset
	}
	if f.ctx.Err() != nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	at := p.fetchAt
	to, ok := f.s.resetTo(first, last)
	if !ok {
		f.fail(p, rangeError(p.topic.name, p.id, at, first, last))
		return
	}
	p.fetchAt, p.fetchEpoch = to, -1
	p.put(chunk{next: to})
	f.warn(resetWarning(p, at, first, last, to, f.s.offsetReset))
}

// resetTo is the offset at which auto.offset.reset goes on in a log that holds first to last; false where nothing
// is said, or the log's offsets are not known.
func (s *settings) resetTo(first, last int64) (int64, bool) {
	switch {
	case first < 0 || last < 0:
	case s.offsetReset == "earliest":
		return first, true
	case s.offsetReset == "latest":
		return last, true
	}
	return 0, false
}

// resetWarning names the gap that auto.offset.reset leaves.
func resetWarning(p *partition, at, first, last, to int64, policy string) string {
	lost := fmt.Sprintf("the records from %d to %d are not read", at, to-1)
	if to < at {
		lost = fmt.Sprintf("the log was cut back, and the records from %d on are read again or are others", to)
	}
	return fmt.Sprintf("kafka %s@%d: offset out of range, the partition holds %d to %d; going on at %d by 'properties.auto.offset.reset' = '%s': %s", p, at, first, last, to, policy, lost)
}

// rangeError says that an offset to read is not in the log.
func rangeError(topic string, id int32, at, first, last int64) error {
	what := "the log was cut back or the topic replaced"
	if at < first {
		what = fmt.Sprintf("retention has removed %d offsets that were not read yet", first-at)
	}
	return fault.Errorf(fault.KafkaOffset, "kafka %s/%d@%d: offset out of range, the partition holds %d to %d: %s", topic, id, at, first, last, what).
		Fix("nothing is skipped in silence: start from another position (a new state directory, or 'scan.startup.mode') and give the topic a longer retention, or accept the gap with 'properties.auto.offset.reset' = 'earliest'")
}

// retriable reports whether another leader or another moment may help. A broker that is going down may answer with
// UNKNOWN_SERVER_ERROR.
func retriable(err error) bool {
	return kerr.IsRetriable(err) || errors.Is(err, kerr.UnknownServerError) || errors.Is(err, kerr.InconsistentTopicID) || errors.Is(err, kerr.UnknownTopicID) || errors.Is(err, kerr.UnknownTopicOrPartition)
}
