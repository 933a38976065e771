package kafka

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/sluicesql/sluice/internal/fault"
	"github.com/sluicesql/sluice/internal/near"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

const (
	// openPatience is how long opening a table tries to reach a broker: long enough for one that is just
	// coming up, short enough for a person who mistyped the address.
	openPatience = 5 * time.Second
	// openTimeout bounds everything that opening a table asks of a cluster at once.
	openTimeout = 9 * time.Second
)

// cluster is a connection to a Kafka cluster.
type cluster struct {
	cl    *kgo.Client
	adm   *kadm.Client
	seeds string
	sasl  bool

	mu    sync.Mutex
	hosts map[int32]string // addresses of brokers, from the last metadata
}

// broker names a broker, by its address where that is known.
func (c *cluster) broker(id int32) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if h, ok := c.hosts[id]; ok {
		return fmt.Sprintf("kafka broker %d at %s", id, h)
	}
	return fmt.Sprintf("kafka broker %d of %s", id, c.seeds)
}

// topicMeta is what a broker says of a topic.
type topicMeta struct {
	name       string
	id         [16]byte
	partitions []partitionMeta // by id
}

type partitionMeta struct {
	leader, leaderEpoch int32 // leader −1: none at present
}

// clusterMeta is what a broker says of the topics asked for, or of all.
type clusterMeta struct {
	clusterID string
	topics    map[string]*topicMeta
	// missing are topics that do not exist.
	missing []string
}

// dial returns a client that has not connected yet.
func dial(s *settings, more ...kgo.Opt) (*cluster, error) {
	opts, err := s.clientOptions()
	if err != nil {
		return nil, err
	}
	cl, err := kgo.NewClient(append(opts, more...)...)
	if err != nil {
		return nil, fault.Errorf(fault.KafkaRefused, "kafka %s: %w", strings.Join(s.seeds, ","), err).Fix("check the table's options 'properties.*'")
	}
	return &cluster{cl: cl, adm: kadm.NewClient(cl), seeds: strings.Join(s.seeds, ","), sasl: s.security.usesSASL()}, nil
}

// connect asks for topics as metadata does, the first time.
func (c *cluster) connect(ctx context.Context, topics []string) (m *clusterMeta, err error) {
	err = retrying(ctx, func() error {
		if m, err = c.metadata(ctx, topics, false); err != nil {
			return err
		}
		for name, t := range m.topics {
			if len(t.partitions) == 0 { // it is just being created
				return fault.Errorf(fault.KafkaTopic, "kafka topic %s at %s has no partitions: %w", name, c.seeds, kerr.LeaderNotAvailable).Fix("start again when the topic has been made")
			}
		}
		return nil
	})
	return m, err
}

// retrying tries again for a while, and at least once, what another moment may cure, so that a job starts while a broker is
// just coming up or moving a leader. Of an attempt that ctx cut short nothing is told if one before it has failed by itself.
func retrying(ctx context.Context, f func() error) error {
	start := time.Now()
	var before error
	for {
		err := f()
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return cmp.Or(before, err)
		}
		if p := patience(err); p == 0 || before != nil && time.Since(start) > p {
			return err
		}
		before = err
		pauseFor(ctx)
	}
}

// patience is how long opening a table tries again after err.
func patience(err error) time.Duration {
	var ke *kerr.Error
	var timeout net.Error
	switch {
	case errors.As(err, &ke):
		if ke.Retriable {
			return openPatience
		}
	case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, syscall.ECONNRESET), errors.As(err, &timeout) && timeout.Timeout():
		return openPatience
	case errors.Is(err, io.EOF):
		return openPatience / 2 // more often than a restart it is a broker that wants TLS or SASL
	}
	return 0
}

// metadata asks for topics, or for all when topics is nil. create lets the broker create those missing.
func (c *cluster) metadata(ctx context.Context, topics []string, create bool) (*clusterMeta, error) {
	req := kmsg.NewPtrMetadataRequest()
	req.AllowAutoTopicCreation = create
	if topics != nil {
		req.Topics = []kmsg.MetadataRequestTopic{}
	}
	for _, t := range topics {
		rt := kmsg.NewMetadataRequestTopic()
		rt.Topic = kmsg.StringPtr(t)
		req.Topics = append(req.Topics, rt)
	}
	resp, err := req.RequestWith(ctx, c.cl)
	if err != nil {
		return nil, c.unreachable(err)
	}
	hosts := make(map[int32]string, len(resp.Brokers))
	for _, b := range resp.Brokers {
		hosts[b.NodeID] = net.JoinHostPort(b.Host, strconv.Itoa(int(b.Port)))
	}
	c.mu.Lock()
	c.hosts = hosts
	c.mu.Unlock()
	m := &clusterMeta{topics: map[string]*topicMeta{}}
	if resp.ClusterID != nil {
		m.clusterID = *resp.ClusterID
	}
	for i := range resp.Topics {
		t := &resp.Topics[i]
		if t.Topic == nil {
			continue
		}
		name := *t.Topic
		if topics == nil && t.IsInternal {
			continue
		}
		switch err := kerr.ErrorForCode(t.ErrorCode); {
		case err == nil, errors.Is(err, kerr.LeaderNotAvailable):
		case errors.Is(err, kerr.UnknownTopicOrPartition):
			m.missing = append(m.missing, name)
			continue
		case errors.Is(err, kerr.TopicAuthorizationFailed):
			if topics == nil {
				continue
			}
			return nil, fault.Errorf(fault.KafkaDenied, "kafka topic %s at %s: the user may not describe it", name, c.seeds).Fix("grant DESCRIBE and READ (a sink: WRITE) on the topic to the user")
		default:
			return nil, answered(err, "kafka topic %q at %s: %w", name, c.seeds, err)
		}
		tm := &topicMeta{name: name, id: t.TopicID, partitions: make([]partitionMeta, len(t.Partitions))}
		for _, p := range t.Partitions {
			if int(p.Partition) >= len(tm.partitions) {
				return nil, fault.Errorf(fault.KafkaDamaged, "kafka topic %s at %s: the broker lists %d partitions, one of them as number %d", name, c.seeds, len(t.Partitions), p.Partition).Fix("see to the broker: no Kafka answers so")
			}
			pm := partitionMeta{leader: p.Leader, leaderEpoch: p.LeaderEpoch}
			if p.ErrorCode != 0 && kerr.ErrorForCode(p.ErrorCode) != kerr.ReplicaNotAvailable {
				pm.leader = -1
			}
			tm.partitions[p.Partition] = pm
		}
		m.topics[name] = tm
	}
	return m, nil
}

// noTopic says that a topic does not exist, with names near to it, and how to create it when that is of use.
func (c *cluster) noTopic(ctx context.Context, name string, sink bool) error {
	e := fault.Errorf(fault.KafkaTopic, "kafka topic %q does not exist at %s", name, c.seeds)
	var hints []string
	if names, known := c.topicNames(ctx); known {
		n := near.Name(name, names)
		// Debezium calls a table's topic PREFIX.SCHEMA.TABLE.
		if i := slices.IndexFunc(names, func(t string) bool { return strings.HasSuffix(t, "."+name) }); n == "" && i >= 0 {
			n = names[i]
		}
		switch {
		case n != "":
			hints = append(hints, fmt.Sprintf("did you mean %q?", n))
		case len(names) == 0:
			e.Err = fmt.Errorf("%w, which has no topics at all", e.Err)
		}
		if n == "" && !sink {
			hints = append(hints, topicsFix(names))
		}
	}
	if sink {
		first, _, _ := strings.Cut(c.seeds, ",")
		hints = append(hints, fmt.Sprintf("create it with: kafka-topics.sh --bootstrap-server %s --create --topic %s --partitions 4, or have it created with '%s' = '4'", first, name, topicPartitions))
	}
	if hints == nil {
		return e.Fix("check the name, and that the user may see the topic")
	}
	return e.Fix("%s", strings.Join(hints, "; "))
}

// noMatch says that no topic matches a pattern.
func (c *cluster) noMatch(ctx context.Context, pattern string) error {
	names, _ := c.topicNames(ctx)
	return fault.Errorf(fault.KafkaTopic, "kafka at %s: no topic matches 'topic-pattern' = '%s'", c.seeds, pattern).Fix("%s", topicsFix(names))
}

// topicNames are the names of the topics that the user may see; known says whether the cluster told.
func (c *cluster) topicNames(ctx context.Context) (names []string, known bool) {
	all, err := c.metadata(ctx, nil, false)
	if err != nil {
		return nil, false
	}
	return slices.Sorted(maps.Keys(all.topics)), true
}

// topicsFix is what to do where a topic is not among those that there are.
func topicsFix(names []string) string {
	if len(names) == 0 {
		return "check 'properties.bootstrap.servers', and that whoever writes the topics runs"
	}
	return "there are " + strings.Join(names[:min(len(names), 8)], ", ")
}

func (c *cluster) close() { c.cl.Close() }

// pauseFor waits a moment, or until ctx ends.
func pauseFor(ctx context.Context) {
	t := time.NewTimer(50 * time.Millisecond)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
