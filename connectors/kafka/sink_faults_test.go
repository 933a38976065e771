package kafka

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/changelog"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/types"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// answerProduce answers one Produce request with an error code for all its partitions.
func answerProduce(req kmsg.Request, code int16) kmsg.Response {
	r := req.(*kmsg.ProduceRequest)
	resp := req.ResponseKind().(*kmsg.ProduceResponse)
	for _, t := range r.Topics {
		rt := kmsg.NewProduceResponseTopic()
		rt.Topic, rt.TopicID = t.Topic, t.TopicID
		for _, p := range t.Partitions {
			rp := kmsg.NewProduceResponseTopicPartition()
			rp.Partition, rp.ErrorCode = p.Partition, code
			rt.Partitions = append(rt.Partitions, rp)
		}
		resp.Topics = append(resp.Topics, rt)
	}
	return resp
}

// TestEveryRetriableAnswer writes through every answer that another attempt can cure.
func TestEveryRetriableAnswer(t *testing.T) {
	t.Parallel()
	b := startBroker(t)
	createTopic(t, b, "t", 2)
	codes := []error{kerr.NotLeaderForPartition, kerr.NotEnoughReplicas, kerr.RequestTimedOut, kerr.KafkaStorageError, kerr.UnknownTopicOrPartition,
		kerr.OutOfOrderSequenceNumber, kerr.UnknownProducerID, kerr.InvalidProducerEpoch, nil}
	var n atomic.Int64
	c := b.Cluster()
	c.ControlKey(0, func(req kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		i := n.Add(1)
		if i%2 == 0 {
			return nil, nil, false
		}
		err := codes[int(i/2)%len(codes)]
		if err == nil {
			return nil, errors.New("the connection breaks"), true
		}
		var ke *kerr.Error
		errors.As(err, &ke)
		return answerProduce(req, ke.Code), nil, true
	})
	s, _ := openWriter(t, table(b.Addr()), spi.AppendOnly, 1)
	w := s.Writer(0)
	for i := range 3 * len(codes) {
		if err := w.Write(t.Context(), batchOf(change{0, int64(i), "x"})); err != nil {
			t.Fatal(err)
		}
		barrier(t, w, uint64(i))
	}
	got := consume(t, b, "t", 3*len(codes))
	seen := map[string]bool{}
	for _, r := range got {
		seen[string(r.Value)] = true
	}
	if len(seen) != len(got) || b.Len("t") != int64(len(got)) {
		t.Errorf("%d records, %d different", b.Len("t"), len(seen))
	}
}

// TestAnswerLost loses the answer to a request that was carried out: the second attempt is recognised.
func TestAnswerLost(t *testing.T) {
	t.Parallel()
	b := startBroker(t)
	createTopic(t, b, "t", 1)
	c := b.Cluster()
	var once atomic.Bool
	c.ControlKey(0, func(req kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		if once.Swap(true) {
			return answerProduce(req, kerr.DuplicateSequenceNumber.Code), nil, true
		}
		return answerProduce(req, kerr.RequestTimedOut.Code), nil, true
	})
	s, _ := openWriter(t, table(b.Addr()), spi.AppendOnly, 1)
	if err := s.Writer(0).Write(t.Context(), batchOf(change{0, 1, "x"})); err != nil {
		t.Fatal(err)
	}
	barrier(t, s.Writer(0), 1)
}

func TestFatalAnswers(t *testing.T) {
	t.Parallel()
	for code, want := range map[*kerr.Error]string{
		kerr.TopicAuthorizationFailed: "grant WRITE",
		kerr.MessageTooLarge:          "max.message.bytes",
		kerr.InvalidRecord:            "INVALID_RECORD",
	} {
		b := startBroker(t)
		createTopic(t, b, "t", 1)
		b.Cluster().ControlKey(0, func(req kmsg.Request) (kmsg.Response, error, bool) { return answerProduce(req, code.Code), nil, true })
		s, _ := openWriter(t, table(b.Addr()), spi.AppendOnly, 1)
		w := s.Writer(0)
		if err := w.Write(t.Context(), batchOf(change{0, 1, "x"})); err != nil {
			t.Fatal(err)
		}
		wantError(t, time.Now(), tryBarrier(w, 1), "kafka t/0", "1 records were refused", want)
		if err := tryBarrier(w, 2); err == nil {
			t.Error("a later epoch is acknowledged")
		}
		if err := w.Write(t.Context(), batchOf(change{0, 1, "x"})); err == nil {
			t.Error("a later Write succeeds")
		}
	}
}

func TestDeliveryTimeout(t *testing.T) {
	t.Parallel()
	b := startBroker(t)
	createTopic(t, b, "t", 1)
	c := b.Cluster()
	c.ControlKey(0, func(req kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		return answerProduce(req, kerr.NotEnoughReplicas.Code), nil, true
	})
	s, _ := openWriter(t, table(b.Addr(), "properties.delivery.timeout.ms", "300"), spi.AppendOnly, 1)
	if err := s.Writer(0).Write(t.Context(), batchOf(change{0, 1, "x"})); err != nil {
		t.Fatal(err)
	}
	wantError(t, time.Now(), tryBarrier(s.Writer(0), 1), "kafka t/0", "delivery.timeout.ms", "NOT_ENOUGH_REPLICAS")
}

func TestOutputTopicDeleted(t *testing.T) {
	t.Parallel()
	b := startBroker(t)
	createTopic(t, b, "t", 1)
	s, _ := openWriter(t, table(b.Addr()), spi.AppendOnly, 1)
	if err := b.Cluster().DeleteTopic("t"); err != nil {
		t.Fatal(err)
	}
	if err := s.Writer(0).Write(t.Context(), batchOf(change{0, 1, "x"})); err != nil {
		t.Fatal(err)
	}
	wantError(t, time.Now(), tryBarrier(s.Writer(0), 1), "topic t", "was deleted")
}

func TestRecordTooLarge(t *testing.T) {
	t.Parallel()
	b := startBroker(t)
	if err := b.Cluster().CreateTopic("t", 1, map[string]string{"max.message.bytes": "2000"}); err != nil {
		t.Fatal(err)
	}
	s, _ := openWriter(t, table(b.Addr()), spi.AppendOnly, 1)
	var batch changelog.Batch
	for i := range 100 {
		one := batchOf(change{0, int64(i), strings.Repeat("y", 500)})
		batch.AppendRow(0, one.Row(0))
	}
	if err := s.Writer(0).Write(t.Context(), &batch); err != nil {
		t.Fatal(err)
	}
	barrier(t, s.Writer(0), 1) // in batches that fit
	err := s.Writer(0).Write(t.Context(), batchOf(change{0, 77, strings.Repeat("z", 3000)}))
	wantError(t, time.Now(), err, "kafka topic t at", "the row (id: 77, name: zzz", "z…) makes a record of 30", "max.message.bytes is 2000", "--alter --add-config max.message.bytes=60")

	// The key names the row where there is one.
	ut := upsertTable(b.Addr())
	us, _ := openWriter(t, ut, spi.Upsert, 1)
	err = us.Writer(0).Write(t.Context(), batchOf(change{changelog.UpdateAfter, 77, strings.Repeat("z", 3000)}))
	wantError(t, time.Now(), err, "the row (id: 77) makes a record of 30")
}

// TestSlowBroker holds back the writer when the bound is reached.
func TestSlowBroker(t *testing.T) {
	t.Parallel()
	b := startBroker(t)
	createTopic(t, b, "t", 4)
	gate := make(chan struct{})
	c := b.Cluster()
	c.ControlKey(0, func(kmsg.Request) (kmsg.Response, error, bool) {
		c.SleepControl(func() { <-gate })
		return nil, nil, false
	})
	s, _ := openWriter(t, table(b.Addr(), "properties.buffer.memory", "200000"), spi.AppendOnly, 1)
	done := make(chan error, 1)
	const n = 400
	go func() {
		for i := range n {
			if err := s.Writer(0).Write(t.Context(), batchOf(change{0, int64(i), strings.Repeat("w", 2000)})); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	select {
	case err := <-done:
		t.Fatalf("the writer was not held back: %v", err)
	case <-time.After(300 * time.Millisecond):
	}
	if held := s.(*sink).p.buffered.Load(); held > 400_000 {
		t.Errorf("%d bytes are buffered", held)
	}
	close(gate)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	barrier(t, s.Writer(0), 1)
	if b.Len("t") != n {
		t.Errorf("%d records", b.Len("t"))
	}
}

func TestCompression(t *testing.T) {
	t.Parallel()
	b := startBroker(t)
	for _, codec := range []string{"gzip", "snappy", "lz4", "zstd", "none"} {
		topic := "c-" + codec
		createTopic(t, b, topic, 1)
		s, _ := openWriter(t, table(b.Addr(), "topic", topic, "properties.compression.type", codec), spi.AppendOnly, 1)
		var cs []change
		for i := range 100 {
			cs = append(cs, change{0, int64(i), "the same again and again"})
		}
		if err := s.Writer(0).Write(t.Context(), batchOf(cs...)); err != nil {
			t.Fatal(err)
		}
		barrier(t, s.Writer(0), 1)
		tb := table(b.Addr(), "topic", topic, "scan.bounded.mode", "latest-offset")
		src, _ := open(t, tb, nil)
		if got := readAll(t, src.Reader(0), tb); len(got) != 100 || got[99] != "+I[99, the same again and again]" {
			t.Errorf("%s: %v", codec, got)
		}
	}
}

func TestPartitioners(t *testing.T) {
	t.Parallel()
	b := startBroker(t)
	parts := func(topic string, n int) map[int32]int {
		m := map[int32]int{}
		for _, r := range consume(t, b, topic, n) {
			m[r.Partition]++
		}
		return m
	}
	write := func(s spi.Sink, writer, n int) {
		var cs []change
		for i := range n {
			cs = append(cs, change{0, int64(i), "x"})
		}
		if err := s.Writer(writer).Write(t.Context(), batchOf(cs...)); err != nil {
			t.Fatal(err)
		}
		barrier(t, s.Writer(writer), 1)
	}
	createTopic(t, b, "fixed", 4)
	s, _ := openWriter(t, table(b.Addr(), "topic", "fixed", "sink.partitioner", "fixed"), spi.AppendOnly, 2)
	write(s, 0, 10)
	write(s, 1, 5)
	if m := parts("fixed", 15); m[0] != 10 || m[1] != 5 {
		t.Errorf("fixed: %v", m)
	}
	createTopic(t, b, "robin", 4)
	s, _ = openWriter(t, table(b.Addr(), "topic", "robin", "sink.partitioner", "round-robin"), spi.AppendOnly, 1)
	write(s, 0, 8)
	if m := parts("robin", 8); len(m) != 4 || m[0] != 2 {
		t.Errorf("round-robin: %v", m)
	}
	createTopic(t, b, "runs", 4)
	s, _ = openWriter(t, table(b.Addr(), "topic", "runs"), spi.AppendOnly, 1)
	write(s, 0, 8)
	write(s, 0, 8)
	if m := parts("runs", 16); len(m) != 2 {
		t.Errorf("runs: %v", m)
	}
	createTopic(t, b, "keyed", 4)
	s, _ = openWriter(t, table(b.Addr(), "topic", "keyed", "key.format", "bar", "key.fields", "id", "value.fields-include", "EXCEPT_KEY"), spi.AppendOnly, 1)
	write(s, 0, 20)
	for _, r := range consume(t, b, "keyed", 20) {
		if int(r.Partition) != keyPartition(r.Key, 4) || string(r.Value) != "x" {
			t.Errorf("key %q, value %q in %d", r.Key, r.Value, r.Partition)
		}
	}
}

// TestUpdates writes an update as one message where its key stays, and as two where it does not.
func TestUpdates(t *testing.T) {
	t.Parallel()
	b := startBroker(t)
	createTopic(t, b, "t", 4)
	tb := table(b.Addr(), "format", "cdc")
	tb.PrimaryKey = []int{0}
	s, _ := openWriter(t, tb, spi.Retract, 1)
	if err := s.Writer(0).Write(t.Context(), batchOf(
		change{changelog.UpdateBefore, 1, "a"}, change{changelog.UpdateAfter, 1, "b"},
		change{changelog.UpdateBefore, 2, "c"}, change{changelog.UpdateAfter, 3, "c"})); err != nil {
		t.Fatal(err)
	}
	barrier(t, s.Writer(0), 1)
	got := map[string]bool{}
	for _, r := range consume(t, b, "t", 3) {
		got[string(r.Value)] = true
	}
	if !got["~1|a;1|b"] || !got["-2|c"] || !got["+3|c"] {
		t.Errorf("messages %v", got)
	}
}

func TestWritesMetadata(t *testing.T) {
	t.Parallel()
	b := startBroker(t)
	createTopic(t, b, "t", 1)
	tb := table(b.Addr())
	tb.Columns = append(tb.Columns, spi.Column{Name: "ts", Metadata: "timestamp", Type: types.TimestampLTZOf(3)}, spi.Column{Name: "h", Metadata: "headers", Type: headersType})
	s, _ := openWriter(t, tb, spi.AppendOnly, 1)
	var batch changelog.Batch
	var rb row.Builder
	phys := []types.Phys{types.PhysInt, types.PhysBytes, types.PhysInt, types.PhysBytes}
	for i := range 3 {
		rb.Begin(batch.Buf(), 4)
		rb.Int64(0, int64(i))
		rb.String(1, "x")
		if i < 2 {
			rb.Int64(2, int64(5000-i*1000)*1000)
			rb.Append(3, func(buf []byte) []byte {
				return row.AppendMap(buf, types.PhysBytes, types.PhysBytes, []row.Datum{row.String("k"), row.String("n")}, []row.Datum{row.String("v"), row.NullDatum})
			})
		}
		batch.Commit(changelog.Insert, rb.Finish(phys))
	}
	if err := s.Writer(0).Write(t.Context(), &batch); err != nil {
		t.Fatal(err)
	}
	barrier(t, s.Writer(0), 1)
	got := consume(t, b, "t", 3)
	if got[0].Timestamp.UnixMilli() != 5000 || got[1].Timestamp.UnixMilli() != 4000 || time.Since(got[2].Timestamp).Abs() > time.Minute {
		t.Errorf("times %v %v %v", got[0].Timestamp, got[1].Timestamp, got[2].Timestamp)
	}
	if h := got[0].Headers; len(h) != 2 || h[0].Key != "k" || string(h[0].Value) != "v" || h[1].Value != nil || len(got[2].Headers) != 0 || string(got[0].Value) != "0|x" {
		t.Errorf("headers %v", h)
	}
	tb.Columns[2] = spi.Column{Name: "o", Metadata: "offset", Type: types.Of(types.BigInt)}
	if _, _, err := tryOpenSink(tb, spi.AppendOnly, 1); err == nil || !strings.Contains(err.Error(), "VIRTUAL") {
		t.Errorf("an offset is written: %v", err)
	}
}
