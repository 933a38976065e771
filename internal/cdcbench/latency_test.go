package cdcbench

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicesql/sluice/internal/realkafka"
)

func TestSummarise(t *testing.T) {
	samples := make([]time.Duration, 1000)
	for i := range samples {
		samples[(i*7)%1000] = time.Duration(i+1) * time.Millisecond
	}
	l, err := summarise(samples)
	if err != nil {
		t.Fatal(err)
	}
	want := Latency{Samples: 1000, P50: 501 * time.Millisecond, P90: 901 * time.Millisecond, P99: 991 * time.Millisecond, Max: time.Second}
	if l != want {
		t.Errorf("got %+v, want %+v", l, want)
	}
	if _, err := summarise(nil); err == nil {
		t.Error("no samples, no error")
	}
}

// A job that only copies users to the output: every update must be seen.
func TestProbeOnKafka(t *testing.T) {
	addr := realkafka.ForTest(t).Addr()
	size := Size{Name: realkafka.UniqueName("probe"), Users: 100}
	m, err := Load(t.Context(), addr, size, DefaultSeed)
	if err != nil {
		t.Fatal(err)
	}
	output := realkafka.UniqueName("copied")
	if err := realkafka.CreateTopic(t.Context(), addr, output, 1); err != nil {
		t.Fatal(err)
	}
	consumer, err := ConsumeFromEnd(t.Context(), addr, size.UsersTopic())
	if err != nil {
		t.Fatal(err)
	}
	defer consumer.Close()
	producer, err := kgo.NewClient(realkafka.ProducerOptions(addr)...)
	if err != nil {
		t.Fatal(err)
	}
	defer producer.Close()
	ctx, stop := context.WithCancel(t.Context())
	var copier sync.WaitGroup
	copied := 0
	copier.Go(func() {
		for ctx.Err() == nil {
			consumer.PollFetches(ctx).EachRecord(func(r *kgo.Record) {
				copied++
				producer.Produce(ctx, &kgo.Record{Topic: output, Value: r.Value}, nil)
			})
		}
	})
	l, err := Probe{Addr: addr, Model: m, Size: size, Output: output, Rate: 500, Duration: 2 * time.Second}.Run(t.Context())
	stop()
	copier.Wait()
	if err != nil {
		t.Fatal(err)
	}
	if l.Samples != copied || copied < 700 || copied > 1000 {
		t.Errorf("%d samples of %d updates of users (of 1000)", l.Samples, copied)
	}
	if l.P50 <= 0 || l.P50 > l.P90 || l.P90 > l.P99 || l.P99 > l.Max {
		t.Errorf("latencies make no sense: %v", l)
	}
}
