package kafka

import (
	"strings"
	"testing"
	"time"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/changelog"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// TestCreateTopic creates a missing topic as asked for, and leaves one alone that is there.
func TestCreateTopic(t *testing.T) {
	t.Parallel()
	b := startBroker(t)
	cl, err := kgo.NewClient(kgo.SeedBrokers(b.Addr()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cl.Close)
	config := func(topic string) map[string]string {
		rs, err := kadm.NewClient(cl).DescribeTopicConfigs(t.Context(), topic)
		if err != nil {
			t.Fatal(err)
		}
		out := map[string]string{}
		for _, c := range rs[0].Configs {
			out[c.Key] = c.MaybeValue()
		}
		return out
	}
	partitions := func(s spi.Sink) int { return len(s.(*sink).p.parts) }

	s, w := openWriter(t, table(b.Addr(), "topic", "new", "sink.topic.partitions", "3", "sink.topic.replication-factor", "1", "sink.topic.config.retention.ms", "12345"), spi.AppendOnly, 1)
	if partitions(s) != 3 || config("new")["retention.ms"] != "12345" || !strings.Contains(w.all(), "created with 3 partitions") {
		t.Errorf("%d partitions, %v, %s", partitions(s), config("new"), w.all())
	}
	s, w = openWriter(t, table(b.Addr(), "topic", "new", "sink.topic.partitions", "5"), spi.AppendOnly, 1)
	if partitions(s) != 3 || !strings.Contains(w.all(), "exists with 3 partitions; 'sink.topic.partitions' = '5'") {
		t.Errorf("%d partitions, %s", partitions(s), w.all())
	}
	s, _ = openWriter(t, upsertTable(b.Addr(), "topic", "latest", "sink.topic.config.min.compaction.lag.ms", "7"), spi.Upsert, 1)
	if c := config("latest"); partitions(s) != 4 || c["cleanup.policy"] != "compact" || c["min.compaction.lag.ms"] != "7" {
		t.Errorf("%d partitions, %v", partitions(s), c)
	}
	if _, _, err := tryOpenSink(table(b.Addr(), "sink.topic.partitions", "0"), spi.AppendOnly, 1); err == nil || !strings.Contains(err.Error(), "from 1 to") {
		t.Error(err)
	}
}

func TestCreateTopicRefused(t *testing.T) {
	t.Parallel()
	for code, want := range map[*kerr.Error]string{
		kerr.InvalidReplicationFactor: "fewer brokers than 'sink.topic.replication-factor'",
		kerr.InvalidConfig:            "check 'sink.topic.config.*'",
		kerr.TopicAuthorizationFailed: "grant CREATE",
		kerr.PolicyViolation:          "(at most two); the cluster's policy",
		kerr.TopicAlreadyExists:       "",
	} {
		b := startBroker(t)
		b.Cluster().ControlKey(int16(kmsg.CreateTopics), func(req kmsg.Request) (kmsg.Response, error, bool) {
			resp := req.ResponseKind().(*kmsg.CreateTopicsResponse)
			rt := kmsg.NewCreateTopicsResponseTopic()
			rt.Topic, rt.ErrorCode, rt.ErrorMessage = "out", code.Code, kmsg.StringPtr("at most two")
			resp.Topics = append(resp.Topics, rt)
			createTopic(t, b, "out", 1) // the other, where one was faster
			return resp, nil, true
		})
		start := time.Now()
		_, _, err := tryOpenSink(table(b.Addr(), "topic", "out", "sink.topic.partitions", "2"), spi.AppendOnly, 1)
		if want == "" {
			if err != nil {
				t.Error(err)
			}
			continue
		}
		wantError(t, start, err, "kafka topic out at "+b.Addr()+" cannot be created", code.Message, want)
	}
}

// TestOutputTopicGrew keeps a row's changes in its partition when the topic has more of them than at the first start.
func TestOutputTopicGrew(t *testing.T) {
	t.Parallel()
	b := startBroker(t)
	cl, err := kgo.NewClient(kgo.SeedBrokers(b.Addr()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cl.Close)
	grow := func(topic string, n int) {
		t.Helper()
		if _, err := kadm.NewClient(cl).UpdatePartitions(t.Context(), n, topic); err != nil {
			t.Fatal(err)
		}
	}
	openAt := func(tb *spi.Table, mode spi.Mode, pin string) (*sink, *warnings) {
		t.Helper()
		w := &warnings{}
		spec := spi.SinkSpec{Table: tb, Columns: []int{0, 1}, Key: tb.PrimaryKey, Mode: mode, Writers: 1, Pin: pin, Warn: w.add}
		s, err := registry().Connector(tb.Options["connector"]).OpenSink(t.Context(), spec)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return s.(*sink), w
	}
	write := func(s *sink, ops ...change) {
		t.Helper()
		if err := s.Writer(0).Write(t.Context(), batchOf(ops...)); err != nil {
			t.Fatal(err)
		}
		barrier(t, s.Writer(0), 1)
	}
	createTopic(t, b, "t", 2)
	tb := upsertTable(b.Addr())
	rows := func(s string) (cs []change) {
		for i := range 20 {
			cs = append(cs, change{changelog.UpdateAfter, int64(i), s})
		}
		return cs
	}
	s, _ := openAt(tb, spi.Upsert, "")
	write(s, rows("first")...)
	pin := s.Pin()

	grow("t", 5)
	s, w := openAt(tb, spi.Upsert, pin)
	write(s, rows("second")...)
	if s.Pin() != pin || strings.Count(w.all(), "grew from 2 to 5 partitions") != 1 {
		t.Errorf("pin %s, then %s; warnings %s", pin, s.Pin(), w.all())
	}
	at := map[string]int32{}
	for _, r := range consume(t, b, "t", 40) {
		if p, ok := at[string(r.Key)]; ok && p != r.Partition {
			t.Errorf("key %s is in partitions %d and %d", r.Key, p, r.Partition)
		}
		at[string(r.Key)] = r.Partition
	}

	// It grows again while it is written: told once, and nothing moves.
	s, w = openAt(tb, spi.Upsert, pin)
	grow("t", 6)
	for range 3 {
		s.p.askLeaders()
		write(s, rows("third")...)
	}
	for start := time.Now(); !strings.Contains(w.all(), "grew from 2 to 6"); time.Sleep(time.Millisecond) {
		if time.Since(start) > time.Minute {
			t.Fatalf("warnings: %s", w.all())
		}
	}
	if strings.Count(w.all(), "grew from 2 to 6") != 1 {
		t.Errorf("warnings %s", w.all())
	}
	for _, r := range consume(t, b, "t", 100) {
		if at[string(r.Key)] != r.Partition {
			t.Errorf("key %s moved to %d", r.Key, r.Partition)
		}
	}

	// Inserts alone have no key to keep together.
	createTopic(t, b, "log", 2)
	s, _ = openAt(table(b.Addr(), "topic", "log"), spi.AppendOnly, "")
	grow("log", 4)
	s, w = openAt(table(b.Addr(), "topic", "log"), spi.AppendOnly, s.Pin())
	if len(s.p.parts) != 4 || w.all() != "" {
		t.Errorf("%d partitions, %s", len(s.p.parts), w.all())
	}

	// Another topic of the same name.
	if err := b.Cluster().DeleteTopic("t"); err != nil {
		t.Fatal(err)
	}
	createTopic(t, b, "t", 3)
	s, w = openAt(tb, spi.Upsert, pin)
	if len(s.p.parts) != 3 || s.Pin() == pin || !strings.Contains(w.all(), "deleted and created again since this job last wrote it") {
		t.Errorf("%d partitions, %s", len(s.p.parts), w.all())
	}
}
