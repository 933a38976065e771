package kafka

import (
	"strings"
	"testing"
	"time"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// TestFatalTable has requests meet answers that no other attempt cures: the error says where and what to do, or the
// job goes on where it can do without, and says so once.
func TestFatalTable(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		key  kmsg.Key
		err  *kerr.Error
		says []string // of the error, or of the warning after "goes on"
	}{
		{kmsg.Metadata, kerr.TopicAuthorizationFailed, []string{"kafka topic t at", "grant DESCRIBE and READ"}},
		{kmsg.Metadata, kerr.InvalidTopicException, []string{`kafka topic "t" at`, "not valid"}},
		{kmsg.Metadata, kerr.UnsupportedVersion, []string{"UNSUPPORTED_VERSION"}},
		{kmsg.ListOffsets, kerr.TopicAuthorizationFailed, []string{"kafka t/", "offsets cannot be listed", "grant READ"}},
		{kmsg.Fetch, kerr.TopicAuthorizationFailed, []string{"kafka t/", "grant READ"}},
		{kmsg.Fetch, kerr.ClusterAuthorizationFailed, []string{"kafka t/", "kafka-acls.sh"}},
		{kmsg.Fetch, kerr.UnsupportedCompressionType, []string{"kafka t/", "UNSUPPORTED_COMPRESSION_TYPE"}},
		{kmsg.OffsetFetch, kerr.GroupAuthorizationFailed, []string{"kafka group g at", "grant READ on the group"}},
		{kmsg.OffsetCommit, kerr.GroupAuthorizationFailed, []string{"goes on", "kafka group g at", "offsets cannot be committed"}},
		{kmsg.InitProducerID, kerr.ClusterAuthorizationFailed, []string{"grant IDEMPOTENT_WRITE", "'properties.enable.idempotence' = 'false'"}},
		{kmsg.DescribeConfigs, kerr.TopicAuthorizationFailed, []string{"goes on"}},
		{kmsg.CreateTopics, kerr.TopicAuthorizationFailed, []string{"kafka topic out at", "grant CREATE"}},
		{kmsg.Produce, kerr.TopicAuthorizationFailed, []string{"kafka out/", "grant WRITE"}},
		{kmsg.Produce, kerr.MessageTooLarge, []string{"kafka out/", "max.message.bytes"}},
		{kmsg.Produce, kerr.InvalidRecord, []string{"kafka out/", "INVALID_RECORD"}},
		{kmsg.Produce, kerr.InvalidTimestamp, []string{"kafka out/", "INVALID_TIMESTAMP"}},
		{kmsg.Produce, kerr.UnsupportedForMessageFormat, []string{"kafka out/", "UNSUPPORTED_FOR_MESSAGE_FORMAT"}},
		{kmsg.Produce, kerr.PolicyViolation, []string{"kafka out/", "POLICY_VIOLATION"}},
	} {
		t.Run(c.key.Name()+"/"+c.err.Message, func(t *testing.T) {
			t.Parallel()
			b, err := startFaulty()
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(b.Close)
			for i := range pipeRows {
				produce(t, b.Broker, "t", string(rune('a'+i%26)), "1|x")
			}
			h := b.Cluster().Fault(kfake.Fault{Keys: []kmsg.Key{c.key}, Err: c.err, Count: -1, TopLevel: c.key == kmsg.InitProducerID})
			start := time.Now()
			warned, err := pipe(t, b, func() {})
			if h.Hits() == 0 {
				t.Fatalf("no request was made: %v", err)
			}
			if c.says[0] != "goes on" {
				wantError(t, start, err, c.says...)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range c.says[1:] {
				if strings.Count(warned, p) != 1 {
					t.Errorf("warnings %q say %q not once", warned, p)
				}
			}
		})
	}
}

// TestGivesUp loses the brokers for good: people are told which does not answer, and the job fails when it was tried
// for as long as asked.
func TestGivesUp(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(b *faultyBroker){
		"gone": func(b *faultyBroker) { b.Close() },
		"no leader": func(b *faultyBroker) {
			answering(kerr.NotLeaderForPartition)(b, kmsg.Fetch, 1<<30)
			answering(kerr.NotLeaderForPartition)(b, kmsg.Produce, 1<<30)
		},
		"cut": func(b *faultyBroker) {
			connectionFaults["disconnect"](b, kmsg.Fetch, 1<<30)
			connectionFaults["disconnect"](b, kmsg.Produce, 1<<30)
		},
		"metadata": func(b *faultyBroker) {
			for _, key := range []kmsg.Key{kmsg.Metadata, kmsg.Fetch, kmsg.Produce} {
				answering(kerr.RequestTimedOut)(b, key, 1<<30)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, err := startFaulty()
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(b.Close)
			addr := b.Addr()
			tb := table(addr, "scan.retry-timeout", "700 ms", "properties.delivery.timeout.ms", "700", "properties.request.timeout.ms", "300")
			src, w := open(t, tb, nil)
			s, sw := openWriter(t, tb, spi.AppendOnly, 1)
			lose(b)
			start := time.Now()
			if err := s.Writer(0).Write(t.Context(), batchOf(change{0, 1, "x"})); err != nil {
				t.Fatal(err)
			}
			wantError(t, start, tryBarrier(s.Writer(0), 1), "kafka t/", addr, "could not be written within 'properties.delivery.timeout.ms' = 700")
			_, err = tryRead(src.Reader(0), tb, 1)
			wantError(t, start, err, "kafka t/", "@0", addr, "nothing could be read for 700ms ('scan.retry-timeout')")
			all := w.all() + "\n" + sw.all()
			if !strings.Contains(all, "kafka broker ") && !strings.Contains(all, addr) {
				t.Errorf("warnings %q name no broker", all)
			}
			if n := strings.Count(all, "\n"); n > 8 {
				t.Errorf("%d warnings: %s", n, all)
			}
			t.Log(all)
		})
	}
}
