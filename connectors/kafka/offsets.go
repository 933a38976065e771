package kafka

import (
	"context"
	"errors"
	"sort"
	"time"

	"github.com/sluicesql/sluice/internal/fault"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

const (
	listLatest   = -1
	listEarliest = -2
)

type listed struct {
	offset int64 // −1: no record is that late
	epoch  int32
}

// listOffsets asks for the offset of a time in milliseconds, listEarliest or listLatest in each partition.
// With committed, the latest is the last stable offset.
func (c *cluster) listOffsets(ctx context.Context, parts []*partition, millis int64, committed bool) (map[*partition]listed, error) {
	out := make(map[*partition]listed, len(parts))
	if len(parts) == 0 {
		return out, nil
	}
	type tp struct {
		t string
		p int32
	}
	wanted := map[tp]*partition{}
	req := kmsg.NewPtrListOffsetsRequest()
	req.ReplicaID = -1
	if committed {
		req.IsolationLevel = 1
	}
	topics := map[string]int{}
	for _, p := range parts {
		wanted[tp{p.topic.name, p.id}] = p
		i, ok := topics[p.topic.name]
		if !ok {
			i = len(req.Topics)
			topics[p.topic.name] = i
			rt := kmsg.NewListOffsetsRequestTopic()
			rt.Topic = p.topic.name
			req.Topics = append(req.Topics, rt)
		}
		rp := kmsg.NewListOffsetsRequestTopicPartition()
		rp.Partition, rp.Timestamp = p.id, millis
		req.Topics[i].Partitions = append(req.Topics[i].Partitions, rp)
	}
	var last error
	for try := 0; ; try++ {
		for _, shard := range c.cl.RequestSharded(ctx, req) {
			if shard.Err != nil {
				last = c.unreachable(shard.Err)
				continue
			}
			for _, rt := range shard.Resp.(*kmsg.ListOffsetsResponse).Topics {
				for _, rp := range rt.Partitions {
					p := wanted[tp{rt.Topic, rp.Partition}]
					if err := kerr.ErrorForCode(rp.ErrorCode); err != nil {
						if p != nil {
							last = answered(err, "kafka %s at %s: offsets cannot be listed: %w", p, c.seeds, err)
							if !kerr.IsRetriable(err) {
								return nil, last
							}
						}
						continue
					}
					if p != nil {
						out[p] = listed{rp.Offset, rp.LeaderEpoch}
					}
				}
			}
		}
		if len(out) == len(wanted) {
			return out, nil
		}
		t := time.NewTimer(min(50*time.Millisecond<<min(try, 5), time.Second))
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			if last == nil {
				last = c.unreachable(ctx.Err())
			}
			return nil, last
		}
	}
}

// committedOffsets are those of the consumer group, −1 where a partition has none.
func (c *cluster) committedOffsets(ctx context.Context, group string, parts []*partition) (map[*partition]int64, error) {
	topics := map[string]bool{}
	var names []string
	for _, p := range parts {
		if !topics[p.topic.name] {
			topics[p.topic.name] = true
			names = append(names, p.topic.name)
		}
	}
	var resp kadm.OffsetResponses
	err := retrying(ctx, func() (err error) {
		if resp, err = c.adm.FetchOffsetsForTopics(ctx, group, names...); err == nil {
			err = resp.Error()
		}
		return err
	})
	if errors.Is(err, kerr.GroupIDNotFound) { // from Kafka 4 on; before it, a group without offsets
		resp, err = nil, nil
	}
	if err != nil {
		return nil, answered(err, "kafka group %s at %s: the committed offsets cannot be read: %w", group, c.seeds, err)
	}
	out := make(map[*partition]int64, len(parts))
	for _, p := range parts {
		r, ok := resp.Lookup(p.topic.name, p.id)
		switch {
		case !ok:
			out[p] = -1
		case r.Err != nil:
			return nil, answered(r.Err, "kafka group %s at %s: the committed offset of %s cannot be read: %w", group, c.seeds, p, r.Err)
		default:
			out[p] = r.At
		}
	}
	return out, nil
}

// resolve finds the offset that pt names in each partition. fallback decides where a group has committed
// nothing: earliest, latest or none, which is an error. what is the option at work, for errors.
func (c *cluster) resolve(ctx context.Context, s *settings, parts []*partition, pt point, fallback, what string) (map[*partition]int64, error) {
	out := make(map[*partition]int64, len(parts))
	list := func(parts []*partition, millis int64) error {
		l, err := c.listOffsets(ctx, parts, millis, s.readCommitted)
		for p, o := range l {
			out[p] = o.offset
		}
		return err
	}
	switch pt.kind {
	case earliest:
		return out, list(parts, listEarliest)
	case latest:
		return out, list(parts, listLatest)
	case atTime:
		if err := list(parts, pt.millis); err != nil {
			return nil, err
		}
		var late []*partition
		for _, p := range parts {
			if out[p] < 0 { // no record is that late
				late = append(late, p)
			}
		}
		return out, list(late, listLatest)
	case specific:
		var unnamed []*partition
		for _, p := range parts {
			if at, ok := pt.offsets[p.id]; ok {
				out[p] = at
			} else {
				unnamed = append(unnamed, p)
			}
		}
		if len(unnamed) == 0 {
			return out, nil
		}
		if s.group == "" {
			return out, list(unnamed, listEarliest)
		}
		rest, err := c.resolve(ctx, s, unnamed, point{kind: committed}, "earliest", what)
		for p, at := range rest {
			out[p] = at
		}
		return out, err
	}
	// group-offsets
	offsets, err := c.committedOffsets(ctx, s.group, parts)
	if err != nil {
		return nil, err
	}
	var none []*partition
	for _, p := range parts {
		if offsets[p] < 0 {
			none = append(none, p)
		} else {
			out[p] = offsets[p]
		}
	}
	switch {
	case len(none) == 0:
		return out, nil
	case fallback == "earliest":
		return out, list(none, listEarliest)
	case fallback == "latest":
		return out, list(none, listLatest)
	}
	return nil, fault.Errorf(fault.KafkaOffset, "kafka %s: group %q has committed no offset, and %s is 'group-offsets'", none[0], s.group, what).
		Fix("say where to begin: 'scan.startup.mode' = 'earliest-offset', or 'properties.auto.offset.reset' = 'earliest' for groups without offsets")
}

// commit writes group offsets.
func (c *cluster) commit(ctx context.Context, group string, offsets kadm.Offsets) error {
	resp, err := c.adm.CommitOffsets(ctx, group, offsets)
	if err != nil {
		return err
	}
	return resp.Error()
}

// sortPartitions orders partitions by topic and number, the order in which readers get them.
func sortPartitions(parts []*partition) {
	sort.Slice(parts, func(i, j int) bool {
		if parts[i].topic.name != parts[j].topic.name {
			return parts[i].topic.name < parts[j].topic.name
		}
		return parts[i].id < parts[j].id
	})
}
