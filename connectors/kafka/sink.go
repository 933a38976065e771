package kafka

import (
	"context"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/sluicesql/sluice/connectors/spi"
)

// embeddedCluster is the id of the broker inside the process (package internal/embed), where a missing
// output topic is created without being asked for: it holds nothing that a mistyped name could harm.
const embeddedCluster = "sluice-embedded"

// defaultMaxMessage is a broker's default of max.message.bytes.
const defaultMaxMessage = 1048588

// sink implements spi.Sink.
type sink struct {
	cfg     sinkConfig
	c       *cluster
	p       *producer
	writers []*writer
	pin     string
	rows    atomic.Int64
	bytes   atomic.Int64
}

// openSink connects and finds the topic.
func openSink(ctx context.Context, cfg sinkConfig, spec spi.SinkSpec) (_ *sink, err error) {
	s := &sink{cfg: cfg}
	warn := spec.Warn
	if warn == nil {
		warn = func(string) {}
	}
	for _, n := range cfg.notes {
		warn(n)
	}
	if s.c, err = dial(&s.cfg.settings); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			if s.p != nil {
				s.p.close()
			}
			s.c.close()
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	tm, err := s.findTopic(ctx, warn)
	if err != nil {
		return nil, err
	}
	pin, use := pinned(tm, spec.Pin, s.keeps(spec), s.c.seeds, warn)
	s.pin = pin
	if s.p, err = newProducer(ctx, s.c, &s.cfg.settings, tm, use, s.maxMessage(ctx), warn); err != nil {
		return nil, err
	}
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
func (s *sink) findTopic(ctx context.Context, warn func(string)) (*topicMeta, error) {
	names := []string{s.cfg.topic}
	m, err := s.c.connect(ctx, names)
	if err != nil {
		return nil, err
	}
	how := s.cfg.create
	if tm := m.topics[s.cfg.topic]; tm != nil {
		if n := int32(len(tm.partitions)); how.partitions > 0 && n != how.partitions {
			warn(fmt.Sprintf("kafka topic %s at %s exists with %d partitions; '%s' = '%d' is for a topic to be created", tm.name, s.c.seeds, n, topicPartitions, how.partitions))
		}
		return tm, nil
	}
	switch {
	case how.asked:
		if err := s.c.create(ctx, s.cfg.topic, how); err != nil {
			return nil, err
		}
	case !s.cfg.autoCreate && m.clusterID != embeddedCluster:
		return nil, s.c.noTopic(ctx, s.cfg.topic, true)
	}
	// It is created in the background; it is there when it has partitions with leaders.
	for start := time.Now(); ctx.Err() == nil && time.Since(start) < openPatience; {
		if m, err = s.c.metadata(ctx, names, !how.asked); err != nil {
			return nil, err
		}
		if tm := m.topics[s.cfg.topic]; tm != nil && len(tm.partitions) > 0 {
			if how.asked || m.clusterID != embeddedCluster {
				warn(fmt.Sprintf("kafka topic %s did not exist at %s; it was created with %d partitions", s.cfg.topic, s.c.seeds, len(tm.partitions)))
			}
			return tm, nil
		}
		pauseFor(ctx)
	}
	return nil, fmt.Errorf("kafka topic %s at %s: the broker does not create it (auto.create.topics.enable = false?); have it created with '%s' = '4', or create it by hand", s.cfg.topic, s.c.seeds, topicPartitions)
}

// keeps reports whether the sink keeps changes of one row in one partition.
func (s *sink) keeps(spec spi.SinkSpec) bool {
	return s.cfg.partitioner == "default" && (s.cfg.layout.keyFormat != nil || spec.Mode != spi.AppendOnly || len(spec.Key) > 0)
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
func (s *sink) Pin() string { return s.pin }

// maxMessage is the topic's max.message.bytes, or the default where the user may not ask.
func (s *sink) maxMessage(ctx context.Context) int {
	configs, err := s.c.adm.DescribeTopicConfigs(ctx, s.cfg.topic)
	if err != nil || len(configs) != 1 || configs[0].Err != nil {
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

// Stats implements spi.Sink.
func (s *sink) Stats() spi.SinkStats {
	return spi.SinkStats{Rows: s.rows.Load(), Bytes: s.bytes.Load()}
}

// Close implements spi.Sink.
func (s *sink) Close() error {
	s.p.close()
	s.p.fail(fmt.Errorf("kafka sink %s was closed", s.cfg.topic))
	s.c.close()
	return nil
}
