package kafka

import (
	"fmt"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/internal/near"
	"github.com/twmb/franz-go/pkg/kgo"
)

const propertyPrefix = "properties."

// settings is what a table's properties.* say.
type settings struct {
	seeds    []string
	group    string
	clientID string
	security security

	metadataMaxAge time.Duration
	requestTimeout time.Duration
	dialTimeout    time.Duration
	connIdle       time.Duration

	readCommitted     bool
	offsetReset       string // earliest, latest or none
	fetchMinBytes     int32
	fetchMaxBytes     int32
	partitionMaxBytes int32
	fetchMaxWait      time.Duration
	maxPollRecords    int
	checkCRC          bool
	commitOffsets     bool
	discovery         time.Duration // partition.discovery.interval.ms; 0 when not set

	acks               int16
	idempotent         bool
	compression        string
	batchSize          int
	maxRequestSize     int
	bufferMemory       int
	deliveryTimeout    time.Duration
	transactionTimeout time.Duration
	autoCreate         bool

	// notes are warnings for people, issued when the table is opened.
	notes []spi.Note
}

// Defaults follow the Java client where its values bound nothing of ours. Fetches and batches are sized
// for throughput: a request of a few megabytes stays in the cache between kernel and decoder.
func defaultSettings() settings {
	return settings{
		clientID:           "sluice",
		metadataMaxAge:     5 * time.Minute,
		requestTimeout:     30 * time.Second,
		dialTimeout:        4 * time.Second,
		connIdle:           9 * time.Minute,
		readCommitted:      true,
		offsetReset:        "none",
		fetchMinBytes:      1,
		fetchMaxBytes:      4 << 20,
		partitionMaxBytes:  512 << 10,
		fetchMaxWait:       500 * time.Millisecond,
		checkCRC:           true,
		commitOffsets:      true,
		acks:               -1,
		idempotent:         true,
		compression:        "none",
		batchSize:          1_000_000,
		maxRequestSize:     4 << 20,
		bufferMemory:       16 << 20,
		deliveryTimeout:    2 * time.Minute,
		transactionTimeout: time.Minute,
	}
}

// A property either sets something, or means nothing outside Java (note), or is refused (refuse).
type property struct {
	set    func(s *settings, v string) error
	note   string
	refuse string
}

const (
	noteJava     = "means nothing outside the Java client and is ignored"
	noteGroup    = "is ignored: partitions are assigned by the job, not by a consumer group"
	noteEpochs   = "is ignored: records leave when their epoch ends, and batches grow while a request is under way"
	noteInFlight = "is ignored: one request is in flight a broker"
	refuseClass  = "names a Java class; none can be loaded here"
)

// properties are all known names.
var properties = withOthers(map[string]property{
	"bootstrap.servers": {set: func(s *settings, v string) error {
		for _, a := range strings.Split(v, ",") {
			if strings.Contains(a, "@") { // it stands in every error's text
				return fmt.Errorf("takes HOST:PORT alone; credentials go into 'properties.sasl.jaas.config'")
			}
			if a = strings.TrimSpace(a); a != "" {
				s.seeds = append(s.seeds, a)
			}
		}
		if len(s.seeds) == 0 {
			return fmt.Errorf("names no address")
		}
		return nil
	}},
	"group.id":                               {set: func(s *settings, v string) error { s.group = v; return nil }},
	"client.id":                              {set: func(s *settings, v string) error { s.clientID = v; return nil }},
	"client.id.prefix":                       {set: func(s *settings, v string) error { s.clientID = v; return nil }},
	"metadata.max.age.ms":                    {set: millis(func(s *settings) *time.Duration { return &s.metadataMaxAge })},
	"request.timeout.ms":                     {set: millis(func(s *settings) *time.Duration { return &s.requestTimeout })},
	"socket.connection.setup.timeout.ms":     {set: millis(func(s *settings) *time.Duration { return &s.dialTimeout })},
	"socket.connection.setup.timeout.max.ms": {note: noteJava},
	"connections.max.idle.ms":                {set: millis(func(s *settings) *time.Duration { return &s.connIdle })},
	"client.rack":                            {note: "is ignored: records are read from the partition's leader"},

	"isolation.level": {set: func(s *settings, v string) (err error) {
		level, err := oneOf(v, "read_committed", "read_uncommitted")
		s.readCommitted = level == "read_committed"
		return err
	}},
	"auto.offset.reset": {set: func(s *settings, v string) (err error) {
		s.offsetReset, err = oneOf(v, "earliest", "latest", "none")
		return err
	}},
	"fetch.min.bytes":                 {set: int32Of(1, func(s *settings) *int32 { return &s.fetchMinBytes })},
	"fetch.max.bytes":                 {set: int32Of(1, func(s *settings) *int32 { return &s.fetchMaxBytes })},
	"max.partition.fetch.bytes":       {set: int32Of(1, func(s *settings) *int32 { return &s.partitionMaxBytes })},
	"fetch.max.wait.ms":               {set: millis(func(s *settings) *time.Duration { return &s.fetchMaxWait })},
	"max.poll.records":                {set: intOf(1, func(s *settings) *int { return &s.maxPollRecords })},
	"check.crcs":                      {set: boolOf(func(s *settings) *bool { return &s.checkCRC })},
	"commit.offsets.on.checkpoint":    {set: boolOf(func(s *settings) *bool { return &s.commitOffsets })},
	"partition.discovery.interval.ms": {set: millis(func(s *settings) *time.Duration { return &s.discovery })},

	"acks": {set: func(s *settings, v string) error {
		switch strings.ToLower(v) {
		case "all", "-1":
			s.acks = -1
		case "1":
			s.acks, s.idempotent = 1, false
		case "0":
			return fmt.Errorf("cannot be 0: a record that nobody acknowledges can be lost; use 1 or all")
		default:
			return fmt.Errorf("wants all, -1 or 1, got %q", v)
		}
		return nil
	}},
	"enable.idempotence": {set: boolOf(func(s *settings) *bool { return &s.idempotent })},
	"compression.type": {set: func(s *settings, v string) (err error) {
		s.compression, err = oneOf(v, "none", "gzip", "snappy", "lz4", "zstd")
		return err
	}},
	"batch.size":               {set: intOf(1, func(s *settings) *int { return &s.batchSize })},
	"max.request.size":         {set: intOf(1, func(s *settings) *int { return &s.maxRequestSize })},
	"buffer.memory":            {set: intOf(1, func(s *settings) *int { return &s.bufferMemory })},
	"delivery.timeout.ms":      {set: millis(func(s *settings) *time.Duration { return &s.deliveryTimeout })},
	"allow.auto.create.topics": {set: boolOf(func(s *settings) *bool { return &s.autoCreate })},

	"linger.ms":                             {note: noteEpochs},
	"max.in.flight.requests.per.connection": {note: noteInFlight},
	"retries":                               {note: "is ignored: a batch is sent again until delivery.timeout.ms has passed"},
	"transactional.id":                      {refuse: "is not set by hand; see 'sink.delivery-guarantee'"},
	"transaction.timeout.ms":                {set: millis(func(s *settings) *time.Duration { return &s.transactionTimeout })},

	"interceptor.classes":                {refuse: refuseClass},
	"partitioner.class":                  {refuse: refuseClass + "; see 'sink.partitioner'"},
	"metric.reporters":                   {note: noteJava},
	"sasl.client.callback.handler.class": {refuse: refuseClass},
	"sasl.login.callback.handler.class":  {refuse: refuseClass},
	"sasl.login.class":                   {refuse: refuseClass},
	"sasl.oauthbearer.token.endpoint.url": {refuse: "is not available in this version; give the token itself, or a file that is kept up to date: " +
		`sasl.jaas.config = '… OAuthBearerLoginModule required tokenFile="…";'`},
	"ssl.engine.factory.class": {refuse: refuseClass},
	"ssl.cipher.suites":        {refuse: "cannot be chosen; TLS 1.2 and 1.3 use Go's suites"},
})

// withOthers adds the names that have no entry of their own.
func withOthers(properties map[string]property) map[string]property {
	for name, p := range securityProperties {
		properties[name] = p
	}
	for _, name := range []string{
		"key.deserializer", "value.deserializer", "key.serializer", "value.serializer", "client.dns.lookup", "send.buffer.bytes",
		"receive.buffer.bytes", "reconnect.backoff.ms", "reconnect.backoff.max.ms", "retry.backoff.ms", "retry.backoff.max.ms",
		"default.api.timeout.ms", "max.block.ms", "metrics.num.samples", "metrics.recording.level", "metrics.sample.window.ms",
		"auto.include.jmx.reporter", "enable.metrics.push", "register.consumer.metrics", "register.producer.metrics",
		"exclude.internal.topics", "metadata.max.idle.ms", "metadata.recovery.strategy", "metadata.recovery.rebootstrap.trigger.ms",
		"partitioner.adaptive.partitioning.enable", "partitioner.availability.timeout.ms", "partitioner.ignore.keys",
		"compression.gzip.level", "compression.lz4.level", "compression.zstd.level", "security.providers", "config.providers",
		"transaction.two.phase.commit.enable",
	} {
		properties[name] = property{note: noteJava}
	}
	for _, name := range []string{
		"group.instance.id", "session.timeout.ms", "heartbeat.interval.ms", "max.poll.interval.ms", "partition.assignment.strategy",
		"group.protocol", "group.remote.assignor", "internal.leave.group.on.close",
	} {
		properties[name] = property{note: noteGroup}
	}
	for _, name := range []string{"enable.auto.commit", "auto.commit.interval.ms"} {
		properties[name] = property{note: "is ignored: group offsets are committed, for monitoring, when a checkpoint is durable"}
	}
	return properties
}

// parseProperties reads every properties.* option of a table.
func parseProperties(o spi.Options) (settings, error) {
	s := defaultSettings()
	for _, option := range o.Names() {
		name, ok := strings.CutPrefix(option, propertyPrefix)
		if !ok {
			continue
		}
		p, ok := properties[name]
		if !ok {
			msg := fmt.Sprintf("unknown Kafka client property %q", name)
			if n := near.Name(name, propertyNames()); n != "" {
				msg += fmt.Sprintf("; did you mean %q?", propertyPrefix+n)
			}
			return s, &spi.OptionError{Name: option, Msg: msg}
		}
		switch {
		case p.refuse != "":
			return s, &spi.OptionError{Name: option, Msg: fmt.Sprintf("option %q %s", option, p.refuse)}
		case p.note != "":
			s.notes = append(s.notes, spi.Note{Option: option, Msg: fmt.Sprintf("option %q %s", option, p.note)})
		default:
			if err := p.set(&s, strings.TrimSpace(o[option])); err != nil {
				return s, &spi.OptionError{Name: option, Value: true, Msg: fmt.Sprintf("option %q %v", option, err)}
			}
		}
	}
	if len(s.seeds) == 0 {
		return s, &spi.OptionError{Name: "properties.bootstrap.servers", Msg: "option 'properties.bootstrap.servers' is missing: it names the brokers, as in 'localhost:9092'"}
	}
	return s, s.security.check()
}

// clientOptions are kgo's options for these settings.
func (s *settings) clientOptions() ([]kgo.Opt, error) {
	opts := []kgo.Opt{
		kgo.SeedBrokers(s.seeds...),
		kgo.ClientID(s.clientID),
		kgo.DialTimeout(s.dialTimeout),
		kgo.ConnIdleTimeout(max(s.connIdle, time.Second)),
		kgo.RequestTimeoutOverhead(min(max(s.requestTimeout, 200*time.Millisecond), 15*time.Minute)),
		// The client's own retries are for the short hiccup; whoever asks decides about trying again.
		kgo.RetryTimeout(openPatience),
		kgo.MetadataMinAge(10 * time.Millisecond),
		kgo.BrokerMaxReadBytes(max(100<<20, 2*s.fetchMaxBytes)),
		kgo.BrokerMaxWriteBytes(int32(min(max(100<<20, 2*s.maxRequestSize), 1<<30))),
		kgo.DisableClientMetrics(),
	}
	more, err := s.security.options(s.dialTimeout)
	return append(opts, more...), err
}

func propertyNames() []string {
	names := make([]string, 0, len(properties))
	for n := range properties {
		names = append(names, n)
	}
	sort.Strings(names)
	return names
}

func millis(field func(*settings) *time.Duration) func(*settings, string) error {
	return func(s *settings, v string) error {
		n, err := strconv.ParseInt(v, 10, 64)
		if err != nil || n < 0 || n > 1<<40 {
			return fmt.Errorf("wants a number of milliseconds, got %q", v)
		}
		*field(s) = time.Duration(n) * time.Millisecond
		return nil
	}
}

func int32Of(least int32, field func(*settings) *int32) func(*settings, string) error {
	return func(s *settings, v string) error {
		n, err := strconv.ParseInt(v, 10, 32)
		if err != nil || int32(n) < least {
			return fmt.Errorf("wants an integer from %d to 2147483647, got %q", least, v)
		}
		*field(s) = int32(n)
		return nil
	}
}

func intOf(least int, field func(*settings) *int) func(*settings, string) error {
	return func(s *settings, v string) error {
		n, err := strconv.ParseInt(v, 10, 31)
		if err != nil || int(n) < least {
			return fmt.Errorf("wants an integer of at least %d, got %q", least, v)
		}
		*field(s) = int(n)
		return nil
	}
}

func boolOf(field func(*settings) *bool) func(*settings, string) error {
	return func(s *settings, v string) error {
		b, err := oneOf(v, "true", "false")
		*field(s) = b == "true"
		return err
	}
}

func oneOf(v string, values ...string) (string, error) {
	for _, w := range values {
		if strings.EqualFold(v, w) {
			return w, nil
		}
	}
	return "", fmt.Errorf("wants one of %s, got %q", strings.Join(values, ", "), v)
}
