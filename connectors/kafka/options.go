package kafka

import (
	"slices"

	"github.com/sluicesql/sluice/connectors/spi"
)

var kafkaOptions = slices.Concat([]spi.Option{
	{Name: "topic", Help: "Topic to read or write; a source reads several when they are separated by ';'"},
	{Name: "topic-pattern", Help: "Regular expression that the whole name of a topic must match to be read"},
	{Name: "properties.bootstrap.servers", Required: true, Help: "Addresses of brokers, separated by commas"},
	{Name: "properties.group.id", Help: "Consumer group whose committed offsets are used and kept up to date for monitoring"},
	{Name: "properties.sasl.jaas.config", Secret: true, Help: "Credentials in the Java client's form; usernameFile, passwordFile and tokenFile name files, read for each connection, that hold what username, password and token would"},
	{Name: "properties.ssl.keystore.key", Secret: true, Help: "Private key in PEM"},
	{Name: "properties.ssl.key.password", Secret: true, Help: "Not available: give the key unencrypted"},
	{Name: "properties.*", Help: "Properties of Kafka's Java client by their own names"},
	{Name: "format", Help: "Format of the values"},
	{Name: "value.format", Help: "Format of the values, its options prefixed with 'value.'"},
	{Name: "key.format", Help: "Format of the keys, its options prefixed with 'key.'"},
	{Name: "key.fields", Help: "Columns that lie in the key, separated by ';'"},
	{Name: "key.fields-prefix", Help: "Prefix of the key's columns that the key itself does not have; needs 'value.fields-include' = 'EXCEPT_KEY'"},
	{Name: "value.fields-include", Kind: spi.EnumOption, Default: "ALL", Values: []string{"ALL", "EXCEPT_KEY"}, Help: "Whether the value holds the key's columns too"},
	{Name: "scan.startup.mode", Kind: spi.EnumOption, Default: "group-offsets", Values: []string{"group-offsets", "earliest-offset", "latest-offset", "timestamp", "specific-offsets"}, Unlisted: []string{"earliest", "latest"}, Help: "Where the first start begins to read"},
	{Name: "scan.startup.specific-offsets", Help: "Offsets for specific-offsets: 'partition:0,offset:42;partition:1,offset:300'"},
	{Name: "scan.startup.timestamp-millis", Kind: spi.IntOption, Help: "Milliseconds since 1970 for timestamp"},
	{Name: "scan.bounded.mode", Kind: spi.EnumOption, Default: "unbounded", Values: []string{"unbounded", "latest-offset", "group-offsets", "timestamp", "specific-offsets"}, Help: "Where reading ends, resolved at the start"},
	{Name: "scan.bounded.specific-offsets", Help: "Offsets for specific-offsets, the first ones not read"},
	{Name: "scan.bounded.timestamp-millis", Kind: spi.IntOption, Help: "Milliseconds since 1970 for timestamp"},
	{Name: "scan.topic-partition-discovery.interval", Kind: spi.DurationOption, Default: "5 min", Help: "How often new topics and partitions are looked for; 0 for never"},
	{Name: "scan.retry-timeout", Kind: spi.DurationOption, Default: "10 min", Help: "How long a partition is tried when its brokers do not answer or refuse for the moment, until the job fails; 0 for ever"},
	{Name: "scan.parallelism", Kind: spi.IntOption, Help: "Number of readers"},
}, deadLetterOptions, []spi.Option{
	{Name: "sink.partitioner", Default: "default", Help: "default (by the key's hash as Java does; without a key whole batches in turn), fixed (one partition a writer), round-robin"},
	{Name: "sink.delivery-guarantee", Kind: spi.EnumOption, Default: "at-least-once", Values: []string{"at-least-once", "exactly-once", "none"}, Help: "What holds after a crash: see docs/reliability.md"},
	{Name: "sink.transactional-id-prefix", Help: "For exactly-once, and required there: the transactional id, which is also the consumer group of the marker, is this, '-' and the table's name"},
	{Name: "sink.semantic", Unsupported: "was replaced by 'sink.delivery-guarantee'"},
	{Name: "sink.topic.partitions", Kind: spi.IntOption, Help: "Partitions of the topic where it is missing and created; without any 'sink.topic.*' a missing topic is an error"},
	{Name: "sink.topic.replication-factor", Kind: spi.IntOption, Help: "Copies of each partition of a topic that is created; the broker's default when not set"},
	{Name: "sink.topic.config.*", Help: "Settings of a topic that is created, by Kafka's names, such as 'sink.topic.config.retention.ms'"},
	{Name: "sink.parallelism", Kind: spi.IntOption, Help: "Number of writers"},
})

var upsertOptions = slices.Concat([]spi.Option{
	{Name: "topic", Required: true, Help: "Topic to read or write; a source reads several when they are separated by ';'"},
	{Name: "properties.bootstrap.servers", Required: true, Help: "Addresses of brokers, separated by commas"},
	{Name: "properties.group.id", Help: "Consumer group whose committed offsets are kept up to date for monitoring"},
	{Name: "properties.sasl.jaas.config", Secret: true, Help: "Credentials in the Java client's form; usernameFile, passwordFile and tokenFile name files, read for each connection, that hold what username, password and token would"},
	{Name: "properties.ssl.keystore.key", Secret: true, Help: "Private key in PEM"},
	{Name: "properties.ssl.key.password", Secret: true, Help: "Not available: give the key unencrypted"},
	{Name: "properties.*", Help: "Properties of Kafka's Java client by their own names"},
	{Name: "key.format", Required: true, Help: "Format of the keys, its options prefixed with 'key.'"},
	{Name: "value.format", Required: true, Help: "Format of the values, its options prefixed with 'value.'"},
	{Name: "key.fields-prefix", Help: "Prefix of the primary key's columns that the key itself does not have; needs 'value.fields-include' = 'EXCEPT_KEY'"},
	{Name: "value.fields-include", Kind: spi.EnumOption, Default: "ALL", Values: []string{"ALL", "EXCEPT_KEY"}, Help: "Whether the value holds the primary key's columns too"},
	{Name: "scan.startup.mode", Unsupported: "does not apply to upsert-kafka, which always reads from the beginning: a later start would miss the rows before it"},
	{Name: "scan.bounded.mode", Kind: spi.EnumOption, Default: "unbounded", Values: []string{"unbounded", "latest-offset", "group-offsets", "timestamp", "specific-offsets"}, Help: "Where reading ends, resolved at the start"},
	{Name: "scan.bounded.specific-offsets", Help: "Offsets for specific-offsets, the first ones not read"},
	{Name: "scan.bounded.timestamp-millis", Kind: spi.IntOption, Help: "Milliseconds since 1970 for timestamp"},
	{Name: "scan.topic-partition-discovery.interval", Kind: spi.DurationOption, Default: "5 min", Help: "How often new partitions are looked for; 0 for never"},
	{Name: "scan.retry-timeout", Kind: spi.DurationOption, Default: "10 min", Help: "How long a partition is tried when its brokers do not answer or refuse for the moment, until the job fails; 0 for ever"},
	{Name: "scan.parallelism", Kind: spi.IntOption, Help: "Number of readers"},
}, deadLetterOptions, []spi.Option{
	{Name: "sink.delivery-guarantee", Kind: spi.EnumOption, Default: "at-least-once", Values: []string{"at-least-once", "exactly-once", "none"}, Help: "What holds after a crash: see docs/reliability.md"},
	{Name: "sink.transactional-id-prefix", Help: "For exactly-once, and required there: the transactional id, which is also the consumer group of the marker, is this, '-' and the table's name"},
	{Name: "sink.partitioner", Unsupported: "does not apply to upsert-kafka: rows of one key stay in the partition of its hash"},
	{Name: "sink.buffer-flush.max-rows", Kind: spi.IntOption, Default: "0", Help: "Accepted; an epoch holds one change a key already, so there is nothing more to reduce"},
	{Name: "sink.buffer-flush.interval", Kind: spi.DurationOption, Default: "0", Help: "Accepted; an epoch holds one change a key already, so there is nothing more to reduce"},
	{Name: "sink.topic.partitions", Kind: spi.IntOption, Help: "Partitions of the topic where it is missing and created; without any 'sink.topic.*' a missing topic is an error"},
	{Name: "sink.topic.replication-factor", Kind: spi.IntOption, Help: "Copies of each partition of a topic that is created; the broker's default when not set"},
	{Name: "sink.topic.config.*", Help: "Settings of a topic that is created, by Kafka's names; cleanup.policy is compact when not set"},
	{Name: "sink.parallelism", Kind: spi.IntOption, Help: "Number of writers"},
})

// option returns the declaration of name.
func option(options []spi.Option, name string) *spi.Option {
	for i := range options {
		if options[i].Name == name {
			return &options[i]
		}
	}
	return nil
}

// deadLetterOptions are those of every source.
var deadLetterOptions = []spi.Option{
	{Name: "dead-letter.topic", Help: "Topic of the same cluster that takes the messages that cannot be read, as they came, with headers sluice.topic, .partition, .offset, .timestamp, .reason and .error"},
	{Name: "dead-letter.delivery-guarantee", Kind: spi.EnumOption, Default: "at-least-once", Values: []string{"at-least-once", "exactly-once", "none"}, Help: "'sink.delivery-guarantee' of the dead letters"},
	{Name: "dead-letter.transactional-id-prefix", Help: "'sink.transactional-id-prefix' of the dead letters"},
	{Name: "dead-letter.topic.partitions", Kind: spi.IntOption, Help: "'sink.topic.partitions' of the dead letters"},
	{Name: "dead-letter.topic.replication-factor", Kind: spi.IntOption, Help: "'sink.topic.replication-factor' of the dead letters"},
	{Name: "dead-letter.topic.config.*", Help: "'sink.topic.config.*' of the dead letters"},
}
