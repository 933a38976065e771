package cdcbench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// Probe produces marked updates at a fixed rate and reads the output topic of a
// job that joins them. The latency of a joined row is the time from when its
// newest update was handed to the producer until the row was read.
type Probe struct {
	Addr     string
	Model    *Model // as loaded; it goes on from there
	Size     Size   // whose topics the model was loaded into
	Output   string // the job's output topic
	Rate     int    // updates a second
	WarmUp   time.Duration
	Duration time.Duration // after WarmUp; what is produced in it counts
}

// Latency is what a probe saw.
type Latency struct {
	Samples       int // joined rows
	P50, P90, P99 time.Duration
	Max           time.Duration
	// ProducerBehind is the longest time by which an update was produced late; when
	// it is long, the machine was too busy to keep the rate.
	ProducerBehind time.Duration
}

func (l Latency) String() string {
	return fmt.Sprintf("p50 %v, p90 %v, p99 %v, max %v over %d rows (producer behind by %v at most)",
		l.P50, l.P90, l.P99, l.Max, l.Samples, l.ProducerBehind)
}

// drainQuiet is how long the output must be silent before the last update is
// taken for joined; drainLimit ends the wait for silence.
const (
	drainQuiet = time.Second
	drainLimit = 15 * time.Second
)

// Run probes. It takes WarmUp and Duration and a second or more to drain.
func (p Probe) Run(ctx context.Context) (Latency, error) {
	consumer, err := ConsumeFromEnd(ctx, p.Addr, p.Output)
	if err != nil {
		return Latency{}, err
	}
	defer consumer.Close()
	producer, err := newProducer(p.Addr, p.Size, kgo.ProducerLinger(0))
	if err != nil {
		return Latency{}, err
	}
	defer producer.client.Close()

	start := time.Now()
	s := &sampler{from: start.Add(p.WarmUp).UnixNano()}
	s.touch()
	readCtx, stopReading := context.WithCancel(ctx)
	var reader sync.WaitGroup
	var readErr error
	reader.Go(func() { readErr = s.read(readCtx, consumer) })

	behind, produceErr := p.produce(ctx, producer, start)
	if produceErr == nil {
		s.awaitQuiet(ctx)
	}
	stopReading()
	reader.Wait()
	if err := errors.Join(produceErr, readErr, ctx.Err()); err != nil {
		return Latency{}, fmt.Errorf("latency probe: %w", err)
	}
	l, err := summarise(s.samples)
	l.ProducerBehind = behind
	return l, err
}

func (p Probe) produce(ctx context.Context, producer *producer, start time.Time) (behind time.Duration, err error) {
	interval := time.Second / time.Duration(p.Rate)
	total := int((p.WarmUp + p.Duration) / interval)
	for i := range total {
		wait := time.Until(start.Add(time.Duration(i) * interval))
		if wait > 200*time.Microsecond { // a shorter sleep lasts longer than it says
			time.Sleep(wait)
		}
		behind = max(behind, -wait)
		if err := producer.produce(ctx, p.Model.Mark(time.Now().UnixNano())); err != nil {
			return behind, err
		}
	}
	return behind, producer.flush(ctx)
}

// ConsumeFromEnd returns a client that reads what a topic gets from now on, committed records alone.
func ConsumeFromEnd(ctx context.Context, addr, topic string) (*kgo.Client, error) {
	admin, err := kgo.NewClient(kgo.SeedBrokers(addr))
	if err != nil {
		return nil, err
	}
	defer admin.Close()
	ends, err := kadm.NewClient(admin).ListEndOffsets(ctx, topic)
	if err == nil {
		err = ends.Error()
	}
	if err != nil {
		return nil, fmt.Errorf("end offsets of %s: %w", topic, err)
	}
	return kgo.NewClient(kgo.SeedBrokers(addr), kgo.ConsumePartitions(ends.KOffsets()), kgo.FetchMinBytes(1), kgo.FetchIsolationLevel(kgo.ReadCommitted()))
}

// sampler measures the rows that arrive in the output topic.
type sampler struct {
	from    int64 // marks before this time do not count
	samples []time.Duration

	mu   sync.Mutex
	last time.Time // when something arrived
}

// read polls until ctx ends.
func (s *sampler) read(ctx context.Context, consumer *kgo.Client) error {
	for {
		fetches := consumer.PollFetches(ctx)
		now := time.Now().UnixNano()
		if ctx.Err() != nil {
			return nil
		}
		for _, e := range fetches.Errors() {
			return fmt.Errorf("read %s/%d: %w", e.Topic, e.Partition, e.Err)
		}
		fetches.EachRecord(func(r *kgo.Record) {
			if mark, added := newestMark(r.Value); added && mark >= s.from {
				s.samples = append(s.samples, time.Duration(now-mark))
			}
		})
		s.touch()
	}
}

func (s *sampler) touch() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = time.Now()
}

func (s *sampler) quietFor() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Since(s.last)
}

func (s *sampler) awaitQuiet(ctx context.Context) {
	for deadline := time.Now().Add(drainLimit); time.Now().Before(deadline) && s.quietFor() < drainQuiet; {
		select {
		case <-ctx.Done():
			return
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func summarise(samples []time.Duration) (Latency, error) {
	if len(samples) == 0 {
		return Latency{}, errors.New("latency probe: no marked row arrived in the output topic; is the job running?")
	}
	slices.Sort(samples)
	quantile := func(q float64) time.Duration {
		return samples[min(len(samples)-1, int(q*float64(len(samples))))]
	}
	return Latency{
		Samples: len(samples),
		P50:     quantile(0.5),
		P90:     quantile(0.9),
		P99:     quantile(0.99),
		Max:     samples[len(samples)-1],
	}, nil
}
