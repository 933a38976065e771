package kafka

import (
	"context"
	"fmt"
	"regexp"
	"slices"

	"github.com/twmb/franz-go/pkg/kadm"
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
	defer c.cl.Close()
	topics, err := c.sampledTopics(ctx, o)
	if err != nil || len(topics) == 0 {
		return nil, err
	}
	first, err := c.adm.ListStartOffsets(ctx, topics...)
	if err == nil {
		err = first.Error()
	}
	if err != nil {
		return nil, fmt.Errorf("offsets of %v at %s: %w", topics, c.seeds, err)
	}
	last, err := c.adm.ListCommittedOffsets(ctx, topics...)
	if err == nil {
		err = last.Error()
	}
	if err != nil {
		return nil, fmt.Errorf("offsets of %v at %s: %w", topics, c.seeds, err)
	}
	return c.sample(ctx, &s, first, last, n)
}

func (c *cluster) sampledTopics(ctx context.Context, o spi.Options) (topics []string, err error) {
	pattern, has := o["topic-pattern"]
	if !has {
		if topics, err = topicList(o["topic"]); err != nil {
			return nil, err
		}
	}
	m, err := c.connect(ctx, topics)
	if err != nil {
		return nil, err
	}
	if !has {
		if len(m.missing) > 0 {
			return nil, c.noTopic(ctx, m.missing[0], false)
		}
		return topics, nil
	}
	re, err := regexp.Compile("^(?:" + pattern + ")$")
	if err != nil {
		return nil, &spi.OptionError{Name: "topic-pattern", Value: true, Msg: fmt.Sprintf("option 'topic-pattern': %v", err)}
	}
	for name := range m.topics {
		if re.MatchString(name) {
			topics = append(topics, name)
		}
	}
	slices.Sort(topics)
	return topics, nil
}

// part is a partition of a sample.
type part struct {
	topic  string
	id     int32
	end    int64 // the first offset that is not read
	want   int   // records
	sample []Sampled
	ended  bool
}

func (c *cluster) sample(ctx context.Context, s *settings, first, last kadm.ListedOffsets, n int) ([]Sampled, error) {
	var parts []*part
	from := map[string]map[int32]kgo.Offset{}
	last.Each(func(o kadm.ListedOffset) {
		start, ok := first.Lookup(o.Topic, o.Partition)
		if !ok || o.Offset <= start.Offset {
			return
		}
		parts = append(parts, &part{topic: o.Topic, id: o.Partition, end: o.Offset, want: int(min(o.Offset-start.Offset, int64(n)))})
		if from[o.Topic] == nil {
			from[o.Topic] = map[int32]kgo.Offset{}
		}
		from[o.Topic][o.Partition] = kgo.NewOffset().At(start.Offset)
	})
	if len(parts) == 0 {
		return nil, nil
	}
	share(parts, n)
	reading, err := dial(s, kgo.ConsumePartitions(from), kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.KeepControlRecords(), kgo.FetchMaxPartitionBytes(1<<20))
	if err != nil {
		return nil, err
	}
	defer reading.cl.Close()
	for slices.ContainsFunc(parts, func(p *part) bool { return !p.ended }) {
		fetches := reading.cl.PollFetches(ctx)
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("the sample of %s did not come: %w", c.seeds, context.Cause(ctx))
		}
		for _, e := range fetches.Errors() {
			return nil, fmt.Errorf("kafka %s/%d: %w", e.Topic, e.Partition, e.Err)
		}
		fetches.EachRecord(func(r *kgo.Record) {
			i := slices.IndexFunc(parts, func(p *part) bool { return p.topic == r.Topic && p.id == r.Partition })
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
		p.sample = append(p.sample, Sampled{p.topic, p.id, r.Offset, spi.Message{Key: r.Key, Value: r.Value}})
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
