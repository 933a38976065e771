package kafka

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sluicesql/sluice/internal/fault"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// producer sends the batches of a topic: a goroutine a broker, with one request under way each. With one
// batch of a partition under way, sending it again with the same sequence number is all that
// idempotence needs: the broker knows a repeated batch, and batches never overtake one another.
type producer struct {
	c         *cluster
	s         *settings
	topic     string
	topicID   [16]byte
	batchSize int   // bytes that a batch grows to
	buffer    int64 // bytes that may wait to be acknowledged
	// txn is the transactional id of a producer whose batches belong to transactions; nil without.
	txn   *string
	parts []*outPartition
	known int // partitions of the topic that people were told of
	warn  func(string)

	ctx  context.Context
	stop context.CancelFunc
	wg   sync.WaitGroup

	buffered atomic.Int64
	room     chan struct{} // has a token when buffered fell below the bound
	refresh  chan struct{}
	failed   chan struct{} // closed with err set
	spare    chan *outBatch

	asking  sync.Mutex // held while a new identity is asked for
	mu      sync.Mutex
	err     error
	senders map[int32]*sender
	// The producer's identity; number counts the changes of it.
	id     int64
	epoch  int16
	number int
}

// sender is the goroutine that sends to one broker.
type sender struct {
	id         int32
	wake       chan struct{}
	turn       int
	failures   int
	alarm      alarm
	compressor kgo.Compressor
	// what the request under way holds
	parts []*outPartition
	req   produceRequest
}

// produceRequest is a Produce request; its version stays below 13 while the topic has no id.
type produceRequest struct {
	kmsg.ProduceRequest
	noIDs bool
}

// MaxVersion implements kmsg.Request.
func (r *produceRequest) MaxVersion() int16 {
	if r.noIDs {
		return 12
	}
	return r.ProduceRequest.MaxVersion()
}

// newProducer returns a producer that start sets to work once it has an identity.
func newProducer(t *outTopic) *producer {
	c, s, tm := t.c, &t.cfg.settings, t.meta
	p := &producer{
		c: c, s: s, topic: tm.name, topicID: tm.id, warn: t.warn, room: make(chan struct{}, 1), refresh: make(chan struct{}, 1),
		failed: make(chan struct{}), senders: map[int32]*sender{}, id: -1, epoch: -1,
	}
	p.buffer, p.batchSize = t.buffer, t.batchSize()
	p.spare = make(chan *outBatch, min(spareBatches, max(p.buffer/int64(p.batchSize), 1)))
	for i := range t.use {
		p.parts = append(p.parts, &outPartition{id: int32(i)})
	}
	p.ctx, p.stop = context.WithCancel(context.Background())
	p.known = len(tm.partitions)
	return p
}

// start begins to send.
func (p *producer) start(tm *topicMeta) {
	p.lead(tm)
	p.wg.Add(1)
	go p.manage()
}

// newIdentity asks for a producer id, unless that has been done since the identity was number seen.
func (p *producer) newIdentity(ctx context.Context, seen int) error {
	p.asking.Lock()
	defer p.asking.Unlock()
	p.mu.Lock()
	number := p.number
	p.mu.Unlock()
	if number != seen {
		return nil
	}
	req := kmsg.NewPtrInitProducerIDRequest()
	req.TransactionTimeoutMillis = 60_000
	var resp *kmsg.InitProducerIDResponse
	err := retrying(ctx, func() (err error) {
		if resp, err = req.RequestWith(ctx, p.c.cl); err == nil {
			err = kerr.ErrorForCode(resp.ErrorCode)
		}
		return err
	})
	if err != nil {
		if errors.Is(err, kerr.ClusterAuthorizationFailed) || errors.Is(err, kerr.TransactionalIDAuthorizationFailed) {
			return fault.Errorf(fault.KafkaDenied, "kafka at %s: the user may not write idempotently: %w", p.c.seeds, err).
				Fix("grant IDEMPOTENT_WRITE, or set 'properties.enable.idempotence' = 'false'")
		}
		return p.c.unreachable(err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.id, p.epoch = resp.ProducerID, resp.ProducerEpoch
	p.number++
	return nil
}

// newBatch returns an empty batch.
func (p *producer) newBatch() *outBatch {
	var b *outBatch
	select {
	case b = <-p.spare:
	default:
		b = &outBatch{}
	}
	b.reset()
	return b
}

func (p *producer) recycle(b *outBatch) {
	p.buffered.Add(-int64(len(b.buf) - batchHead))
	b.wire = nil
	select {
	case p.spare <- b:
	default:
	}
	p.signalRoom()
}

func (p *producer) signalRoom() {
	select {
	case p.room <- struct{}{}:
	default:
	}
}

// grow counts bytes appended, and waits while more than the bound are buffered.
func (p *producer) grow(ctx context.Context, n int) error {
	if p.buffered.Add(int64(n)) > p.buffer {
		for _, q := range p.parts {
			q.flush() // with many partitions none may have reached the size to be sent
		}
		for p.buffered.Load() > p.buffer {
			select {
			case <-p.room:
			case <-p.failed:
				return p.failure()
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		p.signalRoom() // for the next writer that waits
	}
	return nil
}

func (p *producer) failure() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

// broken is the error that has ended the producer, nil while it works.
func (p *producer) broken() error {
	select {
	case <-p.failed:
		return p.failure()
	default:
		return nil
	}
}

// fail ends the producer with its first error.
func (p *producer) fail(err error) {
	p.mu.Lock()
	if p.err != nil {
		p.mu.Unlock()
		return
	}
	p.err = err
	close(p.failed)
	p.mu.Unlock()
	for _, q := range p.parts {
		q.fail(err)
	}
}

func (p *producer) close() {
	p.stop()
	p.wg.Wait()
}

func (s *sender) signal() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// run sends to one broker until the producer is closed or has failed.
func (p *producer) run(s *sender) {
	defer p.wg.Done()
	broker := p.c.cl.Broker(int(s.id))
	for {
		select {
		case <-p.ctx.Done():
			return
		case <-p.failed:
			return
		default:
		}
		if !p.build(s) {
			select {
			case <-s.wake:
			case <-p.ctx.Done():
			case <-p.failed:
			}
			continue
		}
		resp, err := broker.Request(p.ctx, &s.req)
		if p.ctx.Err() != nil {
			return
		}
		if err != nil {
			p.unanswered(s, err)
			continue
		}
		s.failures = 0
		s.alarm.over()
		p.handle(s, resp.(*kmsg.ProduceResponse))
	}
}

// build makes the next request of at most max.request.size, and reports false when there is nothing to send.
func (p *producer) build(s *sender) bool {
	p.mu.Lock()
	id, epoch, number := p.id, p.epoch, p.number
	p.mu.Unlock()
	s.parts = s.parts[:0]
	r := &s.req
	old := r.Topics
	r.ProduceRequest = kmsg.ProduceRequest{}
	r.Default()
	if len(old) == 0 {
		old = []kmsg.ProduceRequestTopic{kmsg.NewProduceRequestTopic()}
	}
	r.Topics = old
	t := &r.Topics[0]
	t.Topic, t.TopicID, t.Partitions = p.topic, p.topicID, t.Partitions[:0]
	r.noIDs = p.topicID == [16]byte{}
	r.TransactionID = p.txn
	r.Acks, r.TimeoutMillis = p.s.acks, int32(p.s.requestTimeout.Milliseconds())
	size := 0
	s.turn++
	for i := range p.parts {
		q := p.parts[(i+s.turn)%len(p.parts)]
		if q.sender.Load() != s {
			continue
		}
		b := q.take()
		if b == nil || size > 0 && size+len(b.buf) > p.s.maxRequestSize {
			continue // a batch that was taken comes again the next time
		}
		if !b.hasID || b.identity != number {
			if q.nextFor != number {
				q.next, q.nextFor = 0, number
			}
			b.sequence, b.identity, b.hasID = q.next, number, true
			if !p.s.idempotent {
				b.sequence = -1
			}
			q.next = int32((int64(q.next) + int64(b.n)) & 0x7fffffff)
			b.seal(id, epoch, b.sequence, p.txn != nil, s.compressor)
		}
		size += len(b.wire)
		s.parts = append(s.parts, q)
		rp := kmsg.NewProduceRequestTopicPartition()
		rp.Partition, rp.Records = q.id, b.wire
		t.Partitions = append(t.Partitions, rp)
	}
	return len(s.parts) > 0
}

// unanswered handles a request without an answer: what it held is sent again, perhaps to another broker.
func (p *producer) unanswered(s *sender, err error) {
	err = closes(err)
	s.failures++
	if s.failures >= 3 && s.alarm.due(time.Now(), alarmEvery) {
		p.warn(fmt.Sprintf("%s does not answer, trying again: %v", p.c.broker(s.id), err))
	}
	for _, q := range s.parts {
		p.again(q, err)
	}
	p.pause(min(time.Duration(s.failures)*20*time.Millisecond, time.Second))
}

// again leaves q's batch to be sent once more when the leader is known, or ends the job when it has
// been tried for too long.
func (p *producer) again(q *outPartition, cause error) {
	if b := q.sending; time.Since(b.born) > p.s.deliveryTimeout {
		p.fail(tooLate(cause, "kafka %s/%d at %s: %d records could not be written within 'properties.delivery.timeout.ms' = %d", p.topic, q.id, p.c.seeds, b.n, p.s.deliveryTimeout.Milliseconds()))
		return
	}
	q.sender.Store(nil) // from here on another sender may have it
	p.askLeaders()
}

// handle acknowledges, sends again or fails, partition by partition.
func (p *producer) handle(s *sender, resp *kmsg.ProduceResponse) {
	answered := map[int32]*kmsg.ProduceResponseTopicPartition{}
	for i := range resp.Topics {
		for j := range resp.Topics[i].Partitions {
			rp := &resp.Topics[i].Partitions[j]
			answered[rp.Partition] = rp
		}
	}
	troubled := false
	for _, q := range s.parts {
		rp := answered[q.id]
		if rp == nil {
			p.again(q, errors.New("the broker's answer leaves the partition out"))
			troubled = true
			continue
		}
		switch err := kerr.ErrorForCode(rp.ErrorCode); {
		case err == nil, errors.Is(err, kerr.DuplicateSequenceNumber): // written by an attempt whose answer was lost
			p.recycle(q.acknowledge())
		case p.s.idempotent && p.txn == nil && (errors.Is(err, kerr.OutOfOrderSequenceNumber) || errors.Is(err, kerr.UnknownProducerID) || errors.Is(err, kerr.InvalidProducerEpoch) || errors.Is(err, kerr.InvalidProducerIDMapping)):
			// The broker has forgotten this producer. Nothing of the batch was written by this request.
			switch err := p.newIdentity(p.ctx, q.sending.identity); {
			case err == nil || p.ctx.Err() != nil:
			case patience(err) > 0:
				p.again(q, err)
				troubled = true
			default:
				p.fail(err)
			}
		case retriable(err):
			p.again(q, err)
			troubled = true
		default:
			p.fail(p.writeError(q, err, rp))
			return
		}
	}
	if troubled {
		p.pause(20 * time.Millisecond)
	}
}

func (p *producer) writeError(q *outPartition, err error, rp *kmsg.ProduceResponseTopicPartition) error {
	e := answered(err, "kafka %s/%d at %s: %d records were refused: %w", p.topic, q.id, p.c.seeds, q.sending.n, err)
	switch {
	case errors.Is(err, kerr.MessageTooLarge), errors.Is(err, kerr.RecordListTooLarge):
		return e.Fix("the batch has %d bytes: raise the topic's max.message.bytes, or lower 'properties.batch.size'", len(q.sending.wire))
	case errors.Is(err, kerr.TopicAuthorizationFailed):
		return e.Fix("grant WRITE on the topic to the user")
	case rp.ErrorMessage != nil && *rp.ErrorMessage != "":
		e.Err = fmt.Errorf("%w (%s)", e.Err, *rp.ErrorMessage)
	}
	return e
}

func (p *producer) pause(d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-p.ctx.Done():
	case <-p.failed:
	}
}

func (p *producer) askLeaders() {
	select {
	case p.refresh <- struct{}{}:
	default:
	}
}

// manage follows the leaders.
func (p *producer) manage() {
	defer p.wg.Done()
	age := time.NewTicker(max(p.s.metadataMaxAge, time.Second))
	defer age.Stop()
	wait := 10 * time.Millisecond
	var missing time.Time
	var trouble alarm
	for {
		select {
		case <-p.ctx.Done():
			return
		case <-p.failed:
			return
		case <-age.C:
		case <-p.refresh:
		}
		m, err := p.c.metadata(p.ctx, []string{p.topic}, false)
		tm := (*topicMeta)(nil)
		if err == nil {
			tm = m.topics[p.topic]
		}
		switch {
		case err != nil:
			if p.ctx.Err() == nil && trouble.due(time.Now(), alarmEvery) {
				p.warn(fmt.Sprintf("%v; trying again", err))
			}
			p.expire(err)
		case tm == nil:
			if missing.IsZero() {
				missing = time.Now()
			}
			if time.Since(missing) > missingFor {
				p.fail(gone(p.topic, p.c.seeds, nil))
				return
			}
		case isOther(p.topicID, tm.id):
			p.fail(gone(p.topic, p.c.seeds, tm))
			return
		case p.lead(tm):
			wait, missing = 10*time.Millisecond, time.Time{}
			trouble.over()
			continue
		}
		p.pause(wait)
		wait = min(2*wait, time.Second)
		p.askLeaders()
	}
}

// expire ends the job when records have waited for a leader for too long.
func (p *producer) expire(cause error) {
	for _, q := range p.parts {
		if q.sender.Load() != nil {
			continue // its sender looks
		}
		q.mu.Lock()
		b := q.sending
		if b == nil && len(q.sealed) > 0 {
			b = q.sealed[0]
		} else if b == nil {
			b = q.open
		}
		late := b != nil && b.n > 0 && time.Since(b.born) > p.s.deliveryTimeout
		q.mu.Unlock()
		if late {
			p.fail(tooLate(cause, "kafka %s/%d at %s: records could not be written within 'properties.delivery.timeout.ms' = %d", p.topic, q.id, p.c.seeds, p.s.deliveryTimeout.Milliseconds()))
			return
		}
	}
}

// lead hands the partitions to the senders of their leaders, and reports false when one has none.
func (p *producer) lead(tm *topicMeta) bool {
	if n := len(tm.partitions); n > p.known {
		p.known = n
		p.warn(fmt.Sprintf("kafka topic %s grew from %d to %d partitions while it is written: the new ones are not used until a restart, because rows of one key must stay in their partition", p.topic, len(p.parts), len(tm.partitions)))
	}
	all := true
	p.mu.Lock()
	for i, q := range p.parts {
		if i >= len(tm.partitions) || tm.partitions[i].leader < 0 {
			all = false
			continue
		}
		id := tm.partitions[i].leader
		s := p.senders[id]
		if s == nil {
			s = &sender{id: id, wake: make(chan struct{}, 1), compressor: newCompressor(p.s.compression)}
			p.senders[id] = s
			p.wg.Add(1)
			go p.run(s)
		}
		// A sender lets go of a partition itself when a request fails; until then the old leader's answer decides.
		if q.sender.CompareAndSwap(nil, s) {
			s.signal()
		}
	}
	p.mu.Unlock()
	if !all {
		p.expire(errNoLeader)
	}
	return all
}

// newCompressor returns the compressor of that name, nil for none.
func newCompressor(name string) kgo.Compressor {
	codecs := map[string]kgo.CompressionCodec{"gzip": kgo.GzipCompression(), "snappy": kgo.SnappyCompression(), "lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression()}
	codec, ok := codecs[name]
	if !ok {
		return nil
	}
	c, err := kgo.DefaultCompressor(codec)
	if err != nil {
		panic("kafka: " + err.Error()) // the codec is one of those above
	}
	return c
}
