package kafka

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/sluicesql/sluice/connectors/spi"
)

// Register adds the connectors kafka and upsert-kafka. They find formats in r when a table is opened or
// checked.
func Register(r *spi.Registry) {
	r.AddConnector(&connector{registry: r, name: "kafka", help: "Reads and writes topics of Apache Kafka", options: kafkaOptions})
	r.AddConnector(&connector{registry: r, name: upsertName, help: "Keeps a table in a Kafka topic: the key is the primary key, a null value deletes", options: upsertOptions, upsert: true})
}

// upsertName is the connector that keeps a table by its primary key.
const upsertName = "upsert-kafka"

// connector is kafka or upsert-kafka.
type connector struct {
	registry   *spi.Registry
	name, help string
	options    []spi.Option
	upsert     bool
}

func (c *connector) Name() string           { return c.name }
func (c *connector) Help() string           { return c.help }
func (c *connector) Options() []spi.Option  { return c.options }
func (c *connector) Metadata() []spi.Column { return recordMetadata }

// CheckSource implements spi.Connector.
func (c *connector) CheckSource(t *spi.Table) (spi.SourceTraits, error) {
	s, err := c.sourceConfig(t)
	if err != nil {
		return spi.SourceTraits{}, err
	}
	native, canUpsert := s.layout.ValueFormat.Decodes()
	if err := s.layout.checkDecoding(native); err != nil {
		return spi.SourceTraits{}, err
	}
	if c.upsert {
		native, canUpsert = spi.Upsert, false
	}
	partial, err := s.layout.partial()
	if err != nil {
		return spi.SourceTraits{}, err
	}
	return spi.SourceTraits{
		Notes: s.notes, CheckScan: c.checkScan,
		Native: native, CanUpsert: canUpsert, Partial: partial, Bounded: s.end.kind != unbounded, Parallelism: s.parallelism, Metadata: s.layout.metadata(), DeadLetters: s.dead,
	}, nil
}

// checkScan builds what a scan decodes with. That every column can be decoded, CheckSource has seen: what a mode and
// a key want besides is known when the query is planned.
func (c *connector) checkScan(scan spi.Scan) error {
	cfg, err := c.sourceConfig(scan.Table)
	if err == nil {
		_, err = newSource(cfg, scan).newReader()
	}
	return err
}

// CheckSink implements spi.Connector.
func (c *connector) CheckSink(t *spi.Table) (spi.SinkTraits, error) {
	s, err := c.sinkConfig(t)
	if err != nil {
		return spi.SinkTraits{}, err
	}
	accepts := s.layout.ValueFormat.Encodes()
	if err := s.layout.checkEncoding(accepts); err != nil {
		return spi.SinkTraits{}, err
	}
	if c.upsert {
		accepts = spi.Upsert
	}
	// Who reads the topic relies on the order of the records of one key.
	return spi.SinkTraits{Accepts: accepts, Notes: s.notes, Parallelism: s.parallelism, Metadata: writableMetadata(), Route: s.layout.KeyFields, Transactional: s.guarantee == guaranteeExactlyOnce}, nil
}

// OpenSource implements spi.Connector.
func (c *connector) OpenSource(ctx context.Context, scan spi.Scan) (spi.Source, error) {
	cfg, err := c.sourceConfig(scan.Table)
	if err != nil {
		return nil, err
	}
	return openSource(ctx, cfg, scan)
}

// OpenSink implements spi.Connector.
func (c *connector) OpenSink(ctx context.Context, spec spi.SinkSpec) (spi.Sink, error) {
	cfg, err := c.sinkConfig(spec.Table)
	if err != nil {
		return nil, err
	}
	var s spi.Sink
	if cfg.guarantee == guaranteeExactlyOnce {
		s, err = openOnceSink(ctx, cfg, spec)
	} else {
		s, err = openSink(ctx, cfg, spec)
	}
	if err != nil {
		return nil, deadLetterNames(spec.Table, err)
	}
	return s, nil
}

const retryTimeoutOption = "scan.retry-timeout"

// sourceConfig is a table's options as a source.
type sourceConfig struct {
	settings
	layout     *Layout
	topics     []string
	pattern    *regexp.Regexp
	start, end point
	discovery  time.Duration
	// retryTimeout is how long a partition may give nothing but failures; 0 for ever.
	retryTimeout time.Duration
	parallelism  int
	dead         *spi.Table // takes what cannot be read; nil without
}

// topicPattern reads topic-pattern. Flink matches the whole name.
func topicPattern(pattern string) (*regexp.Regexp, error) {
	re, err := regexp.Compile("^(?:" + pattern + ")$")
	if err != nil {
		return nil, &spi.OptionError{Name: "topic-pattern", Value: true, Msg: fmt.Sprintf("option 'topic-pattern': %v", err)}
	}
	return re, nil
}

func (c *connector) sourceConfig(t *spi.Table) (cfg sourceConfig, err error) {
	if cfg.settings, err = c.common(t); err != nil {
		return cfg, err
	}
	o := t.Options
	if err := cfg.readTopics(o); err != nil {
		return cfg, err
	}
	if cfg.layout, err = newLayout(c.registry, t, c.upsert); err != nil {
		return cfg, err
	}
	if err := c.checkKeyed(cfg.layout, t, firstMode(cfg.layout.ValueFormat.Decodes())); err != nil {
		return cfg, err
	}
	if c.upsert {
		cfg.start = point{kind: earliest}
	} else {
		var hint string
		if cfg.start, hint, err = startPoint(o); err != nil {
			return cfg, err
		}
		if hint != "" {
			cfg.notes = append(cfg.notes, spi.Note{Option: "scan.startup.mode", Value: true, Spelling: true, Msg: hint})
		}
	}
	if cfg.end, err = endPoint(o); err != nil {
		return cfg, err
	}
	if cfg.group == "" && (cfg.start.kind == committed || cfg.end.kind == committed) {
		return cfg, &spi.OptionError{Name: "properties.group.id", Msg: "group-offsets (the default of 'scan.startup.mode') needs option 'properties.group.id'; or set 'scan.startup.mode' = 'earliest-offset'"}
	}
	cfg.discovery, err = o.Duration("scan.topic-partition-discovery.interval", 5*time.Minute)
	if _, set := o["scan.topic-partition-discovery.interval"]; !set && cfg.settings.discovery > 0 {
		cfg.discovery = cfg.settings.discovery
	}
	if err != nil {
		return cfg, err
	}
	if cfg.retryTimeout, err = o.Duration(retryTimeoutOption, 10*time.Minute); err != nil {
		return cfg, err
	}
	if cfg.dead, err = c.deadLetters(t); err != nil {
		return cfg, err
	}
	cfg.parallelism, err = spi.Parallelism(o, "scan.parallelism")
	return cfg, err
}

// readTopics reads which topics are to be read.
func (cfg *sourceConfig) readTopics(o spi.Options) (err error) {
	_, hasTopic := o["topic"]
	pattern, hasPattern := o["topic-pattern"]
	switch {
	case hasTopic && hasPattern:
		return &spi.OptionError{Name: "topic-pattern", Msg: "options 'topic' and 'topic-pattern' exclude each other"}
	case hasTopic:
		cfg.topics, err = topicList(o)
	case hasPattern:
		cfg.pattern, err = topicPattern(pattern)
	default:
		return &spi.OptionError{Name: "topic", Msg: "option 'topic' is missing: it names the topic to read"}
	}
	return err
}

// sinkConfig is a table's options as a sink.
type sinkConfig struct {
	settings
	layout      *Layout
	topic       string
	partitioner string
	guarantee   string // one of the values of sink.delivery-guarantee
	txnPrefix   string // of the transactional id, for exactly-once
	parallelism int
	create      creation
}

func (c *connector) sinkConfig(t *spi.Table) (cfg sinkConfig, err error) {
	if cfg.settings, err = c.common(t); err != nil {
		return cfg, err
	}
	o := t.Options
	topics, err := topicList(o)
	if err != nil || len(topics) != 1 {
		return cfg, &spi.OptionError{Name: "topic", Msg: "a sink needs option 'topic' with one topic"}
	}
	cfg.topic = topics[0]
	if _, ok := o["topic-pattern"]; ok {
		return cfg, &spi.OptionError{Name: "topic-pattern", Msg: "option 'topic-pattern' is for sources; a sink writes to one 'topic'"}
	}
	if cfg.layout, err = newLayout(c.registry, t, c.upsert); err != nil {
		return cfg, err
	}
	if err := c.checkKeyed(cfg.layout, t, cfg.layout.ValueFormat.Encodes()); err != nil {
		return cfg, err
	}
	switch p := o.Get("sink.partitioner", "default"); p {
	case "default", "fixed":
		cfg.partitioner = p
	case "round-robin":
		cfg.partitioner = p
		if len(cfg.layout.KeyFields) > 0 {
			return cfg, &spi.OptionError{Name: "sink.partitioner", Value: true, Msg: "'sink.partitioner' = 'round-robin' excludes 'key.fields': rows of one key would lose their order"}
		}
	default:
		return cfg, &spi.OptionError{Name: "sink.partitioner", Value: true, Msg: fmt.Sprintf("option 'sink.partitioner' wants default, fixed or round-robin, got %q; Java classes cannot be loaded here", p)}
	}
	if err := cfg.readGuarantee(o); err != nil {
		return cfg, err
	}
	if cfg.create, err = readCreation(o, c.upsert); err != nil {
		return cfg, err
	}
	cfg.parallelism, err = spi.Parallelism(o, "sink.parallelism")
	return cfg, err
}

// The values of sink.delivery-guarantee.
const (
	guaranteeAtLeastOnce = "at-least-once"
	guaranteeExactlyOnce = "exactly-once"
	guaranteeNone        = "none" // epochs do not wait for the broker
)

func (cfg *sinkConfig) readGuarantee(o spi.Options) (err error) {
	if cfg.guarantee, err = o.Enum("sink.delivery-guarantee", guaranteeAtLeastOnce, guaranteeAtLeastOnce, guaranteeExactlyOnce, guaranteeNone); err != nil {
		return err
	}
	cfg.txnPrefix = o.Get("sink.transactional-id-prefix", "")
	switch {
	case cfg.guarantee != guaranteeExactlyOnce:
		if cfg.txnPrefix != "" {
			cfg.notes = append(cfg.notes, spi.Note{Option: "sink.transactional-id-prefix", Msg: "option 'sink.transactional-id-prefix' means nothing without 'sink.delivery-guarantee' = 'exactly-once'"})
		}
		return nil
	case cfg.txnPrefix == "":
		return &spi.OptionError{Name: "sink.transactional-id-prefix", Msg: "'sink.delivery-guarantee' = 'exactly-once' needs option 'sink.transactional-id-prefix': a name that no other job on this cluster has, by which the broker keeps two processes from writing at once"}
	case cfg.acks != -1:
		return &spi.OptionError{Name: "properties.acks", Value: true, Msg: "'sink.delivery-guarantee' = 'exactly-once' needs 'properties.acks' = 'all'"}
	case !cfg.idempotent:
		return &spi.OptionError{Name: "properties.enable.idempotence", Value: true, Msg: "'sink.delivery-guarantee' = 'exactly-once' needs 'properties.enable.idempotence' = 'true'"}
	}
	return nil
}

// common refuses what the connector declares as unsupported, and reads the client's properties.
func (c *connector) common(t *spi.Table) (settings, error) {
	for _, name := range t.Options.Names() {
		if d := option(c.options, name); d != nil && d.Unsupported != "" {
			return settings{}, &spi.OptionError{Name: name, Msg: fmt.Sprintf("option %q %s", name, d.Unsupported)}
		}
	}
	return parseProperties(t.Options)
}

// checkKeyed checks that a format's changes fit the connector.
func (c *connector) checkKeyed(l *Layout, t *spi.Table, mode spi.Mode) error {
	if c.upsert {
		if mode != spi.AppendOnly {
			return &spi.OptionError{Name: "value.format", Value: true, Msg: fmt.Sprintf("upsert-kafka writes bare rows, so that 'value.format' = %q, which has changes of its own, does not fit; use json, or connector kafka", l.ValueFormat.Name())}
		}
		return nil
	}
	if len(t.PrimaryKey) > 0 && mode == spi.AppendOnly {
		return &spi.OptionError{Name: "format", Value: true, Msg: fmt.Sprintf("a kafka table with format %q holds inserts alone and cannot keep a PRIMARY KEY; use connector upsert-kafka, or leave the key out", l.ValueFormat.Name())}
	}
	return nil
}

func firstMode(m spi.Mode, _ bool) spi.Mode { return m }

// Topics are the topics that a table's options name.
func Topics(o spi.Options) (topics []string) {
	for _, name := range strings.Split(o["topic"], ";") {
		if name = strings.TrimSpace(name); name != "" {
			topics = append(topics, name)
		}
	}
	return topics
}

// topicList are the topics that a table has to name.
func topicList(o spi.Options) ([]string, error) {
	topics := Topics(o)
	if len(topics) == 0 {
		return nil, &spi.OptionError{Name: "topic", Value: true, Msg: "option 'topic' names no topic"}
	}
	return topics, nil
}
