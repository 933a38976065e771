package sqltest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/sluicesql/sluice/connectors/kafka"
	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/internal/embed"
)

const (
	servers      = "properties.bootstrap.servers"
	startupMode  = "scan.startup.mode"
	fromEarliest = "earliest-offset"
)

// dropped are the beginnings of options that do not hold in a test, beside credentials: where a source begins and ends, and
// transactions. Topics are read from their beginning and have no end, and output is there when its epoch is.
var dropped = []string{
	"scan.startup.", "scan.bounded.", "sink.delivery-guarantee", "sink.transactional-id-prefix", "dead-letter.delivery-guarantee",
}

// connector is a connector of the pipeline, on the test's broker, whose sinks are captured.
type connector struct {
	spi.Connector
	run *run
}

// kafka reports whether the connector speaks to a broker.
func (c *connector) kafka() bool {
	for _, o := range c.Connector.Options() {
		if o.Name == servers {
			return true
		}
	}
	return false
}

// here is the table on the test's broker.
func (c *connector) here(t *spi.Table) *spi.Table {
	if t == nil || !c.kafka() {
		return t
	}
	moved := *t
	moved.Options = kafka.WithoutCredentials(t.Options)
	maps.DeleteFunc(moved.Options, func(key, _ string) bool {
		for _, d := range dropped {
			if strings.HasPrefix(key, d) {
				return true
			}
		}
		return false
	})
	moved.Options[servers] = c.run.broker.Addr()
	for _, o := range c.Connector.Options() {
		if o.Name == startupMode && o.Unsupported == "" {
			moved.Options[startupMode] = fromEarliest
		}
	}
	return &moved
}

// CheckSource implements spi.Connector: the table as it is declared has to be right too. A test waits until a source
// has given all that it has, so that one without an end that is no topic cannot be part of it.
func (c *connector) CheckSource(t *spi.Table) (spi.SourceTraits, error) {
	traits, err := c.Connector.CheckSource(t)
	switch {
	case err != nil:
		return traits, err
	case c.kafka():
		return c.Connector.CheckSource(c.here(t))
	case !traits.Bounded:
		return traits, &spi.OptionError{Name: "connector", Value: true, Msg: fmt.Sprintf("table %s of the connector %s has no end, so that no step of a test would ever have taken in all of it: "+
			"give it an end (for datagen 'number-of-rows' = '${ROWS}', with set-var ROWS=100 in the test)", t.Name, c.Name())}
	}
	return traits, nil
}

// CheckSink implements spi.Connector.
func (c *connector) CheckSink(t *spi.Table) (spi.SinkTraits, error) {
	if traits, err := c.Connector.CheckSink(t); err != nil {
		return traits, err
	}
	return c.Connector.CheckSink(c.here(t))
}

// OpenSource implements spi.Connector.
func (c *connector) OpenSource(ctx context.Context, s spi.Scan) (spi.Source, error) {
	if !c.kafka() {
		src, err := c.Connector.OpenSource(ctx, s)
		if err != nil {
			return nil, err
		}
		return &endingSource{src, c.run.opening}, nil
	}
	for _, topic := range kafka.Topics(s.Table.Options) {
		if err := c.run.createTopic(topic); err != nil {
			return nil, err
		}
	}
	s.Table, s.DeadLetters = c.here(s.Table), c.here(s.DeadLetters)
	src, err := c.Connector.OpenSource(ctx, s)
	if err == nil {
		c.run.opening.opened(src.Positions())
	}
	return src, err
}

// OpenSink implements spi.Connector.
func (c *connector) OpenSink(ctx context.Context, s spi.SinkSpec) (spi.Sink, error) {
	capture, pair := c.run.captureOf(s.Table.Name)
	f := newFormat(s, pair)
	s.Table = c.here(s.Table)
	inner, err := c.Connector.OpenSink(ctx, s)
	if err != nil {
		return nil, err
	}
	return wrap(inner, capture, f, s.Name), nil
}

// createTopic creates a topic unless it is there. One whose records may have no key, or are wanted in one order, gets one
// partition.
func (r *run) createTopic(name string) error {
	if r.broker.Cluster().TopicInfo(name) != nil {
		return nil
	}
	partitions := int32(embed.Partitions)
	for _, known := range r.session.Tables() {
		t := r.session.Table(known).Spec
		if slices.Contains(kafka.Topics(t.Options), name) && len(t.PrimaryKey) == 0 || kafka.OneOrder(r.registry, t, name) {
			partitions = 1
		}
	}
	return r.broker.CreateTopic(name, partitions)
}

// endingSource is a source that is no topic. Its readers tell at which barrier they had come to their end.
type endingSource struct {
	spi.Source
	job *job
}

// Reader implements spi.Source.
func (s *endingSource) Reader(i int) spi.Reader {
	r := &endingReader{Reader: s.Source.Reader(i)}
	s.job.ending = append(s.job.ending, r)
	return r
}

type endingReader struct {
	spi.Reader
	barriers int64
	endedAt  atomic.Int64 // the number of the first barrier behind the end; 0 before
}

// Barrier implements spi.Reader.
func (r *endingReader) Barrier() {
	r.barriers++
	if r.endedAt.Load() == 0 && r.Reader.Done() {
		r.endedAt.Store(r.barriers)
	}
	r.Reader.Barrier()
}
