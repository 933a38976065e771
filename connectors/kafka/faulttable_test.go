package kafka

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/internal/embed"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
	"golang.org/x/sync/errgroup"
)

// requests are the kinds of request that a source and a sink make.
var requests = []kmsg.Key{
	kmsg.Produce, kmsg.Fetch, kmsg.ListOffsets, kmsg.Metadata, kmsg.OffsetCommit, kmsg.OffsetFetch, kmsg.FindCoordinator, kmsg.ApiVersions,
	kmsg.CreateTopics, kmsg.InitProducerID, kmsg.OffsetForLeaderEpoch, kmsg.DescribeConfigs,
}

// setback makes n requests of a kind fail and returns how many have.
type setback func(b *faultyBroker, key kmsg.Key, n int) (hits func() int)

// connectionFaults are those that any request can meet.
var connectionFaults = map[string]setback{
	"disconnect": func(b *faultyBroker, key kmsg.Key, n int) func() int {
		return b.control(key, n, func() (error, bool) { return errors.New("the connection breaks"), true })
	},
	"answer lost": func(b *faultyBroker, key kmsg.Key, n int) func() int {
		return b.control(key, n, func() (error, bool) { b.cut.Add(1); return nil, false })
	},
	"slow": func(b *faultyBroker, key kmsg.Key, n int) func() int {
		return b.control(key, n, func() (error, bool) {
			b.Cluster().SleepControl(func() { time.Sleep(50 * time.Millisecond) })
			return nil, false
		})
	},
	"no answer": func(b *faultyBroker, key kmsg.Key, n int) func() int {
		return b.control(key, n, func() (error, bool) {
			b.Cluster().SleepControl(func() { time.Sleep(requestTimeout + requestTimeout/2) })
			return nil, false
		})
	},
}

// retriableAnswers are the errors that another attempt may cure.
var retriableAnswers = []*kerr.Error{
	kerr.UnknownTopicOrPartition, kerr.LeaderNotAvailable, kerr.NotLeaderForPartition, kerr.RequestTimedOut, kerr.ReplicaNotAvailable,
	kerr.NetworkException, kerr.CoordinatorLoadInProgress, kerr.CoordinatorNotAvailable, kerr.NotCoordinator, kerr.NotEnoughReplicas,
	kerr.NotEnoughReplicasAfterAppend, kerr.NotController, kerr.KafkaStorageError, kerr.FencedLeaderEpoch, kerr.UnknownLeaderEpoch,
	kerr.OffsetNotAvailable, kerr.UnknownTopicID, kerr.ThrottlingQuotaExceeded, kerr.CorruptMessage,
}

// faultyBroker is a cluster of two brokers whose connections can be cut.
type faultyBroker struct {
	*embed.Broker
	cut  atomic.Int64 // answers that are yet to be lost, with their connections
	lose atomic.Int64 // answers until one is lost likewise, whatever it answers; 0 or less: none is
	calm atomic.Bool  // no fault strikes any more
}

// cutConn loses an answer and its connection when told to.
type cutConn struct {
	net.Conn
	b *faultyBroker
}

func (c cutConn) Write(p []byte) (int, error) {
	n := c.b.cut.Load()
	if n > 0 && c.b.cut.CompareAndSwap(n, n-1) || c.b.lose.Add(-1) == 0 {
		c.Close()
		return 0, net.ErrClosed
	}
	return c.Conn.Write(p)
}

type cutListener struct {
	net.Listener
	b *faultyBroker
}

func (l cutListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return cutConn{c, l.b}, nil
}

func startFaulty() (*faultyBroker, error) {
	f := &faultyBroker{}
	b, err := embed.StartWith(kfake.NumBrokers(2), kfake.SeedTopics(2, "t"), kfake.SleepOutOfOrder(), kfake.ListenFn(func(network, address string) (net.Listener, error) {
		l, err := net.Listen(network, address)
		return cutListener{l, f}, err
	}))
	f.Broker = b
	return f, err
}

// control has the next n requests of a kind meet act.
func (b *faultyBroker) control(key kmsg.Key, n int, act func() (error, bool)) (hits func() int) {
	var hit atomic.Int64
	b.Cluster().ControlKey(int16(key), func(kmsg.Request) (kmsg.Response, error, bool) {
		b.Cluster().KeepControl()
		if b.calm.Load() || hit.Add(1) > int64(n) {
			return nil, nil, false
		}
		err, handled := act()
		return nil, err, handled
	})
	return func() int { return int(min(hit.Load(), int64(n))) }
}

// answering makes requests of a kind be answered with an error.
func answering(e *kerr.Error) setback {
	return func(b *faultyBroker, key kmsg.Key, n int) func() int {
		stirred := func(kmsg.Request) bool { return !b.calm.Load() }
		return b.Cluster().Fault(
			kfake.Fault{Keys: []kmsg.Key{key}, Err: e, Count: n, When: stirred},
			kfake.Fault{Keys: []kmsg.Key{key}, Err: e, Count: n, When: stirred, TopLevel: true},
		).Hits
	}
}

const (
	pipeRows = 40
	// requestTimeout is short, for the requests that get no answer, and long enough for all others on a busy machine.
	requestTimeout = time.Second
	// atOnce is how many cases run at the same time. They mostly wait.
	atOnce = 12
)

// pipe copies a topic to a new one, committing group offsets, while leaders move; faults strike at the opening and
// in mid-run. It returns the warnings.
func pipe(t *testing.T, b *faultyBroker, strike func()) (warned string, err error) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	more := []string{"properties.request.timeout.ms", strconv.FormatInt(requestTimeout.Milliseconds(), 10), "properties.group.id", "g", "properties.metadata.max.age.ms", "200"}
	in := table(b.Addr(), append(more, "scan.startup.mode", "group-offsets", "properties.auto.offset.reset", "earliest")...)
	out := table(b.Addr(), append(more, "topic", "out", "sink.topic.partitions", "2")...)
	strike()
	src, w, err := tryOpen(in, nil)
	if err != nil {
		return "", err
	}
	w2 := &warnings{}
	defer func() {
		src.Close() // waits for the last commit of offsets
		warned = w.all() + "\n" + w2.all()
	}()
	s, w2, err := tryOpenSink(out, spi.AppendOnly, 1)
	if err != nil {
		return "", err
	}
	defer s.Close()
	strike()
	r, wr := src.Reader(0), s.Writer(0)
	for n := 0; n < pipeRows; {
		var batch = batchOf()
		k, err := r.Read(batch, 5)
		if err != nil {
			return "", err
		}
		if n < pipeRows/2 && n+k >= pipeRows/2 {
			b.Cluster().ShufflePartitionLeaders()
		}
		n += k
		if k == 0 {
			select {
			case <-r.Ready():
			case <-ctx.Done():
				return "", fmt.Errorf("%d of %d records were read; warnings %s", n, pipeRows, w.all())
			}
			continue
		}
		if err := wr.Write(ctx, batch); err != nil {
			return "", err
		}
		if err := tryBarrier(wr, uint64(n)); err != nil {
			return "", err
		}
		src.Committed(ctx, r.Positions(nil))
	}
	return warned, nil
}

// TestFaultTable has every kind of request meet every kind of fault. The job must go on by itself, and no record may
// be missing or come twice.
func TestFaultTable(t *testing.T) {
	t.Parallel()
	var tried atomic.Int64
	var cases errgroup.Group
	cases.SetLimit(atOnce)
	try := func(name string, key kmsg.Key, f setback) {
		cases.Go(func() error {
			struck, err := survives(t, func(b *faultyBroker) func() int { return f(b, key, 2) })
			if err != nil {
				t.Errorf("%s/%s: %v", key.Name(), name, err)
			} else if struck > 0 {
				tried.Add(1)
			}
			return nil
		})
	}
	for _, key := range requests {
		for name, f := range connectionFaults {
			try(name, key, f)
		}
		for _, e := range retriableAnswers {
			try(e.Message, key, answering(e))
		}
	}
	_ = cases.Wait() // they have told
	if n := tried.Load(); n < 100 {
		t.Errorf("only %d faults were met", n)
	}
	t.Logf("%d faults", tried.Load())
}

// TestEveryAnswerLost loses one answer of a run, with its connection, for each answer from the first that opening the
// source gets.
func TestEveryAnswerLost(t *testing.T) {
	t.Parallel()
	var lost atomic.Int64
	var cases errgroup.Group
	cases.SetLimit(atOnce)
	for n := range int64(100) {
		cases.Go(func() error {
			armed := false
			struck, err := survives(t, func(b *faultyBroker) func() int {
				if !armed {
					b.lose.Store(n + 1)
				}
				armed = true
				return func() int { return int(min(max(1-b.lose.Load(), 0), 1)) }
			})
			if err != nil {
				t.Errorf("answer %d lost: %v", n+1, err)
			} else if struck > 0 {
				lost.Add(1)
			}
			return nil
		})
	}
	_ = cases.Wait() // they have told
	// How many a run has is a matter of pace: metadata is asked for again and again, and fetches hold more records or fewer.
	if n := lost.Load(); n < 25 {
		t.Errorf("only %d answers were lost", n)
	}
	t.Logf("%d answers", lost.Load())
}

// survives runs pipe while faults strike, and returns how many did.
func survives(t *testing.T, strike func(b *faultyBroker) (hits func() int)) (struck int, err error) {
	b, err := startFaulty()
	if err != nil {
		return 0, err
	}
	defer b.Close()
	var rs []embed.Record
	for i := range pipeRows {
		rs = append(rs, embed.Record{Topic: "t", Key: fmt.Append(nil, i), Value: fmt.Appendf(nil, "%d|x", i)})
	}
	if err := b.Produce(t.Context(), rs...); err != nil {
		return 0, err
	}
	var hits []func() int
	if _, err := pipe(t, b, func() { hits = append(hits, strike(b)) }); err != nil {
		return 0, err
	}
	for _, h := range hits {
		struck += h()
	}
	b.calm.Store(true)
	b.cut.Store(0)
	b.lose.Store(0)
	got, err := b.Consume(t.Context(), "out", pipeRows)
	if err != nil {
		return 0, err
	}
	seen := map[string]bool{}
	for _, r := range got {
		seen[string(r.Value)] = true
	}
	if b.Len("out") != pipeRows || len(seen) != pipeRows {
		return 0, fmt.Errorf("%d records, %d different", b.Len("out"), len(seen))
	}
	return struck, nil
}
