package cdcbench

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicesql/sluice/internal/realkafka"
)

// Partitions is the number of partitions of every topic of the benchmark.
const Partitions = 4

// Generate emits the whole workload of a size and returns the model at its end.
func Generate(size Size, seed uint64, emit func(Event) error) (*Model, error) {
	m := NewModel(size, seed)
	if err := m.Snapshot(emit); err != nil {
		return nil, err
	}
	for range size.Changes {
		if err := m.Change(emit); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// Load writes the whole workload of a size into its two topics, which it empties
// first, and returns the model at its end.
func Load(ctx context.Context, addr string, size Size, seed uint64) (*Model, error) {
	for _, topic := range []string{size.UsersTopic(), size.DomainsTopic()} {
		if err := realkafka.RecreateTopic(ctx, addr, topic, Partitions); err != nil {
			return nil, err
		}
	}
	p, err := newProducer(addr, size,
		kgo.ProducerBatchCompression(kgo.NoCompression()),
		kgo.ProducerLinger(5*time.Millisecond),
		kgo.MaxBufferedRecords(200_000))
	if err != nil {
		return nil, err
	}
	defer p.client.Close()
	m, err := Generate(size, seed, func(e Event) error { return p.produce(ctx, e) })
	if err == nil {
		err = p.flush(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("load workload %s: %w", size.Name, err)
	}
	return m, nil
}

// producer writes events into the topics of a size, without waiting.
type producer struct {
	client *kgo.Client
	size   Size
	failed atomic.Pointer[error] // the first failure of a record
}

func newProducer(addr string, size Size, opts ...kgo.Opt) (*producer, error) {
	client, err := kgo.NewClient(append(realkafka.ProducerOptions(addr), opts...)...)
	if err != nil {
		return nil, err
	}
	return &producer{client: client, size: size}, nil
}

// produce hands e to the client, which blocks when its buffer is full. It returns
// the failure of any record before.
func (p *producer) produce(ctx context.Context, e Event) error {
	topic := p.size.UsersTopic()
	if e.Table == Domains {
		topic = p.size.DomainsTopic()
	}
	r := &kgo.Record{Topic: topic, Key: AppendKey(make([]byte, 0, 20), e.ID), Value: e.Value}
	p.client.Produce(ctx, r, func(_ *kgo.Record, err error) {
		if err != nil {
			p.failed.CompareAndSwap(nil, &err)
		}
	})
	return p.failure()
}

// flush waits until the broker has everything.
func (p *producer) flush(ctx context.Context) error {
	if err := p.client.Flush(ctx); err != nil {
		return err
	}
	return p.failure()
}

func (p *producer) failure() error {
	if err := p.failed.Load(); err != nil {
		return *err
	}
	return nil
}
