package kafka

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/sluicesql/sluice/internal/fault"
)

// answers says of what brokers answer which kind of fault it is, and what helps whatever was asked.
var answers = []struct {
	err  *kerr.Error
	code fault.Code
	hint string
}{
	{kerr.SaslAuthenticationFailed, fault.KafkaCredentials, "the broker refuses the credentials: check 'properties.sasl.jaas.config'"},
	{kerr.UnsupportedSaslMechanism, fault.KafkaCredentials, "the broker does not offer this mechanism: check 'properties.sasl.mechanism'"},
	{kerr.IllegalSaslState, fault.KafkaCredentials, "the broker wants no login, or another one: check 'properties.security.protocol' and 'properties.sasl.mechanism'"},
	{kerr.TopicAuthorizationFailed, fault.KafkaDenied, "grant READ on the topic to the user"},
	{kerr.GroupAuthorizationFailed, fault.KafkaDenied, "grant READ on the group to the user, or name another in 'properties.group.id'"},
	{kerr.ClusterAuthorizationFailed, fault.KafkaDenied, "the user lacks the right: grant it with kafka-acls.sh"},
	{kerr.TransactionalIDAuthorizationFailed, fault.KafkaDenied, "grant WRITE and DESCRIBE on the transactional id to the user"},
	{kerr.PolicyViolation, fault.KafkaDenied, "the cluster's policy does not allow it"},
	{kerr.UnknownTopicOrPartition, fault.KafkaTopic, "create the topic, or correct its name"},
	{kerr.InvalidTopicException, fault.KafkaTopic, "the name is not valid: it has at most 249 letters, digits, '.', '_' and '-'"},
	{kerr.OffsetOutOfRange, fault.KafkaOffset, "start anew with a new state directory, and give the topic a longer retention"},
	{kerr.MessageTooLarge, fault.KafkaRecordSize, sizeFix},
	{kerr.RecordListTooLarge, fault.KafkaRecordSize, sizeFix},
	{kerr.ProducerFenced, fault.KafkaFenced, fencedFix},
	{kerr.InvalidProducerEpoch, fault.KafkaFenced, fencedFix},
	{kerr.RequestTimedOut, fault.KafkaTimeout, clusterFix},
}

// What to do about faults that are found in several places.
const (
	clusterFix = "see to the cluster, and start again: a job goes on from its last checkpoint"
	fencedFix  = "if both are to run, give each 'sink.transactional-id-prefix' and topic of its own"
	goneFix    = "see that the topic is there, and start again: with a state directory, --reemit and the table's name write the whole result into it"
	sizeFix    = "raise the topic's max.message.bytes, or write less of the row"
)

// answered makes an error of what a broker answered. The rest is as for fmt.Errorf and says where, what was asked, and err.
func answered(err error, format string, args ...any) *fault.Error {
	e := fault.Errorf(fault.KafkaRefused, format, args...).Fix("the brokers' logs may say more")
	for _, a := range answers {
		if errors.Is(err, a.err) {
			e.Code, e.Hint = a.code, a.hint
		}
	}
	return e
}

// damaged makes an error of what a broker sent of p and cannot be read.
func damaged(p *partition, at int64, err error) error {
	e := fault.Errorf(fault.KafkaDamaged, "kafka %s@%d: %w", p, at, err)
	if fault.Of(err) != "" { // it knows better what to do
		return e
	}
	return e.Fix("start again, for another replica may have it whole; or start behind it with 'scan.startup.mode' = 'specific-offsets'")
}

// tooLate makes an error of what did not come to pass in the time that was given; err is the last thing that stood in its way.
func tooLate(err error, format string, args ...any) *fault.Error {
	return fault.Errorf(fault.KafkaTimeout, format+": %w", append(args, err)...).Fix(clusterFix)
}

// gone makes an error of a topic that another, or none, has taken the place of while it was written.
func gone(topic, seeds string, by *topicMeta) error {
	what := "deleted"
	if by != nil {
		what = "deleted and created again"
	}
	return fault.Errorf(fault.KafkaTopicChanged, "kafka topic %s at %s was %s while it was written", topic, seeds, what).Fix(goneFix)
}

// unreachable says what failed in reaching the cluster, and what may help.
func (c *cluster) unreachable(err error) error {
	var ke *kerr.Error
	var dns *net.DNSError
	e := fault.Errorf(fault.KafkaUnreachable, "cannot reach Kafka at %s: %w", c.seeds, err)
	tlsFix := tlsRemedy(err)
	switch {
	case errors.As(err, &ke):
		return answered(err, "cannot reach Kafka at %s: %w", c.seeds, err)
	case errors.Is(err, context.Canceled):
		return err
	case errors.As(err, &dns):
		return e.Fix("the name does not resolve: check 'properties.bootstrap.servers'")
	case tlsFix != "":
		e.Code, e.Hint = fault.KafkaTLS, tlsFix
		return e
	case errors.Is(err, context.DeadlineExceeded):
		e.Err = fmt.Errorf("cannot reach Kafka at %s: no answer in time", c.seeds)
		return e.Fix("check 'properties.bootstrap.servers' and 'properties.security.protocol': perhaps it is no Kafka that listens there, or one that expects TLS")
	case c.sasl && errors.Is(err, io.EOF):
		e.Code = fault.KafkaCredentials
		return e.Fix("the broker closes the connection, as some do on wrong credentials: check 'properties.sasl.jaas.config', 'properties.sasl.mechanism' and 'properties.security.protocol'")
	}
	return e.Fix("check 'properties.bootstrap.servers', 'properties.security.protocol' and that the broker runs")
}

// tlsRemedy is what may help where TLS failed; empty where it did not.
func tlsRemedy(err error) string {
	var authority x509.UnknownAuthorityError
	var host x509.HostnameError
	var dated x509.CertificateInvalidError
	var plain tls.RecordHeaderError
	s := err.Error()
	switch {
	case errors.As(err, &plain):
		return "what listens there speaks no TLS: check the port, or set 'properties.security.protocol' = 'PLAINTEXT' ('SASL_PLAINTEXT' with a login)"
	case errors.As(err, &authority):
		return "the broker's certificate is of an authority that is not known here: name its certificate (PEM) in 'properties.ssl.truststore.location'"
	case errors.As(err, &host):
		return "the broker's certificate is for other names: write one of these in 'properties.bootstrap.servers', or set 'properties.ssl.endpoint.identification.algorithm' = '' to accept it"
	case errors.As(err, &dated):
		return "the broker's certificate is not valid: have it renewed, or check this machine's clock"
	case strings.Contains(s, "certificate required"), strings.Contains(s, "bad certificate"):
		return "the broker wants a certificate of the client: name it, with its key (PEM), in 'properties.ssl.keystore.location'"
	case strings.Contains(s, "tls:"), strings.Contains(s, "x509:"):
		return "TLS failed: check 'properties.security.protocol' and 'properties.ssl.*'"
	}
	return ""
}
