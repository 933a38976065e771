package realkafka

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

var nameCounter atomic.Int64

// UniqueName makes a name for a topic or a group that no other test uses, on a
// broker that may serve several test processes.
func UniqueName(prefix string) string {
	return fmt.Sprintf("%s-%s-%d", prefix, strconv.FormatInt(time.Now().UnixNano(), 36), nameCounter.Add(1))
}

// CreateTopic creates an empty topic; one that exists is an error.
func CreateTopic(ctx context.Context, addr, topic string, partitions int32) error {
	cl, err := adminClient(addr)
	if err != nil {
		return err
	}
	defer cl.Close()
	return createTopic(ctx, kadm.NewClient(cl), topic, partitions)
}

// adminClient does not answer from a cache that is older than a moment, in which a
// topic may have come or gone.
func adminClient(addr string) (*kgo.Client, error) {
	return kgo.NewClient(kgo.SeedBrokers(addr), kgo.MetadataMinAge(10*time.Millisecond))
}

// createTopic returns when the topic can be used. The controller answers before
// the broker has heard of the topic: who asks the broker in between is told that
// there is none, or finds a deleted one of the same name.
func createTopic(ctx context.Context, adm *kadm.Client, topic string, partitions int32) error {
	created, err := adm.CreateTopic(ctx, partitions, 1, nil, topic)
	if err != nil {
		return fmt.Errorf("create topic %s: %w", topic, err)
	}
	for {
		topics, err := adm.ListTopics(ctx, topic)
		if err == nil && usable(topics[topic], created.ID, int(partitions)) {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Join(fmt.Errorf("topic %s was created but is not there: %w", topic, ctx.Err()), err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// usable reports whether the broker knows this very topic and leads all of it.
func usable(t kadm.TopicDetail, id kadm.TopicID, partitions int) bool {
	if t.Err != nil || t.ID != id || len(t.Partitions) != partitions {
		return false
	}
	for _, p := range t.Partitions {
		if p.Err != nil || p.Leader < 0 {
			return false
		}
	}
	return true
}

// RecreateTopic leaves an empty topic of that name, whatever was there before.
func RecreateTopic(ctx context.Context, addr, topic string, partitions int32) error {
	cl, err := adminClient(addr)
	if err != nil {
		return err
	}
	defer cl.Close()
	adm := kadm.NewClient(cl)
	if _, err := adm.DeleteTopic(ctx, topic); err != nil && !errors.Is(err, kerr.UnknownTopicOrPartition) {
		return fmt.Errorf("delete topic %s: %w", topic, err)
	}
	for { // a topic's name stays taken for a moment after its deletion
		err := createTopic(ctx, adm, topic, partitions)
		if !errors.Is(err, kerr.TopicAlreadyExists) {
			return err
		}
		select {
		case <-ctx.Done():
			return errors.Join(err, ctx.Err())
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// EndOffsets returns the sum of a topic's end offsets: the number of records, if
// none was removed and no transaction was used.
func EndOffsets(ctx context.Context, addr, topic string) (int64, error) {
	cl, err := adminClient(addr)
	if err != nil {
		return 0, err
	}
	defer cl.Close()
	ends, err := kadm.NewClient(cl).ListEndOffsets(ctx, topic)
	if err == nil {
		err = ends.Error()
	}
	if err != nil {
		return 0, fmt.Errorf("end offsets of %s: %w", topic, err)
	}
	var n int64
	ends.Each(func(o kadm.ListedOffset) { n += o.Offset })
	return n, nil
}
