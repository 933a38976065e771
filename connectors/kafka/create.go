package kafka

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
)

const (
	topicPartitions  = "sink.topic.partitions"
	topicReplication = "sink.topic.replication-factor"
	topicConfig      = "sink.topic.config."
)

// creation is how a missing output topic is to be made.
type creation struct {
	asked       bool  // sink.topic.* says so; otherwise only a broker that creates topics by itself may
	partitions  int32 // −1: the broker's default, and so is replication
	replication int16
	configs     map[string]*string
}

// readCreation reads sink.topic.*. A topic that keeps the latest row of each key is compacted unless its options say
// otherwise.
func readCreation(o spi.Options, upsert bool) (creation, error) {
	c := creation{partitions: -1, replication: -1, configs: map[string]*string{}}
	partitions, err := positive(o, topicPartitions, math.MaxInt32)
	if err != nil {
		return c, err
	}
	replication, err := positive(o, topicReplication, math.MaxInt16)
	if err != nil {
		return c, err
	}
	c.partitions, c.replication = int32(partitions), int16(replication)
	c.asked = partitions > 0 || replication > 0
	if upsert {
		c.configs["cleanup.policy"] = kadm.StringPtr("compact")
	}
	for _, name := range o.Names() {
		if key, ok := strings.CutPrefix(name, topicConfig); ok {
			c.configs[key] = kadm.StringPtr(o[name])
			c.asked = true
		}
	}
	return c, nil
}

// positive is an integer of at least 1, or −1 when it is not given.
func positive(o spi.Options, name string, most int64) (int64, error) {
	n, err := o.Int(name, -1)
	if _, set := o[name]; err == nil && set && (n < 1 || n > most) {
		err = &spi.OptionError{Name: name, Value: true, Msg: fmt.Sprintf("option %q wants a number from 1 to %d, got %q", name, most, o[name])}
	}
	return n, err
}

// create makes a topic. One that another has made meanwhile is as good.
func (c *cluster) create(ctx context.Context, topic string, how creation) error {
	var r kadm.CreateTopicResponse
	err := retrying(ctx, func() (err error) {
		r, err = c.adm.CreateTopic(ctx, how.partitions, how.replication, how.configs, topic)
		return err
	})
	if err == nil || errors.Is(err, kerr.TopicAlreadyExists) {
		return nil
	}
	e := answered(err, "kafka topic %s at %s cannot be created: %w", topic, c.seeds, err)
	if r.ErrMessage != "" {
		e.Err = fmt.Errorf("%w (%s)", e.Err, r.ErrMessage)
	}
	switch {
	case errors.Is(err, kerr.InvalidReplicationFactor):
		return e.Fix("there are fewer brokers than '%s' asks copies of", topicReplication)
	case errors.Is(err, kerr.InvalidConfig):
		return e.Fix("check '%s*'", topicConfig)
	case errors.Is(err, kerr.TopicAuthorizationFailed), errors.Is(err, kerr.ClusterAuthorizationFailed):
		return e.Fix("grant CREATE on the topic to the user, or have it created for you")
	}
	return e
}
