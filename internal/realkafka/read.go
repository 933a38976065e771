package realkafka

import (
	"context"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// ReadTopic calls f for every committed record of topic, up to the ends at the
// time of the call; the records of one partition come in order. f may keep the
// record.
func ReadTopic(ctx context.Context, addr, topic string, f func(*kgo.Record) error) error {
	left, start, err := bounds(ctx, addr, topic)
	if err != nil || len(left) == 0 {
		return err
	}
	cl, err := kgo.NewClient(kgo.SeedBrokers(addr),
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: start}),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		kgo.FetchMaxBytes(64<<20),
		kgo.MetadataMinAge(50*time.Millisecond),
		// The last record of a partition may be the marker that ends a transaction.
		kgo.KeepControlRecords())
	if err != nil {
		return err
	}
	defer cl.Close()
	for len(left) > 0 {
		fetches := cl.PollFetches(ctx)
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("read %s: %w", topic, err)
		}
		for _, e := range fetches.Errors() {
			return fmt.Errorf("read %s/%d: %w", e.Topic, e.Partition, e.Err)
		}
		for it := fetches.RecordIter(); !it.Done(); {
			r := it.Next()
			end, reading := left[r.Partition]
			if !reading {
				continue
			}
			if r.Offset < end && !r.Attrs.IsControl() {
				if err := f(r); err != nil {
					return fmt.Errorf("%s/%d@%d: %w", topic, r.Partition, r.Offset, err)
				}
			}
			if r.Offset >= end-1 {
				delete(left, r.Partition)
			}
		}
	}
	return nil
}

// bounds returns, for every partition of topic that holds something, the
// committed end and the start.
func bounds(ctx context.Context, addr, topic string) (ends map[int32]int64, starts map[int32]kgo.Offset, err error) {
	cl, err := adminClient(addr)
	if err != nil {
		return nil, nil, err
	}
	defer cl.Close()
	adm := kadm.NewClient(cl)
	first, err := adm.ListStartOffsets(ctx, topic)
	if err == nil {
		err = first.Error()
	}
	if err != nil {
		return nil, nil, fmt.Errorf("start offsets of %s: %w", topic, err)
	}
	last, err := adm.ListCommittedOffsets(ctx, topic)
	if err == nil {
		err = last.Error()
	}
	if err != nil {
		return nil, nil, fmt.Errorf("end offsets of %s: %w", topic, err)
	}
	ends, starts = map[int32]int64{}, map[int32]kgo.Offset{}
	last.Each(func(o kadm.ListedOffset) {
		if s, ok := first.Lookup(topic, o.Partition); ok && o.Offset > s.Offset {
			ends[o.Partition] = o.Offset
			starts[o.Partition] = kgo.NewOffset().At(s.Offset)
		}
	})
	return ends, starts, nil
}
