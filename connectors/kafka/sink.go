package kafka

import (
	"context"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/internal/fault"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// embeddedCluster is the id of the broker inside the process (package internal/embed), where a missing
// output topic is created without being asked for: it holds nothing that a mistyped name could harm.
const embeddedCluster = "sluice-embedded"

// defaultMaxMessage is a broker's default of max.message.bytes.
const defaultMaxMessage = 1048588

// outTopic is a topic opened to be written.
type outTopic struct {
	cfg       sinkConfig
	c         *cluster
	meta      *topicMeta
	use       int    // partitions that are written: the first ones
	pin       string // see pinned
	maxRecord int    // bytes of a batch that holds one record
	buffer    int64  // bytes that may wait to be acknowledged
	warn      func(string)
	rows      atomic.Int64
	bytes     atomic.Int64
}

// open connects and finds the topic.
func (t *outTopic) open(ctx context.Context, spec spi.SinkSpec, opts ...kgo.Opt) (err error) {
	if t.warn = spec.Warn; t.warn == nil {
		t.warn = func(string) {}
	}
	t.buffer = atMost(int64(t.cfg.bufferMemory), spec.Memory)
	for _, n := range t.cfg.notes {
		t.warn(n.Msg)
	}
	if t.c, err = dial(&t.cfg.settings, opts...); err != nil {
		return err
	}
	if t.meta, err = t.findTopic(ctx); err != nil {
		t.c.close()
		return err
	}
	t.pin, t.use = pinned(t.meta, spec.Pin, t.keeps(spec), t.c.seeds, t.warn)
	t.maxRecord = t.maxMessage(ctx)
	return nil
}

// batchSize is the number of bytes that a batch grows to.
func (t *outTopic) batchSize() int {
	return min(max(t.cfg.settings.batchSize, 2*batchHead), t.maxRecord)
}

// Stats implements spi.Sink.
func (t *outTopic) Stats() spi.SinkStats {
	return spi.SinkStats{Rows: t.rows.Load(), Bytes: t.bytes.Load()}
}

// sink implements spi.Sink: each record reaches the topic once, and those of the epochs behind the last checkpoint
// again after a crash.
type sink struct {
	outTopic
	p       *producer
	writers []*writer
}

func openSink(ctx context.Context, cfg sinkConfig, spec spi.SinkSpec) (_ *sink, err error) {
	s := &sink{outTopic: outTopic{cfg: cfg}}
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	if err := s.open(ctx, spec); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			s.p.close()
			s.c.close()
		}
	}()
	s.p = newProducer(&s.outTopic)
	if cfg.idempotent {
		if err := s.p.newIdentity(ctx, 0); err != nil {
			return nil, err
		}
	}
	s.p.start(s.meta)
	for i := range max(spec.Writers, 1) {
		w, err := newWriter(s, spec, i)
		if err != nil {
			return nil, err
		}
		s.writers = append(s.writers, w)
	}
	return s, nil
}

// findTopic returns the topic, created only where that was asked for.
func (t *outTopic) findTopic(ctx context.Context) (*topicMeta, error) {
	names := []string{t.cfg.topic}
	m, err := t.c.connect(ctx, names)
	if err != nil {
		return nil, err
	}
	how := t.cfg.create
	if tm := m.topics[t.cfg.topic]; tm != nil {
		if n := int32(len(tm.partitions)); how.partitions > 0 && n != how.partitions {
			t.warn(fmt.Sprintf("kafka topic %s at %s exists with %d partitions; '%s' = '%d' is for a topic to be created", tm.name, t.c.seeds, n, topicPartitions, how.partitions))
		}
		return tm, nil
	}
	switch {
	case how.asked:
		if err := t.c.create(ctx, t.cfg.topic, how); err != nil {
			return nil, err
		}
	case !t.cfg.autoCreate && m.clusterID != embeddedCluster:
		return nil, t.c.noTopic(ctx, t.cfg.topic, true)
	}
	// It is created in the background; it is there when it has partitions with leaders.
	for start := time.Now(); ctx.Err() == nil && time.Since(start) < openPatience; {
		err := retrying(ctx, func() (err error) {
			m, err = t.c.metadata(ctx, names, !how.asked)
			return err
		})
		if err != nil {
			return nil, err
		}
		if tm := m.topics[t.cfg.topic]; tm != nil && len(tm.partitions) > 0 {
			if how.asked || m.clusterID != embeddedCluster {
				t.warn(fmt.Sprintf("kafka topic %s did not exist at %s; it was created with %d partitions", t.cfg.topic, t.c.seeds, len(tm.partitions)))
			}
			return tm, nil
		}
		pauseFor(ctx)
	}
	return nil, fault.Errorf(fault.KafkaTopic, "kafka topic %s at %s: the broker does not create it (auto.create.topics.enable = false?)", t.cfg.topic, t.c.seeds).
		Fix("have it created with '%s' = '4', or create it by hand", topicPartitions)
}

// keeps reports whether the sink keeps changes of one row in one partition.
func (t *outTopic) keeps(spec spi.SinkSpec) bool {
	return t.cfg.partitioner == "default" && (t.cfg.layout.KeyFormat != nil || spec.Mode != spi.AppendOnly || len(spec.Key) > 0)
}

// pinned compares a topic with what was noted of it at an earlier start, and returns the note for the next one and
// the number of partitions to write. Of a topic that grew under changes of rows the new partitions are left alone: a row's
// next change would go to another partition than those before, and nobody could tell their order.
func pinned(tm *topicMeta, pin string, keeps bool, seeds string, warn func(string)) (next string, use int) {
	var was string
	var n int
	id := idText(tm.id)
	if id == "" {
		id = "-" // the cluster has no topic ids
	}
	if _, err := fmt.Sscanf(pin, "%s %d", &was, &n); err == nil && was == id {
		if keeps && n < len(tm.partitions) {
			warn(fmt.Sprintf("kafka topic %s at %s grew from %d to %d partitions since this job first wrote it: the new ones are not used, because rows of one key must stay in their partition; to use them, write the result to a new topic", tm.name, seeds, n, len(tm.partitions)))
			return pin, n
		}
	} else if err == nil {
		warn(fmt.Sprintf("kafka topic %s at %s was deleted and created again since this job last wrote it: what it held before is not in it", tm.name, seeds))
	}
	return fmt.Sprintf("%s %d", id, len(tm.partitions)), len(tm.partitions)
}

// Pin implements spi.PinnedSink.
func (t *outTopic) Pin() string { return t.pin }

// maxMessage is the topic's max.message.bytes, or the default where the user may not ask.
func (t *outTopic) maxMessage(ctx context.Context) int {
	var configs kadm.ResourceConfigs
	err := retrying(ctx, func() (err error) {
		if configs, err = t.c.adm.DescribeTopicConfigs(ctx, t.cfg.topic); err == nil && len(configs) == 1 {
			err = configs[0].Err
		}
		return err
	})
	if err != nil || len(configs) != 1 {
		return defaultMaxMessage
	}
	for _, c := range configs[0].Configs {
		if c.Key == "max.message.bytes" && c.Value != nil {
			if n, err := strconv.Atoi(*c.Value); err == nil && n > batchHead {
				return n
			}
		}
	}
	return defaultMaxMessage
}

// Writer implements spi.Sink.
func (s *sink) Writer(i int) spi.Writer { return s.writers[i] }

// Close implements spi.Sink.
func (s *sink) Close() error {
	s.p.close()
	s.p.fail(fmt.Errorf("kafka sink %s was closed", s.cfg.topic))
	s.c.close()
	return nil
}
