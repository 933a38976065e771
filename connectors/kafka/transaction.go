package kafka

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/internal/fault"
)

// transaction runs the transactions of one transactional id, one at a time.
type transaction struct {
	t  *outTopic
	id string // also the group that holds the marker

	producerID int64
	epoch      int16
	p          *producer // nil until there are records to send
	ready      bool      // init is done and nothing has failed since
	open       bool      // a transaction has begun and is not known to have ended
	began      time.Time // when it did
	added      []bool    // partitions that belong to it
}

const (
	// lotSize is how much is gathered before the partitions in it are made known to the transaction's coordinator.
	lotSize = 4 << 20
	// concurrentPause is the first pause before asking again while the coordinator still ends the transaction before.
	concurrentPause = 2 * time.Millisecond
)

func newTransaction(t *outTopic, id string) *transaction {
	return &transaction{t: t, id: id, producerID: -1, epoch: -1, added: make([]bool, t.use)}
}

// fault gives an error its place. Errors that reach the broker have their own.
func (x *transaction) fault(what string, err error) error {
	var ke *kerr.Error
	if !errors.As(err, &ke) && !errors.Is(err, errLeftOut) {
		return x.t.c.unreachable(err)
	}
	e := answered(err, "kafka topic %s at %s: %s: %w", x.t.cfg.topic, x.t.c.seeds, what, err)
	switch {
	case (errors.Is(err, kerr.ProducerFenced) || errors.Is(err, kerr.InvalidProducerEpoch)) && x.open && time.Since(x.began) > x.t.cfg.transactionTimeout:
		e.Err = fmt.Errorf("%w: a transaction was open for %s, and the broker ends one after 'properties.transaction.timeout.ms' = %d: this process or the broker stood still; or another process has started with transactional id %s",
			e.Err, time.Since(x.began).Round(time.Second), x.t.cfg.transactionTimeout.Milliseconds(), x.id)
		return e.Fix("start again: nothing is lost, and nothing is written twice")
	case errors.Is(err, kerr.ProducerFenced), errors.Is(err, kerr.InvalidProducerEpoch):
		e.Err = fmt.Errorf("%w: another process has started with transactional id %s, and writes from now on; this one ends", e.Err, x.id)
		return e.Fix("if both are to run, give each 'sink.transactional-id-prefix' and topic of its own")
	case errors.Is(err, kerr.TransactionalIDAuthorizationFailed):
		return e.Fix("grant WRITE and DESCRIBE on transactional id %s to the user", x.id)
	case errors.Is(err, kerr.GroupAuthorizationFailed):
		return e.Fix("grant READ on group %s, which holds the marker, to the user", x.id)
	case errors.Is(err, kerr.TopicAuthorizationFailed):
		return e.Fix("grant WRITE and READ on the topic to the user")
	case errors.Is(err, kerr.InvalidTransactionTimeout):
		return e.Fix("lower 'properties.transaction.timeout.ms' to the broker's transaction.max.timeout.ms at most")
	}
	return e
}

// curable tells errors after which a transaction can be tried again.
func curable(err error) bool {
	var b finalError
	if errors.As(err, &b) {
		return false
	}
	var ke *kerr.Error
	if !errors.As(err, &ke) {
		return true // no answer, or none in time
	}
	switch ke {
	case kerr.ConcurrentTransactions, kerr.InvalidTxnState, kerr.UnknownProducerID, kerr.OutOfOrderSequenceNumber, kerr.InvalidProducerIDMapping,
		kerr.OperationNotAttempted, kerr.TransactionAbortable, kerr.UnstableOffsetCommit:
		return true
	}
	return retriable(err)
}

// finalError is one that no other attempt can cure, whatever it wraps.
type finalError struct{ error }

func (e finalError) Unwrap() error { return e.error }

// busy are the answers of a coordinator that is still ending the transaction before, or becoming the coordinator: a
// cluster's first transaction has the topics of the coordinators made, which takes it seconds.
var busy = []error{kerr.ConcurrentTransactions, kerr.UnstableOffsetCommit, kerr.CoordinatorNotAvailable, kerr.CoordinatorLoadInProgress, kerr.NotCoordinator}

// patiently asks until the coordinator is not busy, or ctx ends.
func patiently(ctx context.Context, ask func() error) error {
	for pause := concurrentPause; ; pause = min(2*pause, 100*time.Millisecond) {
		err := ask()
		if !slices.ContainsFunc(busy, func(e error) bool { return errors.Is(err, e) }) {
			return err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return err
		}
	}
}

var errLeftOut = errors.New("the broker's answer leaves something out")

// init fences whoever else has the transactional id and waits until the transaction before has ended, this process's
// own included. From its second call on it fails when this process was fenced itself.
func (x *transaction) init(ctx context.Context) error {
	x.discard()
	ctx, cancel := context.WithTimeout(ctx, x.t.cfg.transactionTimeout)
	defer cancel()
	err := patiently(ctx, func() error {
		req := kmsg.NewPtrInitProducerIDRequest()
		req.TransactionalID = &x.id
		req.TransactionTimeoutMillis = int32(x.t.cfg.transactionTimeout.Milliseconds())
		req.ProducerID, req.ProducerEpoch = x.producerID, x.epoch
		resp, err := req.RequestWith(ctx, x.t.c.cl)
		if err != nil {
			return err
		}
		if err := kerr.ErrorForCode(resp.ErrorCode); err != nil {
			return err
		}
		x.producerID, x.epoch = resp.ProducerID, resp.ProducerEpoch
		return nil
	})
	if errors.Is(err, kerr.InvalidProducerIDMapping) && x.producerID >= 0 {
		// The broker has forgotten the id, which was idle for too long. Whoever may have used it since, the marker shows.
		x.producerID, x.epoch = -1, -1
		return x.init(ctx)
	}
	if err != nil {
		return x.fault("InitProducerID", err)
	}
	x.ready, x.open = true, false
	return nil
}

// discard lets the producer go: its sequence numbers are of no more use.
func (x *transaction) discard() {
	x.ready = false
	if x.p != nil {
		x.p.close()
		x.p = nil
	}
	clear(x.added)
}

// run is one transaction: the records of the blocks, and the marker. After an error init comes next.
func (x *transaction) run(ctx context.Context, marker string, blocks spi.Blocks) error {
	if !x.ready {
		return errNotReady
	}
	x.ready = false
	if err := x.send(ctx, blocks); err != nil {
		return err
	}
	if err := x.commitMarker(ctx, marker); err != nil {
		return err
	}
	if x.p != nil {
		if err := x.awaitAll(ctx); err != nil {
			return err
		}
	}
	if err := x.end(ctx, true); err != nil {
		return err
	}
	x.open, x.ready = false, true
	clear(x.added)
	return nil
}

var errNotReady = errors.New("the transaction before has not ended")

// send hands the batches to the producer.
func (x *transaction) send(ctx context.Context, blocks spi.Blocks) error {
	var lot []*outBatch
	size := 0
	for block, err := range blocks {
		if err != nil {
			return finalError{err}
		}
		if x.p == nil {
			if err := x.newProducer(ctx); err != nil {
				return err
			}
		}
		b := x.p.newBatch()
		b.load(block)
		lot = append(lot, b)
		if size += len(b.buf); size >= lotSize {
			if err := x.sendLot(ctx, lot); err != nil {
				return err
			}
			lot, size = lot[:0], 0
		}
	}
	return x.sendLot(ctx, lot)
}

// newProducer makes the producer when the first records come.
func (x *transaction) newProducer(ctx context.Context) error {
	m, err := x.t.c.metadata(ctx, []string{x.t.cfg.topic}, false)
	if err != nil {
		return err
	}
	tm := m.topics[x.t.cfg.topic]
	switch {
	case tm == nil, isOther(x.t.meta.id, tm.id):
		return finalError{gone(x.t.cfg.topic, x.t.c.seeds, tm)}
	}
	x.p = newProducer(x.t)
	x.p.txn, x.p.id, x.p.epoch, x.p.number = &x.id, x.producerID, x.epoch, 1
	x.p.start(tm)
	return nil
}

func (x *transaction) sendLot(ctx context.Context, lot []*outBatch) error {
	var fresh []int32
	for _, b := range lot {
		if p := int(be64(b.wire, 0)); p >= len(x.added) {
			return finalError{fault.Errorf(fault.KafkaTopicChanged, "kafka topic %s at %s has %d partitions, and the output that waits for it is for partition %d too: it was deleted and created again with fewer", x.t.cfg.topic, x.t.c.seeds, len(x.added), p).Fix("give it as many partitions as it had, and start again")}
		} else if !x.added[p] {
			x.added[p] = true
			fresh = append(fresh, int32(p))
		}
	}
	if len(fresh) > 0 {
		if err := x.addPartitions(ctx, fresh); err != nil {
			return err
		}
	}
	for _, b := range lot {
		n := len(b.buf) - batchHead
		x.p.parts[be64(b.wire, 0)].put(b)
		if err := x.p.grow(ctx, n); err != nil {
			return err
		}
	}
	return nil
}

func (x *transaction) addPartitions(ctx context.Context, partitions []int32) error {
	x.begin()
	err := patiently(ctx, func() error {
		req := kmsg.NewPtrAddPartitionsToTxnRequest()
		req.TransactionalID, req.ProducerID, req.ProducerEpoch = x.id, x.producerID, x.epoch
		rt := kmsg.NewAddPartitionsToTxnRequestTopic()
		rt.Topic, rt.Partitions = x.t.cfg.topic, partitions
		req.Topics = append(req.Topics, rt)
		resp, err := req.RequestWith(ctx, x.t.c.cl)
		if err != nil {
			return err
		}
		n := 0
		var skipped error
		for _, t := range resp.Topics {
			for _, p := range t.Partitions {
				n++
				switch err := kerr.ErrorForCode(p.ErrorCode); {
				case errors.Is(err, kerr.OperationNotAttempted): // because of another one
					skipped = err
				case err != nil:
					return err
				}
			}
		}
		if skipped == nil && n != len(partitions) {
			return errLeftOut
		}
		return skipped
	})
	if err != nil {
		return x.fault("AddPartitionsToTxn", err)
	}
	return nil
}

// begin notes that the coordinator may know of a transaction from now on.
func (x *transaction) begin() {
	if !x.open {
		x.open, x.began = true, time.Now()
	}
}

// commitMarker makes the marker part of the transaction.
func (x *transaction) commitMarker(ctx context.Context, marker string) error {
	x.begin()
	err := patiently(ctx, func() error {
		req := kmsg.NewPtrAddOffsetsToTxnRequest()
		req.TransactionalID, req.ProducerID, req.ProducerEpoch, req.Group = x.id, x.producerID, x.epoch, x.id
		resp, err := req.RequestWith(ctx, x.t.c.cl)
		if err != nil {
			return err
		}
		return kerr.ErrorForCode(resp.ErrorCode)
	})
	if err != nil {
		return x.fault("AddOffsetsToTxn", err)
	}
	err = patiently(ctx, func() error {
		req := kmsg.NewPtrTxnOffsetCommitRequest()
		req.TransactionalID, req.ProducerID, req.ProducerEpoch, req.Group = x.id, x.producerID, x.epoch, x.id
		rt := kmsg.NewTxnOffsetCommitRequestTopic()
		rt.Topic = x.t.cfg.topic
		rp := kmsg.NewTxnOffsetCommitRequestTopicPartition()
		rp.Metadata = &marker
		rt.Partitions = append(rt.Partitions, rp)
		req.Topics = append(req.Topics, rt)
		resp, err := req.RequestWith(ctx, x.t.c.cl)
		if err != nil {
			return err
		}
		if len(resp.Topics) != 1 || len(resp.Topics[0].Partitions) != 1 {
			return errLeftOut
		}
		return kerr.ErrorForCode(resp.Topics[0].Partitions[0].ErrorCode)
	})
	if err != nil {
		return x.fault("TxnOffsetCommit", err)
	}
	return nil
}

// awaitAll waits until everything sent is acknowledged.
func (x *transaction) awaitAll(ctx context.Context) error {
	acked := make(chan error, 1)
	e := &epochWait{ack: func(err error) { acked <- err }}
	e.left.Store(1)
	for _, q := range x.p.parts {
		q.mu.Lock()
		target := q.appended
		q.mu.Unlock()
		q.await(target, e)
	}
	e.done(x.p.broken())
	select {
	case err := <-acked:
		if err != nil && (errors.Is(err, kerr.InvalidProducerEpoch) || errors.Is(err, kerr.ProducerFenced)) {
			return x.fault("Produce", err)
		}
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (x *transaction) end(ctx context.Context, commit bool) error {
	err := patiently(ctx, func() error {
		req := kmsg.NewPtrEndTxnRequest()
		req.TransactionalID, req.ProducerID, req.ProducerEpoch, req.Commit = x.id, x.producerID, x.epoch, commit
		resp, err := req.RequestWith(ctx, x.t.c.cl)
		if err != nil {
			return err
		}
		return kerr.ErrorForCode(resp.ErrorCode)
	})
	if err != nil {
		return x.fault("EndTxn", err)
	}
	return nil
}

// readMarker reads the marker. After init there is no transaction under way that would change it; before, it is as
// the last one that ended left it.
func (x *transaction) readMarker(ctx context.Context) (marker string, found bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, x.t.cfg.transactionTimeout)
	defer cancel()
	err = patiently(ctx, func() error {
		req := kmsg.NewPtrOffsetFetchRequest()
		req.RequireStable = x.producerID >= 0
		rg := kmsg.NewOffsetFetchRequestGroup()
		rg.Group = x.id
		rt := kmsg.NewOffsetFetchRequestGroupTopic()
		rt.Topic, rt.Partitions = x.t.cfg.topic, []int32{0}
		rg.Topics = append(rg.Topics, rt)
		req.Groups = append(req.Groups, rg)
		resp, err := req.RequestWith(ctx, x.t.c.cl)
		if err != nil {
			return err
		}
		if len(resp.Groups) != 1 {
			return errLeftOut
		}
		g := &resp.Groups[0]
		if err := kerr.ErrorForCode(g.ErrorCode); err != nil {
			if errors.Is(err, kerr.GroupIDNotFound) {
				return nil
			}
			return err
		}
		for _, t := range g.Topics {
			for _, p := range t.Partitions {
				if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
					return err
				}
				if p.Offset >= 0 && p.Metadata != nil {
					marker, found = *p.Metadata, true
				}
			}
		}
		return nil
	})
	if err != nil {
		return "", false, x.fault("OffsetFetch", err)
	}
	return marker, found, nil
}

// close ends a transaction that is under way, so that its topic's readers need not wait until it times out.
func (x *transaction) close() {
	x.discard()
	if !x.open {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	_ = x.end(ctx, false) // or it does time out
}
