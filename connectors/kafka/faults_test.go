package kafka

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/internal/embed"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// wantError checks an error's text and that it came in time.
func wantError(t *testing.T, start time.Time, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatal("no error")
	}
	for _, p := range parts {
		if !strings.Contains(err.Error(), p) {
			t.Errorf("error %q does not say %q", err, p)
		}
	}
	if d := time.Since(start); d > time.Minute {
		t.Errorf("it took %v", d)
	}
	t.Logf("%v: %v", time.Since(start).Round(time.Millisecond), err)
}

func TestUnknownTopic(t *testing.T) {
	t.Parallel()
	b := startBroker(t)
	createTopic(t, b, "users", 1)
	start := time.Now()
	_, _, err := tryOpen(table(b.Addr(), "topic", "usres"), nil)
	wantError(t, start, err, `"usres" does not exist at `+b.Addr(), `did you mean "users"?`)
	c := b.Cluster()
	c.ControlKey(3, func(req kmsg.Request) (kmsg.Response, error, bool) { // another cluster than the embedded one
		c.KeepControl()
		resp := req.ResponseKind().(*kmsg.MetadataResponse)
		for _, rt := range req.(*kmsg.MetadataRequest).Topics {
			mt := kmsg.NewMetadataResponseTopic()
			mt.Topic, mt.ErrorCode = rt.Topic, kerr.UnknownTopicOrPartition.Code
			resp.Topics = append(resp.Topics, mt)
		}
		return resp, nil, true
	})
	_, _, err = tryOpenSink(table(b.Addr(), "topic", "out"), spi.AppendOnly, 1)
	wantError(t, time.Now(), err, `"out" does not exist`, "kafka-topics.sh", "--create --topic out", "'sink.topic.partitions' = '4'")
}

func TestUnreachable(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	start := time.Now()
	_, _, err = tryOpen(table(addr), nil)
	wantError(t, start, err, "cannot reach Kafka at "+addr, "connection refused", "properties.bootstrap.servers")
	if time.Since(start) < 2*time.Second {
		t.Error("a broker that is just coming up was not waited for")
	}
}

func TestNotKafka(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() { // takes connections and says nothing
		for {
			if _, err := l.Accept(); err != nil {
				return
			}
		}
	}()
	start := time.Now()
	_, _, err = tryOpen(table(l.Addr().String()), nil)
	wantError(t, start, err, "cannot reach Kafka at "+l.Addr().String())
}

func TestCredentials(t *testing.T) {
	t.Parallel()
	b, err := embed.StartWith(kfake.EnableSASL(), kfake.Superuser("PLAIN", "u", "right"), kfake.Superuser("SCRAM-SHA-256", "s", "right"), kfake.SeedTopics(1, "t"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	with := func(mechanism, user, pass string) *spi.Table {
		return table(b.Addr(), "properties.security.protocol", "SASL_PLAINTEXT", "properties.sasl.mechanism", mechanism,
			"properties.sasl.jaas.config", fmt.Sprintf(`org.apache.kafka.common.security.plain.PlainLoginModule required username="%s" password="%s";`, user, pass))
	}
	for _, ok := range []*spi.Table{with("PLAIN", "u", "right"), with("SCRAM-SHA-256", "s", "right")} {
		open(t, ok, nil)
	}
	start := time.Now()
	_, _, err = tryOpen(with("PLAIN", "u", "n0t-it"), nil)
	wantError(t, start, err, b.Addr(), "sasl.jaas.config")
	if strings.Contains(err.Error(), "n0t-it") {
		t.Error("the password is in the error")
	}
	var asked atomic.Int64
	b.Cluster().ControlKey(36, func(req kmsg.Request) (kmsg.Response, error, bool) { // what Apache Kafka answers
		b.Cluster().KeepControl()
		if asked.Add(1) > 1 {
			return nil, nil, false
		}
		resp := req.ResponseKind().(*kmsg.SASLAuthenticateResponse)
		resp.ErrorCode = kerr.SaslAuthenticationFailed.Code
		return resp, nil, true
	})
	start = time.Now()
	_, _, err = tryOpen(with("PLAIN", "u", "n0t-it"), nil)
	wantError(t, start, err, b.Addr(), "refuses the credentials", "sasl.jaas.config")
	if n := asked.Load(); n != 1 {
		t.Errorf("asked %d times: credentials do not get better by trying again", n)
	}
	start = time.Now()
	_, _, err = tryOpen(with("SCRAM-SHA-512", "s", "right"), nil)
	wantError(t, start, err, b.Addr())
	start = time.Now()
	_, _, err = tryOpen(table(b.Addr()), nil)
	wantError(t, start, err, b.Addr(), "properties.security.protocol")
}

func TestOffsetOutOfRange(t *testing.T) {
	t.Parallel()
	b := startBroker(t)
	createTopic(t, b, "t", 1)
	for i := range 10 {
		produce(t, b, "t", "a", fmt.Sprintf("%d|x", i))
	}
	if err := b.Cluster().DeleteRecords("t", 0, 5); err != nil {
		t.Fatal(err)
	}
	_, _, err := tryOpen(table(b.Addr()), func(s *spi.Scan) { s.Start = []spi.Position{{Topic: "t", Offset: 2, Epoch: -1}} })
	wantError(t, time.Now(), err, "kafka t/0@2: offset out of range", "holds 5 to 10", "removed 3 offsets")
	_, _, err = tryOpen(table(b.Addr(), "scan.startup.mode", "specific-offsets", "scan.startup.specific-offsets", "partition:0,offset:11"), nil)
	wantError(t, time.Now(), err, "kafka t/0@11: offset out of range", "holds 5 to 10")

	// While it is read: the queue is bounded, so that what was not fetched yet can go.
	tb := table(b.Addr(), "properties.max.partition.fetch.bytes", "1")
	src, _ := open(t, tb, nil)
	time.Sleep(100 * time.Millisecond)
	if err := b.Cluster().DeleteRecords("t", 0, 10); err != nil {
		t.Fatal(err)
	}
	got, err := tryRead(src.Reader(0), tb, 6)
	wantError(t, time.Now(), err, "offset out of range", "holds 10 to 10")
	for i, g := range got {
		if want := fmt.Sprintf("+I[%d, x]", i+5); g != want {
			t.Errorf("change %d is %s, want %s", i, g, want)
		}
	}
	if p := src.Reader(0).Positions(nil)[0]; p.Offset != int64(5+len(got)) {
		t.Errorf("position %+v after %d records", p, len(got))
	}
	if _, err2 := tryRead(src.Reader(0), tb, 1); err2 == nil || err2.Error() != err.Error() {
		t.Errorf("then: %v", err2)
	}
}

// TestOffsetReset goes on elsewhere where auto.offset.reset says so, and names the gap.
func TestOffsetReset(t *testing.T) {
	t.Parallel()
	for policy, at := range map[string]int64{"earliest": 5, "latest": 10} {
		b := startBroker(t)
		createTopic(t, b, "t", 1)
		for i := range 10 {
			produce(t, b, "t", "a", fmt.Sprintf("%d|x", i))
		}
		if err := b.Cluster().DeleteRecords("t", 0, 5); err != nil {
			t.Fatal(err)
		}
		tb := table(b.Addr(), "properties.auto.offset.reset", policy, "properties.max.partition.fetch.bytes", "1")
		for from, gap := range map[int64]string{2: fmt.Sprintf("records from 2 to %d are not read", at-1), 12: "the log was cut back"} {
			src, w := open(t, tb, func(s *spi.Scan) { s.Start = []spi.Position{{Topic: "t", Offset: from, Epoch: -1}} })
			if p := src.Positions()[0]; p.Offset != at {
				t.Errorf("%s from %d: starts at %d", policy, from, p.Offset)
			}
			for _, part := range []string{fmt.Sprintf("kafka t/0@%d: offset out of range", from), "holds 5 to 10", fmt.Sprintf("going on at %d", at), gap} {
				if !strings.Contains(w.all(), part) {
					t.Errorf("%s from %d: %q does not say %q", policy, from, w.all(), part)
				}
			}
			src.Close()
		}

		// While it is read. One batch is fetched at a time, so that there is something left to lose.
		src, w := open(t, tb, func(s *spi.Scan) { s.Start = []spi.Position{{Topic: "t", Offset: 5, Epoch: -1}} })
		read(t, src.Reader(0), tb, 1)
		if err := b.Cluster().DeleteRecords("t", 0, 9); err != nil {
			t.Fatal(err)
		}
		for i := range 2 {
			produce(t, b, "t", "a", fmt.Sprintf("%d|x", i+10))
		}
		var got []string
		for start := time.Now(); src.Reader(0).Positions(nil)[0].Offset < 12; {
			more, err := tryReadOnce(src.Reader(0), tb)
			got = append(got, more...)
			if err != nil || time.Since(start) > time.Minute {
				t.Fatalf("%s: read %v, %v; warnings %s", policy, got, err, w.all())
			}
			time.Sleep(time.Millisecond)
		}
		if !strings.Contains(w.all(), "offset out of range, the partition holds 9 to 1") {
			t.Errorf("%s: read %v; warnings %s", policy, got, w.all())
		}
		if policy == "earliest" && got[len(got)-1] != "+I[11, x]" {
			t.Errorf("read %v", got)
		}
	}
}

func TestTopicCreatedAgain(t *testing.T) {
	t.Parallel()
	b := startBroker(t)
	c := b.Cluster()
	createTopic(t, b, "t", 1)
	produce(t, b, "t", "a", "1|x")
	tb := table(b.Addr())
	src, _ := open(t, tb, nil)
	read(t, src.Reader(0), tb, 1)
	pos := src.Reader(0).Positions(nil)
	if pos[0].TopicID == "" || pos[0].Offset != 1 || pos[0].Epoch < 0 {
		t.Errorf("position %+v", pos[0])
	}
	if err := c.DeleteTopic("t"); err != nil {
		t.Fatal(err)
	}
	createTopic(t, b, "t", 1)
	produce(t, b, "t", "a", "2|y", "a", "3|z")
	start := time.Now()
	_, err := tryRead(src.Reader(0), tb, 1)
	wantError(t, start, err, "kafka t/0@1", "deleted and created again")
	_, _, err = tryOpen(tb, func(s *spi.Scan) { s.Start = pos })
	wantError(t, time.Now(), err, "deleted and created again since the checkpoint")
	_, _, err = tryOpen(tb, func(s *spi.Scan) { s.Start = []spi.Position{{Topic: "t", Partition: 3, Offset: 7}} })
	wantError(t, time.Now(), err, "kafka t/3@7", "no more")
}

func TestTopicDeleted(t *testing.T) {
	t.Parallel()
	b := startBroker(t)
	createTopic(t, b, "t", 1)
	tb := table(b.Addr())
	src, _ := open(t, tb, nil)
	if err := b.Cluster().DeleteTopic("t"); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	_, err := tryRead(src.Reader(0), tb, 1)
	wantError(t, start, err, "kafka t/0@0", "was deleted")
}

// TestLeaderMoves reads and writes while leaders move between three brokers and connections break.
func TestLeaderMoves(t *testing.T) {
	t.Parallel()
	b, err := embed.StartWith(kfake.NumBrokers(3), kfake.SeedTopics(6, "t"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	c := b.Cluster()
	var n atomic.Int64
	c.Control(func(req kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		if k := req.Key(); (k == 0 || k == 1) && n.Add(1)%17 == 0 {
			return nil, fmt.Errorf("the connection breaks"), true
		}
		return nil, nil, false
	})
	const rows = 3000
	tb := table(b.Addr())
	src, _ := open(t, tb, nil)
	s, _ := openWriter(t, table(b.Addr(), "format", "bar"), spi.AppendOnly, 1)
	w := s.Writer(0)
	wrote := make(chan error, 1)
	go func() {
		for i := range rows {
			if err := w.Write(context.Background(), batchOf(change{0, int64(i), "x"})); err != nil {
				wrote <- err
				return
			}
			if i%50 == 49 {
				if err := tryBarrier(w, uint64(i)); err != nil {
					wrote <- err
					return
				}
				c.ShufflePartitionLeaders()
			}
		}
		wrote <- nil
	}()
	got := read(t, src.Reader(0), tb, rows)
	if err := <-wrote; err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, g := range got {
		seen[g] = true
	}
	if len(seen) != rows || len(got) != rows {
		t.Errorf("%d records, %d different, want %d: something was lost or written twice", len(got), len(seen), rows)
	}
	t.Logf("%d requests, %d source errors", n.Load(), src.Stats().Errors)
}

func TestLostRecords(t *testing.T) {
	t.Parallel()
	b := startBroker(t)
	c := b.Cluster()
	createTopic(t, b, "t", 1)
	produce(t, b, "t", "a", "1|x", "a", "2|y")
	tb := table(b.Addr())
	src, _ := open(t, tb, nil)
	read(t, src.Reader(0), tb, 2)
	c.ControlKey(23, func(req kmsg.Request) (kmsg.Response, error, bool) { // the new leader's log is shorter
		c.KeepControl()
		resp := req.ResponseKind().(*kmsg.OffsetForLeaderEpochResponse)
		rt := kmsg.NewOffsetForLeaderEpochResponseTopic()
		rt.Topic = "t"
		rp := kmsg.NewOffsetForLeaderEpochResponseTopicPartition()
		rp.EndOffset = 1
		rt.Partitions = append(rt.Partitions, rp)
		resp.Topics = append(resp.Topics, rt)
		return resp, nil, true
	})
	if err := c.MoveTopicPartition("t", 0, 0); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	_, err := tryRead(src.Reader(0), tb, 1)
	wantError(t, start, err, "kafka t/0@2", "lost records 1 to 1", "unclean leader election")
}

func TestReadForbidden(t *testing.T) {
	t.Parallel()
	b := startBroker(t)
	c := b.Cluster()
	createTopic(t, b, "t", 1)
	c.ControlKey(1, func(req kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		r := req.(*kmsg.FetchRequest)
		resp := req.ResponseKind().(*kmsg.FetchResponse)
		rt := kmsg.NewFetchResponseTopic()
		rt.Topic, rt.TopicID = r.Topics[0].Topic, r.Topics[0].TopicID
		rp := kmsg.NewFetchResponseTopicPartition()
		rp.ErrorCode = kerr.TopicAuthorizationFailed.Code
		rt.Partitions = append(rt.Partitions, rp)
		resp.Topics = append(resp.Topics, rt)
		return resp, nil, true
	})
	tb := table(b.Addr())
	src, _ := open(t, tb, nil)
	_, err := tryRead(src.Reader(0), tb, 1)
	wantError(t, time.Now(), err, "kafka t/0@0", "TOPIC_AUTHORIZATION_FAILED", "grant READ")
}

func TestDiscovery(t *testing.T) {
	t.Parallel()
	b := startBroker(t)
	createTopic(t, b, "in.a", 1)
	produce(t, b, "in.a", "k", "1|a")
	tb := table(b.Addr(), "topic", "-", "topic-pattern", `in\..*`, "scan.topic-partition-discovery.interval", "50ms", "scan.startup.mode", "latest-offset")
	src, w := open(t, tb, func(s *spi.Scan) { s.Readers = 2 })
	createTopic(t, b, "in.b", 1)
	createTopic(t, b, "other", 1)
	produce(t, b, "in.b", "k", "2|b")
	createPartitions(t, b, "in.a", 3)
	deadline := time.Now().Add(time.Minute)
	for strings.Count(w.all(), "found new partitions") < 1 || !strings.Contains(w.all(), "in.a/2") || !strings.Contains(w.all(), "in.b/0") {
		if time.Now().After(deadline) {
			t.Fatalf("not found; warnings: %s", w.all())
		}
		time.Sleep(10 * time.Millisecond)
	}
	var pos []spi.Position
	for i := range 2 {
		if pos = src.Reader(i).Positions(pos); len(pos) != 1 {
			t.Errorf("partitions joined before a barrier: %v", pos)
		}
	}
	pos = nil
	for i := range 2 {
		src.Reader(i).Barrier()
		pos = src.Reader(i).Positions(pos)
	}
	if len(pos) != 4 {
		t.Fatalf("positions %v", pos)
	}
	var got []string
	for start := time.Now(); len(got) == 0 && time.Since(start) < time.Minute; {
		for i := range 2 {
			rows, _ := tryReadOnce(src.Reader(i), tb)
			got = append(got, rows...)
		}
	}
	if len(got) != 1 || got[0] != "+I[2, b]" {
		t.Errorf("read %v", got)
	}
}

// TestGrownTopic has a topic grow whose table has a key: changes of one row may lie in two partitions then.
func TestGrownTopic(t *testing.T) {
	t.Parallel()
	b := startBroker(t)
	createTopic(t, b, "in.a", 1)
	tb := table(b.Addr(), "topic", "-", "topic-pattern", `in\..*`, "scan.topic-partition-discovery.interval", "0")
	opened, w := open(t, tb, nil)
	src := opened.(*source)
	createTopic(t, b, "in.b", 1)
	createPartitions(t, b, "in.a", 2)
	discover := func(want string) {
		for !strings.Contains(w.all(), want) {
			if t.Context().Err() != nil {
				t.Fatalf("no %q in %s", want, w.all())
			}
			src.discover(t.Context())
		}
	}
	discover("in.a/1, in.b/0")
	if strings.Contains(w.all(), "grew") {
		t.Errorf("rows without a key cannot move; warnings: %s", w.all())
	}
	keyed := *tb
	keyed.PrimaryKey = []int{0}
	src.scan.Table = &keyed
	createPartitions(t, b, "in.a", 3)
	createTopic(t, b, "in.c", 1)
	discover("in.a/2, in.c/0")
	if !strings.Contains(w.all(), "kafka topic in.a at "+b.Addr()+" grew: a row may have changes in two partitions now") || strings.Contains(w.all(), "in.c at") {
		t.Errorf("warnings: %s", w.all())
	}
}

// createPartitions has a topic grow to n partitions.
func createPartitions(t *testing.T, b *embed.Broker, topic string, n int) {
	t.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(b.Addr()))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	if _, err := kadm.NewClient(cl).UpdatePartitions(t.Context(), n, topic); err != nil {
		t.Fatal(err)
	}
}

// What opening a table met by itself tells more than that its time was over.
func TestRetryingTellsTheCause(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	tries := 0
	err := retrying(ctx, func() error {
		if tries++; tries == 1 {
			return kerr.LeaderNotAvailable
		}
		cancel()
		return ctx.Err()
	})
	if !errors.Is(err, kerr.LeaderNotAvailable) {
		t.Errorf("%v after %d tries", err, tries)
	}
	if err := retrying(ctx, ctx.Err); !errors.Is(err, context.Canceled) {
		t.Errorf("cut short at once: %v", err)
	}
}
