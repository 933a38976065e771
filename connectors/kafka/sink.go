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
	if s.p, err = newProducer(ctx, s.c, &s.cfg.settings, tm, s.maxMessage(ctx), warn); err != nil {
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
	if tm := m.topics[s.cfg.topic]; tm != nil {
		return tm, nil
	}
	if !s.cfg.autoCreate && m.clusterID != embeddedCluster {
		return nil, s.c.noTopic(ctx, s.cfg.topic, true)
	}
	// The broker creates it in the background; it is there when it has partitions.
	for start := time.Now(); ctx.Err() == nil && time.Since(start) < openPatience; {
		if m, err = s.c.metadata(ctx, names, true); err != nil {
			return nil, err
		}
		if tm := m.topics[s.cfg.topic]; tm != nil && len(tm.partitions) > 0 {
			if m.clusterID != embeddedCluster {
				warn(fmt.Sprintf("kafka topic %s did not exist at %s; the broker created it with %d partitions", s.cfg.topic, s.c.seeds, len(tm.partitions)))
			}
			return tm, nil
		}
		pauseFor(ctx)
	}
	return nil, fmt.Errorf("kafka topic %s at %s: the broker does not create it (auto.create.topics.enable = false?); create it by hand", s.cfg.topic, s.c.seeds)
}

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
