package kafka

import (
	"context"
	"fmt"
	"regexp"
	"slices"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicesql/sluice/connectors/spi"
)

// Sampled is a record of a sample.
type Sampled struct {
	Topic     string
	Partition int32
	Offset    int64
	spi.Message
}

// Sample reads up to n records from the beginnings of the partitions of the topics that a table's options name ('topic'
// or 'topic-pattern'), the same number from each as far as they have them, and returns them partition by partition, in order.
func Sample(ctx context.Context, o spi.Options, n int) ([]Sampled, error) {
	s, err := parseProperties(o)
	if err != nil {
		return nil, err
	}
	c, err := dial(&s)
	if err != nil {
		return nil, err
	}
	defer c.close()
	parts, err := c.sampledPartitions(ctx, o)
	if err != nil {
		return nil, err
	}
	first, err := c.listOffsets(ctx, parts, listEarliest, false)
	if err != nil {
		return nil, err
	}
	last, err := c.listOffsets(ctx, parts, listLatest, true)
	if err != nil {
		return nil, err
	}
	var sampled []*part
	for _, p := range parts {
		if p.pos, p.end = first[p].offset, last[p].offset; p.pos < p.end {
			sampled = append(sampled, &part{partition: p, want: int(min(p.end-p.pos, int64(n)))})
		}
	}
	if len(sampled) == 0 {
		return nil, nil
	}
	share(sampled, n)
	return c.sample(ctx, &s, sampled)
}

// sampledPartitions are those of the topics that a table's options name.
func (c *cluster) sampledPartitions(ctx context.Context, o spi.Options) (parts []*partition, err error) {
	var topics []string
	var re *regexp.Regexp
	if pattern, ok := o["topic-pattern"]; ok {
		re, err = topicPattern(pattern)
	} else {
		topics, err = topicList(o["topic"])
	}
	if err != nil {
		return nil, err
	}
	m, err := c.connect(ctx, topics)
	if err != nil {
		return nil, err
	}
	if re == nil && len(m.missing) > 0 {
		return nil, c.noTopic(ctx, m.missing[0], false)
	}
	for name, t := range m.topics {
		if re != nil && !re.MatchString(name) {
			continue
		}
		ref := &topicRef{name: name}
		for id := range t.partitions {
			parts = append(parts, &partition{topic: ref, id: int32(id)})
		}
	}
	sortPartitions(parts)
	return parts, nil
}

// part is a partition of a sample.
type part struct {
	*partition     // end is the first offset that is not read
	want       int // records
	sample     []Sampled
	ended      bool
}

// sample reads what is wanted of the partitions.
func (c *cluster) sample(ctx context.Context, s *settings, parts []*part) ([]Sampled, error) {
	from := map[string]map[int32]kgo.Offset{}
	for _, p := range parts {
		if from[p.topic.name] == nil {
			from[p.topic.name] = map[int32]kgo.Offset{}
		}
		from[p.topic.name][p.id] = kgo.NewOffset().At(p.pos)
	}
	reading, err := dial(s, kgo.ConsumePartitions(from), kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.KeepControlRecords(), kgo.FetchMaxPartitionBytes(1<<20))
	if err != nil {
		return nil, err
	}
	defer reading.close()
	for slices.ContainsFunc(parts, func(p *part) bool { return !p.ended }) {
		fetches := reading.cl.PollFetches(ctx)
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("the sample of %s did not come: %w", c.seeds, context.Cause(ctx))
		}
		for _, e := range fetches.Errors() {
			return nil, fmt.Errorf("kafka %s/%d: %w", e.Topic, e.Partition, e.Err)
		}
		fetches.EachRecord(func(r *kgo.Record) {
			i := slices.IndexFunc(parts, func(p *part) bool { return p.topic.name == r.Topic && p.id == r.Partition })
			if i >= 0 {
				parts[i].take(r)
			}
		})
	}
	var all []Sampled
	for _, p := range parts {
		all = append(all, p.sample...)
	}
	return all, nil
}

// take adds a record, and notes the end of the partition's sample.
func (p *part) take(r *kgo.Record) {
	if p.ended {
		return
	}
	if r.Offset < p.end && !r.Attrs.IsControl() {
		p.sample = append(p.sample, Sampled{p.topic.name, p.id, r.Offset, spi.Message{Key: r.Key, Value: r.Value}})
	}
	p.ended = r.Offset >= p.end-1 || len(p.sample) >= p.want
}

// share divides n records among partitions, so that the most any of them gives is as small as it can be.
func share(parts []*part, n int) {
	slices.SortFunc(parts, func(a, b *part) int { return a.want - b.want })
	for i, p := range parts {
		left := len(parts) - i
		p.want = min(p.want, (n+left-1)/left)
		n -= p.want
		p.ended = p.want == 0
	}
}
