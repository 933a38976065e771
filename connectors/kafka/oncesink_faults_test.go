package kafka

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/changelog"
)

// transactionKeys are the requests that a transaction consists of.
var transactionKeys = []kmsg.Key{kmsg.AddPartitionsToTxn, kmsg.Produce, kmsg.AddOffsetsToTxn, kmsg.TxnOffsetCommit, kmsg.EndTxn}

// Whatever curable answer a request of a transaction gets, the work being done or not, and whether its connection
// breaks: the records are in the topic once, with their marker.
func TestOnceSinkCures(t *testing.T) {
	t.Parallel()
	answers := []*kerr.Error{
		nil, // no answer
		kerr.RequestTimedOut, kerr.ConcurrentTransactions, kerr.CoordinatorLoadInProgress, kerr.NotCoordinator, kerr.CoordinatorNotAvailable,
		kerr.InvalidTxnState, kerr.InvalidProducerIDMapping, kerr.UnknownProducerID, kerr.OutOfOrderSequenceNumber, kerr.NotEnoughReplicasAfterAppend,
		kerr.NotLeaderForPartition, kerr.UnknownTopicOrPartition, kerr.TransactionAbortable,
	}
	for _, key := range transactionKeys {
		t.Run(key.Name(), func(t *testing.T) {
			t.Parallel()
			b := startBroker(t)
			createTopic(t, b, "out", 2)
			s, _, _ := fenced(t, onceTable(b.Addr()))
			want := 0
			for i, answer := range answers {
				var hits func() int
				if answer == nil {
					var n atomic.Int64
					b.Cluster().ControlKey(key.Int16(), func(kmsg.Request) (kmsg.Response, error, bool) {
						n.Add(1)
						return nil, errors.New("the connection breaks"), true
					})
					hits = func() int { return int(n.Load()) }
				} else {
					f := b.Cluster().Fault(kfake.Fault{Keys: []kmsg.Key{key}, Err: answer, TopLevel: key == kmsg.EndTxn || key == kmsg.AddOffsetsToTxn})
					hits = f.Hits
					defer f.Remove()
				}
				var cs []change
				for j := range 20 {
					want++
					cs = append(cs, change{changelog.Insert, int64(i*100 + j), "x"})
				}
				m := marker(uint64(i + 1))
				if err := s.Deliver(t.Context(), m, pack(t, s, cs...).all); err != nil {
					t.Fatalf("answer %v: %v", answer, err)
				}
				if hits() == 0 {
					t.Errorf("answer %v was not given", answer)
				}
				if got, found, err := s.Marker(t.Context()); err != nil || !found || got != m {
					t.Errorf("answer %v: marker %v, %v, %v", answer, got, found, err)
				}
			}
			inTopic(t, b, "out", want)
		})
	}
}

// What no other attempt cures ends the delivery, names the remedy, and leaves nothing to be seen.
func TestOnceSinkFatalAnswers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		key    kmsg.Key
		answer *kerr.Error
		want   string
	}{
		{kmsg.AddPartitionsToTxn, kerr.TransactionalIDAuthorizationFailed, "grant WRITE and DESCRIBE on transactional id p-"},
		{kmsg.AddPartitionsToTxn, kerr.TopicAuthorizationFailed, "grant WRITE and READ on the topic"},
		{kmsg.AddPartitionsToTxn, kerr.ProducerFenced, "another process"},
		{kmsg.TxnOffsetCommit, kerr.GroupAuthorizationFailed, "grant READ on group p-"},
		{kmsg.Produce, kerr.InvalidProducerEpoch, "another process"},
		{kmsg.Produce, kerr.MessageTooLarge, "max.message.bytes"},
		{kmsg.EndTxn, kerr.ProducerFenced, "another process"},
	} {
		t.Run(fmt.Sprint(c.key.Name(), c.answer.Code), func(t *testing.T) {
			t.Parallel()
			b := startBroker(t)
			createTopic(t, b, "out", 2)
			s, _, _ := fenced(t, onceTable(b.Addr()))
			if err := s.Deliver(t.Context(), marker(1), pack(t, s, change{changelog.Insert, 1, "a"}).all); err != nil {
				t.Fatal(err)
			}
			b.Cluster().Fault(kfake.Fault{Keys: []kmsg.Key{c.key}, Err: c.answer, TopLevel: c.key == kmsg.EndTxn, Count: -1})
			start := time.Now()
			err := s.Deliver(t.Context(), marker(2), pack(t, s, change{changelog.Insert, 2, "b"}, change{changelog.Insert, 3, "c"}).all)
			wantError(t, start, err, "kafka", c.want)
			inTopic(t, b, "out", 1)
		})
	}
}

// A block that cannot be read leaves nothing to be seen, and the next start has the old marker.
func TestOnceSinkBrokenBlock(t *testing.T) {
	t.Parallel()
	b := startBroker(t)
	createTopic(t, b, "out", 1)
	s, _, _ := fenced(t, onceTable(b.Addr()))
	if err := s.Deliver(t.Context(), marker(1), pack(t, s, change{changelog.Insert, 1, "a"}).all); err != nil {
		t.Fatal(err)
	}
	damaged := errors.New("damaged")
	out := pack(t, s, change{changelog.Insert, 2, "b"})
	err := s.Deliver(t.Context(), marker(2), func(yield func([]byte, error) bool) {
		if yield(out.blocks[0], nil) {
			yield(nil, damaged)
		}
	})
	if !errors.Is(err, damaged) {
		t.Errorf("%v", err)
	}
	if err := s.Close(); err != nil { // which ends the transaction
		t.Error(err)
	}
	inTopic(t, b, "out", 1)
	if _, m, _ := fenced(t, onceTable(b.Addr())); m != marker(1) {
		t.Errorf("marker %v", m)
	}
}

// A transaction that takes too long is given up, and delivered again.
func TestOnceSinkSlow(t *testing.T) {
	t.Parallel()
	b := startBroker(t)
	createTopic(t, b, "out", 1)
	s, _, _ := fenced(t, onceTable(b.Addr(), "properties.transaction.timeout.ms", "800"))
	c := b.Cluster()
	c.ControlKey(kmsg.Produce.Int16(), func(kmsg.Request) (kmsg.Response, error, bool) {
		c.DropControl()
		c.SleepControl(func() { time.Sleep(900 * time.Millisecond) })
		return nil, nil, false
	})
	if err := s.Deliver(t.Context(), marker(1), pack(t, s, change{changelog.Insert, 1, "a"}).all); err != nil {
		t.Fatal(err)
	}
	inTopic(t, b, "out", 1)
}

// The broker forgets a transactional id that was idle for too long: the next transaction asks for a new one.
func TestOnceSinkExpiredID(t *testing.T) {
	t.Parallel()
	b := startBroker(t)
	createTopic(t, b, "out", 1)
	s, _, _ := fenced(t, onceTable(b.Addr()))
	if err := s.Deliver(t.Context(), marker(1), pack(t, s, change{changelog.Insert, 1, "a"}).all); err != nil {
		t.Fatal(err)
	}
	var forgotten atomic.Int64 // the producer id that nothing is known of any more
	forgotten.Store(s.(*onceSink).txn.producerID)
	refuse := func(key kmsg.Key, answer func(kmsg.Request) kmsg.Response) {
		b.Cluster().ControlKey(key.Int16(), func(r kmsg.Request) (kmsg.Response, error, bool) {
			b.Cluster().KeepControl()
			if resp := answer(r); resp != nil {
				return resp, nil, true
			}
			return nil, nil, false
		})
	}
	refuse(kmsg.InitProducerID, func(r kmsg.Request) kmsg.Response {
		if req := r.(*kmsg.InitProducerIDRequest); req.ProducerID == forgotten.Load() {
			resp := req.ResponseKind().(*kmsg.InitProducerIDResponse)
			resp.ErrorCode = kerr.InvalidProducerIDMapping.Code
			return resp
		}
		return nil
	})
	asked := 0
	refuse(kmsg.AddPartitionsToTxn, func(r kmsg.Request) kmsg.Response {
		req := r.(*kmsg.AddPartitionsToTxnRequest)
		if asked++; asked > 1 {
			return nil
		}
		resp := req.ResponseKind().(*kmsg.AddPartitionsToTxnResponse)
		for _, t := range req.Topics {
			rt := kmsg.NewAddPartitionsToTxnResponseTopic()
			rt.Topic = t.Topic
			for _, p := range t.Partitions {
				rt.Partitions = append(rt.Partitions, kmsg.AddPartitionsToTxnResponseTopicPartition{Partition: p, ErrorCode: kerr.InvalidProducerIDMapping.Code})
			}
			resp.Topics = append(resp.Topics, rt)
		}
		return resp
	})
	if err := s.Deliver(t.Context(), marker(2), pack(t, s, change{changelog.Insert, 2, "b"}).all); err != nil {
		t.Fatal(err)
	}
	if m, found, err := s.Marker(t.Context()); err != nil || !found || m != marker(2) || asked < 2 {
		t.Errorf("marker %v, %v, %v; asked %d times", m, found, err, asked)
	}
	inTopic(t, b, "out", 2)
}

// A transaction that the broker ended, because process or broker stood still for too long, is not blamed on another
// process alone.
func TestOnceSinkTimedOut(t *testing.T) {
	t.Parallel()
	b := startBroker(t)
	createTopic(t, b, "out", 1)
	s, _, _ := fenced(t, onceTable(b.Addr(), "properties.transaction.timeout.ms", "800"))
	x := s.(*onceSink).txn
	x.begin()
	x.began = x.began.Add(-2 * time.Second)
	b.Cluster().Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.AddPartitionsToTxn}, Err: kerr.ProducerFenced})
	start := time.Now()
	wantError(t, start, s.Deliver(t.Context(), marker(1), pack(t, s, change{changelog.Insert, 1, "a"}).all), "kafka topic out", "open for 2s", "'properties.transaction.timeout.ms' = 800", "or another process", "start again")
}

// Output for more partitions than the topic has is refused by name.
func TestOnceSinkFewerPartitions(t *testing.T) {
	t.Parallel()
	b := startBroker(t)
	createTopic(t, b, "wide", 8)
	createTopic(t, b, "out", 1)
	wide, _, _ := fenced(t, onceTable(b.Addr(), "topic", "wide"))
	var cs []change
	for i := range 40 {
		cs = append(cs, change{changelog.Insert, int64(i), "x"})
	}
	out := pack(t, wide, cs...)
	s, _, _ := fenced(t, onceTable(b.Addr()))
	start := time.Now()
	wantError(t, start, s.Deliver(t.Context(), marker(1), out.all), "kafka topic out", "1 partitions", "partition")
}

// Somebody else's group is not taken for a marker.
func TestOnceSinkForeignGroup(t *testing.T) {
	t.Parallel()
	b := startBroker(t)
	createTopic(t, b, "out", 1)
	s := openOnce(t, onceTable(b.Addr()), 1).(*onceSink)
	req := kmsg.NewPtrOffsetCommitRequest()
	req.Group = s.txn.id
	rt := kmsg.NewOffsetCommitRequestTopic()
	rt.Topic = "out"
	rp := kmsg.NewOffsetCommitRequestTopicPartition()
	rp.Offset, rp.Metadata = 5, kmsg.StringPtr("mine")
	rt.Partitions = append(rt.Partitions, rp)
	req.Topics = append(req.Topics, rt)
	if _, err := req.RequestWith(t.Context(), s.c.cl); err != nil {
		t.Fatal(err)
	}
	_, _, err := s.Marker(t.Context())
	wantError(t, time.Now(), err, "kafka group p-", "mine", "sink.transactional-id-prefix")
}

var _ spi.TransactionalSink = (*onceSink)(nil)
