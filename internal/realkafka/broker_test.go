package realkafka

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

func contents(t *testing.T, addr, topic string) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	var got []string
	err := ReadTopic(ctx, addr, topic, func(r *kgo.Record) error {
		got = append(got, string(r.Key)+"="+string(r.Value))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestReadTopicSeesWhatIsCommitted(t *testing.T) {
	addr := ForTest(t).Addr()
	topic := UniqueName("transactions")
	if err := CreateTopic(t.Context(), addr, topic, 1); err != nil {
		t.Fatal(err)
	}
	if got := contents(t, addr, topic); len(got) != 0 {
		t.Fatalf("a new topic holds %v", got)
	}
	cl, err := kgo.NewClient(append(ProducerOptions(addr), kgo.TransactionalID(topic))...)
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	for i, end := range []kgo.TransactionEndTry{kgo.TryCommit, kgo.TryAbort, kgo.TryCommit, kgo.TryAbort} {
		if err := cl.BeginTransaction(); err != nil {
			t.Fatal(err)
		}
		r := &kgo.Record{Topic: topic, Key: fmt.Append(nil, "k", i), Value: []byte("v")}
		if err := cl.ProduceSync(t.Context(), r).FirstErr(); err != nil {
			t.Fatal(err)
		}
		if err := cl.EndTransaction(t.Context(), end); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := contents(t, addr, topic), []string{"k0=v", "k2=v"}; !slices.Equal(got, want) {
		t.Errorf("topic holds %v, want %v", got, want)
	}
	for range 5 { // a topic that is not there yet, or still there, shows at times only
		if err := RecreateTopic(t.Context(), addr, topic, 2); err != nil {
			t.Fatal(err)
		}
		if got := contents(t, addr, topic); len(got) != 0 {
			t.Errorf("after RecreateTopic the topic holds %v", got)
		}
	}
}

// The partitions are those that kafka-clients' BuiltInPartitioner.partitionForKey
// gives for these keys.
func TestLoadJSONLPlacesByKeyAsJavaDoes(t *testing.T) {
	addr := ForTest(t).Addr()
	topic := UniqueName("placed")
	var in strings.Builder
	want := map[string]int32{}
	for key, hash := range murmur2Vectors {
		want[key] = (hash & 0x7fffffff) % 4
		fmt.Fprintf(&in, "{\"topic\":%q,\"key\":%q,\"value\":\"v\"}\n", topic, key)
	}
	if err := LoadJSONL(t.Context(), addr, strings.NewReader(in.String()), 4); err != nil {
		t.Fatal(err)
	}
	got := map[string]int32{}
	if err := ReadTopic(t.Context(), addr, topic, func(r *kgo.Record) error {
		got[string(r.Key)] = r.Partition
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if !maps.Equal(got, want) {
		t.Errorf("partitions = %v, want %v", got, want)
	}
	if n, err := EndOffsets(t.Context(), addr, topic); err != nil || n != int64(len(want)) {
		t.Errorf("EndOffsets = %d, %v, want %d", n, err, len(want))
	}
}

// murmur2Vectors are org.apache.kafka.common.utils.Utils.murmur2 of the keys, as
// Kafka's own UtilsTest states them.
var murmur2Vectors = map[string]int32{
	"21":                         -973932308,
	"foobar":                     -790332482,
	"a-little-bit-long-string":   -985981536,
	"a-little-bit-longer-string": -1486304829,
	"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8": -58897971,
	"abc": 479470107,
}

func TestBrokerKeepsItsDataOverRestartAndKill(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a broker of its own; left out by -short")
	}
	ForTest(t) // skips, or fails, where there is no broker
	b, err := Start(t.Context(), t.TempDir(), Options{})
	if _, unavailable := err.(*UnavailableError); unavailable {
		t.Skip(err) // ForTest used a broker from elsewhere
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Kill() })
	addr := b.Addr()
	if err := CreateTopic(t.Context(), addr, "kept", 1); err != nil {
		t.Fatal(err)
	}
	if err := Produce(t.Context(), addr, &kgo.Record{Topic: "kept", Key: []byte("1"), Value: []byte("a")}); err != nil {
		t.Fatal(err)
	}
	if err := b.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if b.Addr() != addr {
		t.Errorf("address went from %s to %s", addr, b.Addr())
	}
	if err := Produce(t.Context(), addr, &kgo.Record{Topic: "kept", Key: []byte("2"), Value: []byte("b")}); err != nil {
		t.Fatal(err)
	}
	if err := b.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := b.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, want := contents(t, addr, "kept"), []string{"1=a", "2=b"}; !slices.Equal(got, want) {
		t.Errorf("topic holds %v, want %v", got, want)
	}
	if err := b.Stop(); err != nil {
		t.Error(err)
	}
	if err := b.Stop(); err != nil {
		t.Errorf("second Stop: %v", err)
	}
}

func TestExternalBrokerIsLeftAlone(t *testing.T) {
	b := External("127.0.0.1:1")
	if err := b.Stop(); err != nil {
		t.Error(err)
	}
	if err := b.Restart(t.Context()); err == nil || !strings.Contains(err.Error(), "127.0.0.1:1") {
		t.Errorf("Restart: err = %v", err)
	}
}

func TestABrokerThatCannotStartSaysWhy(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a broker of its own; left out by -short")
	}
	ForTest(t) // skips, or fails, where there is no broker
	_, err := Start(t.Context(), t.TempDir(), Options{Properties: map[string]string{"log.segment.bytes": "many"}})
	if _, unavailable := err.(*UnavailableError); unavailable {
		t.Skip(err)
	}
	if err == nil || !strings.Contains(err.Error(), "Invalid value many for configuration log.segment.bytes") {
		t.Errorf("err = %v", err)
	}
}
