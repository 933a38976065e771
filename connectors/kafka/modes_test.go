package kafka

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/types"
	"github.com/sluicesql/sluice/internal/embed"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func commitGroup(t *testing.T, b *embed.Broker, group, topic string, offsets ...int64) {
	t.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(b.Addr()))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	var os kadm.Offsets
	for p, at := range offsets {
		os.Add(kadm.Offset{Topic: topic, Partition: int32(p), At: at, LeaderEpoch: -1})
	}
	if err := kadm.NewClient(cl).CommitAllOffsets(t.Context(), group, os); err != nil {
		t.Fatal(err)
	}
}

func groupOffset(t *testing.T, b *embed.Broker, group, topic string) int64 {
	t.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(b.Addr()))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	os, err := kadm.NewClient(cl).FetchOffsets(t.Context(), group)
	if err != nil {
		return -1
	}
	o, _ := os.Lookup(topic, 0)
	return o.At
}

// seconds loads records 0–9 into one partition of t, a second apart from 1,000,000 ms on.
func seconds(t *testing.T) *embed.Broker {
	b := startBroker(t)
	createTopic(t, b, "t", 1)
	for i := range 10 {
		r := embed.Record{Topic: "t", Key: []byte("k"), Value: fmt.Appendf(nil, "%d|x", i), Timestamp: time.UnixMilli(1_000_000 + int64(i)*1000)}
		if err := b.Produce(context.Background(), r); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

func TestStartupAndBounds(t *testing.T) {
	t.Parallel()
	b := seconds(t)
	commitGroup(t, b, "g4", "t", 4)
	for _, c := range []struct {
		options  string
		from, to int // rows [from, to) are read
		warning  string
	}{
		{"scan.startup.mode=earliest-offset,scan.bounded.mode=latest-offset", 0, 10, ""},
		{"scan.startup.mode=earliest,scan.bounded.mode=latest-offset", 0, 10, `"earliest" is read as "earliest-offset"`},
		{"scan.startup.mode=latest,scan.bounded.mode=latest-offset", 10, 10, `"latest" is read as "latest-offset"`},
		{"scan.startup.mode=latest-offset,scan.bounded.mode=latest-offset", 10, 10, ""},
		{"scan.startup.mode=timestamp,scan.startup.timestamp-millis=1002500,scan.bounded.mode=latest-offset", 3, 10, ""},
		{"scan.startup.mode=timestamp,scan.startup.timestamp-millis=9999999,scan.bounded.mode=latest-offset", 10, 10, ""},
		{"scan.startup.mode=specific-offsets,scan.startup.specific-offsets=partition:0;offset:7,scan.bounded.mode=latest-offset", 7, 10, ""},
		{"scan.startup.mode=-,properties.group.id=g4,scan.bounded.mode=latest-offset", 4, 10, ""},
		{"scan.startup.mode=group-offsets,properties.group.id=new,properties.auto.offset.reset=earliest,scan.bounded.mode=latest-offset", 0, 10, ""},
		{"scan.startup.mode=group-offsets,properties.group.id=new,properties.auto.offset.reset=latest,scan.bounded.mode=latest-offset", 10, 10, ""},
		{"scan.bounded.mode=timestamp,scan.bounded.timestamp-millis=1003000", 0, 3, ""},
		{"scan.bounded.mode=timestamp,scan.bounded.timestamp-millis=9999999", 0, 10, ""},
		{"scan.bounded.mode=specific-offsets,scan.bounded.specific-offsets=partition:0;offset:6", 0, 6, ""},
		{"scan.bounded.mode=group-offsets,properties.group.id=g4", 0, 4, ""},
		{"scan.startup.mode=specific-offsets,scan.startup.specific-offsets=partition:0;offset:7,scan.bounded.mode=group-offsets,properties.group.id=g4", 7, 7, ""},
	} {
		var o []string
		for _, kv := range strings.Split(c.options, ",") {
			k, v, _ := strings.Cut(kv, "=")
			o = append(o, k, strings.ReplaceAll(v, ";offset", ",offset"))
		}
		tb := table(b.Addr(), o...)
		src, w := open(t, tb, nil)
		got := readAll(t, src.Reader(0), tb)
		var want []string
		for i := c.from; i < c.to; i++ {
			want = append(want, fmt.Sprintf("+I[%d, x]", i))
		}
		if !slices.Equal(got, want) || !strings.Contains(w.all(), c.warning) {
			t.Errorf("%s: got %v, want %v; warnings %q", c.options, got, want, w.all())
		}
		src.Close()
	}
	_, _, err := tryOpen(table(b.Addr(), "scan.startup.mode", "group-offsets", "properties.group.id", "new"), nil)
	wantError(t, time.Now(), err, `group "new" has committed no offset`, "earliest-offset", "auto.offset.reset")
	_, _, err = tryOpen(table(b.Addr(), "scan.bounded.mode", "specific-offsets", "scan.bounded.specific-offsets", "partition:1,offset:3"), nil)
	wantError(t, time.Now(), err, "no end for partition 0")
}

func TestCommitsGroupOffsets(t *testing.T) {
	t.Parallel()
	b := seconds(t)
	tb := table(b.Addr(), "properties.group.id", "mon", "properties.enable.auto.commit", "true")
	src, w := open(t, tb, nil)
	read(t, src.Reader(0), tb, 3)
	src.Committed(t.Context(), src.Reader(0).Positions(nil))
	for start := time.Now(); groupOffset(t, b, "mon", "t") != 3; time.Sleep(5 * time.Millisecond) {
		if time.Since(start) > time.Minute {
			t.Fatal("nothing is committed")
		}
	}
	read(t, src.Reader(0), tb, 2)
	src.Committed(t.Context(), src.Reader(0).Positions(nil))
	src.Close() // the last one is not lost
	if at := groupOffset(t, b, "mon", "t"); at != 5 {
		t.Errorf("committed %d, want 5", at)
	}
	if !strings.Contains(w.all(), "enable.auto.commit") {
		t.Errorf("warnings %q", w.all())
	}
}

// transact writes rows in a transaction and commits or aborts it.
func transact(t *testing.T, b *embed.Broker, commit bool, rows ...string) {
	t.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(b.Addr()), kgo.TransactionalID("tx"), kgo.DefaultProduceTopic("t"), kgo.ProducerBatchCompression(kgo.SnappyCompression()))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	if err := cl.BeginTransaction(); err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		if err := cl.ProduceSync(t.Context(), kgo.StringRecord(r)).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	if err := cl.EndTransaction(t.Context(), kgo.TransactionEndTry(commit)); err != nil {
		t.Fatal(err)
	}
}

func TestTransactions(t *testing.T) {
	t.Parallel()
	b := startBroker(t)
	createTopic(t, b, "t", 1)
	transact(t, b, true, "1|a", "2|b")
	transact(t, b, false, "3|aborted", "4|aborted")
	produce(t, b, "t", "k", "5|c")
	transact(t, b, false, "6|aborted")
	transact(t, b, true, "7|d")
	tb := table(b.Addr(), "scan.bounded.mode", "latest-offset")
	src, _ := open(t, tb, nil)
	if got := readAll(t, src.Reader(0), tb); strings.Join(got, " ") != "+I[1, a] +I[2, b] +I[5, c] +I[7, d]" {
		t.Errorf("read %v", got)
	}
	end := src.Reader(0).Positions(nil)[0].Offset
	if info := b.Cluster().PartitionInfo("t", 0); end != info.HighWatermark { // the last record is a commit marker
		t.Errorf("ended at %d, want %d", end, info.HighWatermark)
	}
	// A limit behind an aborted transaction is reached although no record leads there.
	src, _ = open(t, tb, nil)
	r := src.Reader(0)
	r.Limit([]spi.Position{{Topic: "t", Offset: 6}})
	for start := time.Now(); !r.AtLimit(); time.Sleep(time.Millisecond) {
		if _, err := tryReadOnce(r, tb); err != nil || time.Since(start) > time.Minute {
			t.Fatalf("the limit is not reached: %v, %v", r.Positions(nil), err)
		}
	}
	tb.Options["properties.isolation.level"] = "read_uncommitted"
	src, _ = open(t, tb, nil)
	if got := readAll(t, src.Reader(0), tb); len(got) != 7 {
		t.Errorf("uncommitted: %v", got)
	}
}

// TestEndCompactedAway ends a bounded scan whose last offsets hold nothing any more.
func TestEndCompactedAway(t *testing.T) {
	t.Parallel()
	b := startBroker(t)
	createTopic(t, b, "t", 1)
	produce(t, b, "t", "a", "1|a", "b", "2|b")
	c := b.Cluster()
	end := int64(6) // as if offsets 2–5 had been there
	c.ControlKey(2, func(req kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		r := req.(*kmsg.ListOffsetsRequest)
		resp := req.ResponseKind().(*kmsg.ListOffsetsResponse)
		rt := kmsg.NewListOffsetsResponseTopic()
		rt.Topic = "t"
		rp := kmsg.NewListOffsetsResponseTopicPartition()
		if rp.Offset = 0; r.Topics[0].Partitions[0].Timestamp == listLatest {
			rp.Offset = end
		}
		rt.Partitions = append(rt.Partitions, rp)
		resp.Topics = append(resp.Topics, rt)
		return resp, nil, true
	})
	c.ControlKey(1, func(req kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		r := req.(*kmsg.FetchRequest)
		if r.Topics[0].Partitions[0].FetchOffset < 2 {
			return nil, nil, false
		}
		resp := req.ResponseKind().(*kmsg.FetchResponse)
		rt := kmsg.NewFetchResponseTopic()
		rt.Topic, rt.TopicID = r.Topics[0].Topic, r.Topics[0].TopicID
		rp := kmsg.NewFetchResponseTopicPartition()
		rp.HighWatermark, rp.LastStableOffset = end, end
		rt.Partitions = append(rt.Partitions, rp)
		resp.Topics = append(resp.Topics, rt)
		return resp, nil, true
	})
	tb := table(b.Addr(), "scan.bounded.mode", "latest-offset")
	src, _ := open(t, tb, nil)
	if got := readAll(t, src.Reader(0), tb); len(got) != 2 || !src.Reader(0).Done() {
		t.Errorf("read %v", got)
	}
}

func TestMetadataAndKeys(t *testing.T) {
	t.Parallel()
	b := startBroker(t)
	createTopic(t, b, "t", 1)
	err := b.Produce(t.Context(), embed.Record{Topic: "t", Key: []byte("42"), Value: []byte("1|x"), Timestamp: time.UnixMilli(1_700_000_000_123),
		Headers: []embed.Header{{Key: "h", Value: []byte("old")}, {Key: "n"}, {Key: "h", Value: []byte("new")}}},
		embed.Record{Topic: "t", Value: []byte("2|y"), Timestamp: time.UnixMilli(5)})
	if err != nil {
		t.Fatal(err)
	}
	tb := table(b.Addr(), "key.format", "bar", "key.fields", "k_id", "key.fields-prefix", "k_", "value.fields-include", "EXCEPT_KEY", "scan.bounded.mode", "latest-offset")
	tb.Columns = append(tb.Columns,
		spi.Column{Name: "k_id", Type: types.Of(types.BigInt)},
		spi.Column{Name: "o", Metadata: "offset", Type: types.Of(types.BigInt), Virtual: true},
		spi.Column{Name: "p", Metadata: "partition", Type: types.Of(types.BigInt), Virtual: true},
		spi.Column{Name: "tp", Metadata: "topic", Type: types.String(), Virtual: true},
		spi.Column{Name: "ts", Metadata: "timestamp", Type: types.TimestampLTZOf(3)},
		spi.Column{Name: "local", Metadata: "timestamp", Type: types.TimestampOf(0), Virtual: true},
		spi.Column{Name: "tt", Metadata: "timestamp-type", Type: types.String(), Virtual: true},
		spi.Column{Name: "le", Metadata: "leader-epoch", Type: types.Of(types.Int), Virtual: true},
		spi.Column{Name: "size", Metadata: "value.size", Type: types.Of(types.BigInt), Virtual: true},
	)
	zone := time.FixedZone("x", 3600)
	src, _ := open(t, tb, func(s *spi.Scan) { s.TimeZone = zone })
	got := readAll(t, src.Reader(0), tb)
	want := []string{
		"+I[1, x, 42, 0, 0, t, 1700000000123000, 1700003600000000, CreateTime, 0, 3]",
		"+I[2, y, NULL, 1, 0, t, 5000, 3600000000, CreateTime, 0, 3]",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}

	tb = table(b.Addr(), "scan.bounded.mode", "latest-offset")
	tb.Columns = append(tb.Columns[:1:1], spi.Column{Name: "h", Metadata: "headers", Type: headersType})
	src, _ = open(t, tb, nil)
	rows := readAll(t, src.Reader(0), tb)
	if !strings.Contains(rows[0], "new") || strings.Contains(rows[0], "old") {
		t.Errorf("headers %q", rows[0])
	}
}

func TestDecodeErrors(t *testing.T) {
	t.Parallel()
	b := startBroker(t)
	createTopic(t, b, "t", 1)
	produce(t, b, "t", "k", "1|x", "k", "two|y", "k", "3", "k", "4|z")
	tb := table(b.Addr())
	src, _ := open(t, tb, nil)
	got, err := tryRead(src.Reader(0), tb, 4)
	wantError(t, time.Now(), err, `kafka t/0@1: field id: "two" is no integer; correct the producer`, "'bar.ignore-parse-errors' = 'true'")
	if p := src.Reader(0).Positions(nil)[0]; len(got) != 1 || p.Offset != 1 {
		t.Errorf("read %v, position %+v", got, p)
	}
	if _, err := tryRead(src.Reader(0), tb, 1); err == nil {
		t.Error("the record at fault was passed over")
	}
	wantError(t, time.Now(), err, "--skip "+tb.Name+"/0@1")
	createTopic(t, b, "other", 1)
	for option, value := range map[string]string{"topic": "other;t", "topic-pattern": "t|other"} {
		o := []string{option, value}
		if option != "topic" {
			o = append(o, "topic", "-")
		}
		tb := table(b.Addr(), o...)
		src, _ := open(t, tb, nil)
		_, err := tryRead(src.Reader(0), tb, 4)
		wantError(t, time.Now(), err, "--skip "+tb.Name+"/t/0@1")
	}
	for option, value := range map[string]string{"bar.ignore-parse-errors": "bar", "value.bar.ignore-parse-errors": ""} {
		o := []string{option, "true", "scan.bounded.mode", "latest-offset"}
		if value == "" {
			o = append(o, "format", "-", "value.format", "bar")
		}
		tb = table(b.Addr(), o...)
		src, w := open(t, tb, nil)
		if got := readAll(t, src.Reader(0), tb); strings.Join(got, " ") != "+I[1, x] +I[4, z]" {
			t.Errorf("read %v", got)
		}
		if st := src.Stats(); st.Skipped != 2 || st.Records != 4 || st.Events != 2 {
			t.Errorf("stats %+v", st)
		}
		if r := src.Stats().SkippedFor; r["message-type"] != 1 || r["message-syntax"] != 1 || !strings.Contains(w.all(), "kafka t/0@1") {
			t.Errorf("reasons %v, warnings %q", r, w.all())
		}
	}
}

func TestUpsertSource(t *testing.T) {
	t.Parallel()
	b := startBroker(t)
	createTopic(t, b, "t", 1)
	produce(t, b, "t", "1", "a", "1", "null", "2", "b", "", "c")
	tb := upsertTable(b.Addr(), "value.fields-include", "EXCEPT_KEY")
	src, _ := open(t, tb, nil)
	got, err := tryRead(src.Reader(0), tb, 4)
	if strings.Join(got, " ") != "+U[1, a] -D[1, NULL] +U[2, b]" {
		t.Errorf("read %v", got)
	}
	wantError(t, time.Now(), err, "kafka t/0@3", "the key is null")
}

// TestBackpressure reads nothing for a while: what is buffered stays bounded, by the job's memory where that is less.
func TestBackpressure(t *testing.T) {
	t.Run("usual", func(t *testing.T) { testBackpressure(t, 0, maxBuffered) })
	t.Run("small", func(t *testing.T) { testBackpressure(t, 1<<20, 1<<20) })
}

func testBackpressure(t *testing.T, memory, bound int64) {
	t.Parallel()
	b := startBroker(t)
	createTopic(t, b, "t", 4)
	big := strings.Repeat("x", 100_000)
	var kv []string
	for i := range 100 {
		kv = append(kv, "", fmt.Sprintf("%d|%s", i, big))
	}
	for range 6 {
		produce(t, b, "t", kv...)
	}
	tb := table(b.Addr(), "scan.bounded.mode", "latest-offset", "properties.max.partition.fetch.bytes", "10000000")
	src, _ := open(t, tb, func(s *spi.Scan) { s.Memory = memory })
	f := src.(*source).fetcher
	for start := time.Now(); f.held.Load() == 0 && time.Since(start) < time.Minute; {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(300 * time.Millisecond)
	if held := f.held.Load(); held == 0 || held > bound+4*10_000_000 {
		t.Errorf("%d bytes are buffered", held)
	}
	if got := readAll(t, src.Reader(0), tb); len(got) != 600 {
		t.Errorf("%d records", len(got))
	}
	for start := time.Now(); f.held.Load() != 0; time.Sleep(time.Millisecond) {
		if time.Since(start) > time.Minute {
			t.Fatalf("%d bytes are still counted", f.held.Load())
		}
	}
}
